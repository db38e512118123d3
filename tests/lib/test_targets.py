# SPDX-License-Identifier: LGPL-2.1-or-later
"""What ninja must build for tests, on a line.

meson introspect --targets --tests BUILD | test_targets.py BUILD TARGET|test:NAME...
"""
import json
import os
import sys


def main():
    told = json.load(sys.stdin)
    build = os.path.abspath(sys.argv[1])
    files = {target["id"]: target["filename"] for target in told["targets"]}
    wanted = []
    for name in sys.argv[2:]:
        if not name.startswith("test:"):
            wanted.append(name)
            continue
        found = [test for test in told["tests"] if test["name"] == name[5:]]
        if not found:
            sys.exit("there is no test " + name[5:])
        for test in found:
            for target in test["depends"]:
                wanted += [os.path.relpath(path, build) for path in files[target]]
    print(*sorted(set(wanted)))


main()
