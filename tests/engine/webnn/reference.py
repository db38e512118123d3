# SPDX-License-Identifier: LGPL-2.1-or-later
"""WebNN's operators in NumPy, from the text of the specification: parameters and options have
its names and defaults, floats are float64, and nothing is shared with the engine.
https://www.w3.org/TR/webnn/"""

import itertools
import math

import numpy as np


def each(function):
    return np.vectorize(function, otypes=[np.float64])


def gelu(x):
    return 0.5 * x * each(math.erfc)(-x / math.sqrt(2))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


UNARY = {
    'abs': np.abs, 'ceil': np.ceil, 'cos': np.cos, 'erf': each(math.erf), 'exp': np.exp,
    'floor': np.floor, 'identity': np.array, 'log': np.log, 'neg': np.negative,
    'reciprocal': np.reciprocal, 'roundEven': np.rint, 'sin': np.sin, 'sign': np.sign,
    'sqrt': np.sqrt, 'tan': np.tan, 'gelu': gelu, 'relu': lambda x: np.maximum(x, 0),
    'sigmoid': sigmoid, 'softplus': softplus, 'softsign': lambda x: x / (1 + np.abs(x)),
    'tanh': np.tanh, 'hardSwish': lambda x: x * np.clip(x + 3, 0, 6) / 6,
    'isNaN': lambda x: np.isnan(x).astype(np.uint8),
    'isInfinite': lambda x: np.isinf(x).astype(np.uint8),
    'logicalNot': lambda x: (x == 0).astype(np.uint8),
}


def divide(a, b):
    if a.dtype.kind == 'f':
        return a / b
    return (np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(a.dtype)


BINARY = {
    'add': np.add, 'sub': np.subtract, 'mul': np.multiply, 'div': divide, 'max': np.maximum,
    'min': np.minimum, 'pow': np.power,
}
LOGICAL = {
    'equal': np.equal, 'notEqual': np.not_equal, 'greater': np.greater,
    'greaterOrEqual': np.greater_equal, 'lesser': np.less, 'lesserOrEqual': np.less_equal,
    'logicalAnd': np.logical_and, 'logicalOr': np.logical_or, 'logicalXor': np.logical_xor,
}


def clamp(input, minValue=-math.inf, maxValue=math.inf):
    return np.array([min(max(v, minValue), maxValue) for v in input.reshape(-1)],
                    input.dtype).reshape(input.shape)


def elu(input, alpha=1):
    return np.where(input < 0, alpha * np.expm1(input), input)


def hard_sigmoid(input, alpha=0.2, beta=0.5):
    return np.clip(alpha * input + beta, 0, 1)


def leaky_relu(input, alpha=0.01):
    return np.where(input < 0, alpha * input, input)


def linear(input, alpha=1, beta=0):
    return alpha * input + beta


def prelu(input, slope):
    return np.where(input < 0, slope * input, input).astype(input.dtype)


def where(condition, trueValue, falseValue):
    return np.where(condition != 0, trueValue, falseValue)


# ------------------------------------------------------------------- windows


def to_nchw(x, layout):
    return x if layout == 'nchw' else np.transpose(x, (0, 3, 1, 2))


def from_nchw(x, layout):
    return x if layout == 'nchw' else np.transpose(x, (0, 2, 3, 1))


def reorder(filter, layout, order):
    return np.transpose(filter, [layout.index(c) for c in order])


def conv2d(input, filter, bias=None, padding=(0, 0, 0, 0), strides=(1, 1), dilations=(1, 1),
           groups=1, inputLayout='nchw', filterLayout='oihw'):
    x, w = to_nchw(input, inputLayout), reorder(filter, filterLayout, 'oihw')
    x = np.pad(x, ((0, 0), (0, 0), padding[:2], padding[2:]))
    size = [(x.shape[2 + i] - dilations[i] * (w.shape[2 + i] - 1) - 1) // strides[i] + 1
            for i in range(2)]
    y = np.zeros((x.shape[0], w.shape[0], *size))
    for o in range(w.shape[0]):
        first = o // (w.shape[0] // groups) * w.shape[1]
        for ky, kx in np.ndindex(*w.shape[2:]):
            part = x[:, first:first + w.shape[1], ky * dilations[0]:, kx * dilations[1]:]
            part = part[:, :, ::strides[0], ::strides[1]][:, :, :size[0], :size[1]]
            y[:, o] += np.einsum('ncyx,c->nyx', part, w[o, :, ky, kx])
    if bias is not None:
        y += bias.reshape(-1, 1, 1)
    return from_nchw(y, inputLayout)


def conv_transpose2d(input, filter, bias=None, padding=(0, 0, 0, 0), strides=(1, 1),
                     dilations=(1, 1), outputPadding=(0, 0), outputSizes=None, groups=1,
                     inputLayout='nchw', filterLayout='iohw'):
    x, w = to_nchw(input, inputLayout), reorder(filter, filterLayout, 'iohw')
    inner, outer = w.shape[0] // groups, w.shape[1]
    full = [(x.shape[2 + i] - 1) * strides[i] + (w.shape[2 + i] - 1) * dilations[i] + 1
            for i in range(2)]
    size = outputSizes or [full[i] - padding[2 * i] - padding[2 * i + 1] + outputPadding[i]
                           for i in range(2)]
    y = np.zeros((x.shape[0], outer * groups, full[0] + size[0], full[1] + size[1]))
    for i, (iy, ix), (ky, kx) in itertools.product(
            range(w.shape[0]), np.ndindex(*x.shape[2:]), np.ndindex(*w.shape[2:])):
        first = i // inner * outer
        y[:, first:first + outer, iy * strides[0] + ky * dilations[0],
          ix * strides[1] + kx * dilations[1]] += x[:, i, iy, ix, None] * w[i, :, ky, kx]
    y = y[:, :, padding[0]:padding[0] + size[0], padding[2]:padding[2] + size[1]]
    if bias is not None:
        y = y + bias.reshape(-1, 1, 1)
    return from_nchw(y, inputLayout)


def pool2d(function):
    def pool(input, windowDimensions=None, padding=(0, 0, 0, 0), strides=(1, 1),
             dilations=(1, 1), layout='nchw', outputShapeRounding='floor', outputSizes=None):
        x = to_nchw(input, layout)
        window = windowDimensions or x.shape[2:]
        rounded = math.floor if outputShapeRounding == 'floor' else math.ceil
        size = outputSizes or [
            rounded((x.shape[2 + i] + padding[2 * i] + padding[2 * i + 1] -
                     dilations[i] * (window[i] - 1) - 1) / strides[i]) + 1 for i in range(2)]
        y = np.zeros((*x.shape[:2], *size))
        for at in np.ndindex(*size):
            rows, columns = [
                [p for k in range(window[i])
                 if 0 <= (p := at[i] * strides[i] + k * dilations[i] - padding[2 * i])
                 < x.shape[2 + i]] for i in range(2)]
            y[(..., *at)] = function(x[:, :, rows][:, :, :, columns])
        return from_nchw(y, layout)
    return pool


POOLS = {
    'averagePool2d': pool2d(lambda x: np.mean(x, (2, 3))),
    'l2Pool2d': pool2d(lambda x: np.sqrt(np.sum(x * x, (2, 3)))),
    'maxPool2d': pool2d(lambda x: np.max(x, (2, 3))),
}


def resample2d(input, mode='nearest-neighbor', scales=(1, 1), sizes=None, axes=(2, 3)):
    y = input
    for i, axis in enumerate(axes):
        inside = input.shape[axis]
        size = sizes[i] if sizes else math.floor(inside * scales[i])
        at = np.clip((np.arange(size) + 0.5) * inside / size - 0.5, 0, inside - 1)
        if mode == 'nearest-neighbor':
            y = np.take(y, np.ceil(at - 0.5).astype(int), axis)
            continue
        low, shape = np.floor(at).astype(int), [-1 if a == axis else 1 for a in range(4)]
        part = (at - low).reshape(shape)
        y = (np.take(y, low, axis) * (1 - part) +
             np.take(y, np.minimum(low + 1, inside - 1), axis) * part)
    return y


# ------------------------------------------------------------ normalizations


def normalize(x, mean, variance, scale, bias, shape, epsilon):
    y = (x - mean) / np.sqrt(variance + epsilon)
    y = y if scale is None else y * scale.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


def batch_normalization(input, mean, variance, scale=None, bias=None, axis=1, epsilon=1e-5):
    shape = [-1 if i == axis else 1 for i in range(input.ndim)]
    return normalize(input, mean.reshape(shape), variance.reshape(shape), scale, bias, shape,
                     epsilon)


def instance_normalization(input, scale=None, bias=None, epsilon=1e-5, layout='nchw'):
    axes, shape = ((2, 3), (1, -1, 1, 1)) if layout == 'nchw' else ((1, 2), (1, 1, 1, -1))
    return normalize(input, np.mean(input, axes, keepdims=True),
                     np.var(input, axes, keepdims=True), scale, bias, shape, epsilon)


def layer_normalization(input, scale=None, bias=None, axes=None, epsilon=1e-5):
    axes = tuple(range(1, input.ndim)) if axes is None else tuple(axes)
    shape = [input.shape[i] if i in axes else 1 for i in range(input.ndim)]
    order = np.argsort(axes)
    scale = None if scale is None else np.transpose(scale, order)
    bias = None if bias is None else np.transpose(bias, order)
    return normalize(input, np.mean(input, axes, keepdims=True),
                     np.var(input, axes, keepdims=True), scale, bias, shape, epsilon)


def softmax(input, axis):
    y = np.exp(input - np.max(input, axis, keepdims=True))
    return y / np.sum(y, axis, keepdims=True)


# ------------------------------------------------------- matrices, recurrent


def gemm(a, b, c=None, alpha=1, beta=1, aTranspose=False, bTranspose=False):
    y = alpha * ((a.T if aTranspose else a) @ (b.T if bTranspose else b))
    return y if c is None else y + beta * c


ACTIVATIONS = {'relu': UNARY['relu'], 'sigmoid': sigmoid, 'tanh': np.tanh}


def gates(weight, layout, hiddenSize):
    return {gate: weight[i * hiddenSize:(i + 1) * hiddenSize] for i, gate in enumerate(layout)}


def gru_cell(input, weight, recurrentWeight, hiddenState, hiddenSize, bias=None,
             recurrentBias=None, resetAfter=True, layout='zrn', activations=('sigmoid', 'tanh')):
    zeros, h = np.zeros(3 * hiddenSize), hiddenState
    of_gate, of_new = (ACTIVATIONS[name] for name in activations)
    w, r = gates(weight, layout, hiddenSize), gates(recurrentWeight, layout, hiddenSize)
    b = gates(zeros if bias is None else bias, layout, hiddenSize)
    rb = gates(zeros if recurrentBias is None else recurrentBias, layout, hiddenSize)
    update, reset = (of_gate(input @ w[g].T + b[g] + h @ r[g].T + rb[g]) for g in 'zr')
    if resetAfter:
        new = of_new(input @ w['n'].T + b['n'] + reset * (h @ r['n'].T + rb['n']))
    else:
        new = of_new(input @ w['n'].T + b['n'] + (reset * h) @ r['n'].T + rb['n'])
    return update * h + (1 - update) * new


def lstm_cell(input, weight, recurrentWeight, hiddenState, cellState, hiddenSize, bias=None,
              recurrentBias=None, peepholeWeight=None, layout='iofg',
              activations=('sigmoid', 'tanh', 'tanh')):
    zeros, h, c = np.zeros(4 * hiddenSize), hiddenState, cellState
    of_gate, of_new, of_cell = (ACTIVATIONS[name] for name in activations)
    w, r = gates(weight, layout, hiddenSize), gates(recurrentWeight, layout, hiddenSize)
    b = gates(zeros if bias is None else bias, layout, hiddenSize)
    rb = gates(zeros if recurrentBias is None else recurrentBias, layout, hiddenSize)
    p = gates(zeros if peepholeWeight is None else peepholeWeight, 'iof', hiddenSize)
    of = {g: input @ w[g].T + b[g] + h @ r[g].T + rb[g] for g in 'iofg'}
    c = (of_gate(of['f'] + p['f'] * c) * c + of_gate(of['i'] + p['i'] * c) * of_new(of['g']))
    return of_gate(of['o'] + p['o'] * c) * of_cell(c), c


def recur(cell, states, input, weight, recurrentWeight, steps, hiddenSize, direction, initial,
          returnSequence, parts, options):
    """One direction after the other; sequences are in the order of the input's steps."""
    count = 2 if direction == 'both' else 1
    last, sequences = [[] for _ in range(states)], []
    for d in range(count):
        state = [np.zeros((input.shape[1], hiddenSize)) if s is None else s[d] for s in initial]
        sequence = [None] * steps
        of = {name: value[d] for name, value in parts.items() if value is not None}
        for i in range(steps):
            at = steps - 1 - i if d == 1 or direction == 'backward' else i
            state = cell(input[at], weight[d], recurrentWeight[d], *state, hiddenSize, **of,
                         **options)
            state = list(state) if states == 2 else [state]
            sequence[at] = state[0]
        sequences.append(np.stack(sequence))
        for kept, value in zip(last, state):
            kept.append(value)
    outputs = [np.stack(kept) for kept in last]
    return outputs + ([np.stack(sequences, 1)] if returnSequence else [])


def gru(input, weight, recurrentWeight, steps, hiddenSize, bias=None, recurrentBias=None,
        initialHiddenState=None, direction='forward', returnSequence=False, **options):
    return recur(gru_cell, 1, input, weight, recurrentWeight, steps, hiddenSize, direction,
                 [initialHiddenState], returnSequence,
                 {'bias': bias, 'recurrentBias': recurrentBias}, options)


def lstm(input, weight, recurrentWeight, steps, hiddenSize, bias=None, recurrentBias=None,
         peepholeWeight=None, initialHiddenState=None, initialCellState=None, direction='forward',
         returnSequence=False, **options):
    return recur(lstm_cell, 2, input, weight, recurrentWeight, steps, hiddenSize, direction,
                 [initialHiddenState, initialCellState], returnSequence,
                 {'bias': bias, 'recurrentBias': recurrentBias,
                  'peepholeWeight': peepholeWeight}, options)


# ---------------------------------------------------------------- reductions


def reduction(function):
    def reduce(input, axes=None, keepDimensions=False):
        axes = tuple(range(input.ndim)) if axes is None else tuple(axes)
        return np.asarray(function(input, axes, keepDimensions)).astype(input.dtype)
    return reduce


REDUCTIONS = {
    'reduceL1': reduction(lambda x, a, k: np.sum(np.abs(x), a, keepdims=k)),
    'reduceL2': reduction(lambda x, a, k: np.sqrt(np.sum(x * x, a, keepdims=k))),
    'reduceLogSum': reduction(lambda x, a, k: np.log(np.sum(x, a, keepdims=k))),
    'reduceLogSumExp': reduction(lambda x, a, k: np.log(np.sum(np.exp(x), a, keepdims=k))),
    'reduceMax': reduction(lambda x, a, k: np.max(x, a, keepdims=k)),
    'reduceMean': reduction(lambda x, a, k: np.mean(x, a, keepdims=k)),
    'reduceMin': reduction(lambda x, a, k: np.min(x, a, keepdims=k)),
    'reduceProduct': reduction(lambda x, a, k: np.prod(x, a, keepdims=k)),
    'reduceSum': reduction(lambda x, a, k: np.sum(x, a, keepdims=k)),
    'reduceSumSquare': reduction(lambda x, a, k: np.sum(x * x, a, keepdims=k)),
}


def arg(function):
    def find(input, axis, keepDimensions=False, outputDataType='int32'):
        return np.asarray(function(input, axis, keepdims=keepDimensions)).astype(outputDataType)
    return find


def cumulative_sum(input, axis, exclusive=False, reversed=False):
    x = np.flip(input, axis) if reversed else input
    y = np.cumsum(x, axis, dtype=x.dtype) - (x if exclusive else 0)
    return np.flip(y, axis) if reversed else y


# --------------------------------------------------------------------- moves


def cast(input, dataType):
    kind = np.dtype(dataType)
    if kind.kind == 'f' or input.dtype.kind != 'f':
        return input.astype(kind)
    least, most = np.iinfo(kind).min, np.iinfo(kind).max
    return np.array([min(max(int(v), least), most) for v in input.reshape(-1)],
                    kind).reshape(input.shape)


def wrap(indices, size):
    """Indices below 0 count from the end; what is outside is clamped."""
    indices = indices.astype(np.int64)
    return np.clip(np.where(indices < 0, indices + size, indices), 0, size - 1)


def gather(input, indices, axis=0):
    return np.take(input, wrap(indices, input.shape[axis]), axis)


def gather_elements(input, indices, axis=0):
    return np.take_along_axis(input, wrap(indices, input.shape[axis]), axis)


def tuples(indices, shape):
    return tuple(wrap(indices[..., i], shape[i]) for i in range(indices.shape[-1]))


def gather_nd(input, indices):
    return input[tuples(indices, input.shape)]


def scatter_elements(input, indices, updates, axis=0):
    y = input.copy()
    for at in np.ndindex(*indices.shape):
        to = list(at)
        to[axis] = wrap(indices[at], input.shape[axis])
        y[tuple(to)] = updates[at]
    return y


def scatter_nd(input, indices, updates):
    y = input.copy()
    for at in np.ndindex(*indices.shape[:-1]):
        y[tuples(indices[at], input.shape)] = updates[at]
    return y


def pad(input, beginningPadding, endingPadding, mode='constant', value=0):
    widths = list(zip(beginningPadding, endingPadding))
    if mode == 'constant':
        return np.pad(input, widths, constant_values=value) if widths else input
    return np.pad(input, widths, mode={'edge': 'edge', 'reflection': 'reflect'}[mode])


def reverse(input, axes=None):
    return np.flip(input, axes if axes is None else tuple(axes))


def slice_(input, starts, sizes, strides=None):
    strides = strides or [1] * input.ndim
    return input[tuple(slice(a, a + n, s) for a, n, s in zip(starts, sizes, strides))]


def split(input, splits, axis=0):
    if isinstance(splits, int):
        return np.split(input, splits, axis)
    return np.split(input, np.cumsum(splits)[:-1], axis)


def transpose(input, permutation=None):
    return np.transpose(input, permutation)


def triangular(input, upper=True, diagonal=0):
    return np.triu(input, diagonal) if upper else np.tril(input, diagonal)


# ----------------------------------------------------------------- quantized


def blockwise(x, shape):
    for i, size in enumerate(shape):
        x = np.repeat(x, size // x.shape[i], i)
    return x


def quantize_linear(input, scale, zeroPoint):
    limits = np.iinfo(zeroPoint.dtype)
    y = (np.rint(input / blockwise(scale, input.shape)) +
         blockwise(zeroPoint.astype(np.float64), input.shape))
    return np.clip(y, limits.min, limits.max).astype(zeroPoint.dtype)


def dequantize_linear(input, scale, zeroPoint):
    x = input.astype(np.float64) - blockwise(zeroPoint.astype(np.float64), input.shape)
    return x * blockwise(scale, input.shape)


OPERATORS = {
    **UNARY, **BINARY, **POOLS, **REDUCTIONS,
    **{name: (lambda f: lambda a, b: f(a, b).astype(np.uint8))(f) for name, f in LOGICAL.items()},
    'argMax': arg(np.argmax), 'argMin': arg(np.argmin),
    'batchNormalization': batch_normalization, 'cast': cast, 'clamp': clamp,
    'concat': lambda inputs, axis: np.concatenate(inputs, axis), 'conv2d': conv2d,
    'convTranspose2d': conv_transpose2d, 'cumulativeSum': cumulative_sum,
    'dequantizeLinear': dequantize_linear, 'elu': elu,
    'expand': lambda input, newShape: np.broadcast_to(input, newShape), 'gather': gather,
    'gatherElements': gather_elements, 'gatherND': gather_nd, 'gemm': gemm, 'gru': gru,
    'gruCell': gru_cell, 'hardSigmoid': hard_sigmoid,
    'instanceNormalization': instance_normalization, 'layerNormalization': layer_normalization,
    'leakyRelu': leaky_relu, 'linear': linear, 'lstm': lstm, 'lstmCell': lstm_cell,
    'matmul': np.matmul, 'pad': pad, 'prelu': prelu, 'quantizeLinear': quantize_linear,
    'resample2d': resample2d, 'reshape': lambda input, newShape: input.reshape(newShape),
    'reverse': reverse, 'scatterElements': scatter_elements, 'scatterND': scatter_nd,
    'slice': slice_, 'softmax': softmax, 'split': split,
    'tile': lambda input, repetitions: np.tile(input, repetitions), 'transpose': transpose,
    'triangular': triangular, 'where': where,
}
