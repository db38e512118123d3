#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A TensorFlow.js graph model as one of ONNX at one size:

    tfjs-to-onnx.py MODEL.json OUT.onnx WIDTHxHEIGHT [--nhwc] [INPUT=NUMBER...]

So that ONNX Runtime can compute the same. The file is read by itself, not by the reader
under test. Images are NCHW all through, as ONNX Runtime wants them: with --nhwc inputs and
outputs are transposed at the ends, to compare them. What does not depend on a picture is
computed here. Padding goes into convolutions, scales behind them into their weights, and the
hard sigmoid and swish become ONNX's. Only the operators of convolutional networks on
images. Needs python3-onnx.
"""
import base64
import json
import os
import sys

import numpy
from onnx import TensorProto, checker, helper, numpy_helper, save

INTEGERS = {"int32": "<i4", "bool": "?", "float32": "<f4"}
TWO = {"Mul": numpy.multiply, "Add": numpy.add, "AddV2": numpy.add, "Sub": numpy.subtract,
       "RealDiv": numpy.divide, "FloorMod": numpy.mod, "Minimum": numpy.minimum,
       "Maximum": numpy.maximum, "Equal": numpy.equal}
NAMES = {"AddV2": "Add", "RealDiv": "Div", "Minimum": "Min", "Maximum": "Max"}


class Image:
    """A value that depends on inputs: an NCHW tensor by its name, and its NHWC shape."""

    def __init__(self, name, shape, pads=None, block=None):
        self.name, self.shape = name, shape
        self.readers = None  # of TensorFlow's nodes
        self.hard_of = self.three_more = self.sixth_of = None  # by name: see multiplied()
        self.pads = pads  # not yet done: top, left, bottom, right
        self.block = block  # it stands for a SpaceToBatchND of this, by so much


class Converter:
    def __init__(self, path, size, numbers, nhwc):
        with open(path, encoding="utf-8") as file:
            model = json.load(file)
        self.spec, self.size, self.numbers, self.nhwc = model, size, numbers, nhwc
        self.nodes, self.weights, self.values = [], [], {}
        self.inputs, self.made_by, self.constants = [], {}, {}
        for group in model["weightsManifest"]:
            data = b"".join(open(os.path.join(os.path.dirname(path), p), "rb").read()
                            for p in group["paths"])
            self.read(group["weights"], data)

    def read(self, weights, data):
        at = 0
        for w in weights:
            q = w.get("quantization")
            kind = {"uint8": "u1", "uint16": "<u2", "float16": "<f2"}[q["dtype"]] if q else \
                INTEGERS[w["dtype"]]
            count = int(numpy.prod(w["shape"], dtype=int))
            values = numpy.frombuffer(data, kind, count, at).reshape(w["shape"])
            at += values.nbytes
            if q:
                values = values.astype(numpy.float32)
                if "scale" in q:
                    values = (values * q["scale"] + q["min"]).astype(numpy.float32)
            self.values[w["name"]] = [values]

    # ------------------------------------------------------------- ONNX's side
    def constant(self, values):
        values = numpy.ascontiguousarray(values)
        key = (values.dtype.str, values.shape, values.tobytes())
        if key not in self.constants:
            self.constants[key] = f"w{len(self.weights)}"
            self.weights.append(numpy_helper.from_array(values, self.constants[key]))
        return self.constants[key]

    def node(self, kind, *inputs, outputs=1, **attributes):
        names = [f"n{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        for n in names:
            self.made_by[n] = self.nodes[-1]
        return names[0] if outputs == 1 else names

    def name(self, x, rank=4):
        """A value as ONNX's, a constant with its channels where NCHW has them."""
        if isinstance(x, Image):
            if x.block:
                sys.exit("tfjs-to-onnx: something else between SpaceToBatchND and its end")
            if x.pads:
                (top, left, bottom, right), x.pads = x.pads, None
                x.shape = [x.shape[0], x.shape[1] + top + bottom, x.shape[2] + left + right,
                           x.shape[3]]
                x.name = self.node("Pad", x.name, self.constant(numpy.array(
                    [0, 0, top, left, 0, 0, bottom, right], numpy.int64)))
            return x.name
        x = numpy.asarray(x, numpy.float32)
        if x.ndim:
            x = x.reshape((1,) * (rank - x.ndim) + x.shape).transpose(0, 3, 1, 2)
        return self.constant(x)

    # ----------------------------------------------------------- TensorFlow's side
    def conv(self, n, attr, inputs, depthwise):
        x, weights = inputs[:2]
        bias = inputs[2] if len(inputs) > 2 else None
        if depthwise:  # H, W, C, M: output c * M + m
            high, wide, c, m = weights.shape
            kernel = weights.reshape(high, wide, 1, c * m).transpose(3, 2, 0, 1)
        else:
            high, wide = weights.shape[:2]
            kernel = weights.transpose(3, 2, 0, 1)
        strides = attr["strides"][1:3]
        dilations = x.block[0] if x.block else attr["dilations"][1:3]
        pads, height, width = list(x.pads or (0, 0, 0, 0)), *x.shape[1:3]
        extents = [(k - 1) * d + 1 for k, d in zip((high, wide), dilations)]
        if attr["padding"] == "SAME":
            for d, size in enumerate((height, width)):
                more = max((-(-size // strides[d]) - 1) * strides[d] + extents[d] - size, 0)
                pads[d] += more // 2
                pads[d + 2] += more - more // 2
        sizes = [(s + pads[d] + pads[d + 2] - extents[d]) // strides[d] + 1
                 for d, s in enumerate((height, width))]
        args = [x.name, self.constant(kernel)]
        if bias is not None:
            args.append(self.constant(bias))
        y = self.node("Conv", *args, strides=strides, dilations=dilations, pads=pads,
                      kernel_shape=[high, wide], group=x.shape[3] if depthwise else 1)
        for kind in attr.get("fused_ops", [])[1:]:
            y = self.activated(kind, y)
        out = Image(y, [x.shape[0], *sizes, kernel.shape[0]])
        if x.block:  # padded so far as to divide: that goes again
            out.block = x.block
        return out

    def activated(self, kind, y):
        if kind == "Relu6":
            return self.node("Clip", y, *(self.constant(numpy.float32(v)) for v in (0, 6)))
        return self.node(kind, y)

    def spread(self, x, block, pads):
        have = x.pads or (0, 0, 0, 0)
        return Image(x.name, x.shape, [have[0] + pads[0][0], have[1] + pads[1][0],
                                       have[2] + pads[0][1], have[3] + pads[1][1]],
                     (list(map(int, block)), pads))

    def gathered(self, x, crops):
        node = self.made_by[x.name]
        for a in node.attribute:
            if a.name == "pads":  # what would be cut off is not computed
                a.ints[2] -= int(crops[0][1])
                a.ints[3] -= int(crops[1][1])
        if crops[0][0] or crops[1][0]:
            sys.exit("tfjs-to-onnx: BatchToSpaceND cuts off at the top or left")
        if x.readers != 1:
            sys.exit("tfjs-to-onnx: something else between SpaceToBatchND and its end")
        return Image(x.name, [x.shape[0], x.shape[1] - int(crops[0][1]),
                              x.shape[2] - int(crops[1][1]), x.shape[3]])

    def number(self, x, value):
        return not isinstance(x, Image) and numpy.size(x) == 1 and abs(float(x) - value) < 1e-6

    def multiplied(self, a, b):
        """What a product is in one node: x's sixth by relu6(x + 3), or the latter's sixth."""
        for x, y in ((a, b), (b, a)):
            if self.number(x, 1 / 6) and isinstance(y, Image) and y.hard_of:
                return self.node("HardSigmoid", y.hard_of, alpha=1 / 6, beta=0.5)
            if isinstance(x, Image) and isinstance(y, Image) and x.hard_of and \
                    y.sixth_of == x.hard_of:
                return self.node("HardSwish", x.hard_of)
        return None

    def two(self, op, a, b):
        if not isinstance(a, Image) and not isinstance(b, Image):
            return TWO[op](a, b)
        shape = list(numpy.broadcast_shapes(*(x.shape if isinstance(x, Image) else numpy.shape(x)
                                              for x in (a, b))))
        made = self.multiplied(a, b) if op == "Mul" else None
        merged = made or self.merged(op, a, b)
        out = Image(merged or self.node(NAMES.get(op, op), self.name(a), self.name(b)), shape)
        for x, y in ((a, b), (b, a)):
            if op == "Mul" and self.number(x, 1 / 6):
                out.sixth_of = self.name(y)
            if op in ("Add", "AddV2") and self.number(x, 3):
                out.three_more = self.name(y)
        return out

    def merged(self, op, a, b):
        """A factor or a sum for each channel behind a convolution without a bias."""
        if not isinstance(a, Image) or isinstance(b, Image) or op not in ("Mul", "Add", "AddV2") or \
                numpy.size(b) != a.shape[3] or numpy.size(b) == 1:
            return None
        node = self.made_by.get(a.name)
        if node is None or node.op_type != "Conv" or a.readers != 1:
            return None
        arrays = {w.name: numpy_helper.to_array(w) for w in self.weights}
        if op == "Mul" and len(node.input) == 2:
            node.input[1] = self.constant(arrays[node.input[1]] * b.reshape(-1, 1, 1, 1))
            return a.name
        if op != "Mul" and len(node.input) == 2:
            node.input.append(self.constant(b.reshape(-1)))
            return a.name
        return None

    def mean(self, x, axes, keep):
        axes = sorted(int(v) % 4 for v in numpy.reshape(axes, -1))
        shape = [1 if i in axes else s for i, s in enumerate(x.shape)]
        if axes == [1, 2]:
            return Image(self.node("GlobalAveragePool", self.name(x)), shape)
        return Image(self.node("ReduceMean", self.name(x), axes=[[0, 2, 3, 1][a] for a in axes],
                               keepdims=1), shape)

    def split(self, x, sizes, axis):
        axis = int(axis) % 4
        names = self.node("Split", self.name(x), self.constant(numpy.array(sizes, numpy.int64)),
                          outputs=len(sizes), axis=[0, 2, 3, 1][axis])
        return [Image(n, [s if i == axis else d for i, d in enumerate(x.shape)])
                for n, s in zip(names, sizes)]

    def slice(self, x, begin, size):
        size = [s - b if n < 0 else n for s, b, n in zip(x.shape, begin, size)]
        for axis in range(4):
            if size[axis] != x.shape[axis]:
                args = [self.constant(numpy.array([v], numpy.int64)) for v in
                        (begin[axis], begin[axis] + size[axis], [0, 2, 3, 1][axis])]
                x = Image(self.node("Slice", self.name(x), *args),
                          [int(size[axis]) if i == axis else d for i, d in enumerate(x.shape)])
        return x

    def strided(self, attr, x, begin, end, stride):
        at = tuple(int(b) if attr["shrink_axis_mask"] >> i & 1 else slice(
            None if attr["begin_mask"] >> i & 1 else int(b),
            None if attr["end_mask"] >> i & 1 else int(e), int(s))
            for i, (b, e, s) in enumerate(zip(begin, end, stride)))
        return x[at]

    def resize(self, attr, x, size):
        sizes = self.constant(numpy.array([x.shape[0], x.shape[3], *size], numpy.int64))
        mode = ("half_pixel" if attr.get("half_pixel_centers") else
                "align_corners" if attr.get("align_corners") else "asymmetric")
        return Image(self.node("Resize", self.name(x), "", "", sizes, mode="linear",
                               coordinate_transformation_mode=mode),
                     [x.shape[0], *map(int, size), x.shape[3]])

    def pool(self, attr, x):
        strides, window = attr["strides"][1:3], attr["ksize"][1:3]
        same = attr["padding"] == "SAME"
        sizes = [-(-(s if same else s - k + 1) // t)
                 for s, k, t in zip(x.shape[1:3], window, strides)]
        name = self.node("AveragePool", self.name(x), strides=strides, kernel_shape=window,
                         auto_pad="SAME_UPPER" if same else "VALID")
        return Image(name, [x.shape[0], *sizes, x.shape[3]])

    def broadcast(self, x, shape):
        shape = [int(s) for s in shape]
        if isinstance(x, Image) and x.shape is None:  # a state: as large as it is wanted
            x.shape = shape
        if isinstance(x, Image) and x.shape != shape:
            sys.exit("tfjs-to-onnx: BroadcastTo makes an image larger")
        return x if isinstance(x, Image) else numpy.broadcast_to(x, shape)

    def relu6(self, x):
        out = Image(self.activated("Relu6", self.name(x)), x.shape)
        out.hard_of = x.three_more
        return out

    def placeholder(self, n):
        if n["name"] in self.numbers:
            return numpy.float32(self.numbers[n["name"]])
        proto = n["attr"]["shape"]["shape"]
        shape = None
        if not proto.get("unknownRank"):
            dims = [int(d["size"]) for d in proto["dim"]]
            shape = [1, self.size[1], self.size[0], dims[3]]
        image = Image(n["name"], shape)
        self.inputs.append(image)
        return image

    def converted(self, n, attr, x):
        op = n["op"]
        if op in TWO:
            return self.two(op, x[0], x[1])
        fixed = lambda v: numpy.asarray(v).tolist()
        rules = {
            "Placeholder": lambda: self.placeholder(n),
            "NoOp": lambda: None,
            "Identity": lambda: x[0],
            "Squeeze": lambda: numpy.squeeze(x[0]),
            "Cast": lambda: numpy.asarray(x[0]).astype(
                {"DT_INT32": numpy.int32, "DT_FLOAT": numpy.float32}[attr["DstT"]]),
            "Switch": lambda: [None, x[0]] if x[1] else [x[0], None],
            "Merge": lambda: next(v for v in x if v is not None),
            "Shape": lambda: numpy.array(x[0].shape, numpy.int32),
            "StridedSlice": lambda: self.strided(attr, *x),
            "Pack": lambda: numpy.stack(x),
            "Pad": lambda: self.spread(x[0], [1, 1], x[1][1:3].tolist()),
            "Conv2D": lambda: self.conv(n, attr, x, False),
            "_FusedConv2D": lambda: self.conv(n, attr, x, False),
            "DepthwiseConv2dNative": lambda: self.conv(n, attr, x, True),
            "FusedDepthwiseConv2dNative": lambda: self.conv(n, attr, x, True),
            "Relu6": lambda: self.relu6(x[0]),
            "Sigmoid": lambda: Image(self.node("Sigmoid", self.name(x[0])), x[0].shape),
            "Tanh": lambda: Image(self.node("Tanh", self.name(x[0])), x[0].shape),
            "Square": lambda: self.two("Mul", x[0], x[0]),
            "Mean": lambda: self.mean(x[0], x[1], attr.get("keep_dims")),
            "AvgPool": lambda: self.pool(attr, x[0]),
            "ResizeBilinear": lambda: self.resize(attr, x[0], fixed(x[1])),
            "Slice": lambda: self.slice(x[0], fixed(x[1]), fixed(x[2])),
            "Split": lambda: self.split(x[1], [x[1].shape[int(x[0])] // attr["num_split"]] *
                                        attr["num_split"], x[0]),
            "SplitV": lambda: self.split(x[0], fixed(x[1]), x[2]),
            "BroadcastTo": lambda: self.broadcast(*x),
            "SpaceToBatchND": lambda: self.spread(x[0], x[1], fixed(x[2])),
            "BatchToSpaceND": lambda: self.gathered(x[0], fixed(x[2])),
        }
        if op == "ConcatV2":
            axis = int(x[-1]) % 4
            shape = list(x[0].shape)
            shape[axis] = sum(v.shape[axis] for v in x[:-1])
            return Image(self.node("Concat", *map(self.name, x[:-1]), axis=[0, 2, 3, 1][axis]), shape)
        if op not in rules:
            sys.exit(f"tfjs-to-onnx: no rule for {op}")
        out = rules[op]()
        if op == "Pad":
            out.block = None
        return out

    def attributes(self, n):
        text = lambda s: base64.b64decode(s).decode()
        out = {}
        for key, v in n.get("attr", {}).items():
            if "list" in v:
                v = v["list"] if "list" not in v["list"] else v["list"]["list"]
                out[key] = [text(s) for s in v["s"]] if "s" in v else [int(i) for i in v.get("i", [])]
            elif "s" in v:
                out[key] = text(v["s"])
            else:
                out[key] = v.get("b", v.get("f", v.get("type")))
                if "i" in v:
                    out[key] = int(v["i"])
        return out

    def convert(self):
        readers = {}
        for n in self.spec["modelTopology"]["node"]:
            for i in n.get("input", []):
                if not i.startswith("^"):
                    readers[i] = readers.get(i, 0) + 1
        for n in self.spec["modelTopology"]["node"]:
            if n["op"] == "Const":
                continue
            inputs, dead = [], False
            for i in n.get("input", []):
                if i.startswith("^"):
                    continue
                name, _, port = i.partition(":")
                inputs.append(self.values[name][int(port or 0)])
                dead |= inputs[-1] is None
            if dead and n["op"] != "Merge":
                made = [None] * 2
            else:
                made = self.converted(n, self.attributes(n), inputs)
            self.values[n["name"]] = made if isinstance(made, list) else [made]
            for port, v in enumerate(self.values[n["name"]]):
                if isinstance(v, Image):
                    v.readers = readers.get(f"{n['name']}:{port}" if port else n["name"], 0)
        return self.model()

    def model(self):
        signature = self.spec.get("signature") or self.spec["userDefinedMetadata"]["signature"]
        plain = lambda s: s[:-2] if s.endswith(":0") else s
        turned = lambda s: list(s) if self.nhwc else [s[0], s[3], s[1], s[2]]
        info = lambda name, s: helper.make_tensor_value_info(name, TensorProto.FLOAT, turned(s))
        outputs, inputs, ahead = [], [], []
        for key, v in signature["outputs"].items():
            name, _, port = v["name"].partition(":")
            x = self.values[name][int(port or 0)]
            last = {"perm": [0, 2, 3, 1]} if self.nhwc else {}
            self.nodes.append(helper.make_node("Transpose" if self.nhwc else "Identity",
                                               [self.name(x)], [plain(key)], **last))
            outputs.append(info(plain(key), x.shape))
        for image in self.inputs:
            if image.shape is None:
                sys.exit(f"tfjs-to-onnx: nothing says how large {image.name} is")
            inputs.append(info(image.name, image.shape))
        if self.nhwc:
            for image in self.inputs:
                ahead.append(helper.make_node("Transpose", [image.name], [image.name + "_nchw"],
                                              perm=[0, 3, 1, 2]))
            known = {i.name for i in self.inputs}
            for node in self.nodes:
                for i, name in enumerate(node.input):
                    if name in known:
                        node.input[i] = name + "_nchw"
        nodes = self.wanted(ahead + self.nodes, {o.name for o in outputs})
        read = {i for node in nodes for i in node.input}
        graph = helper.make_graph(nodes, "tfjs", inputs, outputs,
                                  [w for w in self.weights if w.name in read])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=7)

    def wanted(self, nodes, names):
        kept = []
        for node in reversed(nodes):
            if names & set(node.output):
                kept.append(node)
                names |= set(node.input)
        return kept[::-1]


def main():
    args = [a for a in sys.argv[1:] if a != "--nhwc"]
    if len(args) < 3:
        sys.exit(__doc__)
    numbers = {k: float(v) for k, v in (a.split("=") for a in args[3:])}
    size = [int(v) for v in args[2].split("x")]
    model = Converter(args[0], size, numbers, "--nhwc" in sys.argv).convert()
    checker.check_model(model)
    save(model, args[1])


main()
