#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rooms of the engine, and who may include and call whom.

rooms.py ENGINE LIBRARY          every #include, and every call between the objects of the
                                 static library, held against ROOMS
rooms.py ENGINE LIBRARY CC...    and everything above the line through CC's preprocessor,
                                 with headers of Vulkan that do nothing but fail
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import arrows  # noqa: E402

# A room and those that it may use, beside itself, the root of the engine (errors,
# shapes, tables) and the public headers.
ROOMS = {
    "": [],
    "ir": [],
    "ops": ["ir"],
    "compile": ["ir", "ops"],
    "frame": [],
    "models": [],
    "core": ["ir", "ops", "compile", "frame"],
    "cpu": ["ir", "ops", "compile", "frame", "core"],
    "measure": ["ir", "core"],
    "tools": ["ir", "measure"],
    "vulkan": ["ir", "frame", "core"],
    "without_vulkan": ["core", "vulkan"],
    "devices": ["core", "cpu", "vulkan", "without_vulkan"],
}
# Rooms that call the engine as its users do, by the public headers.
USERS = ["models", "measure", "tools"]
# Circles of calls of more than a few files, by folder: how many files, and why they stay.
CIRCLES = {
    "compile": (7, "the patterns of fusions lie in files by kind, and ask the walk's file what a"
                   " node is"),
    "core": (6, "a context owns the buffers, batches and reads that hold it"),
    "models/onnx": (6, "a value may be a constant of the file, which is turned when it is read"),
}
# Below the line: what sees Vulkan, or what stands in for it.
BELOW = ["vulkan", "without_vulkan"]
PUBLIC_VULKAN = "tdl/vulkan.h"


def room_of(path):
    folder = os.path.dirname(path)
    return folder.split(os.sep)[0] if folder else ""


def sources(engine):
    for folder, _, names in os.walk(engine):
        relative = os.path.relpath(folder, engine)
        if relative.split(os.sep)[0] == "include":
            continue
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.normpath(os.path.join(relative, name))


def resolve(engine, source, included):
    """The file of the engine that is meant, or None."""
    for base in (os.path.dirname(source), ""):
        path = os.path.normpath(os.path.join(base, included))
        if os.path.exists(os.path.join(engine, path)):
            return path
    return None


def wrong_arrows(engine):
    for source in sources(engine):
        room = room_of(source)
        if room not in ROOMS:
            yield "%s: no room named %s is in the list" % (source, room)
            continue
        with open(os.path.join(engine, source), encoding="utf-8") as f:
            lines = f.readlines()
        for number, line in enumerate(lines, 1):
            match = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
            if not match:
                continue
            where = "%s:%d" % (source, number)
            if match[1] == "<":
                if room not in BELOW and match[2].startswith(("vulkan/", PUBLIC_VULKAN)):
                    yield "%s: <%s> above the line" % (where, match[2])
                continue
            path = resolve(engine, source, match[2])
            if path is None:
                yield '%s: "%s" is no file of the engine' % (where, match[2])
            elif room_of(path) not in ("", room, *ROOMS[room]):
                yield "%s: %s/ may not use %s" % (where, room or "the root", path)


def wrong_calls(engine, library):
    found = arrows.calls(engine, library)
    for caller, callees in sorted(found.items()):
        room = room_of(caller)
        for callee, symbols in sorted(callees.items()):
            if room not in USERS and room_of(callee) not in ("", room, *ROOMS[room]):
                yield "%s: %s() of %s is not its to call" % (caller, symbols[0], callee)
    yield from arrows.large_circles(found, CIRCLES)


def circles():
    """The list itself must have an end."""
    done = set()
    while len(done) < len(ROOMS):
        ready = [r for r in ROOMS if r not in done and all(u in done for u in ROOMS[r])]
        if not ready:
            yield "the list of rooms has a circle among %s" % sorted(set(ROOMS) - done)
            return
        done.update(ready)


def compiled_without_vulkan(engine, built, compiler):
    """What includes Vulkan's headers in spite of all that stops in the preprocessor."""
    above = [os.path.join(engine, s) for s in sources(engine) if room_of(s) not in BELOW]
    with tempfile.TemporaryDirectory() as poison:
        os.mkdir(os.path.join(poison, "vulkan"))
        for name in ("vulkan.h", "vulkan_core.h"):
            with open(os.path.join(poison, "vulkan", name), "w") as f:
                f.write("#error Vulkan above the line\n")
        run = subprocess.run(
            compiler + ["-std=gnu11", "-E", "-x", "c", "-I", poison, "-I", engine,
                        "-I", os.path.join(engine, "include"), "-I", built] + above,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode:
        yield run.stderr.strip() or "the compiler failed"
    if len(above) < 50:
        yield "only %d files above the line: were they found?" % len(above)


def main():
    engine, library = sys.argv[1:3]
    found = list(circles()) + list(wrong_arrows(engine)) + list(wrong_calls(engine, library))
    if len(sys.argv) > 3:
        found += list(compiled_without_vulkan(engine, os.path.dirname(library), sys.argv[3:]))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
