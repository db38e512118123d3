#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A TensorFlow Lite model as one of ONNX: tflite-to-onnx.py MODEL.tflite OUT.onnx

So that ONNX Runtime can compute what is right for it. The file is read by itself, not
by the reader under test: table numbers are those of TensorFlow's public schema.fbs.
Only the operators of convolutional networks in floats. Needs python3-onnx.
"""
import struct
import sys

import numpy
from onnx import TensorProto, checker, helper, numpy_helper, save

SAME = 0
TYPES = {0: numpy.float32, 1: numpy.float16, 2: numpy.int32}
ACTIVATIONS = {0: None, 1: "Relu", 3: "Relu6", 4: "Tanh"}


class Table:
    """A FlatBuffers table: its first number is the distance to the list of its fields."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.fields = at - struct.unpack_from("<i", data, at)[0]

    def place(self, field):
        size = struct.unpack_from("<H", self.data, self.fields)[0]
        slot = 4 + 2 * field
        offset = struct.unpack_from("<H", self.data, self.fields + slot)[0] if slot < size else 0
        return self.at + offset if offset else None

    def number(self, field, kind, default=0):
        at = self.place(field)
        return default if at is None else struct.unpack_from("<" + kind, self.data, at)[0]

    def behind(self, field):
        at = self.place(field)
        return None if at is None else at + struct.unpack_from("<I", self.data, at)[0]

    def table(self, field):
        at = self.behind(field)
        return Table(self.data, at) if at else Nothing()

    def vector(self, field, kind):
        at = self.behind(field)
        if at is None:
            return b"" if kind == "B" else []
        count = struct.unpack_from("<I", self.data, at)[0]
        if kind == "B":
            return self.data[at + 4:at + 4 + count]
        return list(struct.unpack_from(f"<{count}{kind}", self.data, at + 4))

    def tables(self, field):
        at = self.behind(field)
        count = struct.unpack_from("<I", self.data, at)[0]
        places = [at + 4 + 4 * i for i in range(count)]
        return [Table(self.data, p + struct.unpack_from("<I", self.data, p)[0]) for p in places]


class Nothing:
    """A table that is not there has its defaults."""

    def number(self, _field, _kind, default=0):
        return default


class Converter:
    def __init__(self, data):
        model = Table(data, struct.unpack_from("<I", data, 0)[0])
        self.graph = model.tables(2)[0]
        self.tensors, self.buffers = self.graph.tables(0), model.tables(4)
        self.codes = [max(c.number(0, "b"), c.number(3, "i")) for c in model.tables(1)]
        self.nodes, self.weights, self.names = [], [], {}
        self.weight_of = {}  # the halves that a constant is made of

    def shape(self, tensor):
        return self.tensors[tensor].vector(0, "i")

    def tensor_name(self, tensor):
        return bytes(self.tensors[tensor].vector(3, "B")).decode()

    def values(self, tensor):
        """What a constant holds, else None."""
        t = self.tensors[tensor]
        data = self.buffers[t.number(2, "I")].vector(0, "B")
        if not data:
            return None
        return numpy.frombuffer(data, TYPES[t.number(1, "b")]).reshape(self.shape(tensor))

    def weights_of(self, tensor):
        return self.values(self.weight_of.get(tensor, tensor)).astype(numpy.float32)

    def constant(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.ascontiguousarray(values), name))
        return name

    def name(self, tensor):
        if tensor not in self.names:
            self.names[tensor] = self.constant(self.weights_of(tensor))
        return self.names[tensor]

    def node(self, kind, *inputs, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def as_nchw(self, kind, x, *inputs, **attributes):
        x = self.node("Transpose", x, perm=[0, 3, 1, 2])
        x = self.node(kind, x, *inputs, **attributes)
        return self.node("Transpose", x, perm=[0, 2, 3, 1])

    def activated(self, x, activation):
        kind = ACTIVATIONS[activation]
        if kind == "Relu6":
            bounds = [self.constant(numpy.float32(v)) for v in (0, 6)]
            return self.node("Clip", x, *bounds)
        return self.node(kind, x) if kind else x

    def window(self, options):
        return {"auto_pad": "SAME_UPPER" if options.number(0, "b") == SAME else "VALID",
                "strides": [options.number(2, "i"), options.number(1, "i")]}

    def conv(self, inputs, options, depthwise):
        later = 1 if depthwise else 0  # a field more stands before these
        weights = self.weights_of(inputs[1])
        weights = weights.transpose((3, 0, 1, 2) if depthwise else (0, 3, 1, 2))
        wide, high = (options.number(f + later, "i", 1) for f in (4, 5))
        group = self.shape(inputs[0])[3] if depthwise else 1
        bias = [self.name(inputs[2])] if len(inputs) > 2 and inputs[2] >= 0 else []
        x = self.as_nchw("Conv", self.name(inputs[0]), self.constant(weights), *bias, group=group,
                         dilations=[high, wide], **self.window(options))
        return self.activated(x, options.number(3 + later, "b"))

    def pool(self, kind, inputs, options):
        x = self.as_nchw(kind, self.name(inputs[0]), **self.window(options),
                         kernel_shape=[options.number(4, "i"), options.number(3, "i")])
        return self.activated(x, options.number(5, "b"))

    def resize(self, inputs, options):
        height, width = self.values(inputs[1])
        n, _, _, c = self.shape(inputs[0])
        mode = ("half_pixel" if options.number(3, "?") else
                "align_corners" if options.number(2, "?") else "asymmetric")
        sizes = self.constant(numpy.array([n, c, height, width], numpy.int64))
        return self.as_nchw("Resize", self.name(inputs[0]), "", "", sizes, mode="linear",
                            coordinate_transformation_mode=mode)

    def upscale(self, inputs, options):
        """MediaPipe's Convolution2DTransposeBias: padding and strides are its options."""
        weights = self.weights_of(inputs[1])
        _, width, height = struct.unpack("<3i", options[:12])
        if weights.shape[1:3] != (height, width):
            sys.exit("tflite-to-onnx: transposed convolutions only where windows do not meet")
        return self.as_nchw("ConvTranspose", self.name(inputs[0]),
                            self.constant(weights.transpose(3, 0, 1, 2)), self.name(inputs[2]),
                            strides=[height, width])

    def two(self, kind, inputs, options):
        x = self.node(kind, *map(self.name, inputs))
        return self.activated(x, options.number(0, "b"))

    def converted(self, operator, code, output):
        inputs, options = operator.vector(1, "i"), operator.table(4)
        name = lambda i: self.name(inputs[i])
        ints = lambda values: self.constant(numpy.array(values, numpy.int64))
        rules = {
            0: lambda: self.two("Add", inputs, options),
            1: lambda: self.pool("AveragePool", inputs, options),
            3: lambda: self.conv(inputs, options, False),
            4: lambda: self.conv(inputs, options, True),
            14: lambda: self.node("Sigmoid", name(0)),
            17: lambda: self.pool("MaxPool", inputs, options),
            18: lambda: self.two("Mul", inputs, options),
            19: lambda: self.node("Relu", name(0)),
            22: lambda: self.node("Reshape", name(0), ints(self.shape(output))),
            23: lambda: self.resize(inputs, options),
            32: lambda: self.upscale(inputs, operator.vector(5, "B")),
            34: lambda: self.node("Pad", name(0), ints(self.values(inputs[1]).T.reshape(-1))),
            40: lambda: self.node("ReduceMean", name(0), axes=[int(v) for v in self.values(
                inputs[1]).reshape(-1)], keepdims=int(options.number(0, "?"))),
            117: lambda: self.node("HardSwish", name(0)),
        }
        if code not in rules:
            sys.exit(f"tflite-to-onnx: no rule for operator {code}")
        return rules[code]()

    def convert(self):
        info = helper.make_tensor_value_info
        inputs, outputs = self.graph.vector(1, "i"), self.graph.vector(2, "i")
        for t in inputs:
            self.names[t] = self.tensor_name(t)
        for operator in self.graph.tables(3):
            code = self.codes[operator.number(0, "I")]
            into, out = operator.vector(1, "i"), operator.vector(2, "i")[0]
            if code == 6 and self.values(into[0]) is not None:  # weights kept as halves
                self.weight_of[out] = into[0]
                continue
            self.names[out] = self.converted(operator, code, out)
        for t in outputs:
            self.nodes.append(helper.make_node("Identity", [self.names[t]], [self.tensor_name(t)]))
        floats = lambda ts: [info(self.tensor_name(t), TensorProto.FLOAT, self.shape(t)) for t in ts]
        graph = helper.make_graph(self.nodes, "tflite", floats(inputs), floats(outputs), self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=7)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as file:
        model = Converter(file.read()).convert()
    checker.check_model(model)
    save(model, sys.argv[2])


main()
