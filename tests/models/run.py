#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tdl-run from the command line: run.py TDL-RUN MODELS DATA

The person model on the reference picture, as a NumPy array and as a PNG, against the
reference mask; and what it says to wrong files.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

WIDTH, HEIGHT = 256, 144
failures = 0


def check(what, ok, text=""):
    global failures
    if not ok:
        failures += 1
        print("FAIL: %s %s" % (what, text))


def write_npy(path, kind, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,)}" % (
        kind, ",".join(map(str, shape)))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + data)


def read_npy(path):
    with open(path, "rb") as f:
        data = f.read()
    length = struct.unpack_from("<H", data, 8)[0]
    header = data[10:10 + length].decode()
    shape = tuple(map(int, re.findall(r"\d+", header[header.index("("):])))
    return shape, memoryview(data)[10 + length:].cast("f")


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data +
            struct.pack(">I", zlib.crc32(kind + data)))


def write_png(path, width, height, rgb):
    rows = b"".join(b"\0" + rgb[3 * width * y:3 * width * (y + 1)] for y in range(height))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" +
                chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def field(number, value):
    """A field of a protobuf message: a number, or bytes."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def write_onnx(path, kind, dims):
    """An ONNX file: "x", of that type and of these dimensions, names or numbers, as floats."""
    shape = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d.encode()))
                     for d in dims)
    tensor = field(1, kind) + field(2, shape)
    node = (field(1, b"x") + field(2, b"y") + field(4, b"Cast") +
            field(5, field(1, b"to") + field(3, 1) + field(20, 2)))
    graph = (field(1, node) + field(2, b"g") + field(12, field(1, b"y")) +
             field(11, field(1, b"x") + field(2, field(1, tensor))))
    with open(path, "wb") as f:
        f.write(field(1, 8) + field(7, graph) + field(8, field(1, b"") + field(2, 13)))


def check_types(tool, folder):
    """Pictures for inputs that are no float32, and of sides that the file calls by one name."""
    def path(name):
        return os.path.join(folder, name)

    def run(*args):
        r = subprocess.run([tool, path("x.onnx"), *args], capture_output=True, text=True,
                           check=False)
        return r.returncode, r.stdout + r.stderr

    write_png(path("grey.png"), 2, 2, bytes([51, 102, 204] * 4))
    for kind, args, wanted in (
            (10, (), (0.2, 0.4, 0.8)),                    # float16
            (10, ("--range", "0,100"), (20, 40, 80)),
            (2, (), (51, 102, 204)),                      # uint8
            (2, ("--range", "0,1"), (0, 0, 1)),
            (2, ("--range", "0,500"), (100, 200, 255))):
        write_onnx(path("x.onnx"), kind, (1, 3, 2, 2))
        status, text = run("-i", path("grey.png"), "-o", path("y.npy"), *args)
        if "without libpng" in text:
            return
        check("type %d %s" % (kind, args), status == 0, text)
        got = read_npy(path("y.npy"))[1][::4]
        check("its numbers", all(abs(a - b) <= b / 1000 for a, b in zip(got, wanted)), list(got))
    write_onnx(path("x.onnx"), 7, (1, 3, 2, 2))           # int64
    status, text = run("-i", path("grey.png"))
    check("int64", status == 1 and "int64[1,3,2,2] is no picture of" in text, text)
    write_onnx(path("x.onnx"), 1, (1, 3, "S", "S"))
    status, text = run("--input-size", "40x50")
    check("one size for two", status == 1 and "'S', and 40x50 px" in text, text)
    check("one size", run("--input-size", "40x40")[0] == 0)
    check("by places", run("--bind", "x:2=40", "--bind", "x:3=50")[0] == 0)


def check_dynamic(tool, folder):
    """Sizes that the file leaves open are those of the inputs' files."""
    def path(name):
        return os.path.join(folder, name)

    def run(*args):
        r = subprocess.run([tool, path("x.onnx"), *args, "-o", path("y.npy")], capture_output=True,
                           text=True, check=False)
        return r.returncode, r.stdout + r.stderr

    write_onnx(path("x.onnx"), 1, ("N", 3, "H", "W"))
    write_npy(path("x.npy"), "<f4", (2, 3, 5, 7), struct.pack("210f", *range(210)))
    status, text = run("-i", path("x.npy"))
    check("an array's size", status == 0 and "float32[2,3,5,7]" in text, text)
    check("its numbers", status == 0 and read_npy(path("y.npy"))[1][209] == 209)
    write_npy(path("x.npy"), "<f4", (2, 4, 5, 7), bytes(4 * 280))
    status, text = run("-i", path("x.npy"))
    check("channels are not dynamic", status == 1 and "its shape is [2,4,5,7]" in text, text)
    write_png(path("grey.png"), 6, 2, bytes(36))
    status, text = run("-i", path("grey.png"))
    if "without libpng" not in text:
        check("a picture's size", status == 0 and "float32[1,3,2,6]" in text, text)
        status, text = run("-i", path("grey.png"), "--input-size", "9x8")
        check("scaled", status == 0 and "float32[1,3,8,9]" in text, text)
    status, text = run()
    check("without a file", status == 0 and "float32[1,3,256,256]" in text, text)
    write_onnx(path("x.onnx"), 1, (1, "tokens"))
    write_npy(path("x.npy"), "<f4", (1, 11), bytes(44))
    status, text = run("-i", "x=%s" % path("x.npy"))
    check("a named array's size", status == 0 and "float32[1,11]" in text, text)
    status, text = run()
    check("no size at all", status == 1 and "--bind" in text and "'tokens'" in text, text)


def check_numbers(tool, folder):
    """What is said of outputs with NaN; and that what is said gets lost."""
    def path(name):
        return os.path.join(folder, name)

    def run(*args, out=subprocess.PIPE):
        r = subprocess.run([tool, *args], stdout=out, stderr=subprocess.PIPE, text=True,
                           check=False)
        return r.returncode, (r.stdout or "") + r.stderr

    nan = float("nan")
    write_onnx(path("x.onnx"), 1, (1, 4))
    for numbers, wanted in (
            ((1, nan, 3, 2), r"\[1,4\], 1 to 3, mean 2, 1 of 4 NaN$"),
            ((nan,) * 4, r"\[1,4\], all NaN$"),
            ((1, 2, 3, 6), r"\[1,4\], 1 to 6, mean 3$")):
        write_npy(path("x.npy"), "<f4", (1, 4), struct.pack("<4f", *numbers))
        status, text = run(path("x.onnx"), "-i", path("x.npy"))
        check("numbers %s" % (numbers,), status == 0 and re.search(wanted, text, re.M), text)
    if not os.access("/dev/full", os.W_OK):
        print("skipped: there is no /dev/full")
        return
    with open("/dev/full", "w", encoding="utf-8") as full:
        for args in (["--help"], [path("x.onnx")]):
            status, text = run(*args, out=full)
            check("no room for %s" % args,
                  status == 1 and "cannot write the output: No space left" in text, text)


def largest(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


def main():
    tool, models, data = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        check_types(tool, folder)
        check_dynamic(tool, folder)
        check_numbers(tool, folder)
    model = os.path.join(models, "selfie_segmentation_landscape.tflite")
    if not os.path.exists(model):
        print("skipped: no models; run pipelines/fetch-models.sh")
        return 1 if failures else 77
    with open(os.path.join(data, "grace_hopper.land.rgb"), "rb") as f:
        rgb = f.read()
    with open(os.path.join(data, "grace_hopper.land.mask.f32"), "rb") as f:
        wanted = memoryview(f.read()).cast("f")

    def run(*args):
        r = subprocess.run([tool, model, *args], capture_output=True, text=True, check=False)
        return r.returncode, r.stdout + r.stderr

    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)

        reals = struct.pack("<%df" % len(rgb), *(v / 255 for v in rgb))
        write_npy(path("in.npy"), "<f4", (1, HEIGHT, WIDTH, 3), reals)
        status, text = run("-i", path("in.npy"), "-o", path("out.npy"), "-r", "3")
        check("an array runs", status == 0 and "run    3 times on" in text, text)
        shape, got = read_npy(path("out.npy"))
        check("its shape", shape == (1, HEIGHT, WIDTH, 1), shape)
        check("its mask", largest(got, wanted) <= 1e-4, largest(got, wanted))

        names = re.findall(r"^(input|output) +(\S+) ", text, re.M)
        check("it names both", [n[0] for n in names] == ["input", "output"], text)
        status, text = run("-i", "%s=%s" % (names[0][1], path("in.npy")), "--no-fuse")
        check("by name, and without an output", status == 0 and "mean 0." in text, text)

        write_png(path("in.png"), WIDTH, HEIGHT, rgb)
        status, text = run("-i", path("in.png"), "-o", path("out2.npy"))
        if "without libpng" in text:
            print("skipped: pictures, as tdl-run was built without libpng")
        else:
            check("a picture runs", status == 0, text)
            check("its mask", largest(read_npy(path("out2.npy"))[1], got) <= 1e-6)
            status, text = run("-i", path("in.png"), "-o", path("out.png"), "--range", "0,1")
            check("a mask as a picture", status == 0 and os.path.getsize(path("out.png")) > 500,
                  text)
            write_png(path("small.png"), 2, 2, bytes(12))
            status, text = run("-i", path("small.png"), "-o", path("small.npy"))
            check("another size is scaled", status == 0, text)
            check("no note on a mask", "were cut" not in text, text)
            with open(path("no.png"), "w", encoding="ascii") as f:
                f.write("this is no picture")
            status, text = run("-i", path("no.png"))
            check("no picture", status == 1 and "no PNG picture" in text and "ffmpeg -i" in text, text)
            status, text = run("-i", path("missing.png"))
            check("no file", status == 1 and "No such file" in text, text)

        with open(path("in.npy"), "rb") as f:
            array = f.read()
        with open(path("turned.npy"), "wb") as f:
            f.write(array.replace(b"'fortran_order': False", b"'fortran_order': True "))
        status, text = run("-i", path("turned.npy"))
        check("Fortran's order", status == 1 and "ascontiguousarray" in text, text)
        for length, wanted in ((64, "ends in its header"), (4000, "ends too early")):
            with open(path("cut.npy"), "wb") as f:
                f.write(array[:length])
            status, text = run("-i", path("cut.npy"))
            check("cut at %d" % length, status == 1 and wanted in text, text)
        status, text = run("--input-size", "32x32")
        check("a size that is fixed", status == 0 and "32x32 changes nothing" in text, text)
        status, text = run("--input-size", "256x144")
        check("the size that it has", status == 0 and "changes nothing" not in text, text)
        r = subprocess.run([os.path.abspath(tool), "isnet"], capture_output=True, text=True,
                           check=False, cwd=folder)
        check("the element's name",
              r.returncode == 1 and "are known to the element alone" in r.stderr, r.stderr)

        write_npy(path("short.npy"), "<f4", (1, 2), bytes(8))
        status, text = run("-i", path("short.npy"))
        check("too few elements", status == 1 and "its shape is [1,2]; the input is float32" in text,
              text)
        write_npy(path("turned.npy"), "<f4", (1, 3, HEIGHT, WIDTH), reals)
        status, text = run("-i", path("turned.npy"))
        check("channels elsewhere", status == 1 and "its shape is [1,3,144,256]" in text, text)
        write_npy(path("bytes.npy"), "|u1", (1, HEIGHT, WIDTH, 3), rgb)
        status, text = run("-i", path("bytes.npy"))
        check("other elements", status == 1 and "the input takes '<f4'" in text, text)
        status, text = run("-i", "nobody=%s" % path("in.npy"))
        check("no such input", status == 1 and "no input 'nobody'" in text, text)
        status, text = run("-i", path("in.txt"))
        check("no such kind", status == 2 and ".npy and .png" in text, text)
        for args, wanted in (
                (["--mean", "1,2"], "--mean wants R,G,B"),
                (["--range", "1"], "--range wants LOW,HIGH"),
                (["--range", "1,1"], "two numbers that differ"),
                (["--number", "gain=abc"], "'gain=abc' is no such value: --number wants"),
                (["--number", "gain=nan"], "'gain=nan' is no such value"),
                (["--bind", "n=0"], "'n=0' is no such value: --bind wants"),
                (["--deviation", "0,1,1"], "--deviation wants .* not 0"),
                (["--deviation", "1,nan,1"], "--deviation wants"),
                (["-r", "0"], "--runs wants a number, 1 to"),
                (["-p", "fp8"], "--precision wants auto, fp32 or fp16"),
                (["-t", "some"], "--threads wants"),
                (["-o", path("out.jpg")], "written to .npy and .png"),
                (["-i", path("in.jpg")], "read from .npy and .png; convert .* ffmpeg -i .*in.jpg"),
                ([path("in.npy")], "behind -i"),
                (["-i", "a.npy", "-i", "b.npy"], "NAME=FILE"),
                (["-i", "a=a.npy", "-i", "a=b.npy"], "input 'a' is given twice"),
                (["-i", "a="], "--input wants a file")):
            status, text = run(*args)
            check(" ".join(args), status == 2 and re.search(wanted, text) and "load" not in text,
                  text)
        status, text = run("-i", path("in.npy"), "-i", "%s=%s" % (names[0][1], path("in.npy")))
        check("one input twice", status == 1 and "given twice" in text, text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
