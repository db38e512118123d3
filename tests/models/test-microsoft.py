#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Operators of ONNX Runtime's own domain:

test-microsoft.py TDL-RUN [--keep FOLDER]
test-microsoft.py --seeds FOLDER             the same files as seeds for the fuzzer

Each is a file of one node, whose result is held against NumPy, by the definitions in ONNX
Runtime's documentation of contrib operators; of quantized numbers within one step. Runs fused and not. With
--keep the files, inputs and right outputs stay in a folder, with a list of them, cases.json.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy (Debian package python3-numpy)")
    sys.exit(77)
from chains import Node, attribute, field, value_info

RANDOM = np.random.RandomState(3)
KINDS = {"float32": 1, "float16": 10, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9}
CASES = []


class In:
    """An input of the graph; other arrays are constants."""

    def __init__(self, data):
        self.data = np.asarray(data)


def numbers(*shape, low=-1.0, high=1.0):
    return RANDOM.uniform(low, high, shape).astype(np.float32)


def integers(kind, *shape):
    limits = np.iinfo(kind)
    return RANDOM.randint(limits.min, limits.max + 1, shape).astype(kind)


def scalar(value, kind=np.float32):
    return np.array(value, kind)


class Floats(list):
    """The value of an attribute that is a list of floats."""


def attribute_file(name, value):
    if isinstance(value, Floats):
        return field(1, name) + b"".join(field(7, float(v)) for v in value) + field(20, 6)
    return attribute(name, value)


class Call(Node):
    def file(self):
        m = b"".join(field(1, i) for i in self.inputs)
        m += b"".join(field(2, o) for o in self.outputs) + field(4, self.kind)
        m += b"".join(field(5, attribute_file(k, v)) for k, v in self.attributes.items())
        return m + (field(7, self.domain) if self.domain else b"")


def tensor(name, data):
    return (b"".join(field(1, int(d)) for d in data.shape) + field(2, KINDS[data.dtype.name]) +
            field(8, name) + field(9, data.tobytes()))


def model(kind, domain, inputs, outputs, attributes):
    names, graph = [], b""
    for i, x in enumerate(inputs):
        names.append("" if x is None else "i%d" % i)
        if isinstance(x, In):
            graph += field(11, value_info(names[-1], x.data.shape, KINDS[x.data.dtype.name]))
        elif x is not None:
            graph += field(5, tensor(names[-1], x))
    results = ["" if o is None else "o%d" % i for i, o in enumerate(outputs)]
    graph += field(1, Call(kind, names, results, attributes, domain).file())
    for name, o in zip(results, outputs):
        if name:
            graph += field(12, value_info(name, o.shape, KINDS[o.dtype.name]))
    return (field(1, 8) + field(7, field(2, "g") + graph) + field(8, field(1, "") + field(2, 17)) +
            field(8, field(1, "com.microsoft") + field(2, 1)))


def case(name, kind, inputs, outputs, domain="com.microsoft", **attributes):
    outputs = outputs if isinstance(outputs, list) else [outputs]
    CASES.append((name, model(kind, domain, inputs, outputs, attributes), inputs, outputs,
                  (kind, domain, attributes)))


# ------------------------------------------------------------------ definitions

def erf(x):
    return np.vectorize(math.erf)(x)


def gelu(x):
    return x / 2 * (1 + erf(x / math.sqrt(2)))


def tanh_gelu(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def conv(x, w, pad=0, stride=1, groups=1):
    """NCHW and [out, in / groups, kh, kw]."""
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    n, c, h, wide = x.shape
    out, each, kh, kw = w.shape
    size = (h - kh) // stride + 1, (wide - kw) // stride + 1
    y = np.zeros((n, out) + size)
    for o in range(out):
        first = o // (out // groups) * each
        for r in range(size[0]):
            for q in range(size[1]):
                part = x[:, first:first + each, r * stride:r * stride + kh,
                         q * stride:q * stride + kw]
                y[:, o, r, q] = (part * w[o]).sum((1, 2, 3))
    return y


def pool(x, size, pad, of, fill):
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=fill)
    rows, columns = x.shape[2] - size + 1, x.shape[3] - size + 1
    return np.stack([np.stack([of(x[:, :, r:r + size, c:c + size], (2, 3)) for c in range(columns)],
                              -1) for r in range(rows)], -2)


def layer(x, epsilon):
    d = x - x.mean(-1, keepdims=True)
    return d / np.sqrt((d * d).mean(-1, keepdims=True) + epsilon)


def root(x, epsilon):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)


def real(x, scale, zero=0):
    return (np.asarray(x, np.float64) - np.asarray(zero, np.float64)) * np.asarray(scale, np.float64)


def steps(y, scale, zero):
    limits = np.iinfo(zero.dtype)
    return np.clip(np.rint(y / float(scale)) + int(zero), limits.min, limits.max).astype(zero.dtype)


def f32(x):
    return np.asarray(x, np.float32)


def nhwc(x):
    return np.ascontiguousarray(np.moveaxis(x, 1, -1))


# ------------------------------------------------------------- fused by itself

def fused():
    x, w, bias, z = numbers(2, 4, 6, 5), numbers(8, 4, 3, 3), numbers(8), numbers(2, 8, 6, 5)
    y = conv(x, w, 1) + bias[:, None, None]
    kernel = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    for name, params, of in [
            ("Relu", None, lambda v: np.maximum(v, 0)), ("Tanh", None, np.tanh),
            ("Sigmoid", None, sigmoid), ("LeakyRelu", [0.2], lambda v: np.where(v < 0, v * 0.2, v)),
            ("Clip", [-0.5, 0.75], lambda v: np.clip(v, -0.5, 0.75)),
            ("HardSigmoid", [0.3, 0.4], lambda v: np.clip(0.3 * v + 0.4, 0, 1))]:
        more = {} if params is None else {"activation_params": Floats(params)}
        case("FusedConv with " + name, "FusedConv", [In(x), w, bias], f32(of(y)), activation=name,
             **more, **kernel)
    case("FusedConv with a sum", "FusedConv", [In(x), w, bias, In(z)], f32(np.maximum(y + z, 0)),
         activation="Relu", **kernel)
    case("FusedConv with a sum alone", "FusedConv", [In(x), w, None, In(z)], f32(conv(x, w, 1) + z),
         **kernel)
    y = rows(x[:, :, 0], w[:, :, 1]) + bias[:, None] + z[:, :, 0]
    case("FusedConv of rows", "FusedConv", [In(x[:, :, 0]), w[:, :, 1], bias, In(z[:, :, 0])],
         f32(np.maximum(y, 0)), activation="Relu", kernel_shape=[3], pads=[1, 1])
    y = conv(x, w, 1) + bias[:, None, None]
    case("NhwcConv", "NhwcConv", [In(nhwc(x)), w, bias], f32(nhwc(y)), **kernel)
    case("NhwcFusedConv", "NhwcFusedConv", [In(nhwc(x)), w, bias, In(nhwc(z))],
         f32(nhwc(np.maximum(y + z, 0))), activation="Relu", **kernel)
    q = integers(np.uint8, 1, 5, 6, 3)
    case("NhwcMaxPool", "NhwcMaxPool", [In(q)], nhwc(pool(np.moveaxis(q, -1, 1), 3, 1, np.max, 0))
         .astype(np.uint8), **kernel)


def rows(x, w):
    """A convolution of rows with one pixel of padding at both ends."""
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1)))
    return np.stack([np.einsum("ncx,ocx->no", x[:, :, i:i + 3], w)
                     for i in range(x.shape[2] - 2)], -1)


def products():
    a, b, c = numbers(3, 4), numbers(5, 4), numbers(5)
    y = 0.5 * a @ b.T + 2 * c
    case("FusedGemm", "FusedGemm", [In(a), b, c], f32(np.where(y < 0, 0.3 * y, y)), alpha=0.5,
         beta=2.0, transB=1, activation="LeakyRelu", activation_alpha=0.3)
    case("FusedGemm with Elu", "FusedGemm", [In(a), b], f32(np.where(
        a @ b.T < 0, 0.7 * np.expm1(a @ b.T), a @ b.T)), transB=1, activation="Elu",
        activation_alpha=0.7)
    a, b = numbers(2, 3, 4), numbers(2, 5, 4)
    case("FusedMatMul", "FusedMatMul", [In(a), In(b)], f32(0.25 * a @ np.swapaxes(b, 1, 2)),
         alpha=0.25, transB=1)
    case("FusedMatMul of a constant", "FusedMatMul", [In(a), b], f32(a @ np.swapaxes(b, 1, 2)),
         transB=1)
    a = numbers(4, 2, 3)
    case("FusedMatMul, both swapped", "FusedMatMul", [In(a), In(b)],
         f32(np.einsum("kbm,bnk->bmn", a, b)), transBatchA=1, transA=1, transB=1)
    a = numbers(3, 2, 4)
    case("FusedMatMul of batches behind", "FusedMatMul", [In(a), In(b)],
         f32(np.einsum("mbk,bnk->bmn", a, b)), transBatchA=1, transB=1)
    a = numbers(2, 4, 3)
    case("TransposeMatMul", "TransposeMatMul", [In(a), In(b)],
         f32(np.swapaxes(a, 1, 2) @ np.swapaxes(b, 1, 2)), transA=1, transB=1)


def gates():
    x, bias, skip = numbers(2, 3, 8, low=-3, high=3), numbers(8), numbers(2, 3, 8)
    case("Gelu", "Gelu", [In(x)], f32(gelu(x)))
    case("BiasGelu", "BiasGelu", [In(x), bias], f32(gelu(x + bias)))
    case("FastGelu", "FastGelu", [In(x)], f32(tanh_gelu(x)))
    case("FastGelu with a bias", "FastGelu", [In(x), bias], f32(tanh_gelu(x + bias)))
    case("QuickGelu", "QuickGelu", [In(x)], f32(x * sigmoid(1.702 * x)))
    case("QuickGelu of another slope", "QuickGelu", [In(x)], f32(x * sigmoid(x)), alpha=1.0)
    y = x + bias
    case("BiasSplitGelu", "BiasSplitGelu", [In(x), bias], f32(y[..., :4] * gelu(y[..., 4:])))
    case("BiasAdd", "BiasAdd", [In(x), bias, In(skip)], f32(x + bias + skip))
    case("BiasSoftmax", "BiasSoftmax", [In(x), In(skip[:, :1])], f32(softmax(x + skip[:, :1])),
         axis=2, is_inner_broadcast=1)
    case("BiasSoftmax of two dimensions", "BiasSoftmax", [In(x), In(skip)],
         f32(softmax((x + skip).reshape(2, 24)).reshape(2, 3, 8)), axis=1, is_inner_broadcast=0)
    case("Trilu", "Trilu", [In(x[0])], f32(np.triu(x[0])))


def normalizations():
    x, skip, scale, shift, bias = numbers(2, 3, 8), numbers(2, 3, 8), numbers(8), numbers(8), \
        numbers(8)
    s = x.astype(np.float64) + skip
    case("SkipLayerNormalization", "SkipLayerNormalization", [In(x), In(skip), scale, shift, bias],
         [f32(layer(s + bias, 1e-5) * scale + shift), None, None, f32(s + bias)],
         epsilon=1e-5)
    case("SkipLayerNormalization alone", "SkipLayerNormalization", [In(x), In(skip), scale],
         f32(layer(s, 1e-12) * scale))
    case("SkipSimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization",
         [In(x), In(skip), scale, bias],
         [f32(root(s + bias, 1e-6) * scale), None, None, f32(s + bias)], epsilon=1e-6)
    case("SimplifiedLayerNormalization", "SimplifiedLayerNormalization", [In(x), scale],
         f32(root(x.astype(np.float64), 1e-5) * scale), domain="", axis=-1)
    x, scale, shift = numbers(2, 6, 4, 5), numbers(6), numbers(6)
    y = layer(x.astype(np.float64).reshape(2, 3, -1), 1e-5).reshape(x.shape)
    y = y * scale[:, None, None] + shift[:, None, None]
    case("GroupNorm", "GroupNorm", [In(nhwc(x)), scale, shift], f32(nhwc(y)), groups=3,
         activation=0)
    case("GroupNorm in NCHW with SiLU", "GroupNorm", [In(x), scale, shift], f32(y * sigmoid(y)),
         groups=3, activation=1, channels_last=0)
    skip, bias = numbers(2, 6), numbers(6)
    s = x.astype(np.float64) + (skip + bias)[:, :, None, None]
    y = layer(s.reshape(2, 2, -1), 1e-5).reshape(x.shape)
    y = y * scale[:, None, None] + shift[:, None, None]
    case("SkipGroupNorm", "SkipGroupNorm", [In(nhwc(x)), scale, shift, In(skip), bias],
         [f32(nhwc(y)), f32(nhwc(s))], groups=2, activation=0)


# ------------------------------------------------------------------------ crops

def crop(x, region, size):
    """[C, h, w], with 0 outside of x, and edges as parts of its size."""
    def places(low, high, pixels, count):
        part = np.arange(count) / (count - 1) if count > 1 else np.array([0.5])
        return (low + part * (high - low)) * (pixels - 1)

    y = np.zeros((x.shape[0],) + size)
    for r, v in enumerate(places(region[0], region[2], x.shape[1], size[0])):
        for c, h in enumerate(places(region[1], region[3], x.shape[2], size[1])):
            if 0 <= v <= x.shape[1] - 1 and 0 <= h <= x.shape[2] - 1:
                i, j = int(v), int(h)
                k, m = min(i + 1, x.shape[1] - 1), min(j + 1, x.shape[2] - 1)
                y[:, r, c] = ((x[:, i, j] * (j + 1 - h) + x[:, i, m] * (h - j)) * (i + 1 - v) +
                              (x[:, k, j] * (j + 1 - h) + x[:, k, m] * (h - j)) * (v - i))
    return y


def crops():
    x, which = numbers(2, 3, 6, 7), np.array([1, 0, 1], np.int32)
    regions = np.array([[0.1, 0.2, 0.9, 0.7], [-0.1, 0.1, 0.6, 1.1], [0.8, 0.9, 0.2, 0.1]],
                       np.float32)
    for size in ((4, 5), (1, 3)):
        want = np.stack([crop(x[i].astype(np.float64), r, size) for i, r in zip(which, regions)])
        case("CropAndResize to %dx%d" % size, "CropAndResize",
             [In(x), In(regions), In(which), np.array(size, np.int32)], f32(want))


# -------------------------------------------------------------------- attention

def heads_of(x, heads):
    return np.swapaxes(x.reshape(x.shape[:2] + (heads, -1)), 1, 2).astype(np.float64)


def attend(q, k, v, heads, mask=0.0, scale=None):
    q, k, v = (heads_of(x, heads) if x.ndim == 3 else x for x in (q, k, v))
    scores = q @ np.swapaxes(k, 2, 3) * (scale or 1 / math.sqrt(q.shape[3]))
    y = np.swapaxes(softmax(scores + mask) @ v, 1, 2)
    return f32(y.reshape(y.shape[:2] + (-1,)))


def attention():
    x, w, bias = numbers(2, 5, 6), numbers(6, 20), numbers(20)
    p = x.astype(np.float64) @ w + bias
    q, k, v = np.split(p, [8, 16], -1)
    sizes = {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 4]}
    case("Attention", "Attention", [In(x), w, bias], attend(q, k, v, 2), **sizes)
    case("Attention of the past", "Attention", [In(x), w, bias],
         attend(q, k, v, 2, np.triu(np.full((5, 5), -np.inf), 1), 0.3), unidirectional=1, scale=0.3,
         **sizes)
    seen = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    case("Attention with a mask", "Attention", [In(x), w, bias, In(seen)],
         attend(q, k, v, 2, np.where(seen > 0, 0, -10000)[:, None, None]), **sizes)
    case("Attention with lengths", "Attention", [In(x), w, bias, In(np.array([3, 5], np.int32))],
         attend(q, k, v, 2, np.where(seen > 0, 0, -10000)[:, None, None]), **sizes)
    late = np.array([[0, 0, 1, 1, 0], [0, 1, 1, 1, 1]], np.int32)
    case("Attention with ends and starts", "Attention",
         [In(x), w, bias, In(np.array([4, 5, 2, 1], np.int32))],
         attend(q, k, v, 2, np.where(late > 0, 0, -10000)[:, None, None]), **sizes)
    each = (RANDOM.uniform(size=(2, 5, 5)) < 0.6).astype(np.int32)
    case("Attention with a mask of queries", "Attention", [In(x), w, bias, In(each)],
         attend(q, k, v, 2, np.where(each > 0, 0, -10000)[:, None]), **sizes)
    w, more = numbers(6, 24), numbers(1, 2, 5, 8)
    past = numbers(2, 2, 2, 3, 4)
    q, k, v = np.split(x.astype(np.float64) @ w, 3, -1)
    k, v = (np.concatenate([past[i], heads_of(y, 2)], 2) for i, y in enumerate((k, v)))
    case("Attention behind others", "Attention", [In(x), w, None, None, In(past), In(more)],
         [attend(q, k, v, 2, more), f32(np.stack([k, v]))], num_heads=2)
    q, k, v, bias = numbers(2, 3, 8), numbers(2, 5, 8), numbers(2, 5, 6), numbers(22)
    parts = np.split(bias, [8, 16])
    three = [y.astype(np.float64) + b for y, b in zip((q, k, v), parts)]
    more = numbers(2, 1, 3, 5)
    case("MultiHeadAttention", "MultiHeadAttention", [In(q), In(k), In(v)], attend(q, k, v, 2),
         num_heads=2)
    case("MultiHeadAttention with all", "MultiHeadAttention",
         [In(q), In(k), In(v), bias, In(seen), In(more)],
         attend(*three, 2, more + np.where(seen > 0, 0, -10000)[:, None, None]), num_heads=2)
    deep = [f32(heads_of(k, 2)), f32(heads_of(numbers(2, 5, 8), 2))]
    case("MultiHeadAttention of known heads", "MultiHeadAttention",
         [In(q), In(deep[0]), In(deep[1])], attend(q, *deep, 2), num_heads=2)
    packed = numbers(2, 3, 2, 3, 4)
    case("MultiHeadAttention packed", "MultiHeadAttention", [In(packed)],
         attend(*(packed[:, :, :, i].reshape(2, 3, 8) for i in range(3)), 2), num_heads=2)
    pair = numbers(2, 5, 2, 2, 4)
    case("MultiHeadAttention of a pair", "MultiHeadAttention", [In(q), In(pair)],
         attend(q, *(pair[:, :, :, i].reshape(2, 5, 8) for i in range(2)), 2), num_heads=2)
    old = [numbers(2, 2, 3, 4), numbers(2, 2, 3, 4)]
    new = [numbers(2, 3, 8), numbers(2, 3, 8)]
    whole = [np.concatenate([a, f32(heads_of(b, 2))], 2) for a, b in zip(old, new)]
    case("MultiHeadAttention behind others", "MultiHeadAttention",
         [In(q), In(new[0]), In(new[1]), None, None, None, In(old[0]), In(old[1])],
         [attend(q, *whole, 2), whole[0], whole[1]], num_heads=2)
    x, w, bias = integers(np.uint8, 2, 5, 6), integers(np.int8, 6, 24), numbers(24)
    scales, zero = numbers(24, low=0.005, high=0.01), scalar(120, np.uint8)
    p = real(x, 0.02, 120) @ real(w, scales) + bias
    case("QAttention", "QAttention",
         [In(x), w, bias, scalar(0.02), scales, None, zero, np.zeros(24, np.int8)],
         attend(*np.split(p, 3, -1), 2), num_heads=2)


# ----------------------------------------------------------------------- halves

def halved(x):
    if isinstance(x, In):
        return In(halved(x.data))
    return x.astype(np.float16) if x is not None and x.dtype == np.float32 else x


def turned(x, cosine, sine, interleaved):
    """Pairs of each head of x, [batch, length, heads, depth], turned by angles of [batch, length,
    half]; numbers behind the pairs stay."""
    half = cosine.shape[-1]
    pairs, rest = x[..., :2 * half], x[..., 2 * half:]
    a, b = (pairs[..., 0::2], pairs[..., 1::2]) if interleaved else \
        (pairs[..., :half], pairs[..., half:])
    c, s = cosine[:, :, None], sine[:, :, None]
    both = [c * a - s * b, s * a + c * b]
    y = np.stack(both, -1).reshape(pairs.shape) if interleaved else np.concatenate(both, -1)
    return np.concatenate([y, rest], -1).astype(np.float32)


def rotary():
    angles = numbers(9, 2, high=3)
    cosine, sine = np.cos(angles), np.sin(angles)
    x = numbers(2, 3, 2, 6)
    for interleaved, places in ((0, [[4, 0, 7], [1, 1, 8]]), (1, [[2]])):
        at = np.array(places, np.int64)
        all_at = at if at.size > 1 else np.tile(at[0] + np.arange(3), (2, 1))
        want = turned(x, cosine[all_at], sine[all_at], interleaved)
        given = at if at.size > 1 else at[0]
        case("RotaryEmbedding, [batch, length, all]", "RotaryEmbedding",
             [In(x.reshape(2, 3, 12)), In(given), cosine, sine], want.reshape(2, 3, 12),
             interleaved=interleaved, num_heads=2, rotary_embedding_dim=4)
        case("RotaryEmbedding, by heads", "RotaryEmbedding",
             [In(x.transpose(0, 2, 1, 3).copy()), In(given), cosine, sine],
             want.transpose(0, 2, 1, 3), interleaved=interleaved, rotary_embedding_dim=4)


def embedding():
    words, places, segments = numbers(7, 4), numbers(5, 4), numbers(2, 4)
    scale, bias = numbers(4), numbers(4)
    ids = np.array([[6, 0, 2], [1, 1, 5]], np.int32)
    kinds = np.array([[0, 1, 1], [1, 0, 0]], np.int32)
    mask = np.array([[1, 1, 0], [1, 0, 0]], np.int32)
    at = np.array([[3, 4, 0], [2, 2, 1]], np.int32)

    def normalized(x):
        y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6)
        return (y * scale + bias).astype(np.float32)
    total = words[ids] + places[:3] + segments[kinds]
    case("EmbedLayerNormalization", "EmbedLayerNormalization",
         [In(ids), In(kinds), words, places, segments, scale, bias, In(mask)],
         [normalized(total), mask.sum(1).astype(np.int32), total], epsilon=1e-6)
    case("EmbedLayerNormalization of given places", "EmbedLayerNormalization",
         [In(ids), None, words, places, None, scale, bias, None, In(at)],
         [normalized(words[ids] + places[at]), np.zeros(2, np.int32)], epsilon=1e-6)


def halves():
    """What is above, in files of float16."""
    for name, _, inputs, outputs, (kind, domain, attributes) in list(CASES):
        case(name + " in float16", kind, [halved(x) for x in inputs], [halved(o) for o in outputs],
             domain, **attributes)


# -------------------------------------------------------------------- quantized

def quantized(kind):
    zero = scalar(100 if kind == np.uint8 else -20, kind)
    out = scalar(128 if kind == np.uint8 else 5, kind)
    name = " of " + np.dtype(kind).name
    a, b = integers(kind, 2, 3, 4), integers(kind, 1, 3, 4)
    sa, sb, sy = scalar(0.02), scalar(0.03), scalar(0.05)
    x, y = real(a, sa, zero), real(b, sb, out)
    ins = [In(a), sa, zero]
    case("QLinearAdd" + name, "QLinearAdd", ins + [In(b), sb, out, sy, out], steps(x + y, sy, out))
    case("QLinearAdd without zero points" + name, "QLinearAdd",
         [In(a), sa, None, In(b), sb, None, sy], steps(real(a, sa) + real(b, sb), sy,
                                                       scalar(0, kind)))
    case("QLinearMul" + name, "QLinearMul", ins + [In(b), sb, out, sy, out], steps(x * y, sy, out))
    case("QLinearMul by a constant" + name, "QLinearMul", ins + [b, sb, out, sy, zero],
         steps(x * y, sy, zero))
    case("QLinearConcat" + name, "QLinearConcat", [sy, out] + ins + [In(b), sb, out],
         steps(np.concatenate([x, y], 0), sy, out), axis=0)
    case("QLinearSigmoid" + name, "QLinearSigmoid", ins + [scalar(1 / 256), zero],
         steps(sigmoid(x), 1 / 256, zero))
    case("QLinearLeakyRelu" + name, "QLinearLeakyRelu", ins + [sy, out],
         steps(np.where(x < 0, 0.1 * x, x), sy, out), alpha=0.1)
    least = scalar(np.iinfo(kind).min, kind)
    case("QLinearSoftmax" + name, "QLinearSoftmax", ins + [scalar(1 / 256), least],
         steps(softmax(x, 1), 1 / 256, least), axis=1, opset=13)
    case("QLinearSoftmax of old" + name, "QLinearSoftmax", ins + [scalar(1 / 256), least],
         steps(softmax(x.reshape(2, 12)).reshape(x.shape), 1 / 256, least), axis=1, opset=12)
    case("QLinearReduceMean" + name, "QLinearReduceMean", ins + [sy, out],
         steps(x.mean((0, 2)), sy, out), axes=[0, 2], keepdims=0)
    which = RANDOM.uniform(size=(2, 3, 4)) < 0.5
    case("QLinearWhere" + name, "QLinearWhere", [which] + ins + [In(b), sb, out, sy, out],
         steps(np.where(which, x, y), sy, out))
    a = integers(kind, 1, 5, 6, 7)
    x, ins = real(a, sa, zero), [In(a), sa, zero]
    window = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    case("QLinearAveragePool" + name, "QLinearAveragePool", ins + [sy, out],
         steps(pool(x, 3, 1, np.mean, 0), sy, out), count_include_pad=1, **window)
    inside = np.full(x.shape, 1.0)
    mean = pool(x, 3, 1, np.sum, 0) / pool(inside, 3, 1, np.sum, 0)
    case("QLinearAveragePool in NHWC" + name, "QLinearAveragePool",
         [In(nhwc(a)), sa, zero, sy, out], nhwc(steps(mean, sy, out)), channels_last=1, **window)
    mean = x.mean((2, 3), keepdims=True)
    case("QLinearGlobalAveragePool" + name, "QLinearGlobalAveragePool", ins + [sy, out],
         steps(mean, sy, out))
    case("QLinearGlobalAveragePool in NHWC" + name, "QLinearGlobalAveragePool",
         [In(nhwc(a)), sa, zero, sy, out], nhwc(steps(mean, sy, out)), channels_last=1)
    w, scales = integers(np.int8, 4, 5, 3, 3), numbers(4, low=0.01, high=0.02)
    zeros, bias = np.zeros(4, np.int8), RANDOM.randint(-2000, 2000, 4).astype(np.int32)
    y = conv(x, real(w, scales[:, None, None, None]), 1)
    y += real(bias, scales * float(sa))[:, None, None]
    wide = scalar(0.2)
    case("QLinearConv in NHWC" + name, "QLinearConv",
         [In(nhwc(a)), sa, zero, w, scales, zeros, wide, out, bias], nhwc(steps(y, wide, out)),
         channels_last=1, **window)
    a, w, scales = integers(kind, 3, 8), integers(np.int8, 5, 8), numbers(5, low=0.01, high=0.02)
    zeros = integers(np.int8, 5) // 16
    c = RANDOM.randint(-2000, 2000, 5).astype(np.int32)
    y = 0.5 * (real(a, sa, zero) @ real(w, scales[:, None], zeros[:, None]).T +
               real(c, scales * float(sa)))
    ins = [In(a), sa, zero, w, scales, zeros, c]
    case("QGemm" + name, "QGemm", ins + [scalar(0.1), out], steps(y, 0.1, out), alpha=0.5, transB=1)
    case("QGemm to floats" + name, "QGemm", ins, f32(y), alpha=0.5, transB=1)
    bias = numbers(5)
    y = real(a, sa, zero) @ real(w, scales[:, None], zeros[:, None]).T
    case("MatMulIntegerToFloat" + name, "MatMulIntegerToFloat",
         [In(a), np.ascontiguousarray(w.T), sa, scales, zero, zeros, bias], f32(y + bias))


def rounded_products():
    a, w = numbers(3, 16, low=-2), integers(np.int8, 16, 5)
    scales, zeros, bias = numbers(5, low=0.01, high=0.02), np.zeros(5, np.int8), numbers(5)
    low, high = min(a.min(), 0), max(a.max(), 0)
    scale = np.float32(high - low) / np.float32(255)
    zero = np.rint(np.clip(-low / scale, 0, 255))
    rounded = (np.clip(np.rint(a / scale) + zero, 0, 255) - zero) * scale
    case("DynamicQuantizeMatMul", "DynamicQuantizeMatMul", [In(a), w, scales, zeros, bias],
         f32(rounded @ real(w, scales) + bias))
    for bits, block, k, packed, with_bias in [(4, 16, 40, None, True), (4, 32, 64, True, False),
                                              (8, 16, 32, False, True), (2, 16, 48, True, False)]:
        blocks, n = -(-k // block), 3
        q = RANDOM.randint(0, 2 ** bits, (n, blocks * block)).astype(np.uint8)
        scales = numbers(n, blocks, low=0.05, high=0.1)
        if packed is None:
            zeros, given = np.full((n, blocks), 2 ** (bits - 1)), None
        elif packed:
            zeros = RANDOM.randint(0, 2 ** bits, (n, blocks))
            given = pack(zeros.astype(np.uint8), bits)
        else:
            given = zeros = numbers(n, blocks, low=100, high=140)
        w = (q.reshape(n, blocks, block) - zeros[:, :, None].astype(np.float64)) * \
            scales[:, :, None]
        a, bias = numbers(2, 3, k), numbers(n)
        y = a @ w.reshape(n, -1)[:, :k].T.astype(np.float64)
        ins = [In(a), pack(q, bits).reshape(n, blocks, -1), scales, given]
        case("MatMulNBits, %d bits by %d" % (bits, block), "MatMulNBits",
             ins + ([None, bias] if with_bias else []), f32(y + bias if with_bias else y), bits=bits,
             block_size=block, K=k, N=n)


def pack(rows_of, bits):
    per = 8 // bits
    rows_of = np.pad(rows_of, ((0, 0), (0, -rows_of.shape[1] % per)))
    parts = rows_of.reshape(rows_of.shape[0], -1, per).astype(np.uint32)
    return (parts << bits * np.arange(per, dtype=np.uint32)).sum(-1).astype(np.uint8)


# ------------------------------------------------------------------------- runs

def wrong(got, want):
    if got.shape != want.shape or got.dtype != want.dtype:
        return "it is %s%s, not %s%s" % (got.dtype, list(got.shape), want.dtype, list(want.shape))
    parts = {"float32": 1e-4, "float16": 1e-2}.get(want.dtype.name)
    limit = parts * max(1, np.abs(want).max()) if parts else 1
    error = np.abs(got.astype(np.float64) - want.astype(np.float64)).max()
    return None if error <= limit else "it differs by %g" % error


def check(tdl_run, folder, number, more):
    name, file, inputs, outputs, _ = CASES[number]
    base = os.path.join(folder, "%d" % number)
    with open(base + ".onnx", "wb") as f:
        f.write(file)
    line = [tdl_run, "-p", "fp32", base + ".onnx"] + more
    listed = {"name": name, "inputs": [], "outputs": []}
    for i, x in enumerate(inputs):
        if isinstance(x, In):
            path = "%s.i%d.npy" % (base, i)
            np.save(path, x.data)
            line += ["-i", "i%d=%s" % (i, path)]
            listed["inputs"].append(["i%d" % i, x.data.dtype.name, list(x.data.shape)])
    for i, o in enumerate(outputs):
        if o is not None:
            line += ["-o", "o%d=%s.o%d.npy" % (i, base, i)]
            np.save("%s.right%d.npy" % (base, i), o)
            listed["outputs"].append("o%d" % i)
    run = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         check=False)
    if run.returncode:
        return "exit status %d, %s" % (run.returncode, run.stderr.strip()), listed
    for i, o in enumerate(outputs):
        problem = o is not None and wrong(np.load("%s.o%d.npy" % (base, i)), o)
        if problem:
            return "output %d: %s" % (i, problem), listed
    return None, listed


def main():
    fused()
    products()
    gates()
    normalizations()
    attention()
    rotary()
    embedding()
    halves()
    crops()
    quantized(np.uint8)
    quantized(np.int8)
    rounded_products()
    if sys.argv[1] == "--seeds":
        for number, (_, file, *_) in enumerate(CASES):
            with open(os.path.join(sys.argv[2], "microsoft-%d" % number), "wb") as f:
                f.write(file)
        return 0
    keep = sys.argv[3] if sys.argv[2:3] == ["--keep"] else None
    failures, lists = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(len(CASES)):
            for more in ([], ["-n"]):
                problem, listed = check(sys.argv[1], keep or folder, number, more)
                if problem:
                    failures += 1
                    print("FAIL: %s%s: %s" % (CASES[number][0], ", not fused" if more else "",
                                              problem))
            lists.append(listed)
    if keep:
        with open(os.path.join(keep, "cases.json"), "w", encoding="utf-8") as f:
            json.dump(lists, f)
    print("%d operators, %d failures" % (len(CASES), failures))
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
