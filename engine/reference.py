#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The public headers as one Markdown reference.

    reference.py OUTPUT HEADER... [--operators LIST SETS]

A documentation comment (/** ... */) belongs to the declaration behind it; a
section comment (/* ---- name */) becomes a heading. Declarations are shown as
they stand, with the comments of their members, also those without a comment of
their own. What is left out, a function without a comment or a field of a struct
without one is an error. Behind operators stands what they take, of TDL_TAKES in
LIST; SETS defines the sets of data types that it names.
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
            end = text.find("\n", i)
            behind = text[i + 1:end] # its comment, on the same line
            return text[at:end] if re.fullmatch(r"\s*/\*\*<.*\*/", behind) else text[at:i + 1]
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
    at = text.index('extern "C" {') if 'extern "C" {' in text else 0
    pattern = re.compile(r"^(?:/\* -{5,} (.+?) \*/|/\*\*(?! @file)((?:(?!\*/).)+?)\*/[ \t]*\n(?=\S)|"
                         r"(?=(?:struct|enum|union|typedef|TDL_API)\b|#define TDL_(?!API|PRINTF)))", re.S | re.M)
    while found := pattern.search(text, at):
        at = found.end()
        if found.group(1):
            yield "heading", found.group(1)
            continue
        code = group(text, at)
        at += len(code)
        yield "entry", (name_of(code), plain(found.group(2) or ""), unmarked(code))


def group(text, at):
    """A declaration with those that follow it without a blank line or a comment."""
    code = declaration(text, at)
    while re.match(r"\n(TDL_API|#define TDL_)", text[at + len(code):]):
        code += "\n" + declaration(text, at + len(code) + 1)
    return code


def public_names(text):
    """All that a header declares, but what it needs for itself."""
    text = re.sub(r"/\*.*?\*/", "", text[text.find('extern "C" {') + 1:], flags=re.S)
    names = re.findall(r"^TDL_API [^;(]*?(\w+)\(", text, re.M)
    names += re.findall(r"^((?:struct|enum|union) \w+)", text, re.M)
    names += re.findall(r"^#define (TDL_(?!API|PRINTF)\w+)", text, re.M)
    names += re.findall(r"^typedef [^;]*?\(\*(\w+)\)\(", text, re.M)
    for body in re.findall(r"^enum \w+ \{(.*?)^\}", text, re.M | re.S):
        names += re.findall(r"^\s+(TDL_\w+)", body, re.M)
    for body in re.findall(r"^struct \w+ \{(.*?)^\}", text, re.M | re.S):
        names += re.findall(r"(\w+)(?:\[\w+\])*[;,]", body)
    return names


def bare_fields(text):
    """Fields without a comment behind them, or above them and those that follow."""
    for struct, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.M | re.S):
        covered, field = False, ""
        for line in re.sub(r"\n\s*\*(?!/)[^\n]*(?=\n|$)", "", body).split("\n"):
            comment = re.search(r"/\*\*(<?)", line)
            field += re.sub(r"/\*.*|.*\*/", "", line).strip()
            if not line.strip() or comment:
                covered, field = bool(comment and not comment.group(1)), ""
            elif field.endswith(";"):
                if not covered:
                    yield f"struct {struct}: {field}"
                field = ""


def complaints(text, reference):
    """What is wrong with a header's documentation."""
    for name in public_names(text):
        if not re.search(rf"\b{name}\b", reference):
            yield f"{name} is not in the reference"
    for field in bare_fields(text):
        yield f"{field} has no comment"


def unmarked(code):
    """Without TDL_API, continued lines moved along."""
    lines, shift = [], 0
    for line in code.split("\n"):
        marked = line.startswith("TDL_API ")
        if marked or not line.startswith(" " * 8):
            shift = 8 if marked else 0
        lines.append(line[shift:])
    return "\n".join(lines)


def members(name, sets):
    """The data types of a set, or of what is put together of sets."""
    for dtype, other in re.findall(r"TDL_(\w+)|\b([A-Z]\w*)\b", sets.get(name, "")):
        yield from [dtype.lower()] if dtype else members(other, sets) if other != "TYPE" else []


def takes(paths):
    """By function, the rows of a table: what its operands may be."""
    listed, defined = (open(path, encoding="utf-8").read() for path in paths)
    sets = dict(re.findall(r"^#define (\w+) (.+)$", defined, re.M))
    found = {}
    for function, body in re.findall(r"^TDL_TAKES\((\w+),(.*?)\)$(?!\n +)", listed, re.M | re.S):
        rows = found[function] = []
        slot = r"\b(IN|OPTIONAL|CONSTANT|OUT)\((?:(\w+), )?(\w+),\s+RANKS?\((\d+)(?:, (\d+))?\)"
        for kind, name, types, least, most in re.findall(slot, body):
            name = {"IN": name, "OUT": "the result", "OPTIONAL": f"{name}, or NULL",
                    "CONSTANT": f"{name}, a constant"}[kind]
            types = "any" if types == "ANY" else ", ".join(dict.fromkeys(members(types, sets)))
            rows.append(f"| {name} | {types} | {least}{' to ' + most if most else ''} |")
        if 2 * len(rows) != body.count("("): # of the operand, and of its ranks
            sys.exit(f"{paths[0]}: what {function} takes is written as nothing here reads it")
    return found


def operands(code, taken, declared):
    """What the operators of a declaration take: one table for those that take the same. A
    function with a kind, as tdl_builder_reduce() is, has a name for each."""
    tables = {}
    for function in re.findall(r"\btdl_builder_(\w+)\(", code):
        for name in [name for name in taken if name == function or
                     (name.startswith(function + "_") and name not in declared)]:
            tables.setdefault("\n".join(taken.pop(name)), []).append(f"`{name}`")
    for rows, functions in tables.items():
        yield from [", ".join(functions) + ":", "", "| operand | data types | rank |",
                    "|---|---|---|", rows, ""]


def main():
    output, headers, wrong = sys.argv[1], sys.argv[2:], []
    at = headers.index("--operators") if "--operators" in headers else len(headers)
    headers, taken = headers[:at], takes(headers[at + 1:]) if headers[at:] else {}
    out = ["# libtdl reference", "", "Made from the public headers.", ""]
    declared = {name for path in headers
                for name in re.findall(r"tdl_builder_(\w+)\(", open(path, encoding="utf-8").read())}
    for path in headers:
        text = open(path, encoding="utf-8").read()
        head = re.search(r"/\*\*\s*\n \* @file (\S+)(.+?)\*/", text, re.S)
        out += [f"## <tdl/{head.group(1)}>", "", plain(head.group(2)), ""]
        for kind, what in sections(text):
            if kind == "heading":
                out += [f"### {what[0].upper()}{what[1:]}", ""]
            else:
                name, comment, code = what
                out += [f"#### `{name}`", ""] + ([comment, ""] if comment else [])
                out += ["```c", code, "```", ""] + list(operands(code, taken, declared))
                if not comment and code.rstrip().endswith(");") and "typedef" not in code:
                    wrong.append(f"{path}: {name}() has no comment")
        wrong += [f"{path}: {complaint}" for complaint in complaints(text, "\n".join(out))]
    wrong += [f"{function} is listed with what it takes, and in no header" for function in taken]
    if wrong:
        sys.exit("\n".join(wrong))
    with open(output, "w", encoding="utf-8") as f:
        f.write("\n".join(out))


if __name__ == "__main__":
    main()
