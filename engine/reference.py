#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The public headers as one Markdown reference.

    reference.py OUTPUT HEADER...

A documentation comment (/** ... */) belongs to the declaration behind it; a
section comment (/* ---- name */) becomes a heading. Declarations are shown as
they stand, with the comments of their members.
"""
import re
import sys


def plain(comment):
    """The text of a comment, without its stars; @tags as a list."""
    lines = [re.sub(r"^\s*\*?\s?", "", line) for line in comment.strip("/* \n").split("\n")]
    text = "\n".join(lines).strip()
    text = re.sub(r"@param\s+(\w+)\s+", r"\n- `\1`: ", text)
    text = re.sub(r"@return\s+", r"\n- returns ", text)
    return re.sub(r"@file\s+\S+\s*", "", text)


def declaration(text, at):
    """The declaration that begins at `at`, up to its semicolon outside braces."""
    depth = 0
    for i in range(at, len(text)):
        if text.startswith("/*", i):
            depth += 1000
        elif text.startswith("*/", i):
            depth -= 1000
        elif text[i] == "{":
            depth += 1
        elif text[i] == "}":
            depth -= 1
        elif text[i] == "\n" and text[at] == "#" and text[i - 1] != "\\":
            return text[at:i]
        elif text[i] == ";" and depth == 0 and text[at] != "#":
            return text[at:i + 1]
    return text[at:]


def name_of(code):
    """What a declaration declares, for its heading."""
    if code.startswith("#define"):
        return re.match(r"#define (\w+)", code).group(1)
    found = (re.search(r"\(\*(\w+)\)\(", code) if code.startswith("typedef") else
             re.match(r"((?:struct|enum|union) \w+)\s*(?:\{|;)", code) or
             re.search(r"(\w+)\(", code))
    return found.group(1) if found else code.split("\n")[0]


def sections(text):
    """(kind, text) pairs in the order of the header."""
    start = text.index('extern "C" {') if 'extern "C" {' in text else 0
    for found in re.finditer(r"/\* -{5,} (.+?) \*/|/\*\*(?! @file)((?:(?!\*/).)+?)\*/[ \t]*\n(?=\S)", text[start:], re.S):
        if found.group(1):
            yield "heading", found.group(1)
            continue
        line = text.rfind("\n", 0, start + found.start()) + 1
        if text[line:start + found.start()].strip() or text[line] in " \t":
            continue  # of a member: shown with its struct
        code = group(text, start + found.end())
        yield "entry", (name_of(code), plain(found.group(2)), unmarked(code))


def group(text, at):
    """A declaration with those that follow it without a blank line or a comment."""
    code = declaration(text, at)
    while text.startswith("\nTDL_API", at + len(code)):
        code += "\n" + declaration(text, at + len(code) + 1)
    return code


def unmarked(code):
    """Without TDL_API, continued lines moved along."""
    lines, shift = [], 0
    for line in code.split("\n"):
        marked = line.startswith("TDL_API ")
        if marked or not line.startswith(" " * 8):
            shift = 8 if marked else 0
        lines.append(line[shift:])
    return "\n".join(lines)


def main():
    output, headers = sys.argv[1], sys.argv[2:]
    out = ["# libtdl reference", "", "Made from the public headers.", ""]
    for path in headers:
        text = open(path, encoding="utf-8").read()
        head = re.search(r"/\*\*\s*\n \* @file (\S+)(.+?)\*/", text, re.S)
        out += [f"## <tdl/{head.group(1)}>", "", plain(head.group(2)), ""]
        for kind, what in sections(text):
            if kind == "heading":
                out += [f"### {what[0].upper()}{what[1:]}", ""]
            else:
                name, comment, code = what
                out += [f"#### `{name}`", "", comment, "", "```c", code, "```", ""]
        everything = "\n".join(out)
        bare = [name for name in re.findall(r"^TDL_API [^;(]*?(\w+)\(", text, re.M)
                if name + "(" not in everything]
        if bare:
            sys.exit(f"{path}: without a comment of their own: {', '.join(bare)}")
    with open(output, "w", encoding="utf-8") as f:
        f.write("\n".join(out))


if __name__ == "__main__":
    main()
