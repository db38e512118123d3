#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The hand that C is written in: format.py SOURCE

No line of a C file is longer than 100 columns, and those of engine/, gst/ and
pipelines/ are as clang-format 14 leaves them, by the .clang-format of their folder.
Other versions of it differ: without that one, a skip.
"""
import os
import re
import shutil
import subprocess
import sys

VERSION = 14
COLUMNS = 100


def find_formatter():
    for name in ("clang-format-%d" % VERSION, "clang-format"):
        path = shutil.which(name)
        if not path:
            continue
        text = subprocess.run([path, "--version"], capture_output=True, text=True,
                              check=False).stdout
        found = re.search(r"version (\d+)", text)
        if found and int(found[1]) == VERSION:
            return path
    return None


def sources(source):
    for top in ("engine", "gst", "pipelines", "tests"):
        for folder, _, names in os.walk(os.path.join(source, top)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), source)


def main():
    source = sys.argv[1]
    names = list(sources(source))
    faults = 0
    for name in names:
        with open(os.path.join(source, name), encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                if len(line.rstrip("\n")) > COLUMNS:
                    faults += 1
                    print("%s:%d: %d columns" % (name, number, len(line) - 1))
    formatter = find_formatter()
    formatted = [n for n in names if n.startswith(("engine/", "gst/", "pipelines/"))]
    if formatter and formatted:
        run = subprocess.run([formatter, "--dry-run", "--Werror"] + formatted, cwd=source,
                             capture_output=True, text=True, check=False)
        for line in run.stderr.splitlines():
            if ": error: " in line:
                faults += 1
                print(line.replace("code should be clang-formatted", "clang-format -i would change"))
        if run.returncode and not faults:
            faults += 1
            print(run.stderr)
    if faults:
        return 1
    if not formatter:
        print("skipped: no clang-format %d (Debian 12's package clang-format)" % VERSION)
        return 77
    return 0 if len(names) > 100 else 1


if __name__ == "__main__":
    sys.exit(main())
