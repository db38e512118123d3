#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compile several kernels by one run of glslc.

compile.py DEPFILE GLSLC ARGUMENT... -- OUT.spv... FILE.comp...

It reads its built-in functions once for all of them: alone that takes several times as
long as a kernel does.
"""
import glob
import os
import subprocess
import sys
import tempfile


def main():
    depfile, split = sys.argv[1], sys.argv.index("--")
    command, files = sys.argv[2:split], sys.argv[split + 1:]
    outputs, inputs = files[:len(files) // 2], files[len(files) // 2:]
    with tempfile.TemporaryDirectory(dir=os.path.dirname(outputs[0])) as folder:
        done = subprocess.run([*command, "-c", *map(os.path.abspath, inputs)], cwd=folder)
        if done.returncode:
            sys.exit(done.returncode)
        for output, kernel in zip(outputs, inputs):
            os.replace(os.path.join(folder, os.path.basename(kernel) + ".spv"), output)
    common = glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "common", "*.glsl"))
    with open(depfile, "w") as f:
        f.write("%s: %s\n" % (outputs[0], " ".join(sorted(common))))


main()
