# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small ONNX models as files, what tdl-run makes of them, and what NumPy says."""
import os
import subprocess

import numpy as np
from chains import field, value_info

KINDS = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "uint32": 12}


def tensor(name, data):
    return (b"".join(field(1, int(d)) for d in data.shape) + field(2, KINDS[data.dtype.name]) +
            field(8, name) + field(9, data.tobytes()))


def graph(nodes, weights=None, inputs=None, outputs=()):
    """Its message: of nodes in their order, and arrays by name."""
    text = b"".join(field(1, n.file()) for n in nodes) + field(2, "g")
    for name, value in (weights or {}).items():
        text += field(5, tensor(name, np.asarray(value)))
    for name, value in (inputs or {}).items():
        text += field(11, value_info(name, value.shape, KINDS[value.dtype.name]))
    return text + b"".join(field(12, value_info(o)) for o in outputs)


def run(tdl_run, folder, nodes, names, weights, inputs, opset, arguments):
    """Outputs by these names, each in a file out-NAME.npy of the folder."""
    path = os.path.join(folder, "it.onnx")
    with open(path, "wb") as f:
        f.write(field(1, 8) + field(7, graph(nodes, weights, inputs, names)) +
                field(8, field(2, opset)) + field(8, field(1, "com.microsoft") + field(2, 1)))
    command = [tdl_run, "-p", "fp32", path] + arguments
    for name, value in inputs.items():
        at = os.path.join(folder, "in-%s.npy" % name)
        np.save(at, value)
        command += ["-i", "%s=%s" % (name, at)]
    for name in names:
        command += ["-o", "%s=%s" % (name, os.path.join(folder, "out-%s.npy" % name))]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def read(folder, name):
    return np.load(os.path.join(folder, "out-%s.npy" % name))


def difference(name, got, want):
    """What is wrong with it, or None."""
    want = np.asarray(want)
    if got.shape != want.shape:
        return "%s has the shape %s instead of %s" % (name, got.shape, want.shape)
    got, limit = got.astype(np.float64), 0
    if want.dtype.kind == "f":
        limit = 1e-4 * max([1] + list(np.abs(want[np.isfinite(want)]).flatten()))
    with np.errstate(invalid="ignore"):
        if not np.all((np.abs(got - want) <= limit) | (got == want) |
                      (np.isnan(got) & np.isnan(want.astype(np.float64)))):
            return "%s is off by %g" % (name, np.abs(got - want).max())
    return None


def compare(folder, wants):
    for key, want in wants.items():
        wrong = difference(key, read(folder, key), want)
        if wrong:
            return wrong
    return None
