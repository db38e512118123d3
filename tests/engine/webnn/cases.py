#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cases of all of WebNN's operators, for test-webnn: cases.py >FILE

Every option at its default and at another value, ranks 0 to 5, broadcasts, layouts, constants
and inputs, in float32, float16 and the integers that the specification requires, with what
reference.py says must come out. The values are the same in every run. Needs python3-numpy.
"""
import sys

try:
    import numpy as np
except ImportError:
    print("no numpy (Debian package python3-numpy)", file=sys.stderr)
    sys.exit(77)

sys.dont_write_bytecode = True
from reference import BINARY, LOGICAL, OPERATORS, POOLS, REDUCTIONS, UNARY
from tolerances import tolerance

random = np.random.default_rng(7)
out = sys.stdout.buffer
FLOATS = ('float32', 'float16')
used = set()


class Const:
    """An operand that is a constant of the graph."""

    def __init__(self, values):
        self.values = values


def is_operand(x):
    return isinstance(x, (Const, np.ndarray)) or (
        isinstance(x, list) and x and isinstance(x[0], (Const, np.ndarray)))


def words(*parts):
    return (' '.join(str(p) for p in parts) + '\n').encode()


def numbers_of(value):
    value = value if isinstance(value, (list, tuple)) else [value]
    return [repr(float(v)) if isinstance(v, float) else int(v) for v in value]


class Writer:
    """One case: its tensors, then its call."""

    def __init__(self, dtype):
        self.dtype, self.tensors, self.call, self.arguments = dtype, [], [], {}

    def typed(self, values):
        values = np.asarray(values)
        return values.astype(self.dtype) if values.dtype == np.float64 else values

    def tensor(self, name, role, values, metric='ULP', allowed=0):
        self.tensors.append(words('tensor', name, role, values.dtype, values.ndim, *values.shape,
                                  metric, allowed) + np.ascontiguousarray(values).tobytes() +
                            b'\n')
        return name

    def operand(self, name, value):
        role = 'constant' if isinstance(value, Const) else 'input'
        values = self.typed(value.values if isinstance(value, Const) else value)
        self.tensor(name, role, values)
        return values.astype(np.float64) if values.dtype.kind == 'f' else values

    def argument(self, key, value):
        if is_operand(value):
            several = value if isinstance(value, list) else [value]
            names = [f'{key}{i}' if isinstance(value, list) else key for i in range(len(several))]
            values = [self.operand(*pair) for pair in zip(names, several)]
            self.call.append(words('operands', key, len(names), *names))
            self.arguments[key] = values if isinstance(value, list) else values[0]
            return
        self.arguments[key] = value
        if isinstance(value, str):
            self.call.append(words('text', key, value))
        elif key == 'activations':
            self.call.append(words('text', key, ','.join(value)))
        elif key == 'splits' and isinstance(value, int):
            size = self.arguments['input'].shape[self.axis] // value
            self.call.append(words('numbers', key, value, *[size] * value))
        else:
            numbers = numbers_of(value)
            self.call.append(words('numbers', key, len(numbers), *numbers))

    def write(self, op, name, arguments, refused):
        self.axis = arguments.get('axis', 0)
        for key, value in arguments.items():
            self.argument(key, value)
        with np.errstate(all='ignore'):
            results = OPERATORS[op](**self.arguments) if op not in POSITIONAL else \
                OPERATORS[op](*self.arguments.values())
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        names = [f'output{i}' for i in range(len(results))]
        metric, allowed = tolerance(op, self.arguments, self.dtype,
                                    max(float(np.max(np.abs(r))) for r in results))
        with np.errstate(over='ignore'):
            for pair in zip(names, results):
                self.tensor(pair[0], 'output', self.typed(pair[1]), metric, allowed)
        out.write(words('case', name[:250]))
        if refused:
            out.write(words('refused', refused))
        out.write(b''.join(self.tensors) + words('call', op) + b''.join(self.call) +
                  words('operands', 'outputs', len(names), *names) + words('end'))


POSITIONAL = {*UNARY, *BINARY, *LOGICAL, 'matmul'}


def shape_text(value):
    if isinstance(value, Const):
        return f'const{list(value.values.shape)}'
    if isinstance(value, np.ndarray):
        return str(list(value.shape)).replace(' ', '')
    if isinstance(value, list) and value and is_operand(value):
        return '+'.join(shape_text(v) for v in value)
    return str(value).replace(' ', '')


def has_floats(value):
    values = value if isinstance(value, list) else [value]
    return any(v.dtype == np.float64 for v in
               (v.values if isinstance(v, Const) else v for v in values)
               if isinstance(v, np.ndarray))


def case(op, refused=None, types=FLOATS, **arguments):
    """The operator with these arguments, operands and options; floats in both precisions."""
    used.add(op)
    arguments = {k: np.asarray(v) if isinstance(v, np.generic) else v
                 for k, v in arguments.items()}
    floats = any(has_floats(v) for v in arguments.values())
    text = ' '.join(f'{k}={shape_text(v)}' for k, v in arguments.items())
    for dtype in types if floats else types[:1]:
        kinds = sorted({str(v.dtype) for v in arguments.values() if isinstance(v, np.ndarray)})
        name = dtype if floats else '/'.join(kinds)
        Writer(dtype).write(op, f'{op} {name} {text}', arguments, refused)


def some(*shape, low=-2.0, high=2.0):
    """Floats, rounded so that both precisions have them."""
    return random.uniform(low, high, shape).astype(np.float16).astype(np.float64)


def positive(*shape):
    return some(*shape, low=0.25, high=2)


def whole(dtype, *shape, low=None, high=9):
    low = (0 if dtype[0] == 'u' else -8) if low is None else low
    return random.integers(low, high, shape).astype(dtype)


SHAPES = [(), (7,), (3, 5), (2, 3, 4), (2, 3, 2, 4), (2, 1, 3, 2, 2)]
REQUIRED = ('int32', 'int8', 'uint8', 'uint32', 'int64', 'uint64')


# ------------------------------------------------------- functions of elements


def element_wise():
    for op in UNARY:
        key = 'a' if op in ('isNaN', 'isInfinite', 'logicalNot') else 'input'
        if op == 'logicalNot':
            for shape in SHAPES:
                case(op, a=random.integers(0, 3, shape).astype(np.uint8))
            continue
        away = op in ('log', 'sqrt', 'reciprocal')
        for shape in SHAPES:
            case(op, **{key: positive(*shape) if away else some(*shape)})
        if op in ('abs', 'neg', 'sign', 'relu', 'identity'):
            for dtype in ('int32', 'int8', 'int64'):
                case(op, input=whole(dtype, 3, 5))
    for op in ('ceil', 'floor', 'roundEven', 'sign', 'isNaN', 'isInfinite', 'abs', 'neg',
               'relu', 'identity'):
        key = 'a' if op[:2] == 'is' else 'input'
        case(op, **{key: np.array([-np.inf, -2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, np.inf])})
    case('isNaN', a=np.array([np.nan, 0, -np.inf, 5]))
    pairs = [(s, s) for s in SHAPES] + [
        ((2, 3, 4), ()), ((), (2, 3, 4)), ((2, 3, 4), (4,)), ((2, 1, 4), (3, 1)),
        ((2, 3, 2, 4), (3, 1, 1)), ((1, 3, 1, 4), (2, 1, 2, 1)), ((3, 5), Const)]
    for op in {**BINARY, **LOGICAL}:
        logical = op.startswith('logical')
        for a, b in pairs:
            make = (lambda *s: random.integers(0, 2, s).astype(np.uint8)) if logical else \
                positive if op in ('pow', 'div') else some
            y = Const(make(*a)) if b is Const else make(*b)
            case(op, a=make(*a), b=y)
        if logical:
            continue
        for dtype in REQUIRED:
            high = 3 if op == 'pow' else 9
            low = 1 if op in ('div', 'pow') else 5 if op == 'sub' else None
            case(op, a=whole(dtype, 3, 5, low=low, high=high),
                 b=whole(dtype, 3, 5, low=1, high=5 if op == 'sub' else high))
    values = np.array([-1.0, 0, 1, np.nan])
    for op in LOGICAL:
        if not op.startswith('logical'):
            case(op, a=np.repeat(values, 4), b=np.tile(values, 4))
    case('pow', a=some(3, 5), b=np.array(2.0))
    case('pow', a=positive(3, 5), b=np.array(-1.0))


def with_options():
    for shape in SHAPES:
        case('clamp', input=some(*shape), minValue=-1.0, maxValue=0.5)
        case('prelu', input=some(*shape), slope=some(*shape))
        case('linear', input=positive(*shape), alpha=1.5, beta=0.25)
    x = some(2, 3, 4)
    case('clamp', input=x)
    case('clamp', input=x, minValue=0.0)
    case('clamp', input=x, maxValue=0.0)
    case('clamp', input=x, minValue=0.25, maxValue=0.25)
    for dtype in REQUIRED:
        case('clamp', input=whole(dtype, 3, 5), minValue=2, maxValue=5)
    for op in ('elu', 'leakyRelu', 'linear', 'hardSigmoid'):
        for shape in SHAPES:
            case(op, input=some(*shape))
    case('elu', input=x, alpha=0.5)
    case('leakyRelu', input=x, alpha=0.25)
    case('leakyRelu', input=x, alpha=-1.5)
    case('linear', input=x, alpha=-2.0)
    case('linear', input=positive(2, 3, 4), beta=3.0)
    case('hardSigmoid', input=x, alpha=0.5)
    case('hardSigmoid', input=positive(2, 3, 4), beta=0.25)
    case('hardSigmoid', input=x, alpha=-0.5, beta=0.75)
    case('prelu', input=x, slope=np.array(0.25))
    case('prelu', input=x, slope=some(4))
    case('prelu', input=x, slope=some(3, 1))
    case('prelu', input=some(2, 3, 2, 4), slope=Const(some(3, 1, 1)))
    for dtype in ('int32', 'int8', 'int64'):
        case('prelu', input=whole(dtype, 3, 5), slope=whole(dtype, 5))
    for shape in SHAPES:
        case('where', condition=random.integers(0, 3, shape).astype(np.uint8),
             trueValue=some(*shape), falseValue=some(*shape))
    for a, b, c in [((4,), (2, 3, 4), ()), ((2, 1, 4), (3, 1), (4,)), ((), (3,), (3,))]:
        case('where', condition=random.integers(0, 2, a).astype(np.uint8), trueValue=some(*b),
             falseValue=some(*c))
    for dtype in REQUIRED:
        case('where', condition=random.integers(0, 2, (3, 5)).astype(np.uint8),
             trueValue=whole(dtype, 3, 5), falseValue=whole(dtype, 3, 5))
    floats = np.array([-100.75, -2.5, -0.5, 0, 0.5, 1.5, 100.25])
    for to in FLOATS + REQUIRED:
        case('cast', input=floats if to[0] != 'u' else np.abs(floats), dataType=to)
        for of in REQUIRED:
            case('cast', input=whole(of, 2, 3, low=0, high=100), dataType=to)


# --------------------------------------------------------------------- windows


def image(layout, n, c, h, w, make=some):
    return make(n, c, h, w) if layout == 'nchw' else make(n, h, w, c)


def weights(layout, **sizes):
    return positive(*[sizes[c] for c in layout])


def convolutions():
    for options in [
            {}, {'padding': [1, 1, 1, 1]}, {'padding': [1, 0, 2, 1]}, {'strides': [2, 1]},
            {'strides': [2, 3], 'padding': [0, 1, 1, 0]}, {'dilations': [2, 1]},
            {'dilations': [2, 2], 'padding': [1, 1, 1, 1]}, {'bias': positive(4)},
            {'groups': 2}, {'groups': 2, 'bias': positive(4), 'padding': [1, 1, 1, 1]}]:
        groups = options.get('groups', 1)
        for const in (Const, lambda x: x):
            own = {k: const(v) if k == 'bias' else v for k, v in options.items()}
            case('conv2d', input=positive(1, 2, 6, 5),
                 filter=const(weights('oihw', o=4, i=2 // groups, h=3, w=2)), **own)
    for layout in ('nchw', 'nhwc'):
        for order in ('oihw', 'hwio', 'ohwi', 'ihwo'):
            for const in (Const, lambda x: x):
                case('conv2d', input=image(layout, 2, 3, 5, 4, positive),
                     filter=const(weights(order, o=5, i=3, h=2, w=2)), inputLayout=layout,
                     filterLayout=order)
    case('conv2d', input=positive(1, 2, 4, 4), filter=Const(positive(3, 2, 2, 2)),
         bias=positive(3))
    case('convTranspose2d', input=positive(1, 2, 3, 3), filter=Const(positive(2, 4, 2, 2)),
         bias=positive(4))
    for multiplier in (1, 2):  # each channel by itself
        case('conv2d', input=positive(1, 3, 5, 5),
             filter=Const(weights('oihw', o=3 * multiplier, i=1, h=3, w=3)), groups=3)
    case('conv2d', input=positive(1, 4, 3, 3), filter=Const(positive(6, 4, 1, 1)))
    for options in [
            {}, {'padding': [1, 1, 1, 1]}, {'padding': [1, 0, 0, 1]}, {'strides': [2, 2]},
            {'strides': [3, 2], 'outputPadding': [2, 1]}, {'dilations': [2, 1]},
            {'strides': [2, 2], 'outputSizes': [8, 7]}, {'bias': positive(4)}, {'groups': 2},
            {'strides': [2, 2], 'outputSizes': [6, 6], 'padding': [1, 1, 0, 1]},
            {'groups': 2, 'bias': positive(4), 'strides': [2, 1]}]:
        groups = options.get('groups', 1)
        for const in (Const, lambda x: x):
            own = {k: const(v) if k == 'bias' else v for k, v in options.items()}
            case('convTranspose2d', input=positive(1, 2, 3, 3),
                 filter=const(weights('iohw', i=2, o=4 // groups, h=3, w=2)), **own)
    for layout in ('nchw', 'nhwc'):
        for order in ('iohw', 'hwoi', 'ohwi'):
            case('convTranspose2d', input=image(layout, 2, 3, 3, 2, positive),
                 filter=Const(weights(order, o=5, i=3, h=2, w=2)), inputLayout=layout,
                 filterLayout=order)


# What libtdl does not have.
RESAMPLED_BYTES = 'resample2d of integers, which WebNN allows and does not require'


def pools():
    for op in POOLS:
        for layout in ('nchw', 'nhwc'):
            for options in [
                    {}, {'windowDimensions': [3, 2]}, {'strides': [2, 2]},
                    {'padding': [1, 0, 0, 1]}, {'dilations': [2, 1]},
                    {'windowDimensions': [3, 3], 'padding': [1, 1, 1, 1], 'strides': [2, 2]},
                    {'strides': [2, 2], 'outputShapeRounding': 'ceil'},
                    {'strides': [2, 2], 'outputShapeRounding': 'floor'},
                    {'strides': [2, 2], 'outputSizes': [2, 2]},
                    {'strides': [2, 2], 'outputSizes': [3, 2]}]:
                window = {'windowDimensions': [2, 2], **options} if options else {}
                case(op, input=image(layout, 2, 3, 5, 4, positive), layout=layout, **window)


def resampling():
    x = positive(1, 2, 3, 4)
    for mode in ('nearest-neighbor', 'linear'):
        for options in [
                {}, {'scales': [2.0, 2.0]}, {'scales': [0.5, 0.75]}, {'sizes': [6, 8]},
                {'sizes': [2, 3]}, {'scales': [9.0, 9.0], 'sizes': [5, 5]},
                {'sizes': [6, 8], 'axes': [2, 3]}, {'sizes': [5, 3], 'axes': [1, 2]},
                {'sizes': [3, 4], 'axes': [0, 1]}, {'sizes': [5, 3], 'axes': [3, 2]}]:
            case('resample2d', input=x, mode=mode, **options)
        for axes in ([1, 3], [0, 2], [3, 1]):
            case('resample2d', input=x, mode=mode, sizes=[5, 3], axes=axes)
        for dtype in ('uint8', 'int8'):
            if mode != 'linear':
                case('resample2d', RESAMPLED_BYTES, input=whole(dtype, 1, 2, 3, 4), mode=mode,
                     sizes=[6, 8])


# -------------------------------------------------------------- normalizations


def normalizations():
    for shape, axis in [((2, 3, 4, 2), None), ((2, 3, 4, 2), 1), ((2, 3, 4, 2), 3),
                        ((2, 3, 4, 2), 2), ((2, 3, 4, 2), 0), ((3, 5), None), ((5,), 0),
                        ((2, 3, 4), 2), ((2, 3, 2, 2, 2), None)]:
        channels = shape[1 if axis is None else axis]
        place = {} if axis is None else {'axis': axis}
        case('batchNormalization', input=positive(*shape), mean=Const(-positive(channels)),
             variance=Const(positive(channels)), **place)
    case('batchNormalization', input=positive(2, 3, 4, 2), mean=Const(positive(3)),
         variance=Const(positive(3)))  # values about the mean
    for options in [{'scale': positive(3)}, {'bias': positive(3)}, {'epsilon': 0.25},
                    {'scale': positive(3), 'bias': positive(3), 'epsilon': 1e-3}]:
        for const in (Const, lambda x: x):
            own = {k: v if k == 'epsilon' else const(v) for k, v in options.items()}
            case('batchNormalization', input=positive(2, 3, 4, 2), mean=const(-positive(3)),
                 variance=const(positive(3)), **own)
            case('instanceNormalization', input=some(2, 3, 4, 2), **own)
    for layout in ('nchw', 'nhwc'):
        case('instanceNormalization', input=image(layout, 2, 3, 4, 2), layout=layout,
             scale=Const(positive(3)), bias=Const(some(3)))
    for shape in SHAPES[1:]:
        case('layerNormalization', input=some(*shape))
    case('layerNormalization', input=np.array(2.0), bias=np.array(3.0))
    x = some(2, 3, 4)
    for axes in ([2], [1], [0, 2], [1, 2], [0, 1, 2], [2, 1], [2, 0], []):
        part = [x.shape[i] for i in axes]
        case('layerNormalization', input=x, axes=axes)
        case('layerNormalization', input=x, axes=axes, scale=positive(*part), bias=some(*part))
    for const in (Const, lambda v: v):
        case('layerNormalization', input=x, scale=const(positive(3, 4)))
        case('layerNormalization', input=x, bias=const(some(3, 4)), epsilon=0.5)
    case('layerNormalization', input=some(2, 3, 2, 4), axes=[1], scale=positive(3), bias=some(3))
    for shape in SHAPES[1:]:
        for axis in range(len(shape)):
            case('softmax', input=some(*shape), axis=axis)


# --------------------------------------------------------- matrices, recurrent


def matrices():
    for options in [{}, {'alpha': 0.5}, {'c': positive(5)}, {'c': positive(3, 5)},
                    {'c': positive(3, 1)}, {'c': np.array(2.0)}, {'c': Const(positive(1, 5))},
                    {'c': positive(5), 'beta': 0.5}, {'c': positive(5), 'beta': 0.0},
                    {'aTranspose': True}, {'bTranspose': True},
                    {'aTranspose': True, 'bTranspose': True, 'alpha': 2.0, 'beta': 0.25,
                     'c': positive(5)}]:
        a, b = positive(3, 4), positive(4, 5)
        a = np.ascontiguousarray(a.T) if options.get('aTranspose') else a
        b = np.ascontiguousarray(b.T) if options.get('bTranspose') else b
        case('gemm', a=a, b=b, **options)
        case('gemm', a=a, b=Const(b), **options)
    for a, b in [((3, 4), (4, 5)), ((1, 4), (4, 1)), ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)),
                 ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 2)), ((1, 2, 3, 4), (2, 2, 4, 3)),
                 ((2, 1, 2, 3, 4), (1, 2, 1, 4, 2))]:
        case('matmul', a=positive(*a), b=positive(*b))
        case('matmul', a=positive(*a), b=Const(positive(*b)))


def eighths(*shape):
    """Sums of their products are exact."""
    return random.integers(-4, 9, shape) / 8.0


def recurrent():
    steps, batch, size, hidden = 3, 2, 3, 4
    exact = {'gru': ['relu', 'relu'], 'lstm': ['relu', 'relu', 'relu']}
    for op, gates, layouts in (('gru', 3, ('zrn', 'rzn')), ('lstm', 4, ('iofg', 'ifgo'))):
        for d, direction in ((1, None), (1, 'forward'), (1, 'backward'), (2, 'both')):
            for extra in ('', 'bias', 'recurrentBias', 'initial', 'sequence', 'layout',
                          'activations', 'resetAfter' if op == 'gru' else 'peephole', 'all'):
                if direction and extra not in ('', 'all'):
                    continue
                wants = (lambda e: lambda name: e in (name, 'all'))(extra)
                o = {} if direction is None else {'direction': direction}
                if wants('bias'):
                    o['bias'] = eighths(d, gates * hidden)
                if wants('recurrentBias'):
                    o['recurrentBias'] = Const(eighths(d, gates * hidden))
                if wants('initial'):
                    o['initialHiddenState'] = eighths(d, batch, hidden)
                    if op == 'lstm':
                        o['initialCellState'] = eighths(d, batch, hidden)
                if wants('sequence'):
                    o['returnSequence'] = True
                if wants('layout'):
                    o['layout'] = layouts[1]
                if wants('activations'):
                    o['activations'] = exact[op]
                if op == 'gru' and wants('resetAfter'):
                    o['resetAfter'] = False
                if op == 'lstm' and wants('peephole'):
                    o['peepholeWeight'] = eighths(d, 3 * hidden)
                case(op, input=eighths(steps, batch, size), weight=eighths(d, gates * hidden, size),
                     recurrentWeight=Const(eighths(d, gates * hidden, hidden) / 4), steps=steps,
                     hiddenSize=hidden, **o)
        cell = op + 'Cell'
        for o in [{}, {'bias': eighths(gates * hidden)}, {'layout': layouts[0]},
                  {'layout': layouts[1], 'bias': Const(eighths(gates * hidden))},
                  {'recurrentBias': eighths(gates * hidden)}, {'activations': exact[op]},
                  {'resetAfter': False, 'recurrentBias': eighths(gates * hidden)} if op == 'gru'
                  else {'peepholeWeight': eighths(3 * hidden)}]:
            states = {'hiddenState': eighths(batch, hidden)}
            if op == 'lstm':
                states['cellState'] = eighths(batch, hidden)
            case(cell, input=eighths(batch, size), weight=eighths(gates * hidden, size),
                 recurrentWeight=eighths(gates * hidden, hidden), **states, hiddenSize=hidden, **o)


# ------------------------------------------------------------------ reductions


def reductions():
    x = positive(2, 3, 4)
    for op in REDUCTIONS:
        # Logarithms next to 1 are right absolutely, on GPUs (Vulkan, precision of log).
        more = 1.25 if op == 'reduceLogSum' else 0.0
        for shape in SHAPES:
            case(op, input=positive(*shape) + more)
        for axes in ([0], [1], [2], [0, 2], [2, 1], [0, 1, 2], []):
            for keep in (False, True):
                case(op, input=x + more, axes=axes, keepDimensions=keep)
        case(op, input=positive(2, 3, 2, 4) + more, axes=[1, 3])
        case(op, input=np.array(2.5), axes=[])
        if op in ('reduceL1', 'reduceSum', 'reduceSumSquare', 'reduceMax', 'reduceMin',
                  'reduceProduct'):
            for dtype in ('int32', 'uint32', 'int64', 'uint64'):
                case(op, input=whole(dtype, 2, 3, 4, high=4, low=1), axes=[1])
        if op in ('reduceMax', 'reduceMin', 'reduceSum', 'reduceL1'):
            case(op, input=some(2, 3, 4) if op[6] == 'M' else eighths(2, 3, 4), axes=[2])
            case(op, input=some(3, 5) if op[6] == 'M' else eighths(3, 5))
    for op in ('argMax', 'argMin'):
        for shape in SHAPES[1:]:
            for axis in range(len(shape)):
                case(op, input=some(*shape), axis=axis)
        case(op, input=x, axis=1, keepDimensions=True)
        for to in ('int32', 'int64'):
            case(op, input=x, axis=2, outputDataType=to)
        case(op, input=np.array([[1.0, 3, 3, 1], [2, 2, 2, 2]]), axis=1)
        case(op, input=whole('int32', 3, 5), axis=0)
    for shape in SHAPES[1:]:
        case('cumulativeSum', input=positive(*shape), axis=len(shape) - 1)
    for exclusive in (False, True):
        for backwards in (False, True):
            case('cumulativeSum', input=eighths(2, 3, 4), axis=1, exclusive=exclusive,
                 reversed=backwards)
    for dtype in ('int32', 'uint32', 'int64', 'uint64'):
        case('cumulativeSum', input=whole(dtype, 3, 5), axis=0)


# ----------------------------------------------------------------------- moves


def typed(shape, kinds=('int32', 'int8', 'uint8')):
    """The operand of a move: floats, and integers of several widths."""
    return [some(*shape)] + [whole(kind, *shape) for kind in kinds]


def moves():
    for x in typed((2, 3, 4)):
        case('concat', inputs=[x, x + x.dtype.type(1)], axis=1)
        case('expand', input=x, newShape=[5, 2, 3, 4])
        case('pad', input=x, beginningPadding=[1, 0, 2], endingPadding=[0, 1, 1], value=3)
        case('reshape', input=x, newShape=[4, 6])
        case('reverse', input=x, axes=[1])
        case('slice', input=x, starts=[0, 1, 1], sizes=[2, 2, 3])
        case('split', input=x, splits=[1, 2], axis=1)
        case('tile', input=x, repetitions=[2, 1, 3])
        case('transpose', input=x)
        case('triangular', input=x)
        case('gather', input=x, indices=np.array([2, 0, -1], np.int32), axis=1)
        case('gatherElements', input=x, indices=whole('int32', 2, 3, 2, low=0, high=4), axis=2)
        case('gatherND', input=x, indices=np.array([[1, 2], [0, -1]], np.int32))
        case('scatterElements', input=x, indices=np.array([[[1, 0, 1, 0]]], np.int32),
             updates=x[:1, :1] + x.dtype.type(1))
        case('scatterND', input=x, indices=np.array([[1, 2], [0, -1]], np.int32),
             updates=x[0, :2] + x.dtype.type(1))
    for shape in SHAPES[1:]:
        for axis in range(len(shape)):
            a, b = some(*shape), some(*[5 if i == axis else n for i, n in enumerate(shape)])
            case('concat', inputs=[a, b], axis=axis)
    case('concat', inputs=[some(2, 2)], axis=0)
    case('concat', inputs=[some(2, 1), Const(some(2, 2)), some(2, 3), some(2, 1)], axis=1)
    for a, b in [((), (2, 3)), ((1,), (4,)), ((3, 1), (3, 5)), ((4,), (2, 3, 4)),
                 ((1, 3, 1, 4), (2, 3, 2, 4)), ((1, 1, 3, 1, 2), (2, 2, 3, 2, 2)), ((), ())]:
        case('expand', input=some(*a), newShape=list(b))
    for a, b in [((), (1,)), ((1,), ()), ((24,), (2, 3, 4)), ((2, 3, 4), (24,)),
                 ((2, 3, 2, 4), (4, 12)), ((2, 1, 3, 2, 2), (2, 3, 2, 2)),
                 ((3, 5), (1, 3, 1, 5, 1))]:
        case('reshape', input=some(*a), newShape=list(b))
    for shape in SHAPES[1:]:
        rank = len(shape)
        for mode in ('constant', 'edge', 'reflection'):
            most = [min(1, n - 1) if mode == 'reflection' else 1 for n in shape]
            case('pad', input=some(*shape), beginningPadding=most,
                 endingPadding=[m * (i % 2) for i, m in enumerate(most)], mode=mode)
        case('reverse', input=some(*shape))
        case('reverse', input=some(*shape), axes=[rank - 1])
        case('slice', input=some(*shape), starts=[0] * rank, sizes=list(shape),
             strides=[2] * rank)
        case('slice', input=some(*shape), starts=[n - 1 for n in shape], sizes=[1] * rank)
        case('tile', input=some(*shape), repetitions=[1 + i % 2 for i in range(rank)])
        case('transpose', input=some(*shape))
        case('transpose', input=some(*shape), permutation=[*range(1, rank), 0])
        case('split', input=some(*[2 * n for n in shape]), splits=2)
    case('pad', input=some(3, 5), beginningPadding=[2, 0], endingPadding=[1, 3], value=-1.5)
    case('reverse', input=some(3, 5), axes=[])
    case('reverse', input=some(2, 3, 4), axes=[0, 2])
    case('split', input=some(6, 4), splits=3)
    case('split', input=some(6, 4), splits=[1, 3], axis=1)
    case('split', input=some(6, 4), splits=[2, 1, 3])
    for shape in SHAPES[2:]:
        for upper in (True, False):
            for diagonal in (0, 1, -1, 4, -4):
                if diagonal in (0, 1, -1) or shape == (3, 5):
                    case('triangular', input=some(*shape), upper=upper, diagonal=diagonal)
    for kind in ('int32', 'uint32', 'int64'):
        i = np.array([[1, 0], [2, 2]], kind)
        case('gather', input=some(3, 5), indices=i)
        case('gather', input=some(3, 5), indices=i, axis=1)
        case('gather', input=some(2, 3, 4), indices=np.array(1, kind), axis=2)
        case('gatherElements', input=some(3, 2), indices=i)
        case('gatherND', input=some(3, 3, 2), indices=i)
        case('scatterElements', input=some(3, 2), indices=np.array([[1, 0]], kind),
             updates=some(1, 2))
        case('scatterND', input=some(4, 3), indices=np.array([[1], [3]], kind),
             updates=some(2, 3))
    case('gather', input=some(7), indices=np.array([[6], [0]], np.int32))
    case('gather', input=some(2, 1, 3, 2), indices=np.array([1, 0, 1], np.int32), axis=3)
    case('gather', input=some(3, 5), indices=Const(np.array([0, 2], np.int32)))
    case('gatherElements', input=some(3, 5), indices=whole('int32', 3, 2, low=-5, high=5), axis=1)
    case('gatherND', input=some(2, 2, 2, 2), indices=np.array([[[1], [0]]], np.int32))
    case('gatherND', input=some(7), indices=np.array([[3]], np.int32))
    case('gatherND', input=some(2, 3, 4), indices=np.array([1, 2, 3], np.int32))
    case('scatterElements', input=some(7), indices=np.array([3, -1], np.int32), updates=some(2))
    case('scatterElements', input=some(3, 5), indices=np.array([[1, 3], [0, 4]], np.int32),
         updates=some(2, 2), axis=1)
    case('scatterND', input=some(7), indices=np.array([[4], [-7]], np.int32), updates=some(2))
    case('scatterND', input=some(2, 2, 2, 2), indices=np.array([[0], [1]], np.int32),
         updates=some(2, 2, 2, 2))


def quantized():
    for kind in ('uint8', 'int8', 'int32', 'uint32'):
        low = 0 if kind[0] == 'u' else -9
        for x, s in [((2, 3, 4), (1, 1, 1)), ((2, 3, 4), (1, 3, 1)), ((2, 3, 4), (2, 3, 4)),
                     ((4, 6), (2, 3)), ((7,), (1,)), ((), ()), ((2, 3, 2, 4), (1, 1, 1, 2))]:
            scale = 2.0 ** random.integers(-3, 2, s)
            zero = whole(kind, *s, low=low)
            case('quantizeLinear', input=some(*x, low=-8, high=8) + 9 * (kind == 'uint32'),
                 scale=scale, zeroPoint=zero + zero.dtype.type(9 * (kind == 'uint32')))
            case('dequantizeLinear', input=whole(kind, *x, low=low, high=100), scale=scale,
                 zeroPoint=zero)
    case('quantizeLinear', input=np.array([-1000.0, -0.5, 0.5, 1.5, 1000]),
         scale=np.array([1.0]), zeroPoint=np.array([0], np.int8))
    case('dequantizeLinear', input=whole('int8', 3, 5), scale=Const(positive(1, 5)),
         zeroPoint=Const(whole('int8', 1, 5)))


for family in (element_wise, with_options, convolutions, pools, resampling, normalizations,
               matrices, recurrent, reductions, moves, quantized):
    family()
missing = sorted(set(OPERATORS) - used)
if missing:
    sys.exit(f'no case of {missing}')
