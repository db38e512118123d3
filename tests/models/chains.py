#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random chains of ONNX's operators: chains.py TDL-RUN [--keep FOLDER]

Operators that move, join and drop dimensions, between operators on channels, which find
these by a value's layout; parts of the chains are functions that the file defines. Each
chain is a file of its own; what tdl-run makes of it is held against the definitions of ONNX's operators, in plain Python. TDL_TEST_SEED=N
repeats a run, TDL_TEST_CASES=N sets how many chains there are. With --keep the files,
inputs and right outputs stay in a folder.
"""
import itertools
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

CASES = 40
MOST = 700    # elements of a value
LIMIT = 1e-3  # of the largest element, or of 1


# ------------------------------------------------------------------------ files

def field(number, value):
    """A field of a protobuf message: a number, a float, or bytes."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
    if isinstance(value, int):
        return varint(number << 3) + varint(value % 2 ** 64)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


class Reference(str):
    """The name of an attribute of the function."""


def attribute(name, value):
    text = field(1, name)
    if isinstance(value, Reference):
        return text + field(21, str(value)) + field(20, 1)
    if isinstance(value, Message):
        return text + field(value.number, bytes(value)) + field(20, value.number - 1)
    if isinstance(value, float):
        return text + field(2, value) + field(20, 1)
    if isinstance(value, int):
        return text + field(3, value) + field(20, 2)
    if isinstance(value, str):
        return text + field(4, value) + field(20, 3)
    return text + b"".join(field(8, v) for v in value) + field(20, 7)


class Message(bytes):
    """The value of an attribute that is one: of a tensor (field 5), or a graph (6)."""

    def __new__(cls, number, value):
        self = super().__new__(cls, value)
        self.number = number
        return self


class Node:
    """Of a graph or a function: names in lists."""

    def __init__(self, kind, inputs, outputs, attributes, domain=""):
        self.kind, self.inputs, self.outputs = kind, inputs, outputs
        self.attributes, self.domain = attributes, domain

    def file(self):
        m = b"".join(field(1, i) for i in self.inputs)
        m += b"".join(field(2, o) for o in self.outputs) + field(4, self.kind)
        m += b"".join(field(5, attribute(k, v)) for k, v in self.attributes.items())
        return m + (field(7, self.domain) if self.domain else b"")


def tensor_file(name, kind, shape, data):
    raw = struct.pack("<%d%s" % (len(data), "f" if kind == 1 else "q"), *data)
    return b"".join(field(1, d) for d in shape) + field(2, kind) + field(8, name) + field(9, raw)


def value_info(name, shape=None, kind=1):
    kind = field(1, kind)
    if shape is not None:
        kind += field(2, b"".join(field(1, field(1, d)) for d in shape))
    return field(1, name) + field(2, field(1, kind))


def write_npy(path, shape, values):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %r}" % (tuple(shape),)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() +
                struct.pack("<%df" % len(values), *values))


def read_npy(path):
    with open(path, "rb") as f:
        data = f.read()
    length = struct.unpack_from("<H", data, 8)[0]
    header = data[10:10 + length].decode()
    shape = tuple(int(d) for d in header[header.index("(") + 1:header.index(")")].split(",")
                  if d.strip())
    kind = {"<f4": "f", "<i8": "q", "<i4": "i", "|u1": "B"}[header.split("'descr': '")[1][:3]]
    rest = data[10 + length:]
    return shape, struct.unpack("<%d%s" % (len(rest) // struct.calcsize(kind), kind), rest)


# ----------------------------------------------------------------------- values

class Value:
    """Numbers in a shape, the last dimension fastest, under a name in the file."""

    def __init__(self, shape, data, name=""):
        self.shape, self.data, self.name = tuple(shape), list(data), name
        assert math.prod(self.shape) == len(self.data)

    @property
    def rank(self):
        return len(self.shape)

    def at(self, place):
        i = 0
        for size, p in zip(self.shape, place):
            i = i * size + p
        return self.data[i]

    def spread(self, place):
        """The element that broadcasting puts there."""
        place = place[len(place) - self.rank:]
        return self.at([p if s > 1 else 0 for s, p in zip(self.shape, place)])


def places(shape):
    return itertools.product(*map(range, shape))


def fill(shape, function):
    return Value(shape, [function(p) for p in places(shape)])


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def replaced(place, axis, *with_):
    return place[:axis] + tuple(with_) + place[axis + 1:]


def broadcast(a, b, function):
    rank = max(a.rank, b.rank)
    shapes = [(1,) * (rank - v.rank) + v.shape for v in (a, b)]
    shape = [max(s, t) for s, t in zip(*shapes)]
    return fill(shape, lambda p: function(a.spread(p), b.spread(p)))


def window(x, kernel, pads, strides, dilations, visit):
    """visit(list of (place in the kernel, place in the picture or None)) for each place."""
    n = len(kernel)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    out = [(s + pads[i] + pads[n + i] - reach[i]) // strides[i] + 1
           for i, s in enumerate(x.shape[2:])]

    def taps(to):
        for k in places(kernel):
            at = [to[i] * strides[i] - pads[i] + k[i] * dilations[i] for i in range(n)]
            yield k, tuple(at) if all(0 <= a < s for a, s in zip(at, x.shape[2:])) else None
    return out, taps if visit is None else visit


# ----------------------------------------------------------------------- chains

class Chain:
    """Nodes in their order, and what the last one gave."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.nodes, self.weights, self.values, self.text = [], {}, [], []
        self.functions = []
        pick = self.random.random()
        rank = self.random.choice([2, 3, 3, 4, 4, 4, 4, 5])
        if pick < 0.15:  # what the reader takes for a picture with its channels last
            shape = (1, self.random.choice([16, 17]), 16, self.random.choice([1, 3]))
            shape = shape if math.prod(shape) <= MOST else (1, 16, 16, 1)
        else:
            shape = [self.random.choice([1, 2, 3, 4, 5]) for _ in range(rank)]
            shape[0] = self.random.choice([1, 1, 2])
        self.x = self.numbers(shape)
        self.x.name = "x"
        self.values.append(self.x)
        self.last = self.x

    # What makes files.

    def numbers(self, shape, low=-2.0, high=2.0):
        return Value(shape, [single(self.random.uniform(low, high))
                             for _ in range(math.prod(shape))])

    def constant(self, value, kind=1):
        value.name = "w%d" % len(self.weights)
        self.weights[value.name] = tensor_file(value.name, kind, value.shape, value.data)
        return value

    def ints(self, *values, shape=None):
        return self.constant(Value((len(values),) if shape is None else shape, values), 7)

    def weight(self, *shape):
        most = 1 / math.sqrt(max(1, math.prod(shape[1:])))
        return self.constant(self.numbers(shape, -2 * most, 2 * most))

    def node(self, kind, inputs, result, **attributes):
        result.name = "v%d" % len(self.nodes)
        self.nodes.append(Node(kind, [i.name if i else "" for i in inputs], [result.name],
                               attributes))
        self.text.append("%s%s->%s" % (kind, attributes or "", list(result.shape)))
        self.values.append(result)
        self.last = result
        return result

    def write(self, outputs):
        graph = b"".join(field(1, n.file()) for n in self.nodes) + field(2, "g")
        graph += b"".join(field(5, w) for w in self.weights.values())
        graph += field(11, value_info("x", self.x.shape))
        graph += b"".join(field(12, value_info(o.name)) for o in outputs)
        return (field(1, 8) + field(7, graph) + field(8, field(2, 18)) +
                field(8, field(1, "own") + field(2, 1)) +
                b"".join(field(25, f) for f in self.functions))

    def outline(self, outputs):
        """Some nodes that follow each other become a function of the file's own."""
        first = self.random.randrange(len(self.nodes))
        body = self.nodes[first:self.random.randint(first + 1, len(self.nodes))]
        after = {i for n in self.nodes[first + len(body):] for i in n.inputs}
        after |= {o.name for o in outputs}
        made = [o for n in body for o in n.outputs]
        read = list(dict.fromkeys(i for n in body for i in n.inputs if i and i not in made))
        given = [o for o in made if o in after]
        if not given:
            return
        # Names in it are those of other things outside.
        pool = ["x"] + ["v%d" % i for i in range(len(read) + len(made))]
        self.random.shuffle(pool)
        inside = dict(zip(read + made, pool))
        own_weights = [i for i in read if i in self.weights and self.random.random() < 0.3]
        read = [i for i in read if i not in own_weights]
        outside, omitted, attributes, inherent, defaults, nodes = list(read), [], {}, b"", b"", b""
        for w in own_weights:
            nodes += b"".join(field(7, n.file()) for n in self.kept(w, inside[w]))
        for n in body:
            inputs = []
            for i in n.inputs:
                if not i and self.random.random() < 0.5:
                    omitted.append("omitted%d" % len(omitted))
                    inputs.append(omitted[-1])
                else:
                    inputs.append(inside.get(i, ""))
            own = dict(n.attributes)
            for key in own:
                if self.random.random() < 0.5 or isinstance(own[key], Message):
                    continue
                # Under a name that other attributes of the node may have, too.
                name = self.random.choice([key, "axis", "mode"])
                name = name if name not in attributes and field(1, name) not in defaults \
                    else "p%d" % (len(attributes) + len(defaults))
                if isinstance(own[key], Reference) or self.random.random() < 0.5:
                    attributes[name] = own[key]
                    inherent += field(6, name)
                else:
                    defaults += field(11, attribute(name, own[key]))
                own[key] = Reference(name)
            nodes += field(7, Node(n.kind, inputs, [inside[o] for o in n.outputs], own,
                                   n.domain).file())
        name = "F%d" % len(self.functions)
        names = [inside[i] for i in read] + omitted
        if omitted and self.random.random() < 0.5:  # the first, not the last
            names, outside = omitted + names[:-len(omitted)], [""] * len(omitted) + outside
        self.functions.append(
            field(1, name) + b"".join(field(4, i) for i in names) +
            b"".join(field(5, inside[o]) for o in given) + inherent + nodes +
            field(9, field(2, 18)) + field(9, field(1, "own") + field(2, 1)) +
            field(10, "own") + defaults)
        self.nodes[first:first + len(body)] = [Node(name, outside, given, attributes, "own")]
        if self.random.random() < 0.3:  # once more, and one or the other is read
            self.nodes.insert(first, Node(name, outside, [o + name for o in given],
                                          attributes, "own"))
            for n in self.nodes[first + 2:]:
                n.inputs = [i + name if i in given and self.random.random() < 0.5 else i
                            for i in n.inputs]

    def kept(self, weight, name):
        """Nodes of a function that give a weight, which is in it: as a constant, or in a
        branch."""
        if self.random.random() < 0.5:
            return [Node("Constant", [], [name], {"value": Message(5, self.weights[weight])})]
        branch = Message(6, field(1, Node("Identity", [weight], [weight + "_"], {}).file()) +
                         field(2, "branch") + field(5, self.weights[weight]) +
                         field(12, value_info(weight + "_", kind=1 if b"\x10\x01B" in
                                              self.weights[weight] else 7)))
        always = Message(5, field(2, 9) + field(9, b"\1"))
        return [Node("Constant", [], [name + "if"], {"value": always}),
                Node("If", [name + "if"], [name], {"then_branch": branch, "else_branch": branch})]

    # Moves.

    def transpose(self, x):
        order = list(range(x.rank))
        self.random.shuffle(order)
        back = [order.index(i) for i in range(x.rank)]
        self.node("Transpose", [x], fill([x.shape[o] for o in order],
                                         lambda p: x.at([p[b] for b in back])), perm=order)

    def reshape(self, x):
        count, shape = len(x.data), []
        rank = self.random.choice([1, 2, 3, 3, 4, 4, 5])
        for _ in range(rank - 1):
            size = self.random.choice([d for d in range(1, count + 1) if count % d == 0 and d < 9])
            shape.append(size)
            count //= size
        shape.insert(self.random.randrange(rank), count)
        written = list(shape)
        if self.random.random() < 0.3:
            written[self.random.randrange(rank)] = -1
        self.node("Reshape", [x, self.ints(*written)], Value(shape, x.data))

    def flatten(self, x):
        axis = self.random.randint(0, x.rank)
        self.node("Flatten", [x], Value((math.prod(x.shape[:axis]), math.prod(x.shape[axis:])),
                                        x.data), axis=axis)

    def squeeze(self, x):
        ones = [i for i, s in enumerate(x.shape) if s == 1]
        if not ones or x.rank < 2:
            return self.unsqueeze(x)
        chosen = self.random.sample(ones, self.random.randint(1, min(len(ones), x.rank - 1)))
        shape = [s for i, s in enumerate(x.shape) if i not in chosen]
        self.node("Squeeze", [x, self.ints(*chosen)], Value(shape, x.data))

    def unsqueeze(self, x):
        if x.rank >= 5:
            return self.transpose(x)
        shape, axis = list(x.shape), self.random.randint(0, x.rank)
        shape.insert(axis, 1)
        self.node("Unsqueeze", [x, self.ints(axis)], Value(shape, x.data))

    def gather(self, x):
        axis = self.random.randrange(x.rank)
        shape = self.random.choice([(), (1,), (2,), (3,), (1, 2), (2, 2)])
        if x.rank - 1 + len(shape) > 5 or x.rank - 1 + len(shape) < 1:
            shape = (2,)
        at = [self.random.randrange(-x.shape[axis], x.shape[axis])
              for _ in range(math.prod(shape))]
        indices = self.ints(*at, shape=shape)
        n = len(shape)
        self.node("Gather", [x, indices],
                  fill(x.shape[:axis] + shape + x.shape[axis + 1:],
                       lambda p: x.at(p[:axis] + (indices.at(p[axis:axis + n]) % x.shape[axis],) +
                                      p[axis + n:])), axis=axis)

    def slice(self, x):
        axis = self.random.randrange(x.rank)
        start = self.random.randrange(x.shape[axis])
        end = self.random.randint(start + 1, x.shape[axis])
        shape = replaced(x.shape, axis, end - start)
        self.node("Slice", [x, self.ints(start), self.ints(end), self.ints(axis)],
                  fill(shape, lambda p: x.at(replaced(p, axis, p[axis] + start))))

    def concat(self, x):
        axis = self.random.randrange(x.rank)
        others = [v for v in self.values if v.rank == x.rank and all(
            s == t for i, (s, t) in enumerate(zip(v.shape, x.shape)) if i != axis)]
        parts = [self.random.choice(others), x]
        self.random.shuffle(parts)
        first = parts[0].shape[axis]

        def take(p):
            if p[axis] < first:
                return parts[0].at(p)
            return parts[1].at(replaced(p, axis, p[axis] - first))
        self.node("Concat", parts, fill(replaced(x.shape, axis, first + parts[1].shape[axis]),
                                        take), axis=axis)

    def split(self, x):
        axes = [i for i, s in enumerate(x.shape) if s % 2 == 0]
        if not axes:
            return self.slice(x)
        axis = self.random.choice(axes)
        half = x.shape[axis] // 2
        shape = replaced(x.shape, axis, half)
        k = self.random.randrange(2)
        result = fill(shape, lambda p: x.at(replaced(p, axis, p[axis] + k * half)))
        self.node("Split", [x], result, axis=axis, num_outputs=2)
        outputs = self.nodes[-1].outputs
        outputs.insert(1 - k, result.name + "_")  # nobody reads the other half

    def pad(self, x):
        before = [self.random.choice([0, 0, 1]) for _ in x.shape]
        after = [self.random.choice([0, 0, 1]) for _ in x.shape]

        def take(p):
            at = [a - b for a, b in zip(p, before)]
            return x.at(at) if all(0 <= a < s for a, s in zip(at, x.shape)) else 0.0
        self.node("Pad", [x, self.ints(*before, *after)],
                  fill([b + s + a for b, s, a in zip(before, x.shape, after)], take))

    def expand(self, x):
        ones = [i for i, s in enumerate(x.shape) if s == 1]
        if not ones:
            return self.pad(x)
        axis = self.random.choice(ones)
        shape = replaced(x.shape, axis, self.random.randint(2, 3))
        self.node("Expand", [x, self.ints(*shape)], fill(shape, x.spread))

    # Functions of an element, and of two.

    def function(self, x):
        kind, f = self.random.choice([
            ("Relu", lambda a: max(a, 0.0)), ("Sigmoid", lambda a: 1 / (1 + math.exp(-a))),
            ("Tanh", math.tanh), ("HardSwish", lambda a: a * min(max(a / 6 + 0.5, 0), 1))])
        self.node(kind, [x], Value(x.shape, map(f, x.data)))

    def binary(self, x):
        kind, f = self.random.choice([("Add", lambda a, b: a + b), ("Mul", lambda a, b: a * b),
                                      ("Sub", lambda a, b: a - b), ("Max", max)])
        likes = [v for v in self.values if v.shape == x.shape]
        if self.random.random() < 0.4:
            other = self.random.choice(likes)
        else:
            drop = self.random.randrange(x.rank)
            other = self.constant(self.numbers(
                [s if self.random.random() < 0.5 else 1 for s in x.shape[drop:]]))
        inputs = [x, other] if self.random.random() < 0.5 else [other, x]
        self.node(kind, inputs, broadcast(inputs[0], inputs[1], f))

    def prelu(self, x):
        slope = self.constant(self.numbers((x.shape[1],) + (1,) * (x.rank - 2)))
        self.node("PRelu", [x, slope], broadcast(x, slope, lambda a, s: a if a >= 0 else a * s))

    # On channels.

    def dilations_of(self, kernel, room):
        """Such that windows fit."""
        return [self.random.choice([d for d in (1, 1, 2, 3) if (k - 1) * d < most])
                for k, most in zip(kernel, room)]

    def shape_of_windows(self, x, dilated=False):
        n = x.rank - 2
        pads = [self.random.choice([0, 0, 1]) for _ in range(2 * n)]
        kernel = [self.random.randint(1, min(3, s + pads[i] + pads[n + i]))
                  for i, s in enumerate(x.shape[2:])]
        pads = [min(p, kernel[i % n] - 1) for i, p in enumerate(pads)]
        room = [s + pads[i] + pads[n + i] for i, s in enumerate(x.shape[2:])]
        return kernel, pads, [self.random.choice([1, 1, 2]) for _ in range(n)], \
            self.dilations_of(kernel, room) if dilated else [1] * n

    def conv(self, x):
        kernel, pads, strides, dilations = self.shape_of_windows(x, True)
        n, channels = x.rank - 2, x.shape[1]
        group = self.random.choice([g for g in (1, channels) if channels % g == 0])
        out_channels = group * self.random.randint(1, 3)
        w = self.weight(out_channels, channels // group, *kernel)
        bias = self.weight(out_channels) if self.random.random() < 0.5 else None
        out, taps = window(x, kernel, pads, strides, dilations, None)
        per = out_channels // group

        def sum_at(p):
            total = bias.data[p[1]] if bias else 0.0
            for k, at in taps(p[2:]):
                for c in range(channels // group if at is not None else 0):
                    total += w.at((p[1], c) + k) * \
                        x.at((p[0], p[1] // per * (channels // group) + c) + at)
            return total
        self.node("Conv", [x, w] + ([bias] if bias else []),
                  fill([x.shape[0], out_channels] + out, sum_at), kernel_shape=kernel, pads=pads,
                  strides=strides, dilations=dilations, group=group)

    def crop_of(self, full, strides, sizes):
        """Of a transposed convolution: pixels that are cut off before, and the output's size,
        which may be larger than what windows reach."""
        before = [self.random.randrange(min(f, 3)) for f in full]
        return before, [max(1, f - b + self.random.randint(-1, s - 1))
                        for f, b, s in zip(full, before, strides)]

    def conv_transpose(self, x):
        n, channels = x.rank - 2, x.shape[1]
        kernel = [self.random.randint(1, 3) for _ in range(n)]
        strides = [self.random.choice([1, 2]) for _ in range(n)]
        w = self.weight(channels, self.random.randint(1, 3), *kernel)
        full = [(s - 1) * strides[i] + kernel[i] for i, s in enumerate(x.shape[2:])]
        before, out = self.crop_of(full, strides, x.shape[2:])
        result = Value([x.shape[0], w.shape[1]] + out,
                       [0.0] * (x.shape[0] * w.shape[1] * math.prod(out)))
        for p in places(x.shape):
            for k in places(kernel):
                at = [p[2 + i] * strides[i] + k[i] - before[i] for i in range(n)]
                for c in range(w.shape[1] if all(0 <= a < s for a, s in zip(at, out)) else 0):
                    i = p[0] * w.shape[1] + c
                    for size, a in zip(out, at):
                        i = i * size + a
                    result.data[i] += x.at(p) * w.at((p[1], c) + k)
        left = [f - b - o for f, b, o in zip(full, before, out)]
        self.node("ConvTranspose", [x, w], result, kernel_shape=kernel, strides=strides,
                  pads=before + [max(a, 0) for a in left],
                  output_padding=[max(-a, 0) for a in left])

    def pool(self, x):
        kernel, pads, strides, _ = self.shape_of_windows(x)
        largest = self.random.random() < 0.5
        out, taps = window(x, kernel, pads, strides, [1] * (x.rank - 2), None)

        def one(p):
            seen = [x.at(p[:2] + at) for _, at in taps(p[2:]) if at is not None]
            return max(seen) if largest else sum(seen) / len(seen)
        try:
            result = fill(list(x.shape[:2]) + out, one)
        except (ValueError, ZeroDivisionError):  # a window of padding alone
            return self.global_pool(x)
        self.node("MaxPool" if largest else "AveragePool", [x], result, kernel_shape=kernel,
                  pads=pads, strides=strides)

    def global_pool(self, x):
        def one(p):
            seen = [x.at(p[:2] + at) for at in places(x.shape[2:])]
            return max(seen) if largest else sum(seen) / len(seen)
        largest = self.random.random() < 0.5
        self.node("GlobalMaxPool" if largest else "GlobalAveragePool", [x],
                  fill(x.shape[:2] + (1,) * (x.rank - 2), one))

    def batch_normalization(self, x):
        c = x.shape[1]
        scale, bias, mean = (self.constant(self.numbers((c,))) for _ in range(3))
        variance = self.constant(self.numbers((c,), 0.5, 2.0))
        self.node("BatchNormalization", [x, scale, bias, mean, variance], fill(
            x.shape, lambda p: (x.at(p) - mean.data[p[1]]) /
            math.sqrt(variance.data[p[1]] + 1e-5) * scale.data[p[1]] + bias.data[p[1]]))

    def normalized(self, x, key, scale, bias, epsilon):
        """By mean and deviation of the elements that have a key in common."""
        groups = {}
        for p in places(x.shape):
            groups.setdefault(key(p), []).append(x.at(p))
        stats = {}
        for k, seen in groups.items():
            mean = sum(seen) / len(seen)
            stats[k] = mean, math.sqrt(sum((a - mean) ** 2 for a in seen) / len(seen) + epsilon)
        return fill(x.shape, lambda p: (x.at(p) - stats[key(p)][0]) / stats[key(p)][1] *
                    scale(p) + bias(p))

    def instance_normalization(self, x):
        scale, bias = self.weight(x.shape[1]), self.weight(x.shape[1])
        self.node("InstanceNormalization", [x, scale, bias], self.normalized(
            x, lambda p: p[:2], lambda p: scale.data[p[1]], lambda p: bias.data[p[1]], 0.1),
            epsilon=0.1)

    def layer_normalization(self, x):
        axis = self.random.randint(1, x.rank - 1)
        def of_axes():  # or of fewer dimensions, to be spread over them
            return self.weight(*self.random.choice([x.shape[axis:], x.shape[axis:],
                                                    x.shape[x.rank - 1:], [1]]))
        scale, bias = of_axes(), of_axes()
        self.node("LayerNormalization", [x, scale, bias], self.normalized(
            x, lambda p: p[:axis], scale.spread, bias.spread, 0.1),
            axis=axis, epsilon=0.1)

    def resize_between(self, x):
        """Linear, of the last two dimensions, by scales, or by sizes whose ratio is kept."""
        axes = [x.rank - 2, x.rank - 1]
        if self.random.random() < 0.5:
            axes.reverse()
        old = [x.shape[i] for i in axes]
        attributes = {"axes": axes, "mode": "linear", "coordinate_transformation_mode": "half_pixel"}
        if self.random.random() < 0.5:
            # Rounded to single precision, as files have them.
            scales = [single(self.random.choice([1.25, 5 / 3, self.random.randint(n, 2 * n) / n]))
                      for n in old]
            new = [int(single(n * s)) for n, s in zip(old, scales)]
            given = [x, None, self.constant(Value((2,), scales))]
        else:
            sizes = [self.random.randint(n, 2 * n) for n in old]
            policy = self.random.choice(["stretch", "not_larger", "not_smaller"])
            scales = [s / n for s, n in zip(sizes, old)]
            new = sizes
            if policy != "stretch":
                scales = [(min if policy == "not_larger" else max)(scales)] * 2
                new = [int(n * s + 0.5) for n, s in zip(old, scales)]
            given = [x, None, None, self.ints(*sizes)]
            attributes["keep_aspect_ratio_policy"] = policy

        def between(p):
            def at(p, left):
                if not left:
                    return x.at(p)
                (axis, n, s), rest = left[0], left[1:]
                place = min(max((p[axis] + 0.5) / s - 0.5, 0), n - 1)
                low = int(place)
                high = min(low + 1, n - 1)
                return ((low + 1 - place) * at(replaced(p, axis, low), rest) +
                        (place - low) * at(replaced(p, axis, high), rest))
            return at(p, list(zip(axes, old, scales)))
        shape = list(x.shape)
        for axis, n in zip(axes, new):
            shape[axis] = n
        self.node("Resize", given, fill(shape, between), **attributes)

    def resize(self, x):
        if self.random.random() < 0.6:
            return self.resize_between(x)
        factors = [1] * x.rank
        for i in range(x.rank - 2, x.rank):
            factors[i] = self.random.choice([1, 2])
        scales = self.constant(Value((x.rank,), map(float, factors)))
        self.node("Resize", [x, None, scales],
                  fill([s * f for s, f in zip(x.shape, factors)],
                       lambda p: x.at([a // f for a, f in zip(p, factors)])),
                  mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")

    def depth_to_space(self, x):
        if x.rank != 4 or x.shape[1] % 4:
            return self.resize(x)
        c = x.shape[1] // 4
        self.node("DepthToSpace", [x], fill(
            (x.shape[0], c, 2 * x.shape[2], 2 * x.shape[3]),
            lambda p: x.at((p[0], (p[2] % 2 * 2 + p[3] % 2) * c + p[1], p[2] // 2, p[3] // 2))),
            blocksize=2)

    # Along a dimension.

    def softmax(self, x):
        axis = self.random.randrange(-x.rank, x.rank)
        at = axis % x.rank

        def one(p):
            line = [math.exp(x.at(replaced(p, at, i))) for i in range(x.shape[at])]
            return line[p[at]] / sum(line)
        self.node("Softmax", [x], fill(x.shape, one), axis=axis)

    def reduce(self, x):
        axes = self.random.sample(range(x.rank), self.random.randint(1, x.rank))
        keep = self.random.random() < 0.5 or len(axes) == x.rank
        shape = [1 if i in axes else s for i, s in enumerate(x.shape)]
        kind, f = self.random.choice([("ReduceMean", lambda l: sum(l) / len(l)),
                                      ("ReduceMax", max)])

        def one(p):
            return f([x.at([b if i in axes else a for i, (a, b) in enumerate(zip(p, q))])
                      for q in places([s if i in axes else 1 for i, s in enumerate(x.shape)])])
        result = fill(shape, one)
        if not keep:
            result = Value([s for i, s in enumerate(shape) if i not in axes], result.data)
        self.node(kind, [x, self.ints(*axes)], result, keepdims=int(keep))

    def one_hot(self, x):
        axis = self.random.randrange(x.rank)
        keep = self.random.random() < 0.5 or x.rank == 5 or x.rank == 1

        def one(p):
            line = [x.at(replaced(p, axis, i)) for i in range(x.shape[axis])]
            most = max(line)
            # Near the next one, rounding could decide.
            assert sum(1 for a in line if most - a < 0.01) == 1
            return line.index(most)
        try:
            most = fill(replaced(x.shape, axis, 1), one)
        except AssertionError:
            return self.transpose(x)
        if not keep:
            most = Value(x.shape[:axis] + x.shape[axis + 1:], most.data)
        self.node("ArgMax", [x], most, axis=axis, keepdims=int(keep))
        self.values.pop()
        if most.rank == 5:
            return self.cast(most)
        depth = x.shape[axis]
        to = self.random.randint(0, most.rank)
        shape = most.shape[:to] + (depth,) + most.shape[to:]
        self.node("OneHot", [most, self.ints(depth), self.constant(Value((2,), [0.0, 1.0]))],
                  fill(shape, lambda p: float(most.at(p[:to] + p[to + 1:]) == p[to])),
                  axis=to)

    def cast(self, x):
        self.node("Cast", [x], Value(x.shape, map(float, x.data)), to=1)

    def matmul(self, x):
        n, k = self.random.randint(1, 4), x.shape[-1]
        shape = (k, n)
        if x.rank > 2 and self.random.random() < 0.3:
            shape = tuple(self.random.choice([1, s]) for s in x.shape[:-2]) + shape
        other = self.weight(*shape)
        left, right = x, other
        if self.random.random() < 0.3:
            left, right = self.weight(n, x.shape[-2]), x
            k = x.shape[-2]
        rank = max(left.rank, right.rank)
        lead = [max(a, b) for a, b in zip((1,) * (rank - left.rank) + left.shape[:-2],
                                          (1,) * (rank - right.rank) + right.shape[:-2])]
        self.node("MatMul", [left, right], fill(
            lead + [left.shape[-2], right.shape[-1]],
            lambda p: sum(left.spread(p[:-1] + (i,)) * right.spread(p[:-2] + (i, p[-1]))
                          for i in range(k))))

    def gemm(self, x):
        n = self.random.randint(1, 4)
        w, c = self.weight(n, x.shape[1]), self.weight(n)
        self.node("Gemm", [x, w, c], fill(
            (x.shape[0], n), lambda p: c.data[p[1]] +
            sum(x.at((p[0], i)) * w.at((p[1], i)) for i in range(x.shape[1]))), transB=1)

    def step(self):
        x = self.last
        moves = [self.transpose, self.transpose, self.reshape, self.flatten, self.gather,
                 self.squeeze, self.unsqueeze, self.concat, self.slice, self.split, self.pad,
                 self.expand]
        others = [self.function, self.binary, self.binary, self.softmax, self.reduce, self.one_hot]
        if x.rank >= 2:
            others += [self.batch_normalization, self.prelu, self.matmul, self.layer_normalization]
        if x.rank == 2:
            others += [self.gemm]
        if x.rank in (3, 4):
            others += [self.conv, self.conv, self.conv_transpose, self.pool, self.global_pool,
                       self.instance_normalization, self.resize, self.depth_to_space]
        if self.random.random() < 0.5:
            self.random.choice(moves)(x)
        else:
            self.random.choice(others)(x)

    def grow(self):
        for _ in range(self.random.randint(2, 7)):
            before = self.last, len(self.nodes), len(self.values), dict(self.weights)
            self.step()
            if len(self.last.data) > MOST or self.last.rank == 0:
                self.last = before[0]
                self.weights = before[3]
                del self.nodes[before[1]:], self.values[before[2]:]
                del self.text[before[1]:]
        if not self.nodes:
            self.function(self.last)


def differences(got, right):
    """What is wrong with a tensor, or None."""
    if tuple(got[0]) != right.shape:
        return "its shape is %s, not %s" % (list(got[0]), list(right.shape))
    limit = LIMIT * max([1.0] + [abs(a) for a in right.data])
    for i, (a, b) in enumerate(zip(got[1], right.data)):
        if not abs(a - b) <= limit:
            return "element %d of %s is %g, not %g" % (i, list(right.shape), a, b)
    return None


def check(tdl_run, folder, seed):
    chain = Chain(seed)
    chain.grow()
    outputs = [chain.last]
    more = [v for v in chain.values[1:-1] if v is not chain.last]
    if more and chain.random.random() < 0.5:
        outputs.append(chain.random.choice(more))
    while chain.random.random() < 0.5:
        chain.outline(outputs)
    base = os.path.join(folder, "%d" % seed)
    with open(base + ".onnx", "wb") as f:
        f.write(chain.write(outputs))
    write_npy(base + ".x.npy", chain.x.shape, chain.x.data)
    for i, o in enumerate(outputs):
        write_npy("%s.right%d.npy" % (base, i), o.shape, o.data)
    return compare(tdl_run, base, ".onnx", chain, seed, outputs)


def compare(tdl_run, base, ending, chain, seed, outputs):
    """What is wrong about the model in BASE + ENDING, whose input lies beside it; or None."""
    line = [tdl_run, "-p", "fp32", base + ending, "-i", "x=" + base + ".x.npy"]
    if chain.random.random() < 0.3:
        line.append("-n")
    for o in outputs:
        line += ["-o", "%s=%s.%s.npy" % (o.name, base, o.name)]
    what = "seed %d, x%s %s" % (seed, list(chain.x.shape), " ".join(chain.text))
    run = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         check=False)
    if run.returncode:
        return "%s: exit status %d, %s" % (what, run.returncode, run.stderr.strip())
    for o in outputs:
        wrong = differences(read_npy("%s.%s.npy" % (base, o.name)), o)
        if wrong:
            return "%s: %s: %s" % (what, o.name, wrong)
    return None


def main(check, cases):
    """Try so many seeds, unless the environment says otherwise; the exit status."""
    first = int(os.environ.get("TDL_TEST_SEED") or random.randrange(2 ** 31))
    count = int(os.environ.get("TDL_TEST_CASES") or cases)
    print("TDL_TEST_SEED=%d" % first)
    keep = sys.argv[3] if sys.argv[2:3] == ["--keep"] else None
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            wrong = check(sys.argv[1], keep or folder, seed)
            if wrong:
                failures += 1
                print("FAIL:", wrong)
    print("%d chains, %d failures" % (count, failures))
    return failures > 0


if __name__ == "__main__":
    sys.exit(main(check, CASES))
