#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""measure.py [--device D] [--threads N] [--rounds N] [--frames N]

How many frames a second `videotestsrc ! tdlfilter ! fakesink` makes, and what a frame
costs, by mode and size, with GStreamer's own videoconvertscale to 256×256 RGB for
scale. All lines of a round run once, in turns, so that whatever else the machine does
hits all of them; the median of the rounds counts, the best is beside it.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("TDL_BUILD", os.path.join(ROOT, "build"))
MODEL = os.path.join(ROOT, "models", "selfie_segmentation.tflite")
SIZES = [(320, 180), (640, 360), (1280, 720), (1920, 1080), (3840, 2160)]
CASES = [("overlay", size) for size in SIZES] + [("blur", size) for size in SIZES] + [
    ("replace", (1280, 720)), ("mask", (1280, 720)), ("convertscale", (1280, 720)),
    ("source alone", (1280, 720))]


def line(mode, size, frames, options):
    source = ["videotestsrc", "pattern=ball", "num-buffers=%d" % frames, "!",
              "video/x-raw,format=NV12,width=%d,height=%d" % size, "!"]
    if mode == "convertscale":
        middle = ["videoconvertscale", "!", "video/x-raw,format=RGB,width=256,height=256", "!"]
    elif mode == "source alone":
        middle = []
    else:
        middle = ["tdlfilter", "mode=" + mode, "device=" + options.device,
                  "threads=%d" % options.threads, "!"]
    return ["gst-launch-1.0", "-q"] + source + middle + ["fakesink", "sync=false"]


def run(command):
    """Seconds of wall time and of the CPU."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def stages(mode, size, options):
    """Median ms of each stage of a frame, by tdl-bench."""
    out = subprocess.run(
        [os.path.join(BUILD, "engine", "tools", "tdl-bench"), "--json", "-i", "60", "--device",
         options.device, "--threads", str(options.threads), "--frame", "%dx%d" % size, "--mode",
         mode, MODEL], check=True, capture_output=True, text=True).stdout
    return json.loads(out)["gpu_ms"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[1])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--frames", type=int, default=300)
    options = parser.parse_args()
    os.environ["GST_PLUGIN_PATH"] = os.path.join(BUILD, "gst")
    rows = [{"mode": m, "size": s, "wall": [], "cpu": []} for m, s in CASES]
    for _ in range(options.rounds):
        for row in rows:
            frames = max(options.frames // (1 if row["size"][0] <= 1920 else 4), 1)
            wall, cpu = run(line(row["mode"], row["size"], frames, options))
            row["wall"].append(frames / wall)
            row["cpu"].append(1e3 * cpu / frames)
    print("%-14s %10s %9s %9s %9s   %s" % ("", "size", "frames/s", "best", "CPU ms",
                                         "preprocess + network + compose ms"))
    for row in rows:
        row["ms"] = statistics.median(row["cpu"])
        text = ""
        if row["mode"] in ("overlay", "blur", "replace", "mask"):
            ms = stages(row["mode"], row["size"], options)
            text = " + ".join("%.2f" % ms[name]["median"]
                              for name in ("preprocess", "network", "compose"))
        print("%-14s %10s %9.0f %9.0f %9.2f   %s" % (
            row["mode"], "%dx%d" % row["size"], statistics.median(row["wall"]), max(row["wall"]),
            row["ms"], text))


if __name__ == "__main__":
    sys.exit(main())
