#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ONNX's operators on rows whose number is known only when the model runs:

test-onnx-counted.py TDL-RUN

TDL_TEST_CASES=N sets how many groups of operators there are, TDL_TEST_SEED=N which.

Each operator's result for rows that Compress has chosen is that for a file which has these
rows alone, as its input: 3 of 5, 2, all; and of none, where only sums and the like have
elements, it is the neutral number. So a rule that forgets a mask, or gives another dimension
the count, is found, whatever the operator computes.
"""
import os
import random
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy (Debian package python3-numpy)")
    sys.exit(77)
from chains import Node
from onnx_models import body, difference, read, run

RANDOM = np.random.RandomState(11)
OPSET = 24
ROWS = 5
AT_ONCE = 30  # outputs, each with its shape
CHOSEN = ([1, 0, 0, 1, 0], [0, 1, 0, 1, 1], [1, 1, 1, 1, 1])
INF = np.inf
MS = "com.microsoft"


def numbers(*shape):
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


class Group:
    """Operators on rows "c" of one x, all in one file; the rows lie along `axis`."""

    def __init__(self, name, x, axis=0):
        self.name, self.x, self.axis = name, x, axis
        self.nodes, self.weights, self.outputs, self.none, self.drawn = [], {}, [], {}, []

    def weight(self, value):
        if isinstance(value, str):
            return value
        name = "w%d" % len(self.weights)
        self.weights[name] = np.asarray(value)
        return name

    def add(self, kind, *inputs, outputs=1, domain="", **attributes):
        """A node; inputs are names or arrays. Its outputs' names."""
        names = ["%s_%d_%d" % (kind, len(self.nodes), i) for i in range(outputs)]
        self.nodes.append(Node(kind, [self.weight(i) for i in inputs], names, attributes, domain))
        return names if outputs > 1 else names[0]

    def cast(self, x, to):
        return self.add("Cast", x, to=to)

    def give(self, kind, *inputs, outputs=1, none=None, kept=None, drawn=False, also=None, **more):
        """The same, with outputs that are compared, or those of `kept`, and their numbers of
        no rows."""
        made = self.add(kind, *inputs, outputs=outputs, **more)
        for i, name in enumerate([made] if outputs == 1 else made):
            if kept is not None and i not in kept:
                continue
            name = self.cast(name, also) if also else name
            self.outputs.append(name)
            if none is not None:
                self.none[name] = none
            if drawn:
                self.drawn.append(name)


# ------------------------------------------------------------------------ the operators

def functions():
    """Of elements: those that are not defined everywhere stand behind one that is."""
    g = Group("functions", numbers(ROWS, 4))
    for kind in ("Abs Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish Identity "
                 "LeakyRelu Mish Neg Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh "
                 "Softplus Softsign Tan Tanh ThresholdedRelu Swish Asin Acos Atan Asinh "
                 "Atanh").split():
        g.give(kind, "c")
    some = g.add("Add", "c", np.float32(2))
    for kind in "Sqrt Log Acosh".split():
        g.give(kind, some)
    for kind in ("QuickGelu", "FastGelu", "Gelu"):
        g.give(kind, "c", domain=MS)
    return g


def two():
    g = Group("functions of two", numbers(ROWS, 4))
    other, row = g.add("Mul", "c", np.float32(-0.5)), numbers(4)
    for kind in "Add Sub Mul Max Min Sum Mean PRelu".split():
        g.give(kind, "c", other)
        g.give(kind, "c", row)
    g.give("Div", "c", g.add("Exp", other))
    g.give("Pow", g.add("Exp", "c"), other)
    g.give("Mod", "c", np.float32(0.3), fmod=1)
    g.give("Clip", "c", np.float32(-0.5), np.float32(0.5))
    g.give("Dropout", "c")
    g.give("BiasGelu", "c", row, domain=MS)
    g.give("CastLike", "c", np.float32(1))
    g.give("QuantizeLinear", "c", np.float32(0.1), np.uint8(3))
    rows = [g.add(kind, "c", other) for kind in
            "Equal Greater GreaterOrEqual Less LessOrEqual".split()]
    rows += [g.add(kind, rows[1], rows[4]) for kind in "And Or Xor".split()]
    rows += [g.add("Not", rows[1]), g.add("IsNaN", "c"), g.add("IsInf", "c")]
    for name in rows:
        g.give("Cast", name, to=1)
    g.give("Where", rows[1], "c", np.float32(7))
    return g


def whole():
    g = Group("integers", RANDOM.randint(0, 9, (ROWS, 3)).astype(np.int32))
    g.give("Mod", "c", np.int32(4))
    for kind in "BitwiseAnd BitwiseOr BitwiseXor".split():
        g.give(kind, "c", np.int32(6))
    g.give("BitwiseNot", "c")
    g.give("BitShift", g.cast("c", 12), np.uint32(1), also=6, direction="LEFT")
    g.give("OneHot", "c", ints(9), np.array([0, 1], np.float32))
    for kind, none in (("ReduceMax", -2 ** 31), ("ReduceMin", 2 ** 31 - 1), ("ReduceSum", 0)):
        g.give(kind, "c", ints(0), none=none)
    bytes_ = g.cast("c", 2)
    g.give("DequantizeLinear", bytes_, np.array([0.5, 2, 3], np.float32),
           np.array([1, 2, 3], np.uint8), axis=1)
    g.give("MatMulInteger", bytes_, RANDOM.randint(0, 9, (3, 2)).astype(np.uint8), np.uint8(4))
    scale, zero = np.float32(0.5), np.uint8(3)
    g.give("QLinearMatMul", bytes_, scale, zero, RANDOM.randint(0, 9, (3, 2)).astype(np.uint8),
           scale, zero, scale, zero, also=6)
    for kind in ("QLinearSigmoid", "QLinearLeakyRelu"):
        g.give(kind, bytes_, scale, zero, np.float32(0.05), zero, domain=MS, also=6)
    g.give("Gather", numbers(9, 2), "c")
    g.give("GatherND", numbers(9, 9, 9), "c")
    g.give("GatherElements", numbers(9, 3), "c")
    return g


def shapes():
    g = Group("shapes", numbers(ROWS, 4, 6))
    g.give("Reshape", "c", ints(-1, 24))
    g.give("Reshape", "c", ints(0, 2, 2, 6))
    g.give("Reshape", "c", ints(-1, 6))
    g.give("Reshape", "c", ints(-1))
    g.give("Flatten", "c")
    g.give("Transpose", "c", perm=(1, 2, 0))
    g.give("Unsqueeze", "c", ints(0))
    g.give("Squeeze", g.add("Unsqueeze", "c", ints(1)), ints(1))
    g.give("Expand", "c", ints(2, 1, 4, 6))
    g.give("Tile", "c", ints(1, 2, 1))
    between = numbers(2, 4, 6)
    g.give("Concat", "c", between, "c", axis=0, none=between)
    g.give("Concat", "c", "c", axis=2)
    g.give("Slice", "c", ints(0), ints(2), ints(0))
    g.give("Slice", "c", ints(1), ints(-1), ints(2))
    g.give("Split", "c", ints(1, 3), outputs=2, axis=1)
    g.give("Pad", "c", ints(0, 1, 0, 0, 0, 2))
    g.give("CenterCropPad", "c", ints(2, 9), axes=(1, 2))
    for kind in ("RandomNormalLike", "RandomUniformLike"):
        g.give(kind, "c", drawn=True)
    g.give("Bernoulli", g.add("Sigmoid", "c"), drawn=True)
    g.give("Trilu", "c", upper=0)
    g.give("EyeLike", g.add("Reshape", "c", ints(-1, 24)))
    g.give("ReverseSequence", g.add("Transpose", "c", perm=(1, 0, 2)), ints(1, 1, 1, 1),
           batch_axis=0, time_axis=1)
    g.give("SequenceAt", g.add("SplitToSequence", "c", ints(2, 2), axis=1), ints(1).reshape(()))
    g.give("SequenceAt", g.add("SequenceConstruct", numbers(2), "c"), ints(-1).reshape(()))
    g.give("Shape", "c", none=np.array([0, 4, 6]))
    g.give("Size", "c", none=0)
    g.give("NonZero", "c")
    g.give("ArgMax", "c", axis=1)
    g.give("CumSum", "c", ints(0).reshape(()))
    for axis in (0, 1):
        g.give("CumSum", "c", ints(axis).reshape(()), reverse=1)
    size = g.add("Gather", g.add("Shape", "c"), ints(1).reshape(()))
    fixed = np.arange(4)
    g.give("Range", ints(0).reshape(()), size, ints(1).reshape(()), none=fixed)
    return g


def joins():
    """Over the rows, and over what is in each."""
    g = Group("sums", numbers(ROWS, 4))
    nothing = {"ReduceMax": -INF, "ReduceMin": INF, "ReduceProd": 1, "ReduceLogSum": -INF,
               "ReduceLogSumExp": -INF}
    for kind in ("ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
                 "ReduceSumSquare ReduceLogSumExp").split():
        g.give(kind, "c", ints(0), none=nothing.get(kind, 0))
        g.give(kind, "c", ints(1), keepdims=0)
        g.give(kind, "c", keepdims=0, none=nothing.get(kind, 0))
    g.give("ReduceLogSum", g.add("Exp", "c"), ints(0), none=-INF)
    for kind in "Softmax LogSoftmax Hardmax".split():
        g.give(kind, "c", axis=0)
        g.give(kind, "c", axis=1)
    for kind in ("ArgMax", "ArgMin"):
        g.give(kind, "c", axis=0, none=0)
    for p in (1, 2):
        g.give("LpNormalization", "c", axis=0, p=p)
        g.give("LpNormalization", "c", axis=1, p=p)
    g.give("LayerNormalization", "c", numbers(4), numbers(4))
    g.give("RMSNormalization", "c", numbers(4))
    g.give("DynamicQuantizeLinear", "c", outputs=3, kept=[1], none=0)
    g.give("Gemm", "c", numbers(4, 3), numbers(3))
    g.give("Gemm", "c", "c", transA=1, none=0)
    g.give("Gemm", "c", "c", transB=1)
    g.give("MatMul", "c", numbers(4, 3))
    turned = g.add("Transpose", "c")
    g.give("MatMul", turned, "c", none=0)
    g.give("FusedMatMul", "c", "c", domain=MS, transA=1, none=0)
    g.give("FusedMatMul", "c", numbers(3, 4), domain=MS, transB=1)
    g.give("Einsum", "c", numbers(4, 3), equation="bi,ij->jb")
    g.give("Einsum", "c", "c", equation="bi, bj -> ij", none=0)
    g.give("Einsum", "c", equation="bi->b")
    g.give("TopK", "c", ints(2), outputs=2, axis=1)
    g.give("MeanVarianceNormalization", "c", axes=(1,))
    return g


def scattered():
    g = Group("places", np.arange(ROWS * 2).reshape(ROWS, 2).astype(np.int64)[:, ::-1].copy())
    data, columns = numbers(10), g.add("Reshape", "c", ints(-1))
    updates = g.cast(columns, 1)
    for reduction in ("none", "add", "max"):
        for kind in ("ScatterElements", "ScatterND"):
            at = columns if kind == "ScatterElements" else g.add("Reshape", "c", ints(-1, 1))
            g.give(kind, data, at, updates, reduction=reduction, none=data)
    g.give("Compress", g.add("Cast", "c", to=1), np.array([0, 1], bool), axis=1)
    g.give("Compress", "c", g.cast(g.add("Mod", columns, ints(2).reshape(())), 9))
    return g


def pictures():
    g = Group("pictures", numbers(ROWS, 4, 6, 8))
    for kind in ("MaxPool", "AveragePool", "LpPool"):
        g.give(kind, "c", kernel_shape=(2, 2), strides=(2, 2))
    for kind in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        g.give(kind, "c")
    g.give("Conv", "c", numbers(3, 4, 3, 3), pads=(1, 1, 1, 1))
    g.give("ConvTranspose", "c", numbers(4, 2, 2, 2))
    g.give("BatchNormalization", "c", numbers(4), numbers(4), numbers(4), numbers(4) ** 2 + 1)
    g.give("InstanceNormalization", "c", numbers(4), numbers(4))
    g.give("LRN", "c", size=3)
    g.give("DepthToSpace", "c", blocksize=2)
    g.give("SpaceToDepth", "c", blocksize=2)
    g.give("Resize", "c", "", "", ints(12, 16), mode="linear", axes=(2, 3))
    grid = g.add("Transpose", g.add("Slice", "c", ints(0), ints(2), ints(1)), perm=(0, 2, 3, 1))
    g.give("GridSample", "c", grid)
    offset = g.add("Concat", "c", "c", axis=1)
    g.give("DeformConv", "c", numbers(3, 4, 2, 2), g.add(
        "Slice", offset, ints(0, 0), ints(5, 7), ints(2, 3)), kernel_shape=(2, 2))
    values, places = g.add("MaxPool", "c", outputs=2, kernel_shape=(2, 2), strides=(2, 2))
    g.give("MaxUnpool", values, places, kernel_shape=(2, 2), strides=(2, 2))
    flat = g.add("Reshape", "c", ints(0, 16, 12))
    g.give("Col2Im", flat, ints(4, 5), ints(2, 2))
    g.give("QuantizeLinear", "c", np.array([.1, .2, .3, .4], np.float32), axis=1)
    bytes_ = g.cast(g.add("Mul", g.add("Abs", "c"), np.float32(99)), 2)
    filter_ = RANDOM.randint(0, 9, (2, 4, 1, 1)).astype(np.uint8)
    g.give("ConvInteger", bytes_, filter_)
    scale, zero = np.float32(0.5), np.uint8(3)
    g.give("QLinearConv", bytes_, scale, zero, filter_, scale, zero, np.float32(99), zero, also=6)
    g.give("FusedConv", "c", numbers(3, 4, 1, 1), domain=MS, activation="Relu")
    return g


def sequences():
    g = Group("sequences", numbers(7, ROWS, 3), axis=1)
    for kind, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        g.give(kind, "c", numbers(1, gates * 4, 3), numbers(1, gates * 4, 4), outputs=2,
               hidden_size=4)
    return g


def queries():
    g = Group("attention", numbers(ROWS, 2, 3, 4))
    g.give("Attention", "c", "c", "c")
    flat = g.add("Reshape", "c", ints(0, 6, 4))
    g.give("MultiHeadAttention", flat, flat, flat, domain=MS, num_heads=2)
    return g


def regions():
    """Rows that are boxes, and x that each of them is of."""
    x = np.concatenate([numbers(ROWS, 2), numbers(ROWS, 2) + 4], 1).astype(np.float32)
    g = Group("regions", x)
    which = g.cast(g.add("Mul", g.add("Reshape", g.add(
        "Slice", "c", ints(0), ints(1), ints(1)), ints(-1)), np.float32(0)), 7)
    g.give("RoiAlign", numbers(1, 2, 6, 7), "c", which, output_height=2, output_width=3,
           sampling_ratio=2)
    g.give("LayerNormalization", "c", numbers(4), axis=-1)
    return g


def loops():
    """As many iterations as there are rows: a sum, rows that are collected, and rows that are
    joined to a list, as TorchScript writes it."""
    g = Group("loops", numbers(ROWS, 3))
    trips = g.add("Gather", g.add("Shape", "c"), ints(0).reshape(()))
    nodes = [Node("Gather", ["c", "i"], ["row"], {}), Node("Add", ["sum", "row"], ["next"], {}),
             Node("Mul", ["sum", "row"], ["product"], {}), Node("Identity", ["go"], ["on"], {}),
             Node("Unsqueeze", ["product", g.weight(ints(0))], ["wide"], {}),
             Node("Cast", ["list"], ["same"], {"to": 1}),
             Node("Concat", ["same", "wide", "wide"], ["longer"], {"axis": 0})]
    inner = body(nodes, ["i", "go", "sum", "list"], ["on", "next", "longer", "product"])
    start, nothing = np.ones(3, np.float32), np.zeros((0, 3), np.float32)
    made = g.add("Loop", trips, "", start, nothing, outputs=3, body=inner)
    for name in made:
        g.outputs.append(name)
    g.none[made[0]] = start
    return g


# ------------------------------------------------------------------------------ running

def results(tdl_run, folder, g, nodes, weights, inputs):
    """Of all outputs by name, as many at once as a model may have; or a fault."""
    all_results = {}
    for i in range(0, len(g.outputs), AT_ONCE):
        part = g.outputs[i:i + AT_ONCE]
        done = run(tdl_run, folder, nodes, part, weights, inputs, OPSET, [])
        if done.returncode:
            return done.stderr.strip() or "exit status %d" % done.returncode
        all_results.update((name, read(folder, name)) for name in part)
    return all_results


def of_chosen(tdl_run, folder, g, chosen):
    nodes = [Node("Greater", ["keep", "half"], ["is"], {}),
             Node("Compress", ["x", "is"], ["c"], {"axis": g.axis})] + g.nodes
    return results(tdl_run, folder, g, nodes, dict(g.weights, half=np.float32(0.5)),
                   {"x": g.x, "keep": np.array(chosen, np.float32)})


def of_input(tdl_run, folder, g, chosen):
    return results(tdl_run, folder, g, g.nodes, g.weights,
                   {"c": np.compress(chosen, g.x, g.axis)})


def check_none(g, got, two_rows, three_rows):
    """Sizes that grow with the rows are 0 with none; where places are found, any is."""
    for name in g.outputs:
        a, b = two_rows[name].shape, three_rows[name].shape
        shape = tuple(x - 2 * (y - x) for x, y in zip(a, b))
        if not got[name].size and got[name].ndim == len(shape):
            continue
        if got[name].shape != shape:
            yield "%s has the shape %s instead of %s" % (name, got[name].shape, shape)
        elif name not in g.none:
            yield "%s has elements of no rows" % name
        else:
            wrong = difference(name, got[name], np.broadcast_to(
                np.asarray(g.none[name], got[name].dtype), shape))
            if wrong:
                yield wrong


def check(tdl_run, folder, g, choices):
    all_right = []
    for chosen in choices:
        got = of_chosen(tdl_run, folder, g, chosen)
        want = of_input(tdl_run, folder, g, chosen)
        for fault in (got, want):
            if isinstance(fault, str):
                yield fault
                return
        all_right.append(want)
        for name in g.outputs:
            wrong = difference(name, got[name], want[name])
            if wrong and (name not in g.drawn or got[name].shape != want[name].shape):
                yield "%d rows: %s" % (sum(chosen), wrong)
    got = of_chosen(tdl_run, folder, g, [0] * ROWS)
    if isinstance(got, str):
        yield got
        return
    yield from ("no rows: " + f for f in check_none(g, got, *all_right[:2]))


def main():
    groups = [make() for make in (functions, two, whole, shapes, joins, scattered, pictures,
                                  sequences, queries, regions, loops)]
    # Rules know no devices: where each kernel is compiled for long, some groups are enough.
    cpu = os.environ.get("TDL_DEVICE") == "cpu"
    cases = int(os.environ.get("TDL_TEST_CASES", len(groups) if cpu else 1))
    seed = int(os.environ.get("TDL_TEST_SEED", random.randrange(1000)))
    failures = operators = 0
    with tempfile.TemporaryDirectory() as folder:
        for g in random.Random(seed).sample(groups, min(cases, len(groups))):
            operators += len(g.nodes)
            for fault in check(sys.argv[1], folder, g, CHOSEN if cpu else CHOSEN[:2]):
                failures += 1
                print("FAIL %s: %s; TDL_TEST_SEED=%d" % (g.name, fault, seed))
    print("%d operators, %d failures" % (operators, failures))
    return failures > 0


sys.exit(main())
