#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Structs of kernels' constants, as shaders/specs.py makes them of GLSL.

specs.py GENERATOR ENGINE COMPILER...

What a kernel declares and what C gives it cannot differ without an error: a
constant that is forgotten, given twice, or of another kernel does not compile,
and ids that no struct can have are refused. In the folder ENGINE operators and
frames make such a struct by its macro alone.
"""
import itertools
import os
import re
import subprocess
import sys
import tempfile

GROUP = "layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;\n"
PART = """layout(constant_id = 3) const uint SIZE = 1; // of what
layout(constant_id = 4) const float SCALE = 1.0;
"""
KERNEL = GROUP + '#include "common/part.glsl"\n' + """layout(constant_id = 5) const int END0 = 0;
layout(constant_id = 6) const int END1 = 0;
layout(constant_id = 7) const uint COUNT2 = 0;
"""
FRAME = GROUP + """layout(constant_id = 3) const bool FEW = false;
layout(constant_id = 6) const uint MODE = 0;
layout(push_constant) uniform Push {
    vec4 rows[2], more;
    float one, two[3];
    uvec4 aligned;
    int last;
} push;
"""
USE = """#include "specs.h"
#include <stddef.h>
#define P tdl_part_part(.size = 1, .scale = 2)
const int ends[2];
struct tdl_k_spec k(void) { return tdl_k_spec(%s); }
struct tdl_frame_spec f(void) { return tdl_frame_f_spec(%s); }
_Static_assert(offsetof(struct tdl_k_spec, end) == 8 && sizeof(struct tdl_k_spec) == 20, "");
_Static_assert(sizeof(struct tdl_frame_spec) == 4 * 7, "");
_Static_assert(offsetof(struct tdl_frame_f_push, one) == 48, "");
_Static_assert(offsetof(struct tdl_frame_f_push, aligned) == 64, "");
_Static_assert(sizeof(struct tdl_frame_f_push) == 84, "");
"""
K, F = ".part = P, .end = {0}, .count2 = 3", ".few = 1, .mode = 2"
# Whether it compiles.
USES = [
    (K, F, True),
    (".part = P, .end = {0}", F, False),
    (".part = P, .end = {0}, .end = {1}", F, False),
    (".part = P, .end = {0}, .count = 3", F, False),
    (K, ".few = 1", False),
    (K, ".few = 1, .few = 2", False),
    (K, ".few = 1, .light = 2", False),
]
# What is put in place of what, in which file; all are refused.
REFUSED = [
    ("k.comp", "constant_id = 7", "constant_id = 8"),
    ("k.comp", "constant_id = 7", "constant_id = 4"),
    ("k.comp", "const uint COUNT2", "const uvec2 COUNT2"),
    ("k.comp", "const uint COUNT2", "const  uint COUNT2"),
    ("k.comp", "COUNT2", "PART"),
    ("k.comp", "local_size_x_id = 0", "local_size_x = 1"),
    ("k.comp", "common/part.glsl", "common/none.glsl"),
    ("common/part.glsl", "constant_id = 4", "constant_id = 3"),
    ("common/part.glsl", "constant_id = 3", "constant_id = 2"),
    ("frame/f.comp", "const uint MODE", "const float MODE"),
    ("frame/f.comp", "int last", "vec3 last"),
]


def generate(folder, generator, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
    with open(generator) as f, open(os.path.join(folder, "specs.py"), "w") as copy:
        copy.write(f.read())
    kernels = [os.path.join(folder, n) for n in sorted(files) if n.endswith(".comp")]
    return subprocess.run([sys.executable, os.path.join(folder, "specs.py"),
                           os.path.join(folder, "specs.h"), os.path.join(folder, "d"), *kernels],
                          stderr=subprocess.PIPE, text=True, check=False)


BY_HAND = re.compile(r"struct tdl_\w+_(?:spec|part)(?: \w+ =|\)) ?\{(?!0\})")


def by_hand(engine):
    """Where a struct is filled in, but for one of zeros, without its macro."""
    rooms = [os.walk(os.path.join(engine, room)) for room in ("ops", "vulkan")]
    for folder, _, names in itertools.chain(*rooms):
        for name in names:
            if name.endswith((".c", ".h")):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as f:
                    for number, line in enumerate(f, 1):
                        if BY_HAND.search(line):
                            yield "%s:%d: by hand: %s" % (path, number, line.strip())


def main():
    generator, engine, compiler = sys.argv[1], sys.argv[2], sys.argv[3:]
    chain = 'layout(constant_id = 40) const uint STAGES = 0;\n'
    files = {"k.comp": KERNEL + chain, "common/part.glsl": PART, "frame/f.comp": FRAME}
    wrong = list(by_hand(engine))
    assert all(map(BY_HAND.search, ["struct tdl_a_spec s = {.b = 1}", "(struct tdl_a_part){1}"]))
    with tempfile.TemporaryDirectory() as folder:
        run = generate(folder, generator, files)
        if run.returncode:
            sys.exit("the generator failed: %s" % run.stderr)
        for k, f, good in USES:
            built = subprocess.run(
                compiler + ["-std=gnu11", "-fsyntax-only", "-x", "c", "-I",
                            folder, "-"], input=USE % (k, f), stderr=subprocess.PIPE, text=True,
                check=False)
            if (built.returncode == 0) != good:
                wrong.append("%s | %s: %s" % (k, f, built.stderr or "compiled"))
    for name, old, new in REFUSED:
        with tempfile.TemporaryDirectory() as folder:
            assert old in files[name]
            run = generate(folder, generator, dict(files, **{name: files[name].replace(old, new)}))
            if run.returncode == 0 or "Traceback" in run.stderr:
                wrong.append("%s, %s for %s: %s" % (name, new, old, run.stderr or "taken"))
    if wrong:
        sys.exit("\n".join(wrong))
    print("%d structs, %d sources" % (len(USES), len(REFUSED)))


main()
