#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random chains of TensorFlow Lite's operators: tflite-chains.py TDL-RUN [--keep FOLDER]

The chains of chains.py and their references in plain Python, each node of which becomes one
or more operators of TensorFlow Lite: what computes on channels stands between transpositions,
as there these come last. Shapes are computed by operators here and there, activations are
fused to operators, weights are integers with scales, or halves. In some chains operators are on
quantized tensors, too, which libtdl computes in floats: the references do not round either.
TDL_TEST_SEED=N repeats a run, TDL_TEST_CASES=N sets how many chains there are.
"""
import math
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chains  # noqa: E402
import tflite_writer as lite  # noqa: E402

CASES = 40
# enum BuiltinOperator, and the options' number in the union
(ADD, AVERAGE_POOL_2D, CONCATENATION, CONV_2D, DEPTHWISE_CONV_2D, DEPTH_TO_SPACE, FULLY_CONNECTED,
 LOGISTIC, MAX_POOL_2D, MUL, RELU, RESHAPE, RESIZE_BILINEAR, SOFTMAX, TANH, PAD, GATHER, TRANSPOSE,
 MEAN, SUB, SQUEEZE, STRIDED_SLICE, SPLIT, CAST, PRELU, MAXIMUM, ARG_MAX, SLICE, TRANSPOSE_CONV,
 EXPAND_DIMS, RSQRT, SHAPE, REDUCE_MAX, ONE_HOT, RESIZE_NEAREST, SQUARED_DIFFERENCE, HARD_SWISH,
 BATCH_MATMUL, BROADCAST_TO) = (
     0, 1, 2, 3, 4, 5, 9, 14, 17, 18, 19, 22, 23, 25, 28, 34, 36, 39, 40, 41, 43, 45, 49, 53, 54,
     55, 56, 65, 67, 70, 76, 77, 82, 85, 97, 99, 117, 126, 130)
CONV_OPTIONS, DEPTHWISE_OPTIONS, POOL_OPTIONS, DENSE_OPTIONS, SOFTMAX_OPTIONS, JOIN_OPTIONS = \
    1, 2, 5, 8, 9, 10
BILINEAR_OPTIONS, RESHAPE_OPTIONS, GATHER_OPTIONS, REDUCER_OPTIONS, SQUEEZE_OPTIONS = \
    15, 17, 23, 27, 30
STRIDED_OPTIONS, SPLIT_OPTIONS, ONE_HOT_OPTIONS, BLOCK_OPTIONS, TRANSPOSE_CONV_OPTIONS = \
    32, 35, 61, 94, 49
ADD_OPTIONS, MUL_OPTIONS, SUB_OPTIONS = 11, 21, 28
DEQUANTIZE, QUANTIZE = 6, 114
IN_FLOATS = (CAST, ONE_HOT, RSQRT)  # these have no quantized form
# enum ActivationFunctionType
ACTIVATIONS = {1: lambda a: max(a, 0.0), 3: lambda a: min(max(a, 0.0), 6.0), 4: math.tanh}
FUSED = ("Add", "Sub", "Mul", "AveragePool", "Concat", "Conv", "ConvTranspose", "Gemm", "MatMul",
         "MaxPool")
SAME, VALID = lite.Byte(0), lite.Byte(1)
TRUE = lite.Byte(1)


class Skip(Exception):
    """TensorFlow Lite has no such operator."""


class Chain(chains.Chain):
    def __init__(self, seed):
        super().__init__(seed)
        self.model = lite.Model()
        self.places = {}
        self.places["x"] = self.model.tensor(self.x.shape, name="x")
        self.model.inputs.append(self.places["x"])
        self.same = False
        self.activation = 0
        self.in_integers = self.random.random() < 0.4
        self.stored = {}  # quantization of weights by their names
        self.widened = set()  # constants that the file has in fewer bits

    # What makes files.

    def constant(self, value, kind=1):
        value.name = "w%d" % len(self.weights)
        self.weights[value.name] = value, kind
        self.places.pop(value.name, None)  # of one that a step took back
        self.stored.pop(value.name, None)
        return value

    def weight(self, *shape):
        """One that a file may have in fewer bits: its numbers are what these stand for."""
        value = super().weight(*shape)
        kind = self.random.choice([None, None, lite.FLOAT16, lite.INT8, lite.INT8, lite.UINT8])
        axis = self.random.choice([None] + [i for i in (0, 1) if i < value.rank])
        self.stored[value.name] = kind, axis, [], []
        if kind is None:
            return value
        if kind == lite.FLOAT16:
            value.data = [struct.unpack("<e", struct.pack("<e", a))[0] for a in value.data]
            return value
        _, _, scales, zeros = self.stored[value.name]
        for i in range(1 if axis is None else shape[axis]):
            most = max(abs(a) for a, p in zip(value.data, chains.places(shape))
                       if axis is None or p[axis] == i)
            scales.append(chains.single(max(most, 1e-3) / 127))
            zeros.append(self.random.randint(120, 135) if kind == lite.UINT8 else 0)
        for k, p in enumerate(chains.places(shape)):
            scale = scales[0 if axis is None else p[axis]]
            value.data[k] = scale * min(max(round(value.data[k] / scale), -110), 110)
        return value

    def of(self, value):
        """The tensor of a value."""
        if value.name not in self.places:
            value, kind = self.weights[value.name]
            self.places[value.name] = self.kept(value, value, {0: 0, 1: 1}) if kind == 1 else \
                self.list(value.data, value.shape)
        return self.places[value.name]

    def kept(self, weight, moved, axes, hybrid=False):
        """The constant whose numbers `moved` are those of a weight, whose dimension went to
        `axes`: as the file has it where the operator takes that, or made floats."""
        kind, axis, scales, zeros = self.stored.get(weight.name, (None, None, [], []))
        if kind is None or axis is not None and axis not in axes:
            return self.floats(moved.shape, moved.data)
        along = 0 if axis is None else axes[axis]
        if kind == lite.FLOAT16:
            few = self.model.tensor(moved.shape, kind, data=moved.data)
        else:
            one = [0 if axis is None else p[along] for p in chains.places(moved.shape)]
            few = self.model.tensor(
                moved.shape, kind, None, [round(a / scales[i]) + zeros[i]
                                          for a, i in zip(moved.data, one)], scales, zeros, along)
            if hybrid and self.random.random() < 0.6:
                return few
        y = self.model.tensor(moved.shape)
        self.model.operator(DEQUANTIZE, [few], [y])
        self.widened.add(y)
        return y

    def list(self, numbers, shape=None):
        kind = self.random.choice([lite.INT32, lite.INT32, lite.INT64])
        kind = lite.INT32 if shape is not None else kind
        return self.model.tensor((len(numbers),) if shape is None else shape, kind,
                                 data=[int(n) for n in numbers])

    def ints32(self, *numbers, shape=None):
        return self.model.tensor((len(numbers),) if shape is None else shape, lite.INT32,
                                 data=numbers)

    def floats(self, shape, data):
        return self.model.tensor(shape, data=[chains.single(a) for a in data])

    def emit(self, code, inputs, shape, options=(0, {}), kind=lite.FLOAT32, version=1):
        given = [self.model.tensors[i] for i in inputs]
        if kind == lite.FLOAT32 and self.in_integers and code not in IN_FLOATS and \
                self.random.random() < 0.5:
            inputs = [self.quantized(i, t) for i, t in zip(inputs, given)]
            y = self.small(shape)
        else:
            inputs = [self.real(i) for i in inputs]
            y = self.model.tensor(shape, kind)
        self.model.operator(code, inputs, [y], options, version)
        return y

    def small(self, shape):
        """A quantized tensor."""
        kind = self.random.choice([lite.INT8, lite.INT8, lite.UINT8, lite.INT16])
        zero = 0 if kind == lite.INT16 else self.random.randrange(128)
        return self.model.tensor(shape, kind, None, None, [self.random.uniform(0.01, 0.1)], [zero])

    def quantized(self, tensor, table):
        """The tensor as integers with scales; constants stay as they are, but for lists of
        numbers, which may be biases."""
        if 2 in table:
            if table[1] != lite.FLOAT32 or len(table[0]) != 1:
                return tensor
            data = self.model.buffers[table[2]][0]
            data = struct.unpack("<%df" % (len(data) // 4), data)
            return self.model.tensor(table[0], lite.INT32, None,
                                     [round(a * 2 ** 20) for a in data], [2.0 ** -20], [0])
        if table[1] != lite.FLOAT32 or tensor in self.widened:
            return tensor
        y = self.small(table[0])
        self.model.operator(QUANTIZE, [tensor], [y])
        return y

    def real(self, tensor):
        """The tensor in floats if it was computed as integers with scales."""
        table = self.model.tensors[tensor]
        if 4 not in table or 2 in table:
            return tensor
        y = self.model.tensor(table[0])
        self.model.operator(DEQUANTIZE, [tensor], [y])
        return y

    def node(self, kind, inputs, result, **attributes):
        tensor = getattr(self, "lite_" + kind.lower(), None)
        if tensor is None:
            raise Skip
        here = len(self.model.tensors), len(self.model.operators)
        self.activation = 0
        if kind in FUSED and self.random.random() < 0.4:
            self.activation = self.random.choice(list(ACTIVATIONS))
            result = chains.Value(result.shape, map(ACTIVATIONS[self.activation], result.data))
        try:
            self.places["v%d" % len(self.nodes)] = tensor(inputs, result, attributes)
        except Skip:
            del self.model.operators[here[1]:]  # what is left of them, nobody reads
            raise
        self.model.tensors[self.places["v%d" % len(self.nodes)]][3] = "v%d" % len(self.nodes)
        fused = {"fused": self.activation} if self.activation else {}
        return super().node(kind, inputs, result, **attributes, **fused)

    def moved(self, tensor, shape, order):
        """TRANSPOSE: the tensor, and its shape."""
        shape = [shape[o] for o in order]
        return self.emit(TRANSPOSE, [tensor, self.ints32(*order)], shape), shape

    def shaped(self, tensor, shape, known=None):
        """RESHAPE, by a list in the file, by options, or by one that is computed: where the
        tensor's first size, `known`, stays, it may come from SHAPE."""
        if known is not None and known[0] == shape[0] and self.random.random() < 0.5:
            sizes = self.emit(SHAPE, [tensor], (len(known),), kind=lite.INT32)
            first = self.emit(STRIDED_SLICE, [sizes] + [self.ints32(n) for n in (0, 1, 1)], (1,),
                              (STRIDED_OPTIONS, {}), lite.INT32)
            inputs = [tensor, first]
            if len(shape) > 1:
                inputs[1] = self.emit(CONCATENATION, [first, self.ints32(*shape[1:])],
                                      (len(shape),), (JOIN_OPTIONS, {0: 0}), lite.INT32)
        elif self.random.random() < 0.5:
            inputs = [tensor, self.ints32(*shape)]
        else:
            return self.emit(RESHAPE, [tensor], shape, (RESHAPE_OPTIONS, {0: list(shape)}))
        return self.emit(RESHAPE, inputs, shape)

    # Moves.

    def lite_transpose(self, inputs, y, attributes):
        return self.moved(self.of(inputs[0]), inputs[0].shape, attributes["perm"])[0]

    def lite_reshape(self, inputs, y, attributes):
        return self.shaped(self.of(inputs[0]), y.shape, inputs[0].shape)

    lite_flatten = lite_reshape

    def lite_squeeze(self, inputs, y, attributes):
        axes = [a - self.random.choice([0, inputs[0].rank]) for a in inputs[1].data]
        return self.emit(SQUEEZE, [self.of(inputs[0])], y.shape, (SQUEEZE_OPTIONS, {0: axes}))

    def lite_unsqueeze(self, inputs, y, attributes):
        axis = inputs[1].data[0] - self.random.choice([0, y.rank])
        return self.emit(EXPAND_DIMS, [self.of(inputs[0]), self.ints32(axis, shape=(
            self.random.choice([(), (1,)])))], y.shape)

    def lite_gather(self, inputs, y, attributes):
        x, at = inputs
        axis = attributes["axis"]
        indices = self.ints32(*[i % x.shape[axis] for i in at.data], shape=at.shape)
        return self.emit(GATHER, [self.of(x), indices], y.shape,
                         (GATHER_OPTIONS, {0: axis - self.random.choice([0, x.rank])}))

    def lite_slice(self, inputs, y, attributes):
        x, start, _, axis = inputs
        begin = [start.data[0] if i == axis.data[0] else 0 for i in range(x.rank)]
        if self.random.random() < 0.5:
            size = [-1 if b + s == n and self.random.random() < 0.5 else s
                    for b, s, n in zip(begin, y.shape, x.shape)]
            return self.emit(SLICE, [self.of(x), self.list(begin), self.list(size)], y.shape)
        end = [b + s for b, s in zip(begin, y.shape)]
        masks = {i: sum(1 << k for k in range(x.rank) if whole(k)) for i, whole in enumerate([
            lambda k: begin[k] == 0 and self.random.random() < 0.3,
            lambda k: end[k] == x.shape[k] and self.random.random() < 0.3])}
        return self.emit(STRIDED_SLICE, [self.of(x), self.ints32(*begin), self.ints32(*end),
                                         self.ints32(*[1] * x.rank)], y.shape,
                         (STRIDED_OPTIONS, masks))

    def lite_concat(self, inputs, y, attributes):
        axis = attributes["axis"] - self.random.choice([0, y.rank])
        return self.emit(CONCATENATION, [self.of(i) for i in inputs], y.shape,
                         (JOIN_OPTIONS, {0: axis, 1: lite.Byte(self.activation)}))

    def lite_split(self, inputs, y, attributes):
        x, axis = inputs[0], attributes["axis"]
        halves = [self.model.tensor(y.shape) for _ in range(2)]
        self.model.operator(SPLIT, [self.ints32(axis, shape=()), self.real(self.of(x))], halves,
                            (SPLIT_OPTIONS, {0: 2}))
        middle = x.shape[axis] // 2
        first = [x.at(chains.replaced(p, axis, p[axis])) for p in chains.places(y.shape)]
        second = [x.at(chains.replaced(p, axis, p[axis] + middle)) for p in chains.places(y.shape)]
        assert y.data in (first, second)
        return halves[0 if y.data == first else 1]

    def padded(self, tensor, shape, before, after):
        if not any(before) and not any(after):
            return tensor, list(shape)
        shape = [b + s + a for b, s, a in zip(before, shape, after)]
        pads = [n for pair in zip(before, after) for n in pair]
        return self.emit(PAD, [tensor, self.list(pads, (len(shape), 2))], shape), shape

    def lite_pad(self, inputs, y, attributes):
        x, pads = inputs
        pads = [n for pair in zip(pads.data[:x.rank], pads.data[x.rank:]) for n in pair]
        return self.emit(PAD, [self.of(x), self.list(pads, (x.rank, 2))], y.shape)

    def lite_expand(self, inputs, y, attributes):
        return self.emit(BROADCAST_TO, [self.of(inputs[0]), self.ints32(*y.shape)], y.shape,
                         version=2)

    # Of elements.

    def unary(code):
        return lambda self, inputs, y, attributes: self.emit(code, [self.of(inputs[0])], y.shape)

    def binary_of(code, options=0):
        return lambda self, inputs, y, attributes: self.emit(
            code, [self.of(i) for i in inputs], y.shape,
            (options, {0: lite.Byte(self.activation)} if options else {}))

    lite_relu, lite_sigmoid, lite_tanh, lite_hardswish = (
        unary(RELU), unary(LOGISTIC), unary(TANH), unary(HARD_SWISH))
    lite_add, lite_mul, lite_sub, lite_max, lite_prelu = (
        binary_of(ADD, ADD_OPTIONS), binary_of(MUL, MUL_OPTIONS), binary_of(SUB, SUB_OPTIONS),
        binary_of(MAXIMUM), binary_of(PRELU))

    # On channels, which are last here; of three dimensions one more comes between.

    def shape_of_windows(self, x, dilated=False):
        n = x.rank - 2
        kernel = [self.random.randint(1, min(3, s)) for s in x.shape[2:]]
        strides = [self.random.choice([1, 1, 2]) for _ in range(n)]
        self.same = self.random.random() < 0.5
        dilations = self.dilations_of(kernel, [9] * n if self.same else x.shape[2:]) if dilated \
            else [1] * n
        total = [max(0, ((s + t - 1) // t - 1) * t + (k - 1) * d + 1 - s) if self.same else 0
                 for s, t, k, d in zip(x.shape[2:], strides, kernel, dilations)]
        return kernel, [t // 2 for t in total] + [t - t // 2 for t in total], strides, dilations

    def crop_of(self, full, strides, sizes):
        """The output of any convolution whose gradient this is."""
        self.same = self.random.random() < 0.5
        if not self.same:
            return [0] * len(full), [f + self.random.randrange(s) for f, s in zip(full, strides)]
        out = [n * s - self.random.randrange(s) for n, s in zip(sizes, strides)]
        return [max(f - o, 0) // 2 for f, o in zip(full, out)], out

    def channels_last(self, x):
        """Of four dimensions: the tensor and its shape."""
        tensor, shape = self.of(x), x.shape
        if x.rank == 3:
            shape = (shape[0], shape[1], 1, shape[2])
            tensor = self.shaped(tensor, shape)
        return self.moved(tensor, shape, [0, 2, 3, 1])

    def channels_second(self, tensor, shape, y):
        tensor, shape = self.moved(tensor, shape, [0, 3, 1, 2])
        return tensor if y.rank == 4 else self.shaped(tensor, y.shape)

    def last_shape(self, y):
        shape = y.shape if y.rank == 4 else (y.shape[0], y.shape[1], 1, y.shape[2])
        return [shape[0], shape[2], shape[3], shape[1]]

    def windows(self, attributes):
        """Kernel and strides of two dimensions, and fields of options."""
        kernel, strides = ([1] * (2 - len(attributes[k])) + list(attributes[k])
                           for k in ("kernel_shape", "strides"))
        return kernel, {0: SAME if self.same else VALID, 1: strides[1], 2: strides[0]}

    def lite_conv(self, inputs, y, attributes):
        x, w = inputs[:2]
        kernel, options = self.windows(attributes)
        tensor, _ = self.channels_last(x)
        outputs, group = y.shape[1], attributes["group"]
        filters = chains.Value((w.shape[0], w.shape[1]) + tuple(kernel), w.data)
        wide, high = (list(attributes["dilations"]) + [1, 1])[:2] if y.rank < 4 else \
            attributes["dilations"][::-1]
        if group == 1:
            code, kind = CONV_2D, CONV_OPTIONS
            data = chains.fill((outputs, *kernel, x.shape[1]),
                               lambda p: filters.at((p[0], p[3], p[1], p[2])))
            options.update({3: lite.Byte(self.activation), 4: wide, 5: high})
        else:
            if w.shape[1] != 1:
                raise Skip
            code, kind = DEPTHWISE_CONV_2D, DEPTHWISE_OPTIONS
            data = chains.fill((1, *kernel, outputs),
                               lambda p: filters.at((p[3], 0, p[1], p[2])))
            options.update({3: outputs // x.shape[1], 4: lite.Byte(self.activation), 5: wide, 6: high})
        bias = inputs[2].data if len(inputs) > 2 else [0.0] * outputs
        given = [tensor, self.kept(w, data, {0: 0} if group == 1 else {0: 3}, hybrid=True)]
        if len(inputs) > 2 or self.random.random() < 0.5:
            given.append(self.floats((outputs,), bias))
        tensor = self.emit(code, given, self.last_shape(y), (kind, options))
        return self.channels_second(tensor, self.last_shape(y), y)

    def lite_convtranspose(self, inputs, y, attributes):
        x, w = inputs
        kernel, options = self.windows(attributes)
        options[3] = lite.Byte(self.activation)
        tensor, _ = self.channels_last(x)
        filters = chains.Value(w.shape[:2] + tuple(kernel), w.data)
        data = chains.fill((w.shape[1], *kernel, w.shape[0]),
                           lambda p: filters.at((p[3], p[0], p[1], p[2])))
        shape = self.last_shape(y)
        tensor = self.emit(TRANSPOSE_CONV, [
            self.ints32(*shape), self.kept(w, data, {1: 0, 0: 3}, hybrid=True), tensor], shape,
                           (TRANSPOSE_CONV_OPTIONS, options))
        return self.channels_second(tensor, shape, y)

    def lite_maxpool(self, inputs, y, attributes, code=MAX_POOL_2D):
        kernel, options = self.windows(attributes)
        options.update({3: kernel[1], 4: kernel[0], 5: lite.Byte(self.activation)})
        tensor, _ = self.channels_last(inputs[0])
        tensor = self.emit(code, [tensor], self.last_shape(y), (POOL_OPTIONS, options))
        return self.channels_second(tensor, self.last_shape(y), y)

    def lite_averagepool(self, inputs, y, attributes):
        return self.lite_maxpool(inputs, y, attributes, AVERAGE_POOL_2D)

    def reduced(self, code, tensor, axes, shape, keep, rank):
        axes = [a - self.random.choice([0, rank]) for a in axes]
        return self.emit(code, [tensor, self.ints32(*axes)], shape,
                         (REDUCER_OPTIONS, {0: lite.Byte(keep)}))

    def lite_globalaveragepool(self, inputs, y, attributes, code=MEAN):
        return self.reduced(code, self.of(inputs[0]), range(2, y.rank), y.shape, 1, y.rank)

    def lite_globalmaxpool(self, inputs, y, attributes):
        return self.lite_globalaveragepool(inputs, y, attributes, REDUCE_MAX)

    def scaled(self, tensor, shape, factors, terms):
        tensor = self.emit(MUL, [tensor, factors], shape)
        return self.emit(ADD, [tensor, terms], shape)

    def lite_batchnormalization(self, inputs, y, attributes):
        x, scale, bias, mean, variance = inputs
        a = [s / math.sqrt(v + 1e-5) for s, v in zip(scale.data, variance.data)]
        b = [t - m * f for t, m, f in zip(bias.data, mean.data, a)]
        shape = (len(a),) + (1,) * (x.rank - 2)
        return self.scaled(self.of(x), y.shape, self.floats(shape, a), self.floats(shape, b))

    def normal(self, x, axes, factors, terms):
        tensor, few = self.of(x), [1 if i in axes else s for i, s in enumerate(x.shape)]
        mean = self.reduced(MEAN, tensor, axes, few, 1, x.rank)
        squares = self.emit(SQUARED_DIFFERENCE, [tensor, mean], x.shape)
        variance = self.reduced(MEAN, squares, axes, few, 1, x.rank)
        variance = self.emit(ADD, [variance, self.floats((), [0.1])], few)
        tensor = self.emit(SUB, [tensor, mean], x.shape)
        tensor = self.emit(MUL, [tensor, self.emit(RSQRT, [variance], few)], x.shape)
        return self.scaled(tensor, x.shape, factors, terms)

    def lite_instancenormalization(self, inputs, y, attributes):
        shape = (y.shape[1],) + (1,) * (y.rank - 2)
        return self.normal(inputs[0], range(2, y.rank),
                           *(self.floats(shape, v.data) for v in inputs[1:]))

    def lite_layernormalization(self, inputs, y, attributes):
        return self.normal(inputs[0], range(attributes["axis"], y.rank),
                           *(self.of(v) for v in inputs[1:]))

    def lite_resize(self, inputs, y, attributes):
        x = inputs[0]
        if list(x.shape[:2]) != list(y.shape[:2]):
            raise Skip
        if attributes["mode"] == "linear" and (len(inputs) < 4 or attributes[
                "keep_aspect_ratio_policy"] != "stretch"):
            raise Skip
        tensor, _ = self.channels_last(x)
        shape = self.last_shape(y)
        linear = attributes["mode"] == "linear"
        tensor = self.emit(RESIZE_BILINEAR if linear else RESIZE_NEAREST,
                           [tensor, self.ints32(*shape[1:3])], shape,
                           (BILINEAR_OPTIONS, {3: TRUE}) if linear else (74, {}), version=3)
        return self.channels_second(tensor, shape, y)

    def lite_depthtospace(self, inputs, y, attributes):
        tensor, _ = self.channels_last(inputs[0])
        tensor = self.emit(DEPTH_TO_SPACE, [tensor], self.last_shape(y),
                           (BLOCK_OPTIONS, {0: 2}))
        return self.channels_second(tensor, self.last_shape(y), y)

    # Along a dimension.

    def lite_softmax(self, inputs, y, attributes):
        axis, options = attributes["axis"] % y.rank, (SOFTMAX_OPTIONS, {0: 1.0})
        if axis == y.rank - 1:
            return self.emit(SOFTMAX, [self.of(inputs[0])], y.shape, options)
        order = list(range(y.rank))
        order[axis], order[-1] = order[-1], order[axis]
        tensor, shape = self.moved(self.of(inputs[0]), y.shape, order)
        tensor = self.emit(SOFTMAX, [tensor], shape, options)
        return self.moved(tensor, shape, order)[0]

    def lite_reducemean(self, inputs, y, attributes, code=MEAN):
        x, axes = inputs
        return self.reduced(code, self.of(x), axes.data, y.shape, attributes["keepdims"], x.rank)

    def lite_reducemax(self, inputs, y, attributes):
        return self.lite_reducemean(inputs, y, attributes, REDUCE_MAX)

    def lite_argmax(self, inputs, y, attributes):
        x, axis = inputs[0], attributes["axis"]
        shape = x.shape[:axis] + x.shape[axis + 1:]
        kind = self.random.choice([lite.INT32, lite.INT64])
        tensor = self.emit(ARG_MAX, [self.of(x), self.ints32(axis, shape=())], shape,
                           (40, {0: lite.Byte(kind)}), kind)
        if attributes["keepdims"]:
            tensor = self.emit(EXPAND_DIMS, [tensor, self.ints32(axis)], y.shape, kind=kind)
        return tensor

    def lite_onehot(self, inputs, y, attributes):
        most, depth, values = inputs
        axis = attributes["axis"]
        axis = -1 if axis == most.rank else axis
        return self.emit(ONE_HOT, [self.of(most), self.ints32(*depth.data, shape=()),
                                   self.floats((), values.data[1:]),
                                   self.floats((), values.data[:1])], y.shape,
                         (ONE_HOT_OPTIONS, {0: axis}))

    def lite_cast(self, inputs, y, attributes):
        return self.emit(CAST, [self.of(inputs[0])], y.shape)

    def lite_matmul(self, inputs, y, attributes):
        left, right = inputs
        if left.rank < 2 or right.rank < 2:
            raise Skip
        if right.rank == 2 and right.name in self.weights and self.random.random() < 0.5:
            turned = chains.fill(right.shape[::-1], lambda p: right.at(p[::-1]))
            return self.emit(FULLY_CONNECTED,
                             [self.of(left), self.kept(right, turned, {1: 0, 0: 1}, hybrid=True)],
                             y.shape, (DENSE_OPTIONS, {0: lite.Byte(self.activation), 2: TRUE}),
                             version=5)
        if self.activation:
            raise Skip
        return self.emit(BATCH_MATMUL, [self.of(left), self.of(right)], y.shape)

    def lite_gemm(self, inputs, y, attributes):
        x, w, c = inputs
        return self.emit(FULLY_CONNECTED, [self.of(x), self.kept(w, w, {0: 0, 1: 1}, hybrid=True),
                                           self.of(c)], y.shape,
                         (DENSE_OPTIONS, {0: lite.Byte(self.activation)}))

    def step(self):
        while True:
            before = self.last, len(self.values), len(self.nodes), len(self.text)
            try:
                return super().step()
            except Skip:
                self.last = before[0]
                del self.values[before[1]:], self.nodes[before[2]:], self.text[before[3]:]


def check(tdl_run, folder, seed):
    chain = Chain(seed)
    chain.grow()
    outputs = [chain.last]
    more = [v for v in chain.values[1:-1] if v is not chain.last]
    if more and chain.random.random() < 0.5:
        outputs.append(chain.random.choice(more))
    base = os.path.join(folder, "%d" % seed)
    chain.model.outputs = [chain.places[o.name] for o in outputs]
    while chain.random.random() < 0.4:
        first = chain.random.randrange(len(chain.model.operators))
        chain.model.outline(first, chain.random.randint(first + 1, len(chain.model.operators)))
    with open(base + ".tflite", "wb") as f:
        f.write(chain.model.file())
    chains.write_npy(base + ".x.npy", chain.x.shape, chain.x.data)
    return chains.compare(tdl_run, base, ".tflite", chain, seed, outputs)


if __name__ == "__main__":
    sys.exit(chains.main(check, CASES))
