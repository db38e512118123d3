#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compile several kernels.

compile.py DEPFILE COMPILER ARGUMENT... -- OUT.spv... FILE.comp...

The compiler is glslc, or glslangValidator, of whose front-end glslc is made. By far most of
the time goes into reading the built-in functions: glslc does that once for all files, so one
run of it takes a third of what glslangValidator's runs take, one for each file.
"""
import concurrent.futures
import glob
import os
import subprocess
import sys
import tempfile


# What a kernel asks for by an extension is in newer SPIR-V than what all devices read.
NEWER = {"GL_NV_cooperative_matrix2": "vulkan1.3"}


def target(kernel):
    with open(kernel) as f:
        text = f.read()
    return next((t for e, t in NEWER.items() if "#extension %s :" % e in text), "vulkan1.1")


def by_glslc(command, outputs, inputs):
    targets = sorted(set(map(target, inputs)))
    return max(by_glslc_for(t, command, *zip(*[p for p in zip(outputs, inputs)
                                               if target(p[1]) == t])) for t in targets)


def by_glslc_for(environment, command, outputs, inputs):
    with tempfile.TemporaryDirectory(dir=os.path.dirname(outputs[0])) as folder:
        code = subprocess.call([command[0], "--target-env=" + environment, *command[1:], "-c",
                                *map(os.path.abspath, inputs)], cwd=folder)
        for output, kernel in zip(outputs, inputs if not code else []):
            os.replace(os.path.join(folder, os.path.basename(kernel) + ".spv"), output)
    return code


def by_glslang(command, outputs, inputs):
    def compile_one(output, kernel):
        return subprocess.call([command[0], "-V", "--quiet", "--target-env", target(kernel),
                                *command[1:], "-o", output, kernel])

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return max(pool.map(compile_one, outputs, inputs))


def main():
    depfile, split = sys.argv[1], sys.argv.index("--")
    command, files = sys.argv[2:split], sys.argv[split + 1:]
    outputs, inputs = files[:len(files) // 2], files[len(files) // 2:]
    compile_all = by_glslc if os.path.basename(command[0]).startswith("glslc") else by_glslang
    code = compile_all(command, outputs, inputs)
    if code:
        sys.exit(code)
    common = glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "common", "*.glsl"))
    with open(depfile, "w") as f:
        f.write("%s: %s\n" % (outputs[0], " ".join(sorted(common))))


main()
