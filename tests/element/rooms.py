#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rooms of the element: a file includes and calls what lies in its room or further down.
Functions and data that files share are named after a file or a struct of their room.

rooms.py GST LIBRARY    the folder gst, and the static library of its objects
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import arrows  # noqa: E402

# From the element as GStreamer sees it down to what everybody uses.
ROOMS = ["", "loading", "export", "frame", "network", "model", "import", "memory", "caps",
         "settings", "base"]

# Circles of calls of more than a few files, by folder: how many files, and why they stay.
CIRCLES = {
    "export": (5, "the ordered table names the ways, and these ask it what was agreed on"),
}


def sources(gst):
    for folder, _, names in os.walk(gst):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                room = os.path.relpath(folder, gst)
                yield "" if room == "." else room, os.path.join(folder, name)


def wrong_arrows(gst):
    rooms = {os.path.basename(path): room for room, path in sources(gst)}
    arrows = 0
    for room, path in sources(gst):
        if room not in ROOMS:
            yield "%s: no room named %s is in the list" % (path, room)
            continue
        with open(path, encoding="utf-8") as f:
            included = re.findall(r'^\s*#\s*include\s+"(?:.*/)?([^"/]+)"', f.read(), re.M)
        for name in included:
            # Of two files of one name in two rooms, the own room's is meant.
            used = room if os.path.exists(os.path.join(gst, room, name)) else rooms.get(name)
            if used is None:
                yield '%s: "%s" is no file of the element' % (path, name)
                continue
            arrows += used != room
            if ROOMS.index(used) < ROOMS.index(room):
                yield "%s: %s/ may not use %s of %s/" % (path, room, name, used or "gst")
    if arrows < 50:
        yield "only %d arrows between rooms: were the files found?" % arrows


def room_of(path):
    folder = os.path.dirname(path)
    return folder.split(os.sep)[0] if folder else ""


def wrong_calls(gst, library):
    found = arrows.calls(gst, library)
    for caller, callees in sorted(found.items()):
        for callee, symbols in sorted(callees.items()):
            if ROOMS.index(room_of(callee)) < ROOMS.index(room_of(caller)):
                yield "%s: %s() of %s lies further up" % (caller, symbols[0], callee)
    yield from arrows.large_circles(found, CIRCLES)


def plain(name):
    return re.sub("[_-]|s$|private$|none$", "", name)


def wrong_names(gst):
    """What headers declare under a name that says nothing of where it is found."""
    texts, stems, names = {}, {}, 0
    for room, path in sources(gst):
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        known = stems.setdefault(room, set())
        known.add(plain(re.sub(r"^gsttdl|\.\w$", "", os.path.basename(path))))
        if path.endswith(".h"):
            texts[path] = room, text
            known.update(map(plain, re.findall(r"^struct gst_tdl_(\w+) \{", text, re.M)))
    for path, (room, text) in texts.items():
        for name in re.findall(r"^(?!struct \w+;)[a-z][\w \*]*?\bgst_tdl_(\w+)[(\[;]", text, re.M):
            names += 1
            if not plain(name).startswith(tuple(stems[room])):
                yield "%s: gst_tdl_%s has the name of no file or struct of its room" % (path, name)
    if names < 200:
        yield "only %d names in headers: were they found?" % names


def main():
    found = list(wrong_arrows(sys.argv[1])) + list(wrong_calls(*sys.argv[1:3]))
    found += wrong_names(sys.argv[1])
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
