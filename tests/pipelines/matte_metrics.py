# SPDX-License-Identifier: LGPL-2.1-or-later
"""How far mattes are from the true ones, as the papers on matting measure it.

Mattes are arrays of 0 to 1, frames × rows × columns. All errors are over whole frames, and 0
where nothing is wrong. The factors are those of the tables of Robust Video Matting (Lin et al.
2022), so numbers for frames of one size can be laid beside theirs.

MAD, MSE   mean absolute and squared difference, × 1000
Grad       squared difference of the mattes' gradients, summed over a frame, / 1000
Conn       difference in how connected pixels are to what both mattes hold, summed, / 1000
dtSSD      root of the mean squared difference between the changes from frame to frame, × 100

Grad and Conn are from Rhemann et al., "A Perceptually Motivated Online Benchmark for Image
Matting" (2009), dtSSD is from Erofeev et al., "Perceptually Motivated Benchmark for Video
Matting" (2015).
"""
import math

import numpy as np
from scipy import ndimage

NAMES = ("MAD", "MSE", "Grad", "Conn", "dtSSD")
SIGMA = 1.4   # px, of the Gaussian whose derivatives give the gradient
REACH = math.ceil(3 * SIGMA)
STEP = 0.1    # between the levels at which connection is looked at
THETA = 0.15  # what a matte may be above its connected level for nothing


def gradient(matte):
    """Its length by derivatives of a Gaussian whose two-dimensional kernel has a norm of 1."""
    x = np.arange(-REACH, REACH + 1)
    smooth = np.exp(-x ** 2 / (2 * SIGMA ** 2))
    slope = x * smooth
    smooth, slope = (kernel / np.sqrt((kernel ** 2).sum()) for kernel in (smooth, slope))
    sides = [ndimage.correlate1d(ndimage.correlate1d(matte, slope, axis, mode="nearest"),
                                 smooth, 1 - axis, mode="nearest") for axis in (0, 1)]
    return np.hypot(*sides)


def connected_level(matte, truth):
    """Of each pixel the last level up to which it lies in the largest piece that both have."""
    both = np.minimum(matte, truth)
    level = np.zeros_like(both)
    held = np.ones(both.shape, bool)
    for i in range(1, round(1 / STEP) + 1):
        labels, count = ndimage.label(both >= i * STEP - 1e-6)
        if count == 0:
            break
        held &= labels == 1 + np.bincount(labels.ravel())[1:].argmax()
        level[held] = i * STEP
    return level


def connectivity(matte, level):
    above = matte - level
    return 1 - above * (above >= THETA - 1e-6)


def inhabited(*mattes):
    """The rows and columns outside of which they are 0, with room for gradients."""
    any_of = np.maximum(*mattes) > 0
    bounds = []
    for axis, size in enumerate(any_of.shape):
        at = np.flatnonzero(any_of.any(1 - axis))
        bounds.append(slice(max(at[0] - REACH, 0), at[-1] + 1 + REACH) if len(at)
                      else slice(0, size))
    return tuple(bounds)


def measure(mattes, truths):
    """The five by name, means over the frames. dtSSD of a single frame is 0."""
    found = {name: [] for name in NAMES}
    change = None
    for matte, truth in zip(mattes, truths):
        error = matte.astype(np.float32) - truth
        found["MAD"].append(1e3 * np.abs(error).mean())
        found["MSE"].append(1e3 * (error ** 2).mean())
        part = inhabited(matte, truth)
        matte, truth = matte[part].astype(np.float32), truth[part].astype(np.float32)
        level = connected_level(matte, truth)
        found["Grad"].append(1e-3 * ((gradient(matte) - gradient(truth)) ** 2).sum())
        found["Conn"].append(1e-3 * np.abs(connectivity(matte, level)
                                           - connectivity(truth, level)).sum())
        if change is not None:
            found["dtSSD"].append(1e2 * math.sqrt(((error - change) ** 2).mean()))
        change = error
    return {name: float(np.mean(values)) if values else 0.0 for name, values in found.items()}


def self_test():
    """Mattes whose errors follow from the definitions. Returns what is wrong, as lines."""
    wrong = []

    def expect(what, mattes, truths, share=1e-3, **wanted):
        got = measure(np.asarray(mattes, np.float32), np.asarray(truths, np.float32))
        for name in NAMES:
            value = wanted.get(name, 0)
            if value is not None and abs(got[name] - value) > share * abs(value) + 1e-4:
                wrong.append("%s: %s is %.5f, not %.5f" % (what, name, got[name], value))

    rows, columns = 40, 60
    square = np.zeros((3, rows, columns))
    square[:, 10:30, 20:40] = 1
    some = np.random.default_rng(1).random((3, rows, columns))
    expect("the same", some, some)

    # A step that a flat matte has not. By the integrals of a Gaussian with a kernel of norm 1,
    # its squares are 4 √π σ³ for each row.
    step = np.zeros((1, rows, columns))
    step[:, :, 30:] = 1
    expect("a step", step * 0, step, share=0.03, MAD=500, MSE=500, Conn=None,
           Grad=1e-3 * rows * 4 * math.sqrt(math.pi) * 1.4 ** 3)
    expect("a lying step", step.swapaxes(1, 2) * 0, step.swapaxes(1, 2), share=0.03, MAD=500,
           MSE=500, Conn=None, Grad=1e-3 * rows * 4 * math.sqrt(math.pi) * 1.4 ** 3)

    # Half of the picture has 0.1 more: connected still. With 0.3 more it is cut off by 0.3.
    low = np.full((2, rows, columns), 0.6)
    expect("0.1 above", low + 0.1, low, MAD=100, MSE=10)
    expect("0.3 above", low + 0.3, low, MAD=300, MSE=90, Conn=1e-3 * rows * columns * 0.3)
    expect("0.3 below", low - 0.3, low, MAD=300, MSE=90, Conn=1e-3 * rows * columns * 0.3)

    # An island of 12 pixels that is connected to nothing, and a hole.
    far = square.copy()
    far[:, 2:5, 2:6] = 1
    share = 12 / (rows * columns)
    expect("an island", far, square, MAD=1e3 * share, MSE=1e3 * share, Conn=0.012, Grad=None)
    hole = square.copy()
    hole[:, 18:21, 25:29] = 0
    expect("a hole", hole, square, MAD=1e3 * share, MSE=1e3 * share, Conn=0.012, Grad=None)
    # An island in both mattes is no more connected for that: what differs counts.
    expect("an island in both", np.where(far > square, 0.9, far), far, MAD=1e3 * share * 0.1,
           MSE=1e3 * share * 0.01, Conn=0.012 * 0.1, Grad=None)

    # Flicker, which the truth has not; and a truth that moves with what stands still.
    sign = np.array([1, -1, 1]).reshape(3, 1, 1)
    expect("flicker", low[:1] + 0.05 * sign, np.repeat(low[:1], 3, 0), MAD=50, MSE=2.5, dtSSD=10)
    moving = np.stack([np.roll(square[0], 2 * i, 1) for i in range(3)])
    expect("moving along", moving, moving)
    expect("left behind", square[:2], moving[:2], MAD=1e3 * 40 / (rows * columns),
           MSE=1e3 * 40 / (rows * columns), Conn=None, Grad=None,
           dtSSD=1e2 * math.sqrt(80 / (rows * columns)))
    return wrong
