#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How good the element's masks are where the true matte is known, as numbers.

matting.py --test      the test: the measures themselves, and one short scene with its default
matting.py [OPTION…]   the table for doc/performance.md, in Markdown, of all models in MODELS
                       that are fetched (pipelines/fetch-models.sh NAME)

  --models A,B         these models alone
  --scenes A,B         these of SCENES alone
  --ways A,B           these of WAYS alone
  --way NAME=PROPERTIES  another way, such as --way "hard=feather=0 refine=false"
  --frames N           of each scene, 30 without it; of SLOW models fewer
  --sheet FILE.png     the last frame of each scene: itself, its matte, and that of each model,
                       a row for each way

Run it in `meson devenv`. The photographs' mattes are cut out by the network ISNet: good ones,
but its mistakes count as the truth, and ISNet itself is not measured on them. They want the
model "isnet", tests/fetch-pictures.sh and Debian's python3-skimage.
"""
import argparse
import configparser
import functools
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
try:
    import numpy as np
    from scipy import ndimage
except ImportError as error:
    print("skipped: %s; install python3-numpy and python3-scipy" % error)
    sys.exit(77)

sys.dont_write_bytecode = True
import matte_metrics
import matte_scenes
import shapes

MODELS = ("person", "person-square", "person-landscape", "pose", "matting-small", "matting",
          "matting-hd", "isnet")
SLOW = {"isnet": 4} # frames: seconds each on a CPU
WAYS = {
    "refined": "refine=true",
    "plain": "refine=false",
}
# Not feather=1, which would show the new background through arms of which ISNet is unsure.
CUT_OUT = "model=isnet refine=false smoothing=0 close-holes=false"
# What the short scene may have at most.
TEST_MOST = {"MAD": 45, "MSE": 38, "Grad": 26, "Conn": 14, "dtSSD": 16}
SKIMAGE = "/usr/lib/python3/dist-packages/skimage/data"
PHOTOGRAPHS = ( # who, and before what
    ("sample1.jpg", "motorcycle_left.png"),
    ("sample4.jpg", "rocket.jpg"),
    ("sample5.jpg", "coffee.png"),
    ("sample6.jpg", "motorcycle_left.png"),
    ("astronaut.png", "coffee.png"),
    ("grace_hopper.jpg", "rocket.jpg"),
)
SCENES = ("drawn 1280x720 still", "drawn 1280x720 moving", "drawn 640x480 still",
          "drawn 640x480 moving", "photographs 1280x720 still", "photographs 1280x720 moving")


def run(frames, options, folder):
    """The element's mattes, 0 to 1, of a stream of these frames, 30 a second."""
    _, height, width, _ = frames.shape
    to, back = os.path.join(folder, "frames.rgb"), os.path.join(folder, "mattes.gray")
    frames.tofile(to)
    shapes.launch("filesrc location=%s ! rawvideoparse format=rgb width=%d height=%d "
                  "framerate=30/1 ! tdlfilter mode=mask %s ! filesink location=%s"
                  % (to, width, height, options, back))
    return np.fromfile(back, np.uint8).reshape(-1, height, width).astype(np.float32) / 255


# --------------------------------------------------------------- photographs

def find(name):
    for folder in (os.path.join(ROOT, "models", "pictures"), SKIMAGE,
                   os.path.dirname(shapes.PORTRAIT)):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    return None


def blurred(image, reach):
    return ndimage.gaussian_filter(image, (reach, reach) + (0,) * (image.ndim - 2))


@functools.lru_cache(maxsize=None)
def cut_out(name, folder):
    """Colours and matte of who is in a photograph. Colours of the outline come from within."""
    picture = shapes.decode(find(name), folder)
    picture = np.ascontiguousarray(picture[:, :picture.shape[1] // 4 * 4])
    matte = run(picture[None], CUT_OUT, folder)[0]
    sure = (matte ** 4)[..., None]
    color = picture.astype(np.float32)
    inside = sum(blurred(color * sure, r) / 8 ** i for i, r in enumerate((2, 6, 20)))
    weight = sum(blurred(sure, r) / 8 ** i for i, r in enumerate((2, 6, 20)))
    edge = np.clip((0.98 - matte) / 0.1, 0, 1)[..., None]
    return color * (1 - edge) + edge * inside / np.maximum(weight, 1e-6), matte


def place(image, width, height, left):
    """Into a frame's lower part, its left edge at that column, the rest 0."""
    frame = np.zeros((height, width) + image.shape[2:], np.float32)
    low, high = max(0, left), min(width, left + image.shape[1])
    frame[height - image.shape[0]:, low:high] = image[:, low - left:high - left]
    return frame


def photographs(width, height, frames, moving, folder):
    """A stream for each pair. The person goes by 4 px a frame, the background 3 the other way."""
    chance = np.random.default_rng(5)
    for who, where in PHOTOGRAPHS:
        color, matte = cut_out(who, folder)
        scale = min(0.94 * height / matte.shape[0], width / matte.shape[1])
        size = int(matte.shape[1] * scale), int(matte.shape[0] * scale)
        color, matte = shapes.resize(color, *size), shapes.resize(matte, *size)
        wall = shapes.decode(find(where), folder).astype(np.float32)
        grown = max((width + 3 * frames) / wall.shape[1], height / wall.shape[0])
        wall = shapes.resize(wall, int(wall.shape[1] * grown) + 1, int(wall.shape[0] * grown) + 1)
        pictures, mattes = [], []
        for i in range(frames):
            t = i if moving else 0
            left = (width - size[0]) // 2 - 2 * frames + 4 * t
            mask = place(matte, width, height, left)
            over = mask[..., None]
            frame = over * place(color, width, height, left) + (1 - over) * wall[:height, 3 * t:
                                                                                3 * t + width]
            frame = frame + chance.normal(0, 2, frame.shape).astype(np.float32)
            pictures.append(np.clip(frame + 0.5, 0, 255).astype(np.uint8))
            mattes.append(mask)
        yield np.stack(pictures), np.stack(mattes)


# ----------------------------------------------------------------- the table

def scene(name, frames, folder):
    """Its streams: frames and mattes."""
    kind, size, motion = name.split()
    width, height = map(int, size.split("x"))
    if kind == "drawn":
        return [matte_scenes.drawn(width, height, frames, motion == "moving")]
    return list(photographs(width, height, frames, motion == "moving", folder))


def why_not(model):
    """Why a model cannot be measured, or None."""
    known = configparser.ConfigParser(interpolation=None)
    known.read(os.path.join(ROOT, "gst", "models.ini"))
    if model not in known:
        return "gst/models.ini does not have it"
    if subprocess.run([os.path.join(ROOT, "pipelines", "fetch-models.sh"), "--check", model],
                      check=False).returncode:
        return "it is not fetched: pipelines/fetch-models.sh " + model
    return None


def no_photographs():
    """Why photographs cannot be had, or None."""
    if why_not("isnet"):
        return "isnet, which cuts them out: " + why_not("isnet")
    absent = [name for pair in PHOTOGRAPHS for name in pair if not find(name)]
    return "no %s: run tests/fetch-pictures.sh, and install python3-skimage and " \
           "python-matplotlib-data" % absent[0] if absent else None


def write_sheet(path, rows, folder):
    """Pictures of equal height, 240 px, in rows, as a PNG."""
    lines = []
    for row in rows:
        cells = []
        for cell in row:
            cell = cell if cell.ndim == 3 else np.repeat(255 * cell[..., None], 3, 2)
            cells.append(shapes.resize(cell.astype(np.float32), cell.shape[1] * 240
                                       // cell.shape[0] // 4 * 4, 240))
        lines.append(np.concatenate(cells, 1))
    width = max(line.shape[1] for line in lines)
    sheet = np.concatenate([np.pad(line, ((0, 4), (0, width - line.shape[1]), (0, 0)))
                            for line in lines])
    raw = os.path.join(folder, "sheet.rgb")
    sheet.round().astype(np.uint8).tofile(raw)
    shapes.launch("filesrc location=%s ! rawvideoparse format=rgb width=%d height=%d ! pngenc ! "
                  "filesink location=%s" % (raw, width, len(sheet), path))


def measure_scene(name, args, rows, folder):
    """Prints a line for each model and way."""
    streams = scene(name, args.frames, folder)
    last = [frames[-1] for frames, _ in streams], [mattes[-1] for _, mattes in streams]
    shown = {way: [[f, m] for f, m in zip(*last)] for way in args.ways}
    for model in args.models:
        if model == "isnet" and name.startswith("photographs"):
            continue
        count = min(args.frames, SLOW.get(model, args.frames))
        for way, options in args.ways.items():
            found = []
            for stream, (frames, mattes) in enumerate(streams):
                got = run(frames[:count], "model=%s %s" % (model, options), folder)
                found.append(matte_metrics.measure(got, mattes[:count]))
                shown[way][stream].append(got[-1])
            print("| %s | %s | %s |" % (name, model, way),
                  " | ".join("%.2f" % np.mean([f[m] for f in found])
                             for m in matte_metrics.NAMES), "|", flush=True)
    for stream in range(len(streams)):
        rows.extend(shown[way][stream] for way in args.ways)


def table(args):
    args.ways = {way: WAYS[way] for way in args.ways.split(",")} if args.ways else dict(WAYS)
    args.ways.update(way.split("=", 1) for way in args.way)
    reasons = {model: why_not(model) for model in args.models.split(",")}
    args.models = [model for model, reason in reasons.items() if not reason]
    rows = []
    print("| scene | model | way |", " | ".join(matte_metrics.NAMES), "|\n|" + "---|" * 8)
    with tempfile.TemporaryDirectory() as folder:
        for name in args.scenes.split(","):
            reason = no_photographs() if name.startswith("photographs") else None
            if reason:
                print("skipped: %s: %s" % (name, reason), file=sys.stderr)
                continue
            measure_scene(name, args, rows, folder)
        if args.sheet and rows:
            write_sheet(args.sheet, rows, folder)
            print("columns of the sheet: frame, truth,", ", ".join(args.models), file=sys.stderr)
    for model, reason in reasons.items():
        if reason:
            print("skipped: %s: %s" % (model, reason), file=sys.stderr)


# ------------------------------------------------------------------ the test

def test():
    wrong = matte_metrics.self_test()
    for line in wrong:
        print("FAILED:", line)
    with tempfile.TemporaryDirectory() as folder:
        frames, mattes = matte_scenes.drawn(640, 480, 8, True)
        got = matte_metrics.measure(run(frames, "", folder), mattes)
        none = matte_metrics.measure(0 * mattes, mattes)
    for name, most in TEST_MOST.items():
        good = got[name] <= most
        wrong += [] if good else [name]
        print("%s: %s of the drawn person %.2f (at most %.2f; without any mask %.2f)"
              % ("ok" if good else "FAILED", name, got[name], most, none[name]))
    sys.exit(bool(wrong))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", action="store_true")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--scenes", default=",".join(SCENES))
    parser.add_argument("--ways")
    parser.add_argument("--way", action="append", default=[])
    parser.add_argument("--frames", type=int, default=30)
    parser.add_argument("--sheet")
    args = parser.parse_args()
    if args.test:
        test()
    table(args)


if __name__ == "__main__":
    main()
