#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How much of the people the element finds, by the shape of the frame.

Photographs are cut to each shape so that the people stay in. They go through the element with
its defaults, one frame of each. Its masks are compared with those of a much better network
(tests/data/pictures): intersection over union.

shapes.py           the test: a mean and a worst picture for each shape
shapes.py --table   the means of all ways to use the bundled models, for doc/performance.md
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PORTRAIT = "/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg"
GROUPS = ["sample%d" % i for i in range(1, 7)]
HEIGHT = 720
# Widths are multiples of 4, so that rows have no padding; then the least mean, and the least of
# one picture, that pass. The square model, stretched, has a mean of 0.52 at 16:9.
SHAPES = {
    "9:16": (404, 0.92, 0.85),
    "3:4": (540, 0.925, 0.83),
    "1:1": (720, 0.92, 0.83),
    "4:3": (960, 0.886, 0.75),
    "16:9": (1280, 0.866, 0.73),
    "21:9": (1680, 0.61, 0),
}
WAYS = {
    "before": "model=person-square input-filter=triangle",
    "square, stretched": "model=person-square",
    "landscape, stretched": "model=person-landscape",
    "square, letterbox": "model=person-square input-fit=letterbox",
    "landscape, letterbox": "model=person-landscape input-fit=letterbox",
    "now": "",
}


def read_netpbm(path):
    """A P4, or a P6 of 255."""
    with open(path, "rb") as file:
        kind = file.readline().strip()
        width, height = map(int, file.readline().split())
        if kind == b"P4":
            rows = np.frombuffer(file.read(), np.uint8).reshape(height, -1)
            return np.unpackbits(rows, axis=1)[:, :width].astype(np.float32)
        file.readline()
        return np.frombuffer(file.read(), np.uint8).reshape(height, width, 3)


def launch(line):
    subprocess.run(["gst-launch-1.0", "-q"] + line.split(), check=True)


def decode(path, folder):
    """A JPEG or PNG as an array."""
    raw = os.path.join(folder, "picture.ppm")
    launch("filesrc location=%s ! %s ! videoconvert ! video/x-raw,format=RGB ! pnmenc ! "
           "filesink location=%s" % (path, "pngdec" if path.endswith("png") else "jpegdec", raw))
    return read_netpbm(raw)


def resize(image, width, height):
    """Bilinear between pixel centres."""
    for axis, size in ((0, height), (1, width)):
        count = image.shape[axis]
        at = np.clip((np.arange(size) + 0.5) * count / size - 0.5, 0, count - 1)
        low = np.minimum(at.astype(int), max(count - 2, 0))
        part = (at - low).astype(np.float32).reshape((-1,) + (1,) * (image.ndim - axis - 1))
        image = np.take(image, low, axis) * (1 - part) + np.take(image, low + 1, axis) * part
    return image


def cut(picture, mask, width):
    """The part of that shape that holds most of the people, near the middle, of both."""
    rows, columns = mask.shape
    w = min(columns, int(rows * width / HEIGHT))
    h = min(rows, int(columns * HEIGHT / width))
    sums = np.pad(mask.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    best = None
    for y in range(rows - h + 1):
        for x in range(columns - w + 1):
            inside = sums[y + h, x + w] - sums[y, x + w] - sums[y + h, x] + sums[y, x]
            inside -= 0.01 * (abs(x - (columns - w) / 2) + abs(y - (rows - h) / 2))
            if best is None or inside > best[0]:
                best = inside, x, y
    _, x, y = best
    scale = picture.shape[1] / columns
    part = picture[int(y * scale):int((y + h) * scale), int(x * scale):int((x + w) * scale)]
    return (resize(part.astype(np.float32), width, HEIGHT).round().astype(np.uint8),
            resize(mask[y:y + h, x:x + w], width, HEIGHT) >= 0.5)


def run(frames, options, folder):
    """The element's masks of these frames."""
    height, width, _ = frames[0].shape
    to, back = os.path.join(folder, "frames.rgb"), os.path.join(folder, "masks.gray")
    np.stack(frames).tofile(to)
    # A second between frames: what smoothing keeps of the one before is nothing.
    launch("filesrc location=%s ! rawvideoparse format=rgb width=%d height=%d framerate=1/1 "
           "! tdlfilter mode=mask %s ! filesink location=%s"
           % (to, width, height, options, back))
    return np.fromfile(back, np.uint8).reshape(-1, height, width) > 127


def run_changing(frames, folder):
    """The same of frames that differ in shape, in one stream."""
    for i, frame in enumerate(frames):
        raw = os.path.join(folder, "frame.rgb")
        frame.tofile(raw)
        launch("filesrc location=%s ! rawvideoparse format=rgb width=%d height=%d ! "
               "pngenc compression-level=0 ! filesink location=%s/%d.png"
               % (raw, frame.shape[1], HEIGHT, folder, i))
    launch("multifilesrc location=%s/%%d.png caps=image/png,framerate=1/1 ! pngdec ! "
           "tdlfilter mode=mask ! multifilesink location=%s/%%d.gray" % (folder, folder))
    return [np.fromfile(os.path.join(folder, "%d.gray" % i), np.uint8).reshape(HEIGHT, -1) > 127
            for i in range(len(frames))]


def iou(mask, reference):
    return (mask & reference).sum() / max(1, (mask | reference).sum())


def main():
    folder_of = os.path.join(ROOT, "models", "pictures")
    paths = [os.path.join(folder_of, name + ".jpg") for name in GROUPS] + [PORTRAIT]
    absent = [path for path in paths if not os.path.exists(path)]
    if absent:
        print("skipped: no %s; run tests/fetch-pictures.sh, and install python-matplotlib-data"
              % absent[0])
        sys.exit(77)
    table = sys.argv[1:] == ["--table"]
    ways = WAYS if table else {"now": ""}
    failed = False
    changing = []
    if table:
        print("| frame |", " | ".join(ways), "|\n|" + "---|" * (len(ways) + 1))
    with tempfile.TemporaryDirectory() as folder:
        pictures = [decode(path, folder) for path in paths]
        masks = [read_netpbm(os.path.join(ROOT, "tests", "data", "pictures",
                                          os.path.basename(path)[:-4] + ".pbm")) for path in paths]
        for shape, (width, least_mean, least) in SHAPES.items():
            frames, wanted = zip(*[cut(p, m, width) for p, m in zip(pictures, masks)])
            changing.append((frames[-2], wanted[-2]))
            means = []
            for options in ways.values():
                got = [iou(m, w) for m, w in zip(run(frames, options, folder), wanted)]
                means.append(np.mean(got))
            if table:
                print("| %s |" % shape, " | ".join("%.3f" % mean for mean in means), "|")
                continue
            good = np.mean(got) >= least_mean and min(got) >= least
            failed = failed or not good
            print("%s: %s: mean %.3f (at least %.2f), worst %.3f (at least %.2f):"
                  % ("ok" if good else "FAILED", shape, np.mean(got), least_mean, min(got), least),
                  " ".join("%.2f" % v for v in got))
            changing[-1] += (got[-2],)
        for shape, mask, (_, reference, alone) in () if table else zip(
                SHAPES, run_changing([c[0] for c in changing], folder), changing):
            good = abs(iou(mask, reference) - alone) < 0.01
            failed = failed or not good
            print("%s: %s behind another shape: %.3f, alone %.3f"
                  % ("ok" if good else "FAILED", shape, iou(mask, reference), alone))
    sys.exit(failed)


if __name__ == "__main__":
    main()
