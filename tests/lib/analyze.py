# SPDX-License-Identifier: LGPL-2.1-or-later
"""Look through the engine and the element by static analysis.

analyze.py gcc|clang-tidy BUILD SUPPRESSIONS [PROCESSES]

Fails on what is not named in SUPPRESSIONS, whose lines are "FILE CHECK", where
FILE may hold *, and comments that say why. So does a line that nothing needs.
"""
import concurrent.futures
import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

FINDING = re.compile(r"^(\S+?):(\d+):\d+: (?:warning|error): (.*) \[([\w.,=+-]+)\]$")
CHECKS = [  # clang-tidy's; without those whose advice is not ours:
    "-*", "bugprone-*", "cert-*", "clang-analyzer-*",
    # Width and height, offset and size follow each other in every signature.
    "-bugprone-easily-swappable-parameters",
    # Wants Annex K's memcpy_s(), which glibc has not.
    "-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling",
    # Wants every printf() and snprintf() looked at; texts may be cut.
    "-cert-err33-c",
    # Sizes of frames and tensors are checked where they come in.
    "-bugprone-narrowing-conversions", "-bugprone-implicit-widening-of-multiplication-result",
    # Takes every array of pointers for a mistake.
    "-bugprone-sizeof-expression",
    # Does not know va_start() on x86-64 (clang 14).
    "-clang-analyzer-valist.Uninitialized",
]
# gcc 12 loses sight of memory that a structure owns; LeakSanitizer does not.
GCC = ["-fanalyzer", "-Wno-analyzer-malloc-leak", "-fdiagnostics-plain-output"]


def analyzer(entry, kind, build):
    """The command that looks at one file, instead of compiling it."""
    path = os.path.join(entry["directory"], entry["file"])
    if kind == "clang-tidy":
        return ["clang-tidy", "-p", build, "--quiet", "--checks=" + ",".join(CHECKS), path]
    words = shlex.split(entry["command"])
    while "ccache" in words[0]:
        words.pop(0)
    words[words.index("-o") + 1] = os.devnull
    for option in ("-MQ", "-MF"):
        at = words.index(option)
        del words[at:at + 2]
    drop = ("-MD", "-Werror")
    return [w for w in words if w not in drop] + GCC


def main():
    kind, build, suppressions = sys.argv[1:4]
    processes = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    if not shutil.which(kind):
        print("%s is missing (Debian package: %s)" % (kind, kind))
        sys.exit(77)
    with open(suppressions, encoding="utf-8") as file:
        known = [tuple(line.split()) for line in file if line.strip() and line[0] != "#"]
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    wanted = {}
    for entry in entries:
        name = os.path.relpath(os.path.join(entry["directory"], entry["file"]), root)
        if name.startswith(("engine/", "gst/")) and name.endswith(".c"):
            wanted[name] = entry
    if not wanted:
        sys.exit("no file to look at in " + build)

    def look(entry):
        return subprocess.run(analyzer(entry, kind, build), cwd=entry["directory"], text=True,
                              capture_output=True, check=False)

    new, used = set(), set()
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        for name, result in zip(wanted, pool.map(look, wanted.values())):
            found = set()
            for line in (result.stdout + result.stderr).splitlines():
                match = FINDING.match(line)
                if match:
                    path = os.path.normpath(os.path.join(wanted[name]["directory"], match[1]))
                    found.add((os.path.relpath(path, root), match[2], match[3], match[4]))
            if result.returncode and not found:
                sys.exit("%s: %s" % (name, (result.stderr or result.stdout)[-2000:]))
            for path, line, text, check in found:
                rows = [row for row in known
                        if fnmatch.fnmatch(path, row[0]) and fnmatch.fnmatch(check, row[1] + "*")]
                used.update(rows)
                if not rows:
                    new.add("%s:%s: %s [%s]" % (path, line, text, check))
    print(*sorted(new), sep="\n")
    mine = [row for row in known if row[1].startswith("-W") == (kind == "gcc")]
    idle = [row for row in mine if row not in used]
    for row in idle:
        print("nothing needs this suppression any more:", *row)
    print("%d files looked at by %s: %d findings" % (len(wanted), kind, len(new)))
    sys.exit(bool(new) or bool(idle))


main()
