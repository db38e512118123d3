# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small ONNX models as files, what tdl-run makes of them, and what NumPy says."""
import os
import subprocess

import numpy as np
from chains import Message, Node, field, value_info

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


def body(nodes, inputs, outputs, weights=None):
    """The attribute of a Loop; inputs and outputs are names of floats, or have a type beside."""
    def info(value):
        return value_info(value) if isinstance(value, str) else value_info(*value)

    text = b"".join(field(1, n.file()) for n in nodes) + field(2, "body")
    for name, value in (weights or {}).items():
        text += field(5, tensor(name, np.asarray(value)))
    text += b"".join(field(11, info(i)) for i in inputs)
    return Message(6, text + b"".join(field(12, info(o)) for o in outputs))


class Nodes(list):
    """Nodes that are added one by one, each with a name that is its output's."""

    def add(self, kind, *inputs, name=None, **attributes):
        name = name or "%s%d" % (kind, len(self))
        self.append(Node(kind, list(inputs), [name], attributes))
        return name


def pasting_body(half_pixel):
    """As TorchScript writes torchvision's loop that puts masks into a picture: each is resized to
    its box, and has zeros round it. Of the outer graph it takes "masks", "boxes", and numbers
    "n0", "n1", "n2", "n3" (scalars), "one", "two" and "zero" (lists), "height", "width"."""
    n = Nodes()
    mask = n.add("Gather", n.add("Gather", "masks", "i", axis=0), "n0", axis=0)
    box = n.add("Gather", "boxes", "i", axis=0)
    x0, y0, x1, y1 = (n.add("Gather", box, "n%d" % k, axis=0) for k in range(4))

    def at(x):
        return n.add("Unsqueeze", x, "zero")

    def both(kind, *x):
        return n.add(kind, n.add("Concat", *x, axis=0), keepdims=0)

    size = [both("ReduceMax", n.add("Add", n.add("Sub", b, a), "one"), "one")
            for a, b in ((y0, y1), (x0, x1))]
    mask = n.add("Expand", mask, n.add("Concat", "one", "one", n.add("Shape", mask), axis=0))
    sizes = n.add("Concat", n.add("Slice", n.add("Shape", mask), "zero", "two", "zero"),
                  *(at(n.add("Cast", s, to=7)) for s in size), axis=0)
    mask = n.add("Resize", mask, "", "", sizes, mode="linear",
                 coordinate_transformation_mode=half_pixel)
    mask = n.add("Gather", n.add("Gather", mask, "n0", axis=0), "n0", axis=0)
    begin = [both("ReduceMax", at(a), "zero") for a in (y0, x0)]
    end = [both("ReduceMin", n.add("Add", at(b), "one"), side)
           for b, side in ((y1, "height"), (x1, "width"))]
    for axis, (a, b, first) in enumerate(zip(begin, end, (y0, x0))):
        mask = n.add("Slice", mask, at(n.add("Sub", a, first)), at(n.add("Sub", b, first)),
                     "one" if axis else "zero")
    for axis, (a, b, side) in enumerate(zip(begin, end, ("height", "width"))):
        rest = n.add("Sub", side, b)
        other = n.add("Slice", n.add("Shape", mask), "zero" if axis else "one",
                      "one" if axis else "two", "zero")
        zeros = [n.add("ConstantOfShape", n.add("Concat", *((other, s) if axis else (s, other)),
                                                axis=0)) for s in (at(a), rest)]
        mask = n.add("Slice", n.add("Concat", zeros[0], mask, zeros[1], axis=axis), "zero", side,
                     "one" if axis else "zero")
    n.add("Concat", "list", at(mask), axis=0, name="longer")
    n.add("Identity", "go", name="on")
    return body(n, [("i", (), 7), ("go", (), 9), "list"], [("on", (), 9), "longer"])
