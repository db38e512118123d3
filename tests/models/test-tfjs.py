#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The reader of TensorFlow.js models, on models that are written here.

test-tfjs.py TDL_RUN            against NumPy, on the device of TDL_DEVICE; and what it
                                says to files that are wrong
test-tfjs.py --seeds FOLDER     the same models as seeds for the fuzzer
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
from tfjs_writer import Layers, Model

RANDOM = np.random.RandomState(1)


def numbers(*shape):
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


# ------------------------------------------------------------- references by NumPy

def pads_of(padding, size, window, stride, dilation=1):
    reach = (window - 1) * dilation + 1
    if padding == "SAME":
        all_of_it = max((-(-size // stride) - 1) * stride + reach - size, 0)
        return all_of_it // 2, all_of_it - all_of_it // 2
    return (0, 0) if padding == "VALID" else padding


def windows(x, window, stride, padding, dilation=1, fill=0.0):
    """[N, out_h, out_w, kh, kw, C]: what each window sees."""
    (top, bottom), (left, right) = (
        pads_of(p, x.shape[1 + i], window[i], stride, dilation)
        for i, p in enumerate(padding if isinstance(padding, tuple) else (padding, padding)))
    x = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=fill)
    reach = [(k - 1) * dilation + 1 for k in window]
    rows = range(0, x.shape[1] - reach[0] + 1, stride)
    columns = range(0, x.shape[2] - reach[1] + 1, stride)
    return np.stack([np.stack([x[:, r:r + reach[0]:dilation, c:c + reach[1]:dilation]
                               for c in columns], 1) for r in rows], 1)


def conv(x, w, stride=1, padding="SAME", dilation=1):
    return np.einsum("nrckld,kldy->nrcy", windows(
        x, w.shape[:2], stride, padding, dilation), w)


def depthwise(x, w, stride=1, padding="SAME", dilation=1):
    y = np.einsum("nrckld,kldm->nrcdm", windows(x, w.shape[:2], stride, padding, dilation), w)
    return y.reshape(y.shape[:3] + (-1,))


def conv_transpose(dy, w, size, stride):
    """SAME: the gradient of the convolution that makes dy's size of `size`."""
    top, _ = pads_of("SAME", size[0], w.shape[0], stride)
    left, _ = pads_of("SAME", size[1], w.shape[1], stride)
    y = np.zeros((1, size[0] + 2 * w.shape[0], size[1] + 2 * w.shape[1], w.shape[2]))
    for r in range(dy.shape[1]):
        for c in range(dy.shape[2]):
            for k in range(w.shape[0]):
                for l in range(w.shape[1]):
                    y[0, r * stride + k - top + w.shape[0], c * stride + l - left + w.shape[1]] += \
                        w[k, l] @ dy[0, r, c]
    return y[:, w.shape[0]:w.shape[0] + size[0], w.shape[1]:w.shape[1] + size[1]]


def resize(x, size, half, corners, nearest=False):
    def places(n, m):
        i = np.arange(m)
        if corners and m > 1:
            return i * (n - 1) / (m - 1)
        return (i + 0.5) * n / m - 0.5 if half else i * n / m

    for axis in (1, 2):
        n, m = x.shape[axis], size[axis - 1]
        p = places(n, m)
        if nearest:
            p = np.floor(p + 0.5) if half or corners else np.floor(p)
            x = np.take(x, np.clip(p, 0, n - 1).astype(int), axis)
            continue
        p = np.clip(p, 0, n - 1)
        low = np.floor(p).astype(int)
        high = np.minimum(low + 1, n - 1)
        part = (p - low).reshape([-1 if a == axis else 1 for a in range(4)])
        x = np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part
    return x


def leaky(x, alpha):
    return np.where(x < 0, alpha * x, x)


# --------------------------------------------------------------------- the cases

CASES = []  # name, model, inputs by name, outputs by name, arguments of tdl-run


def case(name, model, inputs, outputs, *arguments, shards=1):
    CASES.append((name, model, inputs, outputs, arguments, shards))


def simple(name, op, inputs, want, outputs=1, **attributes):
    """One node: the first input comes in, the others are constants."""
    m = Model()
    x = np.asarray(inputs[0])
    kind = {"f": "float32", "b": "uint8", "u": "uint8"}.get(x.dtype.kind, "int32")
    node = m.node(op, [m.placeholder("x", x.shape, kind)] + list(inputs[1:]), "y", **attributes)
    wants = {}
    for i in range(outputs):
        m.output("y%d" % i, "%s:%d" % (node, i))
        wants["y%d" % i] = np.asarray(want[i] if outputs > 1 else want)
    case(name, m, {"x": x}, wants)


def convolutions():
    x, w, b = numbers(1, 7, 9, 4), numbers(3, 3, 4, 5), numbers(5)
    for padding in ("SAME", "VALID"):
        for stride in (1, 2):
            simple("Conv2D %s by %d" % (padding, stride), "Conv2D", [x, w],
                   conv(x, w, stride, padding), padding=padding, data_format="NHWC",
                   strides=[1, stride, stride, 1], dilations=[1, 1, 1, 1])
    simple("Conv2D EXPLICIT", "Conv2D", [x, w], conv(x, w, 1, ((1, 2), (0, 3))),
           padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 3, 0, 0], strides=[1, 1, 1, 1])
    simple("Conv2D dilated", "Conv2D", [x, w], conv(x, w, 1, "SAME", 2), padding="SAME",
           strides=[1, 1, 1, 1], dilations=[1, 2, 2, 1])
    first = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    simple("Conv2D NCHW", "Conv2D", [first, w], conv(x, w).transpose(0, 3, 1, 2), padding="SAME",
           strides=[1, 1, 1, 1], data_format="NCHW")
    y = conv(x, w) + b
    for name, want, extra, more in (
            ("Relu", np.maximum(y, 0), {}, []), ("Relu6", np.clip(y, 0, 6), {}, []),
            ("Elu", np.where(y < 0, np.exp(np.minimum(y, 0)) - 1, y), {}, []),
            ("Sigmoid", 1 / (1 + np.exp(-y)), {}, []),
            ("LeakyRelu", leaky(y, 0.3), {"leakyrelu_alpha": 0.3}, []),
            ("Prelu", leaky(y, np.float32([.1, .2, .3, .4, .5])), {},
             [np.float32([.1, .2, .3, .4, .5])])):
        simple("_FusedConv2D " + name, "_FusedConv2D", [x, w, b] + more, want, padding="SAME",
               strides=[1, 1, 1, 1], fused_ops=["BiasAdd", name], num_args=1 + len(more), **extra)
    d, b = numbers(3, 3, 4, 2), numbers(8)
    simple("DepthwiseConv2dNative", "DepthwiseConv2dNative", [x, d], depthwise(x, d, 2),
           padding="SAME", strides=[1, 2, 2, 1])
    simple("FusedDepthwiseConv2dNative", "FusedDepthwiseConv2dNative", [x, d, b],
           np.clip(depthwise(x, d) + b, 0, 6), padding="SAME", strides=[1, 1, 1, 1],
           fused_ops=["BiasAdd", "Relu6"], num_args=1)
    for size, k in (((14, 18), 3), ((13, 17), 4), ((14, 18), 2)):
        t = numbers(k, k, 5, 4)
        m = Model()
        node = m.node("Conv2DBackpropInput", [np.int32([1, *size, 5]), t,
                                              m.placeholder("x", x.shape)],
                      padding="SAME", strides=[1, 2, 2, 1])
        m.output("y", node)
        case("Conv2DBackpropInput %d" % k, m, {"x": x}, {"y": conv_transpose(x, t, size, 2)})


def dilations():
    """SpaceToBatchND, a convolution, BatchToSpaceND; and what reads the first elsewhere."""
    x, d, w = numbers(1, 6, 7, 3), numbers(3, 3, 3, 1), numbers(3, 3, 3, 4)
    for name, op, weights, reference in (("depthwise", "DepthwiseConv2dNative", d, depthwise),
                                         ("full", "Conv2D", w, conv)):
        m = Model()
        s = m.node("SpaceToBatchND", [m.placeholder("x", x.shape), np.int32([2, 2]),
                                      np.int32([[2, 2], [2, 3]])])
        c = m.node(op, [s, weights], padding="VALID", strides=[1, 1, 1, 1])
        m.output("y", m.node("BatchToSpaceND", [c, np.int32([2, 2]), np.int32([[0, 0], [0, 1]])]))
        case("a dilation, " + name, m, {"x": x}, {"y": reference(x, weights, 1, "SAME", 2)})
    x = numbers(1, 4, 6, 3)
    m = Model()
    s = m.node("SpaceToBatchND", [m.placeholder("x", x.shape), np.int32([2, 3]),
                                  np.int32([[0, 0], [0, 0]])])
    m.output("blocks", m.node("Neg", [s]))
    m.output("back", m.node("BatchToSpaceND", [m.node("Relu", [s]), np.int32([2, 3]),
                                               np.int32([[0, 1], [1, 0]])]))
    blocks = x.reshape(1, 2, 2, 2, 3, 3).transpose(2, 4, 0, 1, 3, 5).reshape(6, 2, 2, 3)
    case("SpaceToBatchND", m, {"x": x}, {"blocks": -blocks,
                                         "back": np.maximum(x, 0)[:, :3, 1:]})


def pictures():
    x = numbers(1, 7, 9, 4)
    for padding in ("SAME", "VALID"):
        w = windows(x, (3, 3), 2, padding, 1, np.nan)
        options = {"padding": padding, "ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1]}
        simple("MaxPool " + padding, "MaxPool", [x], np.nanmax(w, (3, 4)), **options)
        simple("AvgPool " + padding, "AvgPool", [x], np.nanmean(w, (3, 4)), **options)
    for half, corners in ((True, False), (False, True), (False, False)):
        for op in ("ResizeBilinear", "ResizeNearestNeighbor"):
            for size in ((14, 5), (3, 20)):
                simple("%s %d %d" % (op, half, corners), op, [x, np.int32(size)],
                       resize(x, size, half, corners, op != "ResizeBilinear"),
                       half_pixel_centers=half, align_corners=corners)
    scale, offset, mean, variance = numbers(4), numbers(4), numbers(4), 1 + numbers(4)
    simple("FusedBatchNormV3", "FusedBatchNormV3", [x, scale, offset, mean, variance],
           (x - mean) / np.sqrt(variance + 0.01) * scale + offset, epsilon=0.01, is_training=False)
    d = numbers(1, 2, 3, 8)
    simple("DepthToSpace", "DepthToSpace", [d], d.reshape(1, 2, 3, 2, 2, 2).transpose(
        0, 1, 3, 2, 4, 5).reshape(1, 4, 6, 2), block_size=2)


def elements():
    x, y = numbers(2, 3, 4), numbers(3, 1)
    i, j = np.int32([[7, -7, 8], [-8, 0, 5]]), np.int32([2, 2, -3])
    for op, function in (("AddV2", np.add), ("Sub", np.subtract), ("Mul", np.multiply),
                         ("RealDiv", np.divide), ("Maximum", np.maximum),
                         ("Minimum", np.minimum), ("Atan2", np.arctan2),
                         ("SquaredDifference", lambda a, b: (a - b) ** 2),
                         ("FloorMod", np.mod), ("FloorDiv", np.floor_divide),
                         ("GreaterEqual", np.greater_equal), ("Less", np.less)):
        simple(op, op, [x, y], function(x, y))
        if op not in ("RealDiv", "Atan2"):
            simple(op + " of integers", op, [i, j], function(i, j))
    simple("Atan2 at the axes", "Atan2", [np.float32([0, 0, 1, -1, 2, -2]),
                                         np.float32([1, -1, 0, 0, -1, -1])],
           np.arctan2([0, 0, 1, -1, 2, -2], [1, -1, 0, 0, -1, -1]))
    simple("DivNoNan", "DivNoNan", [np.float32([1, 2, 3]), np.float32([0, 4, 0])], [0, .5, 0])
    for op, function in (("Exp", np.exp), ("Rsqrt", lambda a: 1 / np.sqrt(a)), ("Square", np.square),
                         ("Reciprocal", np.reciprocal), ("Floor", np.floor), ("Log1p", np.log1p),
                         ("Relu6", lambda a: np.clip(a, 0, 6)), ("Tanh", np.tanh),
                         ("Selu", lambda a: 1.0507009873554805 * a)):
        v = numbers(5) + 1.5
        simple(op, op, [v], function(v))
    simple("Prelu", "Prelu", [x, numbers(1, 4) * 0 + 0.25], leaky(x, 0.25))
    simple("LeakyRelu", "LeakyRelu", [x], leaky(x, 0.3), alpha=0.3)
    simple("Cast to integers", "Cast", [np.float32([1.7, -1.7, 0])], np.int32([1, -1, 0]),
           DstT="DT_INT32", SrcT="DT_FLOAT")
    simple("Cast to bool", "Cast", [np.float32([0.3, 0, -2])], np.uint8([1, 0, 1]), DstT="DT_BOOL")
    simple("AddN", "AddN", [x, x * 2, x * 3], x * 6, N=3)
    m = Model()
    c = m.node("Greater", [m.placeholder("x", (3,)), np.float32(0)])
    m.output("y", m.node("Select", [c, np.float32([[1, 2], [3, 4], [5, 6]]), numbers(3, 2) * 0]))
    case("Select by rows", m, {"x": np.float32([1, -1, 1])}, {"y": [[1, 2], [0, 0], [5, 6]]})


def matrices():
    a, b, c = numbers(3, 4), numbers(4, 5), numbers(5)
    simple("MatMul", "MatMul", [a, b], a @ b, transpose_a=False, transpose_b=False)
    simple("MatMul turned", "MatMul", [a, b.T.copy()], a @ b, transpose_b=True)
    simple("MatMul of integers", "MatMul", [np.int32([[16777217], [2]]), np.int32([[1, 3]])],
           np.int32([[16777217, 50331651], [2, 6]]))
    simple("_FusedMatMul", "_FusedMatMul", [a, b, c], leaky(a @ b + c, 0.2), num_args=1,
           fused_ops=["BiasAdd", "LeakyRelu"], leakyrelu_alpha=0.2)
    x, y = numbers(2, 3, 4), numbers(2, 5, 4)
    simple("BatchMatMulV2", "BatchMatMulV2", [x, y], x @ y.transpose(0, 2, 1), adj_x=False,
           adj_y=True)
    p = numbers(1, 4, 5, 3)
    simple("Mean of a picture", "Mean", [p, np.int32([1, 2])], p.mean((1, 2)), keep_dims=False)
    simple("Mean of a picture, kept", "Mean", [p, np.int32([2, 1])], p.mean((1, 2), keepdims=True),
           keep_dims=True)
    simple("Sum", "Sum", [x, np.int32(-1)], x.sum(-1), keep_dims=False)
    simple("Max", "Max", [x, np.int32([0, 2])], x.max((0, 2)), keep_dims=False)
    simple("ArgMax", "ArgMax", [x, np.int32(1)], x.argmax(1).astype(np.int32))
    e = np.exp(x - x.max(-1, keepdims=True))
    simple("Softmax", "Softmax", [x], e / e.sum(-1, keepdims=True))


def moves():
    x = numbers(1, 4, 6, 3)
    simple("Transpose", "Transpose", [x, np.int32([0, 3, 1, 2])], x.transpose(0, 3, 1, 2))
    m = Model()
    t = m.node("Transpose", [m.placeholder("x", x.shape), np.int32([0, 3, 1, 2])])
    t = m.node("Transpose", [m.node("Mul", [t, numbers(6) * 0 + 2]), np.int32([2, 0, 1, 3])])
    m.output("y", t)
    case("Transpose twice", m, {"x": x}, {"y": 2 * x.transpose(0, 3, 1, 2).transpose(2, 0, 1, 3)})
    simple("Reshape", "Reshape", [x, np.int32([2, -1, 6])], x.reshape(2, -1, 6))
    simple("Reshape to a scalar", "Reshape", [numbers(1) * 0 + 5, np.zeros(0, np.int32)],
           np.float32(5))
    simple("Squeeze", "Squeeze", [x], x[0], squeeze_dims=[])
    simple("ExpandDims", "ExpandDims", [x, np.int32(-1)], x[..., None])
    simple("ConcatV2", "ConcatV2", [x, x * 2, np.int32(-1)], np.concatenate([x, x * 2], -1), N=2)
    simple("Pack", "Pack", [x[0], x[0] * 2], np.stack([x[0], x[0] * 2], 1), axis=1, N=2)
    simple("Unpack", "Unpack", [x], [x[:, :, :, 0], x[:, :, :, 1], x[:, :, :, 2]], 3, axis=-1, num=3)
    simple("SplitV", "SplitV", [x, np.int32([2, -1]), np.int32(2)], [x[:, :, :2], x[:, :, 2:]], 2,
           num_split=2)
    m = Model()
    s = m.node("Split", [np.int32(3), m.placeholder("x", x.shape)], num_split=3)
    m.output("y", s + ":1")
    case("Split", m, {"x": x}, {"y": x[..., 1:2]})
    simple("Slice", "Slice", [x, np.int32([0, 1, 2, 0]), np.int32([1, 2, -1, 1])],
           x[:, 1:3, 2:, :1])
    simple("StridedSlice", "StridedSlice", [x[0], np.int32([3, 0, 1]), np.int32([0, 9, 2]),
                                            np.int32([-2, 2, 1])], x[0][3:0:-2, :6:2, 1],
           begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=4)
    simple("StridedSlice with an ellipsis", "StridedSlice", [
        x, np.int32([0, 0, 0]), np.int32([0, 0, 2]), np.int32([1, 1, 1])], x[..., None, :2],
        begin_mask=4, end_mask=0, ellipsis_mask=1, new_axis_mask=2, shrink_axis_mask=0)
    simple("Pad", "Pad", [x, np.int32([[0, 0], [1, 2], [3, 0], [0, 1]])],
           np.pad(x, [[0, 0], [1, 2], [3, 0], [0, 1]]))
    simple("MirrorPad", "MirrorPad", [x, np.int32([[0, 0], [1, 2], [3, 0], [0, 0]])],
           np.pad(x, [[0, 0], [1, 2], [3, 0], [0, 0]], "reflect"), mode="REFLECT")
    simple("Tile", "Tile", [x[0], np.int32([1, 2, 3])], np.tile(x[0], [1, 2, 3]))
    simple("GatherV2", "GatherV2", [x, np.int32([3, 0]), np.int32(1)], x[:, [3, 0]], batch_dims=0)
    simple("GatherNd", "GatherNd", [x[0], np.int32([[1, 2], [3, 5]])], x[0][[1, 3], [2, 5]])
    best = np.sort(x, -1)[..., ::-1][..., :2]
    simple("TopKV2", "TopKV2", [x, np.int32(2)], [best, np.argsort(-x, -1)[..., :2].astype(np.int32)],
           2, sorted=True)
    simple("OneHot", "OneHot", [np.int32([2, 0]), np.int32(3), np.float32(5), np.float32(1)],
           [[1, 1, 5], [5, 1, 1]], axis=-1)
    m = Model()
    m.output("y", m.node("SparseToDense", [np.int32([1, 3]), np.int32([5]),
                                           m.placeholder("x", (2,)), np.float32(9)]))
    case("SparseToDense", m, {"x": np.float32([1, 2])}, {"y": [9, 1, 9, 2, 9]})


def shapes():
    """Sizes that are computed, from those that the caller gives."""
    m = Model()
    x = m.placeholder("x", (-1, -1, -1, 3))
    def one(i, name):
        return m.node("StridedSlice", [m.node("Shape", [x]), np.int32([i]), np.int32([i + 1]),
                                       np.int32([1])], name, shrink_axis_mask=1)
    size = m.node("Pack", [m.node("Mul", [one(1, "h"), np.int32(2)]),
                           m.node("FloorDiv", [one(2, "w"), np.int32(2)])], N=2, axis=0)
    m.output("y", m.node("ResizeBilinear", [x, size], half_pixel_centers=True))
    m.output("range", m.node("Add", [m.node("Range", [np.int32(0), "w", np.int32(2)]),
                                     m.node("Prod", [m.node("Shape", [x]), np.int32(0)])]))
    m.output("fill", m.node("Fill", [size, np.float32(3)]))
    value = numbers(1, 4, 6, 3)
    case("sizes that are computed", m, {"x": value}, {
        "y": resize(value, (8, 3), True, False), "range": np.int32([72, 74, 76]),
        "fill": np.full((8, 3), 3)}, "--input-size", "6x4")


def branches():
    """Switch and Merge, of a condition that the caller's number decides."""
    for ratio, want in ((1, 10), (0.5, 3)):
        m = Model()
        x = m.placeholder("x", (2,))
        c = m.node("Equal", [m.placeholder("ratio", None), np.float32(1)])
        s = m.node("Switch", [x, c])
        yes = m.node("Mul", [s + ":1", np.float32(10)])
        no = m.node("Unheard", [m.node("NoSuch", [s])]) if ratio == 1 else m.node(
            "Mul", [s, np.float32(3)])
        merge = m.node("Merge", [no, yes], N=2)
        m.output("y", m.node("Identity", [merge, "^" + merge]))
        m.output("which", merge + ":1")
        case("a branch at %g" % ratio, m, {"x": np.float32([1, 2])},
             {"y": np.float32([want, 2 * want]), "which": np.int32(ratio == 1)},
             "--number", "ratio=%g" % ratio)


def weights():
    """How they are stored; in several files."""
    codes, x = np.arange(12).reshape(3, 4), numbers(2, 3)
    for name, array, quantization, want, dtype in (
            ("float16", numbers(3, 4), {"dtype": "float16", "original_dtype": "float32"}, None, None),
            ("float16 of its own", numbers(3, 4), None, None, "float16"),
            ("uint8", codes * 20, {"dtype": "uint8", "scale": 0.013, "min": -1.7},
             codes * 20 * 0.013 - 1.7, "float32"),
            ("uint16", codes * 5000, {"dtype": "uint16", "scale": 1e-4, "min": -2},
             codes * 5000 * 1e-4 - 2, "float32")):
        m = Model()
        w = m.const(array, dtype or "float32", quantization)
        m.output("y", m.node("MatMul", [m.placeholder("x", x.shape), w]))
        if want is None:
            want = array.astype(np.float16).astype(np.float32)
        case("weights of " + name, m, {"x": x}, {"y": x @ want}, shards=3)
    m = Model()
    i = m.const(codes[0], "int32", {"dtype": "uint8", "scale": 2.5, "min": -3})
    b = m.const(np.array([True, False, True, True]))
    m.output("y", m.node("Select", [b, m.node("Add", [m.placeholder("x", (4,), "int32"), i]),
                                    np.int32([0, 0, 0, 0])]))
    case("weights of integers and bool", m, {"x": np.int32([1, 2, 3, 4])},
         {"y": np.int32([1 - 3, 0, 3 + 2, 4 + 5])})


def states():
    """Without a rank, or without sizes: as the output that feeds them."""
    for shape in (None, (-1, -1, -1, 3)):
        m = Model()
        x = m.placeholder("src", (1, 4, 6, 3))
        state = m.node("BroadcastTo", [m.placeholder("r1i", shape), m.node("Shape", [x])])
        m.output("r1o", m.node("AddV2", [x, state]))
        value, before = numbers(1, 4, 6, 3), numbers(1, 4, 6, 3)
        case("a state %s" % (shape,), m, {"src": value, "r1i": before}, {"r1o": value + before})


def layers():
    """Keras's: a shared one, a picture's way down and up."""
    x, w, b, gamma = numbers(1, 6, 8, 3), numbers(3, 3, 3, 3), numbers(3), 1 + numbers(3)
    m = Layers()
    m.layer("InputLayer", "x", batch_input_shape=[None, None, None, 3], dtype="float32")
    m.layer("Conv2D", "twice", [["x"], ["twice"]], {"kernel": w, "bias": b}, strides=[1, 1],
            padding="same", activation="relu", use_bias=True)
    m.layer("BatchNormalization", "norm", [[("twice", 1)]], {
        "gamma": gamma, "beta": b, "moving_mean": b / 2, "moving_variance": gamma + 1},
        axis=[3], epsilon=0.01)
    m.layer("UpSampling2D", "up", [["norm"]], size=[2, 2], interpolation="nearest")
    m.layer("Cropping2D", "crop", [["up"]], cropping=[[1, 2], [0, 3]])
    m.layer("Average", "mean", [["x", "twice", "norm"]])
    m.layer("GlobalAveragePooling2D", "all", [["mean"]])
    m.layer("Dense", "dense", [["all"]], {"kernel": w[0, 0], "bias": b}, activation="tanh")
    m.ends = ["crop", "dense"]
    once = np.maximum(conv(x, w) + b, 0)
    y = (np.maximum(conv(once, w) + b, 0) - b / 2) / np.sqrt(gamma + 1.01) * gamma + b
    case("layers", m, {"x": x}, {
        "crop": y.repeat(2, 1).repeat(2, 2)[:, 1:-2, :-3],
        "dense": np.tanh(((x + once + y) / 3).mean((1, 2)) @ w[0, 0] + b)}, "--input-size", "8x6")


for group in (convolutions, dilations, pictures, elements, matrices, moves, shapes, branches,
              weights, states, layers):
    group()


# -------------------------------------------------------------------- files that are wrong

def good():
    m = Model()
    m.output("y", m.node("Add", [m.placeholder("x", (3,)), np.float32([1, 2, 3])], "sum"))
    return m


def wrong_nodes(change, text):
    m = good()
    change(m)
    return m.json(), m.bytes(), text


def wrong_file(change, text):
    m = good()
    j = m.json()
    change(j)
    return j, m.bytes(), text


def manifest(j):
    return j["weightsManifest"][0]


def wrong_layer(text, *arguments, **options):
    m = Layers()
    m.layer("InputLayer", "x", batch_input_shape=[None, 4, 4, 3])
    m.layer(*arguments, **options)
    m.ends = ["y"]
    return m.json(), m.bytes(), text


ERRORS = [
    wrong_layer("this layer is not supported", "Lambda", "y", [["x"]]),
    wrong_layer("more than 8 times its files", "Activation", "n" * 4000, [["x"]] * 9000,
                activation="hard_sigmoid"),
    wrong_layer("lacks weights or options", "Conv2D", "y", [["x"]]),
    wrong_layer("this activation is not supported", "Activation", "y", [["x"]],
                activation="mish"),
    wrong_layer("channels_first is not supported", "Flatten", "y", [["x"]],
                data_format="channels_first"),
    wrong_layer("there is no node 'y'", "Add", "z", [["x", "x"]]),
    wrong_layer("there is no such node", "Add", "y", [["x", "nowhere"]]),
    wrong_layer("that are not the only output", "Add", "y", [["x", (3, 0)]]),
    wrong_nodes(lambda m: m.nodes[-1].update(op="Fourier"), "this operator is not supported"),
    wrong_nodes(lambda m: m.nodes[-1].update(input=["x", "nowhere"]), "there is no such node"),
    wrong_nodes(lambda m: m.nodes[-1].update(input=["x", "sum"]), "waits for its own output"),
    wrong_nodes(lambda m: m.nodes[-1].update(input=["x", "x:4"]), "'x:4', is no value"),
    wrong_nodes(lambda m: m.nodes[-1].update(input=["x"]), "1 inputs instead of 2 to 2"),
    wrong_nodes(lambda m: m.nodes.append(m.nodes[-1]), "two nodes are named 'sum'"),
    wrong_nodes(lambda m: m.nodes[-1].update(op="Enter"), "loops are not supported"),
    wrong_nodes(lambda m: m.nodes[-1].update(op="Where"), "depends on the values"),
    wrong_nodes(lambda m: m.nodes[-1].update(op="PartitionedCall"), "functions are not supported"),
    wrong_nodes(lambda m: m.nodes[0]["attr"].update(dtype={"type": "DT_STRING"}),
                "of type DT_STRING is not supported"),
    wrong_nodes(lambda m: m.nodes[-1].update(op="Switch", input=["x", "x"]),
                "the branch to be taken depends on what the graph is run with"),
    wrong_nodes(lambda m: m.nodes[-1].update(op="Reshape", input=["x", "x"]),
                "input 1, 'x', depends on what the graph is run with"),
    wrong_nodes(lambda m: m.placeholder("z", None), "'z:0', if 'z' is no number"),
    wrong_nodes(lambda m: m.placeholder("z", (-1, -1)), "dimension 1 of its input 'z' open"),
    wrong_file(lambda j: j.pop("modelTopology"), "this JSON is no TensorFlow.js model"),
    wrong_file(lambda j: j["modelTopology"].update(node=[]), "has no nodes"),
    wrong_file(lambda j: manifest(j)["weights"][0].update(shape=[30]), "it is cut off"),
    wrong_file(lambda j: manifest(j)["weights"][0].update(shape=[2]), "it is another model's"),
    wrong_file(lambda j: manifest(j)["weights"][0].update(shape=[1 << 31]), "have no shape"),
    wrong_file(lambda j: manifest(j)["weights"][0].update(shape=[-1]), "have no shape"),
    wrong_file(lambda j: manifest(j)["weights"][0].update(dtype="string"), "of type string"),
    wrong_file(lambda j: manifest(j)["weights"].append(manifest(j)["weights"][0]), "come twice"),
    wrong_file(lambda j: manifest(j)["weights"][0].update(quantization={"dtype": "int4"}),
               "quantized in a way"),
    wrong_file(lambda j: manifest(j).update(paths=["../it.bin"]), "no file beside its own"),
    wrong_file(lambda j: manifest(j).update(paths=["/dev/zero"]), "no file beside its own"),
    wrong_file(lambda j: manifest(j).update(paths=["missing.bin"]), "No such file"),
    wrong_file(lambda j: manifest(j).update(paths=[]), "it names no file for its weights"),
    wrong_file(lambda j: manifest(j).update(paths=[3]), "has no name"),
    wrong_file(lambda j: j.update(weightsManifest=[]), "there are no weights of that name"),
    wrong_file(lambda j: j["signature"]["outputs"].update(z={"name": "none"}),
               "there is no node 'none'"),
]


# ----------------------------------------------------------------------------- running

def run(tdl_run, folder, model, inputs, names, arguments):
    command = [tdl_run, "-d", os.environ.get("TDL_DEVICE", "cpu"), "-p", "fp32", model, *arguments]
    for name, value in inputs.items():
        path = os.path.join(folder, "in-%s.npy" % name)
        np.save(path, value)
        command += ["--input", "%s=%s" % (name, path)]
    for name in names:
        command += ["--output", "%s=%s" % (name, os.path.join(folder, "out-%s.npy" % name))]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check(tdl_run, folder, name, model, inputs, wants, arguments, shards):
    done = run(tdl_run, folder, model.write(folder, shards), inputs, wants, arguments)
    if done.returncode:
        return "%s: %s" % (name, done.stderr.strip())
    for key, want in wants.items():
        got = np.load(os.path.join(folder, "out-%s.npy" % key))
        want = np.asarray(want)
        if got.shape != want.shape:
            return "%s: %s has the shape %s instead of %s" % (name, key, got.shape, want.shape)
        if not np.allclose(got, want, rtol=1e-4, atol=1e-4 if want.dtype.kind == "f" else 0):
            return "%s: %s is off by %g" % (name, key, np.abs(got - want).max())
    return None


def check_errors(tdl_run, folder):
    for content, data, text in ERRORS:
        with open(os.path.join(folder, "it.json"), "w", encoding="utf-8") as f:
            json.dump(content, f)
        with open(os.path.join(folder, "it.bin"), "wb") as f:
            f.write(data)
        done = run(tdl_run, folder, os.path.join(folder, "it.json"), {}, [], [])
        if done.returncode == 0 or text not in done.stderr:
            yield '"%s" is not in: %s' % (text, done.stderr.strip() or "no error")
    whole = json.dumps(good().json())
    for end in range(9, len(whole), 37): # cut short
        with open(os.path.join(folder, "it.json"), "w", encoding="utf-8") as f:
            f.write(whole[:end])
        done = run(tdl_run, folder, os.path.join(folder, "it.json"), {}, [], [])
        if done.returncode != 1 or "line 1 of its JSON" not in done.stderr:
            yield "cut off at %d: %s" % (end, done.stderr.strip())


def write_seeds(folder):
    os.makedirs(folder, exist_ok=True)
    for name, model, _, _, _, _ in CASES:
        path = os.path.join(folder, re.sub(r"\W+", "-", name) + ".tfjs")
        with open(path, "wb") as f:
            f.write(json.dumps(model.json()).encode() + b"\0" + model.bytes())
    print("%d seeds" % len(CASES))


def main():
    if sys.argv[1] == "--seeds":
        write_seeds(sys.argv[2])
        return 0
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        for one in CASES:
            faults += [f for f in [check(sys.argv[1], folder, *one)] if f]
        faults += check_errors(sys.argv[1], folder)
    for fault in faults:
        print("FAIL " + fault)
    print("%d models, %d wrong ones, %d failures" % (len(CASES), len(ERRORS), len(faults)))
    return 1 if faults else 0


sys.exit(main())
