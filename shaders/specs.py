#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Write the C structs that fill kernels' constants, out of the kernels' GLSL.

specs.py OUT.h DEPFILE FILE.comp...

An operator's kernel x.comp makes `struct tdl_x_spec`: its specialization
constants from id 3 on, in the order of their ids, under their names in lower
case. NAME0, NAME1, ... are an array. What an included common/y.glsl declares
is a member y of `struct tdl_y_part`. The macros tdl_x_spec() and tdl_y_part()
make a struct. They take one initialiser, `.name = value`, for every field, so
that a constant which was forgotten is an error.

Kernels of a folder, frame/x.comp, share `struct tdl_frame_spec`: the workgroup's
size, and words by their ids. Each has a `struct tdl_frame_x_spec` of the constants
that it declares, of which tdl_frame_x_spec() makes the shared one; the rest stays 0.
Push constants become `struct tdl_frame_x_push`, or tdl_y_push of common/y.glsl.
"""
import glob
import os
import re
import sys
import zlib

# Constants 0 to 2 are the workgroup's size; those from CHAIN on belong to
# common/activation.glsl, and no struct has them.
GROUP, CHAIN = 3, 40
TYPES = {"uint": "uint32_t", "int": "int32_t", "float": "float", "bool": "uint32_t"}
VECTORS = {"vec": "float", "uvec": "uint32_t", "ivec": "int32_t"}


def fail(path, text):
    sys.exit("%s: %s" % (path, text))


def plain(path):
    with open(path, encoding="utf-8") as f:
        return re.sub(r"//[^\n]*|/\*.*?\*/", "", f.read(), flags=re.S)


def interface():
    """A number that changes with what C and the kernels must agree on."""
    root = os.path.dirname(os.path.abspath(__file__))
    found = []
    for pattern in ("**/*.comp", "**/*.glsl"):
        for path in sorted(glob.glob(os.path.join(root, pattern), recursive=True)):
            found.append(os.path.relpath(path, root))
            text = plain(path)
            found += re.findall(r"^[^\n]*(?:constant_id|binding = |LINEAR_IN\(|LINEAR_OUT\()[^\n]*",
                                text, re.M)
            found += re.findall(r"^layout\(push_constant\).*?^\}", text, re.M | re.S)
    return zlib.crc32("\n".join(re.sub(r"\s+", " ", f) for f in found).encode())


class Source:
    """A GLSL file: its own constants as {id: (name, type)}, and the files that it includes."""
    known = {}

    def __init__(self, path, root):
        text = plain(path)
        self.path, self.origin = path, "shaders/" + os.path.relpath(path, root)
        self.name = re.sub(r"\W", "_", os.path.splitext(os.path.basename(path))[0])
        self.constants = {}
        for number, kind, name in re.findall(
                r"^layout\(constant_id = (\d+)\) const (\w+) (\w+) = ", text, re.M):
            if int(number) in self.constants or kind not in TYPES:
                fail(path, "constant %s %s" % (number, name))
            self.constants[int(number)] = (name.lower(), TYPES[kind])
        if len(self.constants) != text.count("constant_id"):
            fail(path, "a constant is not declared as the others are, on a line of its own")
        self.pushes = re.findall(r"^layout\(push_constant\) uniform Push \{(.*?)\} push;", text,
                                 re.M | re.S)
        if len(self.pushes) != text.count("push_constant"):
            fail(path, "push constants are not declared as the others are")
        self.sized = text.count("local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2")
        self.includes = []
        for name in re.findall(r'^#include "(\S+)"', text, re.M):
            found = [p for p in (os.path.join(b, name) for b in (os.path.dirname(path), root))
                     if os.path.exists(p)]
            if not found:
                fail(path, "no %s" % name)
            self.includes.append(Source.get(found[0], root))

    @staticmethod
    def get(path, root):
        path = os.path.relpath(path)
        if path not in Source.known:
            Source.known[path] = Source(path, root)
        return Source.known[path]

    def all(self):
        """Itself and what it includes, each once."""
        found = []
        for source in [s for i in self.includes for s in i.all()] + [self]:
            if source not in found:
                found.append(source)
        return found


def fields(constants):
    """[(type, name, size or None)] of constants whose ids follow each other."""
    rows, left = [], [constants[number] for number in sorted(constants)]
    while left:
        name, kind = left[0]
        stem, count = name[:-1], 0
        while name[-1] == "0" and left[count:count + 1] == [("%s%d" % (stem, count), kind)]:
            count += 1
        rows.append((kind, stem, count) if count > 1 else (kind, name, None))
        left = left[max(count, 1):]
    return rows


def struct(name, origin, rows):
    lines = ["/* %s */" % origin, "struct %s {" % name]
    lines += ["    %s %s%s;" % (kind, field, "[%d]" % size if size else "")
              for kind, field, size in rows]
    return lines + ["};"]


def maker(name, count, before="", after=""):
    """A macro with a parameter for each field."""
    names = ", ".join("a%d" % i for i in range(count))
    value = "((struct %s){%s})" % (name, names)
    return ["#define %s(%s) %s%s%s" % (name, names, before, value, after)]


def own_range(source, constants):
    numbers = sorted(n for n in constants if n < CHAIN)
    if numbers != list(range(numbers[0], numbers[-1] + 1)):
        fail(source.path, "the constants' ids %s have gaps" % numbers)
    return numbers


def kernel(source, parts):
    """Lines of an operator's kernel; `parts` collects those of the files that it includes."""
    members, used = [], {}
    for s in source.all():
        own = {n: c for n, c in s.constants.items() if n < CHAIN}
        for number in own:
            if number in used or number < GROUP:
                fail(s.path, "constant %d is %s's, too" % (number, used.get(number, "the group")))
            used[number] = s.path
        if not own:
            continue
        first = own_range(s, own)[0]
        rows = fields(own)
        if s is source:
            members += [(first, row) for row in rows]
        else:
            name = "tdl_%s_part" % s.name
            members.append((first, ("struct " + name, s.name, None)))
            parts[s.name] = struct(name, s.origin, rows) + maker(name, len(rows))
    if sorted(used) != list(range(GROUP, GROUP + len(used))):
        fail(source.path, "the constants' ids %s do not follow each other" % sorted(used))
    rows = [row for _, row in sorted(members, key=lambda m: m[0])]
    if len(set(r[1] for r in rows)) < len(rows):
        fail(source.path, "two constants have one name")
    name = "tdl_%s_spec" % source.name
    return struct(name, source.origin, rows) + maker(name, len(rows)) + [
        "_Static_assert(sizeof(struct %s) == 4 * %d, \"a constant has 32 bits\");" % (
            name, len(used))]


def push_fields(source, text):
    """[(type, name, dimensions)] of push constants, where std430 has them."""
    at = pads = 0
    for kind, names in re.findall(r"(\w+)\s+([^;]+);", text):
        base, width = re.match(r"(\D+)(\d?)$", kind).groups()
        vector = base in VECTORS and width in ("2", "4") # std430 places others in no C array
        if not vector and kind not in ("uint", "int", "float"):
            fail(source.path, "push constants of type %s" % kind)
        for name, size in re.findall(r"(\w+)(?:\[(\d+)\])?", names):
            step = 4 * int(width or 1)
            if at % step:
                yield "uint32_t", "pad%d" % pads, [at % step // 4]
                pads, at = pads + 1, at + at % step
            at += step * int(size or 1)
            yield (VECTORS[base] if vector else TYPES[kind], name,
                   ([int(size)] if size else []) + ([int(width)] if vector else []))


def push(source, name, text):
    """The lines of its struct."""
    return ["/* %s */" % source.origin, "struct tdl_%s_push {" % name] + [
        "    %s %s%s;" % (t, n, "".join("[%d]" % d for d in dims))
        for t, n, dims in push_fields(source, text)] + ["};"]


def frame(folder, sources):
    """Lines of the kernels in a folder."""
    most, lines, pushed = 0, [], []
    whole = "tdl_%s_spec" % folder
    for source in sources:
        declared, pushes = {}, []
        for s in source.all():
            if set(s.constants) & set(declared):
                fail(s.path, "one of the constants %s is another's, too" % sorted(s.constants))
            declared.update(s.constants)
            pushes += [(s, p) for p in s.pushes]
        ids = sorted(declared)
        rows = [(declared[n][1], declared[n][0], None) for n in ids]
        if len(pushes) != 1:
            fail(source.path, "%d blocks of push constants" % len(pushes))
        if any(n < GROUP or n >= CHAIN for n in ids) or "float" in [r[0] for r in rows]:
            fail(source.path, "constants %s" % rows)
        most = max([most] + ids)
        owner, text = pushes[0]
        if owner not in pushed:
            pushed.append(owner)
            lines += push(owner, ("" if owner is not source else folder + "_") + owner.name, text)
        if rows:
            name = "tdl_%s_%s_spec" % (folder, source.name)
            lines += struct(name, source.origin, rows)
            lines += ["static inline struct %s %s_of(struct %s s)" % (whole, name, name), "{",
                      "    return (struct %s){.own = {%s}};" % (whole, ", ".join(
                          "[%d] = s.%s" % (n - GROUP, declared[n][0]) for n in ids)), "}"]
            lines += maker(name, len(rows), name + "_of(", ")")
    return struct(whole, "shaders/%s: ids 0 to 2, and from 3 on" % folder, [
        ("uint32_t", "group", GROUP), ("uint32_t", "own", most + 1 - GROUP)]) + lines


def chain_count(sources):
    """Constants behind all others, which one file has."""
    found = {n for s in sources for i in s.all() for n in i.constants if n >= CHAIN}
    if sorted(found) != list(range(CHAIN, CHAIN + len(found))):
        fail("the chain", "the constants' ids are %s" % sorted(found))
    return len(found)


def main():
    out, depfile, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    root = os.path.dirname(os.path.abspath(__file__))
    sources = [Source.get(f, root) for f in files]
    lines, parts, folders = [], {}, {}
    for source in sources:
        folder = os.path.relpath(os.path.dirname(os.path.abspath(source.path)), root)
        if not any(s.sized for s in source.all()):
            fail(source.path, "constants 0 to 2 are not the workgroup's size")
        if folder == ".":
            lines += kernel(source, parts)
        else:
            folders.setdefault(folder, []).append(source)
    for folder, members in folders.items():
        lines += frame(folder, members)
    head = ["/* Generated by shaders/specs.py. */", "#ifndef TDL_KERNEL_SPECS_H",
            "#define TDL_KERNEL_SPECS_H", "#include <stdint.h>",
            "#define TDL_MAX_SPEC %d" % CHAIN,
            "#define TDL_MAX_CHAIN %d" % chain_count(sources),
            "#define TDL_KERNEL_INTERFACE %d" % interface()]
    with open(out, "w", encoding="utf-8") as f:
        f.write("\n".join(head + [l for p in parts.values() for l in p] + lines + ["#endif", ""]))
    with open(depfile, "w", encoding="utf-8") as f:
        f.write("%s: %s\n" % (out, " ".join(Source.known)))


if __name__ == "__main__":
    main()
