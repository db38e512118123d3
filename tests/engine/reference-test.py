#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The reference has every public name and what operators take, and notices what lacks a
comment.

reference-test.py REFERENCE.PY LIST SETS HEADER...
"""
import os
import subprocess
import sys
import tempfile

BARE_FIELD = "struct tdl_new {\n    int old; /**< as it was */\n    int bare;\n};\n"
BARE_FUNCTION = "TDL_API void tdl_bare(int x);\n"
COVERED = ("/** Two. */\nstruct tdl_pair {\n    /** Both. */\n    int first;\n    int second;\n\n"
           "    int third; /**< another,\n                *   at length */\n};\n"
           "enum tdl_plain {\n    TDL_PLAIN_ONE,\n    TDL_PLAIN_TWO\n};\n"
           "struct tdl_hidden; /**< nobody looks inside */\n")


def run(program, headers, folder, *more):
    out = os.path.join(folder, "reference.md")
    done = subprocess.run([sys.executable, program, out] + headers + list(more),
                          capture_output=True, text=True)
    text = open(out, encoding="utf-8").read() if done.returncode == 0 else ""
    return done.returncode, done.stderr, text


def main():
    program, listed, sets, headers = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    failed = []
    with tempfile.TemporaryDirectory() as folder:

        def doctored(addition):
            path = os.path.join(folder, "tdl.h")
            with open(path, "w", encoding="utf-8") as f:
                f.write('/**\n * @file tdl.h\n * A header.\n */\nextern "C" {\n\n' + addition + "}\n")
            return run(program, [path], folder)

        def listing(line):
            path = os.path.join(folder, "list.h")
            with open(path, "w", encoding="utf-8") as f:
                f.write(line + "\n")
            return run(program, headers, folder, "--operators", path, sets)

        code, errors, text = run(program, headers, folder, "--operators", listed, sets)
        if code:
            failed.append(errors)
        for row in ("| filter | float32, float16 | 4 |", "| scale, or NULL | any | 1 |",
                    "| the result | uint8 | 0 to 6 |"):
            if row not in text:
                failed.append(f"no operator takes {row}")
        for line, complaint in (
                ("TDL_TAKES(nothing, IN(x, ANY, RANK(4)), OUT(ANY, RANK(4)))", "nothing is listed"),
                ("TDL_TAKES(conv2d, IN(x, ANY, ALL), OUT(ANY, RANK(4)))", "what conv2d takes")):
            code, errors, _ = listing(line)
            if not code or complaint not in errors:
                failed.append(f"not noticed: {complaint}: {errors}")
        for name in ("enum tdl_result", "TDL_ERROR_BUSY", "struct tdl_binding", "TDL_MAX_OUTPUTS",
                     "tdl_read_fn", "TDL_FORMAT_NV12", "tdl_tensor_read_async"):
            if name not in text:
                failed.append(f"{name} is missing")
        for addition, complaint in ((BARE_FIELD, "struct tdl_new: int bare; has no comment"),
                                    (BARE_FUNCTION, "tdl_bare() has no comment")):
            code, errors, _ = doctored(addition)
            if not code or complaint not in errors:
                failed.append(f"not noticed: {complaint}: {errors}")
        code, errors, text = doctored(COVERED)
        if code:
            failed.append(errors)
        for part in ("TDL_PLAIN_TWO", "#### `enum tdl_plain`", "nobody looks inside"):
            if part not in text:
                failed.append(f"{part} is missing from what was added")
    print("\n".join(failed))
    sys.exit(1 if failed else 0)


main()
