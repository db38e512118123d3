# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small TensorFlow Lite files, written down field by field: numbers are those of the public
schema (schema.fbs). As tflite-writer.c does for tests in C."""
import struct

FLOAT32, FLOAT16, INT32, UINT8, INT64, INT16, INT8 = 0, 1, 2, 3, 4, 7, 9


class Byte(int):
    """A scalar of one byte; others have four."""


class Long(int):
    """Of eight."""


class Flatbuffer:
    """Grows forwards: a table, then what it points to. Tables are dicts of fields by number,
    vectors are lists of one kind, strings and bytes are bytes."""

    def __init__(self):
        self.data = bytearray()

    def align(self, size, ahead=0):
        self.data += bytes(-(len(self.data) + ahead) % size)

    def table(self, fields):
        count = max(fields, default=-1) + 1
        self.align(8)
        vtable = len(self.data)
        self.data += struct.pack("<HH", 4 + 2 * count, 8 + 8 * count)
        self.data += b"".join(struct.pack("<H", 8 + 8 * i if i in fields else 0)
                              for i in range(count))
        self.align(8)
        start = len(self.data)
        self.data += struct.pack("<iI", start - vtable, 0) + bytes(8 * count)
        for i, value in fields.items():
            self.put(start + 8 + 8 * i, value)
        return start

    def put(self, slot, value):
        if isinstance(value, (int, float)):
            kind = "f" if isinstance(value, float) else "B" if isinstance(value, Byte) else \
                "q" if isinstance(value, Long) else "i"
            struct.pack_into("<" + kind, self.data, slot, value)
            return
        place = self.table(value) if isinstance(value, dict) else self.vector(value)
        struct.pack_into("<I", self.data, slot, place - slot)

    def vector(self, value):
        raw = value.encode() if isinstance(value, str) else value
        wide = isinstance(value, list) and value and isinstance(value[0], Long)
        self.align(16 if isinstance(value, bytes) else 8 if wide else 4, 4)
        start = len(self.data)
        self.data += struct.pack("<I", len(raw))
        if isinstance(raw, bytes):
            self.data += raw + (b"\0" if isinstance(value, str) else b"")
        elif raw and isinstance(raw[0], dict):
            self.data += bytes(4 * len(raw))
            for i, child in enumerate(raw):
                self.put(start + 4 + 4 * i, child)
        else:
            kind = "q" if wide else "f" if raw and isinstance(raw[0], float) else "i"
            self.data += struct.pack("<%d%s" % (len(raw), kind), *raw)
        return start


class Model:
    """Tensors and operators in their order; what is added gives a tensor's number."""

    def __init__(self):
        self.tensors, self.buffers, self.operators, self.codes = [], [{}], [], []
        self.inputs, self.outputs = [], []
        self.graphs = []  # more of them: tables

    def tensor(self, shape, kind=FLOAT32, name=None, data=None, scales=None, zeros=None, along=0):
        """`scales` and `zeros` of a quantized one, along a dimension if there are several."""
        table = {0: list(shape), 1: Byte(kind)}
        if scales:
            table[4] = {2: [float(s) for s in scales], 3: [Long(z) for z in zeros], 6: along}
        if data is not None:
            letter = {FLOAT32: "f", FLOAT16: "e", INT32: "i", UINT8: "B", INT64: "q", INT16: "h",
                      INT8: "b"}[kind]
            table[2] = len(self.buffers)
            self.buffers.append({0: struct.pack("<%d%s" % (len(data), letter), *data)})
        if name:
            table[3] = name
        self.tensors.append(table)
        return len(self.tensors) - 1

    def operator(self, code, inputs, outputs, options=(0, {}), version=1):
        """`options`: the number in the union, and the fields."""
        key = (code, version)
        if key not in self.codes:
            self.codes.append(key)
        table = {0: self.codes.index(key), 1: list(inputs), 2: list(outputs)}
        if options[0]:
            table.update({3: Byte(options[0]), 4: options[1]})
        self.operators.append(table)

    def outline(self, first, end):
        """Operators become a graph of their own, and a composite in their place."""
        body = self.operators[first:end]
        made = [t for o in body for t in o[2]]
        after = {t for o in self.operators[end:] for t in o[1]} | set(self.outputs)
        read = dict.fromkeys(t for o in body for t in o[1] if t not in made)
        given = [t for t in read if 2 not in self.tensors[t]]
        result = [t for t in made if t in after]
        if not given or not result:
            return False
        place = {t: i for i, t in enumerate(list(read) + made)}
        self.graphs.append({
            0: [self.tensors[t] for t in place], 1: [place[t] for t in given],
            2: [place[t] for t in result],
            3: [o | {1: [place[t] for t in o[1]], 2: [place[t] for t in o[2]]}
                for o in body]})
        key = (206, 1)
        if key not in self.codes:
            self.codes.append(key)
        self.operators[first:end] = [{
            0: self.codes.index(key), 1: given, 2: result, 11: Byte(21),
            12: {0: "some.name", 1: len(self.graphs)}}]
        return True

    def file(self):
        codes = [{0: Byte(min(code, 127)), 2: version, 3: code} for code, version in self.codes]
        graph = {0: self.tensors, 1: self.inputs, 2: self.outputs, 3: self.operators}
        buffer = Flatbuffer()
        buffer.data += struct.pack("<I4s", 0, b"TFL3")
        root = buffer.table({0: 3, 1: codes, 2: [graph] + self.graphs, 4: self.buffers})
        struct.pack_into("<I", buffer.data, 0, root)
        return bytes(buffer.data)
