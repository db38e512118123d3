# SPDX-License-Identifier: LGPL-2.1-or-later
"""Print what `meson test` found, a test a line: result, name, detail.

meson_results.py BUILD/meson-logs/LOGBASE    ok, skip or fail; none if no test ran
"""
import glob
import json
import sys


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("skipped: ") if lines else "no reason given"


def main():
    rows = []
    for path in glob.glob(sys.argv[1] + "[.-]*json"): # with a wrapper's name or without
        with open(path, encoding="utf-8") as log:
            rows += [json.loads(line) for line in log]
    for row in rows:
        name = row["name"].split(" / ")[-1]
        output = row.get("stdout", "") + row.get("stderr", "")
        if row["result"] in ("OK", "EXPECTEDFAIL"):
            print("ok", name, "%.1f s" % row["duration"], sep="\t")
        elif row["result"] == "SKIP":
            print("skip", name, last_line(output), sep="\t")
        else:
            tail = "\n".join([row["result"]] + [line[:300] for line in output.splitlines()[-25:]])
            print("fail", name, tail.replace("\\", "\\\\").replace("\t", " ").replace("\n", "\\n")
                  + "\\n", sep="\t")
    if not rows:
        print("none", "", "", sep="\t")


main()
