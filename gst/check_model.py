#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Say in a sentence, and by the exit status, why a file is no TensorFlow Lite
model that could be built in: check_model.py FILE

A look at the file's frame only, for who configures a build: that its buffers
lie within it. The engine's own reader judges the rest when the model is used.
"""
import struct
import sys


def field(data, table, index):
    """Where a table of a FlatBuffer has its field of this index, or None."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    size = struct.unpack_from("<H", data, vtable)[0]
    offset = 4 + 2 * index
    at = struct.unpack_from("<H", data, vtable + offset)[0] if offset < size else 0
    return table + at if at else None


def follow(data, at):
    return at + struct.unpack_from("<I", data, at)[0]


def fault(data):
    if not data:
        return "is empty"
    if data[4:8] != b"TFL3":
        return "is not a TensorFlow Lite model"
    try:
        buffers = follow(data, field(data, follow(data, 0), 4))
        for i in range(struct.unpack_from("<I", data, buffers)[0]):
            content = field(data, follow(data, buffers + 4 + 4 * i), 0)
            if content:
                start = follow(data, content)
                if start + 4 + struct.unpack_from("<I", data, start)[0] > len(data):
                    raise IndexError
    except (struct.error, IndexError, TypeError):
        return "is cut short or damaged"
    return None


def main():
    try:
        with open(sys.argv[1], "rb") as f:
            what = fault(f.read())
    except OSError as error:
        what = "cannot be read: " + error.strerror
    if what:
        sys.exit("The model file %s %s" % (sys.argv[1], what))


main()
