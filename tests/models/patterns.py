#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small networks, each with a pattern that models of others have: patterns.py FOLDER

Writes FOLDER/NAME.onnx, and a line "NAME INPUT=SHAPE..." for each to standard output.
Needs python3-onnx and python3-numpy. The weights come from a fixed seed.
"""
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

random = numpy.random.default_rng(20)


class Network:
    """Nodes in their order; every method returns the name of what it makes."""

    def __init__(self, name):
        self.name, self.nodes, self.weights = name, [], []

    def constant(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.asarray(values), name))
        return name

    def weight(self, *shape):
        scale = 1 / numpy.sqrt(max(1, numpy.prod(shape[1:])))
        return self.constant((random.normal(size=shape) * scale).astype(numpy.float32))

    def ints(self, *values):
        return self.constant(numpy.array(values, numpy.int64))

    def node(self, kind, *inputs, outputs=1, into=None, **attributes):
        names = into or [f"n{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if len(names) == 1 else names

    def conv(self, x, channels, to, size, **attributes):
        pads = [size // 2] * 4
        return self.node("Conv", x, self.weight(to, channels, size, size), self.weight(to),
                         kernel_shape=[size, size], pads=pads, **attributes)

    def silu(self, x):
        return self.node("Mul", x, self.node("Sigmoid", x))

    def save(self, folder, inputs, outputs):
        def infos(of):
            return [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in of.items()]
        graph = helper.make_graph(self.nodes, self.name, infos(inputs), infos(outputs),
                                  initializer=self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 7
        onnx.checker.check_model(model)
        onnx.save(model, f"{folder}/{self.name}.onnx")
        shapes = (f"{n}={','.join(map(str, s))}" for n, s in inputs.items())
        print(self.name, *shapes)


def recurrent(folder):
    """A gated cell of convolutions, as recurrent matting has between its stages."""
    n = Network("recurrent")
    x = n.node("Relu", n.conv("src", 3, 8, 3, strides=[2, 2]))
    both = n.node("Concat", x, "state", axis=1)
    gates = n.node("Sigmoid", n.conv(both, 16, 16, 3))
    reset, update = n.node("Split", gates, n.ints(8, 8), outputs=2, axis=1)
    new = n.node("Tanh", n.conv(n.node("Concat", x, n.node("Mul", reset, "state"), axis=1),
                                16, 8, 3))
    one = n.constant(numpy.float32(1))
    n.node("Add", n.node("Mul", n.node("Sub", one, update), "state"),
           n.node("Mul", update, new), into=["next"])
    sizes = n.constant(numpy.array([1, 1, 2, 2], numpy.float32))
    n.node("Sigmoid", n.conv(n.node("Resize", "next", "", sizes, mode="linear",
                                    coordinate_transformation_mode="half_pixel"), 8, 1, 1),
           into=["alpha"])
    n.save(folder, {"src": [1, 3, 36, 52], "state": [1, 8, 18, 26]},
           {"next": [1, 8, 18, 26], "alpha": [1, 1, 36, 52]})


def segmenting_head(folder):
    """Boxes by distribution, classes, coefficients and prototypes, as YOLO-seg ends."""
    n = Network("segmenting-head")
    x = n.silu(n.conv("images", 3, 16, 3, strides=[2, 2]))
    y = n.silu(n.conv(x, 16, 24, 3, strides=[2, 2]))
    pooled = [n.node("MaxPool", y, kernel_shape=[5, 5], pads=[2, 2, 2, 2])]
    pooled.append(n.node("MaxPool", pooled[0], kernel_shape=[5, 5], pads=[2, 2, 2, 2]))
    y = n.silu(n.conv(n.node("Concat", y, *pooled, axis=1), 72, 24, 1))
    flat = [n.node("Reshape", n.conv(y, 24, c, 1), n.ints(1, c, 12 * 16))
            for c in (32, 5, 8)]
    shares = n.node("Softmax", n.node("Transpose", n.node("Reshape", flat[0],
                                                          n.ints(1, 4, 8, 192)),
                                      perm=[0, 2, 1, 3]), axis=1)
    expected = n.node("Conv", shares, n.constant(
        numpy.arange(8, dtype=numpy.float32).reshape(1, 8, 1, 1)))
    boxes = n.node("Reshape", expected, n.ints(1, 4, 192))
    n.node("Concat", boxes, n.node("Sigmoid", flat[1]), flat[2], axis=1, into=["found"])
    n.silu(n.node("ConvTranspose", y, n.weight(24, 12, 2, 2), strides=[2, 2]))
    n.nodes[-1].output[0] = "prototypes"
    n.save(folder, {"images": [1, 3, 48, 64]},
           {"found": [1, 17, 192], "prototypes": [1, 12, 24, 32]})


def attention_block(folder):
    """Patches, layer normalisation of its parts, four heads, and a fed-forward layer."""
    n = Network("attention")
    tokens = n.node("Transpose", n.node("Reshape", n.node(
        "Conv", "pixels", n.weight(32, 3, 4, 4), strides=[4, 4]), n.ints(1, 32, 80)),
        perm=[0, 2, 1])

    def normalised(x):
        centred = n.node("Sub", x, n.node("ReduceMean", x, axes=[-1], keepdims=1))
        square = n.node("ReduceMean", n.node("Mul", centred, centred), axes=[-1], keepdims=1)
        root = n.node("Sqrt", n.node("Add", square, n.constant(numpy.float32(1e-5))))
        return n.node("Add", n.node("Mul", n.node("Div", centred, root), n.weight(32)),
                      n.weight(32))

    def heads(x, order):
        x = n.node("Add", n.node("MatMul", x, n.weight(32, 32)), n.weight(32))
        return n.node("Transpose", n.node("Reshape", x, n.ints(1, 80, 4, 8)), perm=order)

    x = normalised(tokens)
    scores = n.node("MatMul", heads(x, [0, 2, 1, 3]), heads(x, [0, 2, 3, 1]))
    scores = n.node("Div", scores, n.constant(numpy.float32(8 ** 0.5)))
    mixed = n.node("MatMul", n.node("Softmax", scores, axis=-1), heads(x, [0, 2, 1, 3]))
    mixed = n.node("Reshape", n.node("Transpose", mixed, perm=[0, 2, 1, 3]), n.ints(1, 80, 32))
    tokens = n.node("Add", tokens, n.node("MatMul", mixed, n.weight(32, 32)))
    x = n.node("MatMul", normalised(tokens), n.weight(32, 64))
    half = n.node("Div", x, n.constant(numpy.float32(2 ** 0.5)))
    x = n.node("Mul", n.node("Mul", x, n.constant(numpy.float32(0.5))),
               n.node("Add", n.node("Erf", half), n.constant(numpy.float32(1))))
    n.node("Add", tokens, n.node("MatMul", x, n.weight(64, 32)), into=["tokens"])
    n.save(folder, {"pixels": [1, 3, 32, 40]}, {"tokens": [1, 80, 32]})


if len(sys.argv) != 2:
    sys.exit(__doc__)
recurrent(sys.argv[1])
segmenting_head(sys.argv[1])
attention_block(sys.argv[1])
