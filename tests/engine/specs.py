#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Specialization constants and the structs that fill them.

specs.py SOURCE   SOURCE/engine/ops has a struct for every kernel in
                  SOURCE/shaders, behind a comment that names the kernel. Its
                  fields are the constants from id 3 on: the same names, the
                  same order. "behind common/x.glsl" leaves out what that has.
"""
import glob
import os
import re
import sys

# Constants 0 to 2 are the workgroup size, those from 40 on the chain's.
FIRST, CHAIN = 3, 40


def constants(path, shaders):
    """{id: name} of a shader and of what it includes."""
    with open(path) as f:
        text = f.read()
    found = {int(i): name.lower() for i, name in
             re.findall(r"^layout\(constant_id = (\d+)\) const \w+ (\w+)", text, re.M)}
    for name in re.findall(r'^#include "(\S+)"', text, re.M):
        for base in (os.path.dirname(path), shaders):
            if os.path.exists(os.path.join(base, name)):
                found.update(constants(os.path.join(base, name), shaders))
                break
        else:
            sys.exit("%s: no %s" % (path, name))
    return {i: name for i, name in found.items() if FIRST <= i < CHAIN}


def declared(shader, shaders):
    """The names of a kernel's constants, in the order of their ids, and without
    gaps before and between them."""
    name, behind = re.match(r"(\S+?)(?:, behind (\S+))?$", shader).groups()
    found = constants(os.path.join(shaders, name), shaders)
    first = FIRST
    if behind:
        others = constants(os.path.join(shaders, behind), shaders)
        found = {i: n for i, n in found.items() if i not in others}
        first += len(others)
    if sorted(found) != list(range(first, first + len(found))):
        sys.exit("%s: constants %s" % (shader, sorted(found)))
    return [found[i] for i in sorted(found)]


def value(text, numbers):
    return eval(re.sub(r"[A-Z]\w+", lambda m: str(numbers[m[0]]), text).replace("/", "//"))


def fields(body, structs, numbers):
    """The words of a struct's body."""
    for kind, names in re.findall(r"(struct \w+|\w+) ([^;]+);", re.sub(r"/\*.*?\*/", "", body)):
        for name, size in re.findall(r"(\w+)(?:\[([^]]+)\])?", names):
            if kind.startswith("struct "):
                yield from fields(structs[kind[7:]], structs, numbers)
            elif size:
                for i in range(value(size, numbers)):
                    yield "%s%d" % (name, i)
            else:
                yield name


def main():
    shaders = os.path.join(sys.argv[1], "shaders")
    numbers, shared, wrong, seen = {}, {}, [], set()
    files = glob.glob(os.path.join(sys.argv[1], "engine/ops/**/*.[ch]"), recursive=True)
    texts = {}
    for path in files + glob.glob(os.path.join(sys.argv[1], "engine/**/*.h"), recursive=True):
        with open(path) as f:
            texts[path] = f.read()
    for text in texts.values():
        numbers.update((n, int(v)) for n, v in re.findall(r"#define (TDL_MAX_\w+) (\d+)", text))
    for path, text in texts.items():
        if path.endswith(".h"):
            shared.update(re.findall(r"struct (tdl_\w+_spec) \{(.*?)\};", text, re.S))
    for path in files:
        text = texts[path]
        structs = dict(shared, **dict(re.findall(r"struct (\w+_spec) \{(.*?)\};", text, re.S)))
        own = dict(numbers)
        for name, v in re.findall(r"enum \{ (MAX_\w+) = ([^}]*) \};", text):
            own[name] = value(v, own)
        for shader, name, body in re.findall(
                r"/\* shaders/([^;*]*?)(?:;[^*]*)? \*/\nstruct (\w+) \{(.*?)\};", text, re.S):
            seen.add(shader.split(",")[0])
            want, got = declared(shader, shaders), list(fields(body, structs, own))
            if want != got:
                wrong.append("%s: struct %s has the fields\n    %s\nbut shaders/%s the constants\n"
                             "    %s" % (path, name, " ".join(got), shader, " ".join(want)))
    for path in glob.glob(os.path.join(shaders, "*.comp")):
        if os.path.basename(path) not in seen:
            wrong.append("%s: no struct has its constants" % path)
    if wrong:
        sys.exit("\n".join(wrong))
    print("%d kernels" % len(seen))


main()
