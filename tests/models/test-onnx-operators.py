#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ONNX's operators that become several of libtdl's, against NumPy: test-onnx-operators.py TDL-RUN

Models are written here, and run on the device of TDL_DEVICE, fused and not. References
follow ONNX's Operators.md.
"""
import itertools
import os
import subprocess
import sys
import tempfile

import numpy as np
from chains import Message, Node, field, tensor_file, value_info

RANDOM = np.random.RandomState(7)
KINDS = {"float32": 1, "uint8": 2, "int32": 6, "int64": 7}
CASES = []


def numbers(*shape):
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def graph(nodes, weights=None, inputs=None, outputs=()):
    text = b"".join(field(1, n.file()) for n in nodes) + field(2, "g")
    for name, value in (weights or {}).items():
        kind = KINDS[str(value.dtype)]
        text += field(5, tensor_file(name, kind, value.shape, value.flatten().tolist()))
    for name, value in (inputs or {}).items():
        text += field(11, value_info(name, value.shape, KINDS[str(value.dtype)]))
    return text + b"".join(field(12, value_info(o)) for o in outputs)


def case(name, nodes, wants, weights=None, inputs=None, opset=20):
    """Outputs are named as in `wants`; an input is "x" unless said otherwise."""
    CASES.append((name, nodes, wants, weights or {}, inputs or {}, opset))


def refused(name, nodes, text, weights=None, inputs=None, opset=20):
    CASES.append((name, nodes, text, weights or {}, inputs or {}, opset))


# ------------------------------------------------------------------- normalization

def by_own_moments(x, scale, bias, epsilon):
    axes = tuple(i for i in range(x.ndim) if i != 1)
    shape = (1, -1) + (1,) * (x.ndim - 2)
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * scale.reshape(shape) + bias.reshape(shape)


def training():
    for shape in ((1, 5, 7), (2, 3), (3, 5, 4, 2), (2, 4, 3, 2, 3)):
        x, c = numbers(*shape) * 3 + 1, shape[1]
        weights = {"s": numbers(c), "b": numbers(c), "m": numbers(c), "v": numbers(c) ** 2}
        axes = tuple(i for i in range(x.ndim) if i != 1)
        wants = {"y": by_own_moments(x, weights["s"], weights["b"], 0.01),
                 "mean": weights["m"] * 0.75 + x.mean(axes) * 0.25,
                 "variance": weights["v"] * 0.75 + x.var(axes) * 0.25}
        case("BatchNormalization in training of %s" % (shape,),
             [Node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y", "mean", "variance"],
                   {"training_mode": 1, "epsilon": 0.01, "momentum": 0.75})],
             wants, weights, {"x": x})
    # As weights are standardised: all of it is known, and the filter of a convolution.
    w, x = numbers(6, 4, 1, 1), numbers(1, 4, 3, 5)
    weights = {"w": w, "s": numbers(6), "b": numbers(6), "zero": np.zeros(6, np.float32),
               "one": np.ones(6, np.float32), "flat": ints(1, 6, -1), "filter": ints(6, 4, 1, 1)}
    standard = by_own_moments(w.reshape(1, 6, 4), weights["s"], weights["b"], 1e-5)
    case("standardised weights",
         [Node("Reshape", ["w", "flat"], ["f"], {}),
          Node("BatchNormalization", ["f", "s", "b", "zero", "one"], ["n", "mean", "variance"],
               {"training_mode": 1, "momentum": 1.0}),
          Node("Reshape", ["n", "filter"], ["k"], {}),
          Node("Conv", ["x", "k"], ["y"], {})],
         {"y": np.einsum("oc,nchw->nohw", standard[0], x)}, weights, {"x": x})


training()


# --------------------------------------------------------------------------- running

def run(tdl_run, folder, nodes, names, weights, inputs, opset, arguments):
    path = os.path.join(folder, "it.onnx")
    with open(path, "wb") as f:
        f.write(field(1, 8) + field(7, graph(nodes, weights, inputs, names)) +
                field(8, field(2, opset)))
    command = [tdl_run, "-p", "fp32", path] + arguments
    for name, value in inputs.items():
        at = os.path.join(folder, "in-%s.npy" % name)
        np.save(at, value)
        command += ["-i", "%s=%s" % (name, at)]
    for name in names:
        command += ["-o", "%s=%s" % (name, os.path.join(folder, "out-%s.npy" % name))]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def compare(folder, wants):
    for key, want in wants.items():
        got, want = np.load(os.path.join(folder, "out-%s.npy" % key)), np.asarray(want)
        if got.shape != want.shape:
            return "%s has the shape %s instead of %s" % (key, got.shape, want.shape)
        limit = 1e-4 * max(1, np.abs(want).max()) if want.dtype.kind == "f" else 0
        if not np.all(np.abs(got.astype(np.float64) - want) <= limit):
            return "%s is off by %g" % (key, np.abs(got.astype(np.float64) - want).max())
    return None


def check(tdl_run, folder, one, arguments):
    name, nodes, wants, weights, inputs, opset = one
    is_refused = isinstance(wants, str)
    done = run(tdl_run, folder, nodes, ["y"] if is_refused else wants, weights, inputs, opset,
               arguments)
    if is_refused:
        wrong = None if done.returncode == 1 and wants in done.stderr else "not refused so"
    else:
        wrong = None if done.returncode else compare(folder, wants)
    if done.returncode and (wrong or not is_refused):
        wrong = "%s (%d) %s" % (wrong, done.returncode, done.stderr.strip())
    return "%s %s: %s" % (name, " ".join(arguments), wrong) if wrong else None


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        for one, arguments in itertools.product(CASES, ([], ["-n"])):
            faults += [f for f in [check(sys.argv[1], folder, one, arguments)] if f]
    for fault in faults:
        print("FAIL " + fault)
    print("%d models, %d failures" % (len(CASES), len(faults)))
    return 1 if faults else 0


sys.exit(main())
