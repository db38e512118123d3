#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Make a manual page of what a tool's --help said: man.py HELP PAGE VERSION WHAT.

HELP is a file with the tool's name and .help behind it.
Every line of the help is in the page, so what the tool tells of itself and its page
cannot part. The help has lines "Usage:" and "Example:", options two to six blanks
from the left with their text two blanks or more behind them or in lines far to the
right, headings that end with a colon in front of options, and paragraphs.
"""
import pathlib
import re
import sys

OPTION = re.compile(r" {2,6}(-\S.*?)(?: {2,}(\S.*))?$")
FLAG = re.compile(r"(--[a-z][a-z0-9-]*|(?<!\S)-[a-z])\b")


def plain(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + text if text.startswith(".") else text


def option(text):
    parts = FLAG.split(text)
    return "".join(f"\\fB{plain(p)}\\fR" if i % 2 else re.sub(r"[A-Z]+", r"\\fI\g<0>\\fR", plain(p))
                   for i, p in enumerate(parts))


def sort_out(lines):
    """(synopsis, body, examples), the latter ready for troff but for their headings."""
    synopsis, body, examples = [], [], []
    for at, line in enumerate(lines):
        found = OPTION.match(line)
        follows = OPTION.match(lines[at + 1]) if at + 1 < len(lines) else None
        if line.startswith("Usage: ") or (synopsis and not body and line.startswith("       ")):
            synopsis.append(line[7:])
        elif line.startswith("Example: "):
            examples.append(line[9:])
        elif found:
            body += [".TP", option(found[1])] + [plain(found[2])] * bool(found[2])
        elif follows and line.endswith(":"):
            body += [".SS " + plain(line[:-1])]
        elif not line.strip():
            body += [".PP"] * bool(body)
        elif not line.startswith(" ") and body and lines[at - 1].startswith(" "):
            body += [".PP", plain(line)]  # text right behind an option's
        else:
            body.append(plain(line.strip()))
    return synopsis, body, examples


def page(name, version, what, text):
    synopsis, body, examples = sort_out(text.splitlines())
    out = [f'.TH {name.upper()} 1 "" "tdlfilter {version}" "User Commands"',
           ".SH NAME", f"{name} \\- {plain(what)}", ".SH SYNOPSIS"]
    for line in synopsis:
        words = line.split(" ", 1)
        out += [f".B {plain(words[0])}"] + [plain(w) for w in words[1:]] + [".br"]
    out.pop()
    first = next(i for i, line in enumerate(body) if line.startswith((".TP", ".SS")))
    out += [".SH DESCRIPTION"] + body[:first] + [".SH OPTIONS"] + body[first:]
    if "--device" in text:
        out += [".SH ENVIRONMENT", ".TP", ".B TDL_DEVICE",
                "What \\fIDEVICE\\fR is where it is auto."]
    out += [".SH EXIT STATUS", "0 when all went well, 1 when something failed, 2 when the "
            "command line was wrong."]
    if examples:
        out += [".SH EXAMPLES"] + [f".nf\n{plain(line)}\n.fi" for line in examples]
    others = [n for n in ("tdl-bench", "tdl-camera", "tdl-demo", "tdl-fetch-models", "tdl-info", "tdl-run")
              if n != name]
    out += [".SH SEE ALSO", ",\n".join(f".BR {plain(n)} (1)" for n in others)]
    # A macro for a paragraph right behind a heading or before one says nothing.
    kept = [line for i, line in enumerate(out) if line != ".PP" or not (
        out[i - 1].startswith(".S") or out[i + 1].startswith((".S", ".TP", ".PP")))]
    return "\n".join(kept) + "\n"


def main():
    said, to, version, what = sys.argv[1:]
    said = pathlib.Path(said)
    text = page(said.stem, version, what, said.read_text(encoding="utf-8"))
    pathlib.Path(to).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
