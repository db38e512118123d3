#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whole networks of ONNX's own test data: light.py TDL-RUN [FOLDER]

Debian 13's libonnx-testdata has nine in which every float weight is a ConstantOfShape,
each with the output that ONNX's reference gives for the numbers i / n as the picture.
"""
import os
import struct
import subprocess
import sys
import tempfile

FOLDER = "/usr/share/libonnx-testdata/data/light"
NETWORKS = ["shufflenet", "squeezenet", "densenet121", "inception_v2", "resnet50",
            "inception_v1", "bvlc_alexnet", "zfnet512", "vgg19"]
PIXELS = 3 * 224 * 224


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def floats_of(path):
    """The elements of a TensorProto of floats: float_data (4) or raw_data (9)."""
    with open(path, "rb") as f:
        data = f.read()
    at, found = 0, b""
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 2:
            size, at = varint(data, at)
            if key >> 3 in (4, 9):
                found += data[at:at + size]
            at += size
        elif key & 7 == 0:
            _, at = varint(data, at)
        else:
            if key >> 3 == 4:
                found += data[at:at + 4]
            at += 4 if key & 7 == 5 else 8
    return struct.unpack("<%df" % (len(found) // 4), found)


def write_npy(path, shape, values):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %r}" % (shape,)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() +
                struct.pack("<%df" % len(values), *values))


def read_npy(path):
    with open(path, "rb") as f:
        data = f.read()
    data = data[10 + struct.unpack_from("<H", data, 8)[0]:]
    return struct.unpack("<%df" % (len(data) // 4), data)


def run(tdl_run, folder, name, scratch):
    output = os.path.join(scratch, "out.npy")
    model = os.path.join(folder, "light_%s.onnx" % name)
    subprocess.run([tdl_run, model, "-i", os.path.join(scratch, "in.npy"), "-o", output],
                   check=True)
    want, got = floats_of(model.replace(".onnx", "_output_0.pb")), read_npy(output)
    error = max(abs(a - b) for a, b in zip(want, got))
    ok = len(want) == len(got) and len(want) > 0 and error <= 1e-4 * max(map(abs, want))
    print("%s: %s, largest error %g of %g" % ("ok" if ok else "FAIL", name, error, max(want)))
    return ok


def main():
    folder = sys.argv[2] if len(sys.argv) > 2 else FOLDER
    if not os.path.isdir(folder):
        print("skipped: there is no %s; Debian 13's libonnx-testdata has it" % folder)
        sys.exit(77)
    names = NETWORKS
    if int(os.environ.get("TDL_TEST_CASES", "5")) < 100: # the others are large
        names = NETWORKS[:5] if os.environ.get("TDL_DEVICE") == "cpu" else NETWORKS[:1]
    with tempfile.TemporaryDirectory() as scratch:
        write_npy(os.path.join(scratch, "in.npy"), (1, 3, 224, 224),
                  [i / PIXELS for i in range(PIXELS)])
        results = [run(sys.argv[1], folder, name, scratch) for name in names]
    sys.exit(0 if all(results) else 1)


main()
