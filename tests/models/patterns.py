#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small networks, each with a pattern that models of others have: patterns.py FOLDER

Writes FOLDER/NAME.onnx, and a line "NAME INPUT=SHAPE..." for each to standard output.
Needs python3-numpy. The weights come from a fixed seed.
"""
import sys

import numpy
from chains import Message, Node, field, value_info
from onnx_models import KINDS, graph, tensor

random = numpy.random.default_rng(20)


class Network:
    """Nodes in their order; every method returns the name of what it makes."""

    def __init__(self, name):
        self.name, self.nodes, self.weights = name, [], {}

    def constant(self, values):
        name = f"w{len(self.weights)}"
        self.weights[name] = numpy.asarray(values)
        return name

    def weight(self, *shape):
        scale = 1 / numpy.sqrt(max(1, numpy.prod(shape[1:])))
        return self.constant((random.normal(size=shape) * scale).astype(numpy.float32))

    def ints(self, *values):
        return self.constant(numpy.array(values, numpy.int64))

    def node(self, kind, *inputs, outputs=1, into=None, **attributes):
        names = into or [f"n{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(Node(kind, list(inputs), names, attributes))
        return names[0] if len(names) == 1 else names

    def conv(self, x, channels, to, size, **attributes):
        pads = [size // 2] * 4
        return self.node("Conv", x, self.weight(to, channels, size, size), self.weight(to),
                         kernel_shape=[size, size], pads=pads, **attributes)

    def silu(self, x):
        return self.node("Mul", x, self.node("Sigmoid", x))

    def gelu(self, x):
        half = self.node("Div", x, self.constant(numpy.float32(2 ** 0.5)))
        return self.node("Mul", self.node("Mul", x, self.constant(numpy.float32(0.5))), self.node(
            "Add", self.node("Erf", half), self.constant(numpy.float32(1))))

    def normalised(self, x, channels):
        """By mean and variance of the last dimension, in its parts."""
        centred = self.node("Sub", x, self.node("ReduceMean", x, axes=[-1], keepdims=1))
        square = self.node("ReduceMean", self.node("Mul", centred, centred), axes=[-1], keepdims=1)
        root = self.node("Sqrt", self.node("Add", square, self.constant(numpy.float32(1e-5))))
        return self.node("Add", self.node("Mul", self.node("Div", centred, root),
                                          self.weight(channels)), self.weight(channels))

    def save(self, folder, inputs, outputs):
        """Sizes of outputs that are a name are told by the model alone."""
        files = {name: numpy.empty(shape, numpy.float32) for name, shape in inputs.items()}
        told = [value_info(name, shape if all(isinstance(d, int) for d in shape) else None)
                for name, shape in outputs.items()]
        with open(f"{folder}/{self.name}.onnx", "wb") as f:
            f.write(field(1, 7) + field(8, field(2, 13)) + field(
                7, graph(self.nodes, self.weights, files) + b"".join(field(12, o) for o in told)))
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
    n.nodes[-1].outputs[0] = "prototypes"
    n.save(folder, {"images": [1, 3, 48, 64]},
           {"found": [1, 17, 192], "prototypes": [1, 12, 24, 32]})


def attention_block(folder):
    """Patches, layer normalisation of its parts, four heads, and a fed-forward layer."""
    n = Network("attention")
    tokens = n.node("Transpose", n.node("Reshape", n.node(
        "Conv", "pixels", n.weight(32, 3, 4, 4), strides=[4, 4]), n.ints(1, 32, 80)),
        perm=[0, 2, 1])

    def heads(x, order):
        x = n.node("Add", n.node("MatMul", x, n.weight(32, 32)), n.weight(32))
        return n.node("Transpose", n.node("Reshape", x, n.ints(1, 80, 4, 8)), perm=order)

    x = n.normalised(tokens, 32)
    scores = n.node("MatMul", heads(x, [0, 2, 1, 3]), heads(x, [0, 2, 3, 1]))
    scores = n.node("Div", scores, n.constant(numpy.float32(8 ** 0.5)))
    mixed = n.node("MatMul", n.node("Softmax", scores, axis=-1), heads(x, [0, 2, 1, 3]))
    mixed = n.node("Reshape", n.node("Transpose", mixed, perm=[0, 2, 1, 3]), n.ints(1, 80, 32))
    tokens = n.node("Add", tokens, n.node("MatMul", mixed, n.weight(32, 32)))
    x = n.node("MatMul", n.normalised(tokens, 32), n.weight(32, 64))
    n.node("Add", tokens, n.node("MatMul", n.gelu(x), n.weight(64, 32)), into=["tokens"])
    n.save(folder, {"pixels": [1, 3, 32, 40]}, {"tokens": [1, 80, 32]})


def segmenting_transformer(folder):
    """A stage of SegFormer and its head: overlapping patches, attention to fewer places than ask,
    a fed-forward layer with a depthwise convolution, and what all stages are joined by."""
    n, channels, heads = Network("segmenting-transformer"), 32, 2
    wide, high, each = 20, 16, channels // heads
    places, fewer = wide * high, wide * high // 16

    def linear(x, to, of=channels):
        return n.node("Add", n.node("MatMul", x, n.weight(of, to)), n.weight(to))

    def pixels(x, of=channels):
        return n.node("Reshape", n.node("Transpose", x, perm=[0, 2, 1]), n.ints(1, of, high, wide))

    def tokens(x, count, of=channels):
        return n.node("Transpose", n.node("Reshape", x, n.ints(1, of, count)), perm=[0, 2, 1])

    def parts(x, count, order):
        return n.node("Transpose", n.node("Reshape", linear(x, channels),
                                          n.ints(1, count, heads, each)), perm=order)

    x = n.normalised(tokens(n.conv("pixels", 3, channels, 7, strides=[4, 4]), places), channels)
    asking = n.normalised(x, channels)
    asked = n.node("Conv", pixels(asking), n.weight(channels, channels, 4, 4), strides=[4, 4])
    asked = n.normalised(tokens(asked, fewer), channels)
    scores = n.node("MatMul", parts(asking, places, [0, 2, 1, 3]),
                    parts(asked, fewer, [0, 2, 3, 1]))
    scores = n.node("Softmax", n.node("Mul", scores, n.constant(numpy.float32(each ** -0.5))),
                    axis=-1)
    mixed = n.node("MatMul", scores, parts(asked, fewer, [0, 2, 1, 3]))
    mixed = n.node("Reshape", n.node("Transpose", mixed, perm=[0, 2, 1, 3]),
                   n.ints(1, places, channels))
    x = n.node("Add", x, linear(mixed, channels))
    y = n.node("Conv", pixels(linear(n.normalised(x, channels), 4 * channels), 4 * channels),
               n.weight(4 * channels, 1, 3, 3), pads=[1] * 4, group=4 * channels)
    x = n.node("Add", x, linear(tokens(n.gelu(y), places, 4 * channels), channels, 4 * channels))
    levels = [pixels(linear(n.normalised(x, channels), channels))]
    coarse = n.node("Conv", levels[0], n.weight(channels, channels, 3, 3), strides=[2, 2],
                    pads=[1] * 4)
    levels.append(n.node("Resize", coarse, "", n.constant(numpy.array([1, 1, 2, 2], numpy.float32)),
                         mode="linear", coordinate_transformation_mode="half_pixel"))
    joined = n.node("Relu", n.conv(n.node("Concat", *levels, axis=1), 2 * channels, channels, 1))
    n.node("Conv", joined, n.weight(19, channels, 1, 1), into=["classes"])
    n.save(folder, {"pixels": [1, 3, 4 * high, 4 * wide]}, {"classes": [1, 19, high, wide]})


class Detector(Network):
    """What torchvision's detectors with regions are made of, as its exporter writes it."""

    def real(self, *values):
        return self.constant(numpy.array(values, numpy.float32))

    def scalar(self, value):
        return self.constant(numpy.array(value, numpy.int64))

    def gather(self, x, at, axis=0):
        return self.node("Gather", x, at, axis=axis)

    def column(self, x, i):
        return self.gather(x, self.scalar(i), 1)

    def part(self, x, first, last, axis=0):
        return self.node("Slice", x, self.ints(first), self.ints(last), self.ints(axis))

    def size(self, x):
        return self.node("Gather", self.node("Shape", x), self.ints(0))

    def sizes(self, x, *more):
        return self.node("Concat", self.size(x), self.ints(*more), axis=0)

    def where(self, condition):
        places = self.node("Transpose", self.node("NonZero", condition), perm=[1, 0])
        return self.node("Squeeze", places, self.ints(1))

    def top(self, x, count):
        """The largest of x, if there are so many."""
        least = self.node("ReduceMin", self.node("Concat", self.ints(count), self.size(x),
                                                 axis=0), keepdims=0)
        return self.node("TopK", x, self.node("Reshape", least, self.ints(-1)), outputs=2)[1]

    def node(self, kind, *inputs, outputs=1, into=None, **attributes):
        """Names are of this graph and of those in it."""
        self.count = getattr(self, "count", 0) + 1
        into = into or [f"d{self.count}_{i}" for i in range(outputs)]
        return super().node(kind, *inputs, into=into, **attributes)

    def branch(self, write):
        """A graph of the nodes that write() adds, which returns its output."""
        outer, self.nodes = self.nodes, []
        told = value_info(write(), kind=KINDS["int64"])
        inner, self.nodes = self.nodes, outer
        return Message(6, graph(inner) + field(12, told))

    def suppress(self, boxes, scores, groups, threshold):
        """Places of the boxes that stay, each group's by itself; of none there are none."""
        def nothing():
            return self.node("ConstantOfShape", self.ints(0),
                             value=Message(5, tensor("zero", numpy.zeros(1, numpy.int64))))

        def something():
            far = self.node("Add", self.node("ReduceMax", boxes, keepdims=0),
                            self.constant(numpy.float32(1)))
            move = self.node("Mul", self.node("Cast", groups, to=KINDS["float32"]), far)
            moved = self.node("Add", boxes, self.node("Unsqueeze", move, self.ints(1)))
            rows = self.node("NonMaxSuppression", self.node("Unsqueeze", moved, self.ints(0)),
                             self.node("Unsqueeze", scores, self.ints(0, 1)),
                             self.ints(2 ** 63 - 1), self.real(threshold))
            return self.node("Squeeze", self.gather(rows, self.ints(2), 1), self.ints(1))

        empty = self.node("Equal", self.node("Size", boxes), self.scalar(0))
        return self.node("If", empty, then_branch=self.branch(nothing),
                         else_branch=self.branch(something))


def propose(n, least_score):
    """Boxes of two levels that are large and sure enough, and do not lie on each other."""
    corner = n.node("Mul", n.part("boxes", 0, 2, 1), n.real(50))
    size = n.node("Mul", n.part("boxes", 2, 4, 1), n.real(30))
    all_boxes = n.node("Concat", corner, n.node("Add", corner, size), axis=1)
    logits = n.node("Sub", n.node("Mul", "objectness", n.real(6)), n.real(3))
    first, second = n.top(n.part(logits, 0, 120), 50), n.top(n.part(logits, 120, 150), 50)
    order = n.node("Concat", first, n.node("Add", second, n.scalar(120)), axis=0)
    groups = n.gather(n.constant(numpy.repeat([0, 1], [120, 30])), order)
    boxes = n.node("Clip", n.gather(all_boxes, order), n.constant(numpy.float32(0)),
                   n.constant(numpy.float32(64)))
    scores = n.node("Sigmoid", n.gather(logits, order))
    sides = [n.node("GreaterOrEqual", n.node("Sub", n.column(boxes, i + 2), n.column(boxes, i)),
                    n.constant(numpy.float32(4))) for i in range(2)]
    for keep in (lambda: n.node("And", *sides), lambda: n.node("GreaterOrEqual", scores, n.constant(
            numpy.float32(least_score)))):
        at = n.where(keep())
        boxes, scores, groups = (n.gather(x, at) for x in (boxes, scores, groups))
    return n.gather(boxes, n.part(n.suppress(boxes, scores, groups, 0.7), 0, 40))


def align(n, boxes, channels):
    """Each box from the level of its size, put back in its place."""
    sides = [n.node("Sub", n.column(boxes, i + 2), n.column(boxes, i)) for i in range(2)]
    large = n.node("Cast", n.node("Greater", n.node("Sqrt", n.node("Mul", *sides)), n.constant(
        numpy.float32(16))), to=KINDS["int64"])
    shape = (channels, 3, 3)
    result = n.node("ConstantOfShape", n.sizes(boxes, *shape))
    for level in range(2):
        at = n.where(n.node("Equal", large, n.scalar(level)))
        regions = n.gather(boxes, at)
        images = n.node("Cast", n.node("Mul", n.column(regions, 0), n.constant(
            numpy.float32(0))), to=KINDS["int64"])
        cells = n.node("RoiAlign", f"level{level}", regions, images, output_height=3,
                       output_width=3, sampling_ratio=2, spatial_scale=0.5 ** (level + 1))
        place = n.node("Expand", n.node("Reshape", at, n.ints(-1, 1, 1, 1)), n.sizes(at, *shape))
        result = n.node("ScatterElements", result, place, cells, axis=0)
    return n.node("Flatten", result)


def detector(folder, name, least_score):
    """Proposals, regions of two levels, classes, and what stays of all: how many follows."""
    n, channels, classes = Detector(name), 8, 5
    boxes = propose(n, least_score)
    hidden = n.node("Relu", n.node("Gemm", align(n, boxes, channels), n.weight(72, 16)))
    scores = n.node("Softmax", n.node("Gemm", hidden, n.weight(16, classes)), axis=-1)
    moves = n.node("Gemm", hidden, n.weight(16, 4 * classes))
    moves = n.node("Reshape", moves, n.sizes(moves, classes, 4))
    boxes = n.node("Add", n.node("Unsqueeze", boxes, n.ints(1)), moves)
    sides = [n.node("Clip", n.node("Slice", boxes, n.ints(i), n.ints(2 ** 63 - 1), n.ints(2), n.ints(
        2)), n.constant(numpy.float32(0)), n.constant(numpy.float32(64 - 8 * i))) for i in range(2)]
    sides = n.node("Concat", *(n.node("Unsqueeze", side, n.ints(3)) for side in sides), axis=3)
    boxes = n.node("Reshape", sides, n.node("Shape", boxes))
    number = n.gather(n.node("Shape", scores), n.scalar(1))
    labels = n.node("Range", n.scalar(0), n.node("Cast", number, to=KINDS["int64"]), n.scalar(1))
    labels = n.node("Expand", n.node("Reshape", labels, n.ints(1, -1)), n.node("Shape", scores))
    boxes = n.node("Reshape", n.part(boxes, 1, classes, 1), n.ints(-1, 4))
    scores, labels = (n.node("Reshape", n.part(x, 1, classes, 1), n.ints(-1))
                      for x in (scores, labels))
    at = n.where(n.node("Greater", scores, n.constant(numpy.float32(0.05))))
    boxes, scores, labels = (n.gather(x, at) for x in (boxes, scores, labels))
    at = n.part(n.suppress(boxes, scores, labels, 0.5), 0, 30)
    n.node("Gather", boxes, at, into=["found"])
    n.node("Gather", scores, at, into=["scores"])
    n.node("Cast", n.gather(labels, at), to=KINDS["float32"], into=["labels"])
    n.save(folder, {"boxes": [150, 4], "objectness": [150], "level0": [1, channels, 32, 32],
                    "level1": [1, channels, 16, 16]},
           {"found": ["n", 4], "scores": ["n"], "labels": ["n"]})

if len(sys.argv) != 2:
    sys.exit(__doc__)
recurrent(sys.argv[1])
segmenting_head(sys.argv[1])
attention_block(sys.argv[1])
segmenting_transformer(sys.argv[1])
detector(sys.argv[1], "detector", 0.3)
detector(sys.argv[1], "detector-of-few", 0.9)
detector(sys.argv[1], "detector-of-none", 0.99)
