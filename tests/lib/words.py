#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documentation and comments as their readers need them: words.py SOURCE [-v]

A file that prose names exists. A page's sentences have at most MEAN words in the mean.
Of the comments few begin with a word that only the line before explains. -v prints
the figures of every page and folder, and those comments.
"""
import os
import re
import sys

TOPS = ("debian", "doc", "engine", "gst", "pipelines", "shaders", "tests")
MEAN = 18  # words in a sentence of a page
HEADLESS = 0.07  # of the comments of each of these folders:
HELD = ("engine", "gst", "pipelines", "shaders", "tests")

# Files that prose may name though the tree has none: made by the build, or of others.
ELSEWHERE = {
    "libtdl-reference.md": "engine/reference.py makes it",
    "drm_fourcc.h": "libdrm's",
    "Operators.md": "ONNX's",
    "part.glsl": "tests/engine/specs.py writes it",
    "none.glsl": "none of tests/engine/specs.py",
    "specs.h": "shaders/specs.py makes it",
}
SUFFIXES = r"(?:c|h|comp|glsl|py|sh|md|ini|prs|map|in)"
NAMED = re.compile(r"(?<![\w./{}$*<>~-])((?:[\w.-]+/)*[\w-][\w.-]+\.%s)(?![\w*{}])(?!\.\w)" % SUFFIXES)
FOLDER = re.compile(r"(?<![\w./{}$*<>~-])((?:%s)/(?:[\w.-]+/)*)(?![\w*{}$<.])" % "|".join(TOPS))
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b")

# Words that leave a comment without its subject where they begin it.
HEAD = re.compile(r"(?:of|what|which|that|those|whose|who|where|whether|likewise|the same|so|else|but|"
                  r"beside|behind|it|its|they|them|this|these)\b", re.I)


def walk(source):
    """All files of the tree that are its own, relative to its root."""
    found = [name for name in sorted(os.listdir(source))
             if os.path.isfile(os.path.join(source, name))]
    for top in TOPS:
        for folder, folders, names in os.walk(os.path.join(source, top)):
            folders[:] = sorted(n for n in folders if n not in ("node_modules", "__pycache__"))
            found += [os.path.relpath(os.path.join(folder, n), source) for n in sorted(names)]
    return found


def read(source, name):
    with open(os.path.join(source, name), encoding="utf-8", errors="replace") as f:
        return f.read()


def comments(name, text):
    """Line and text of each comment. Lines of comments that follow each other are one."""
    if name.endswith((".c", ".h", ".comp", ".glsl")):
        pattern = r'"(?:\\.|[^"\\\n])*"|/\*(.*?)\*/|//((?:[^\n]|\n[ \t]*//)*)'
        marks = r"(?m)^[ \t]*(?:\*+|/{1,2})[!<]?(?=\s|$)"
    elif name.endswith((".py", ".sh", "meson.build")):
        pattern = r'(?:^|\n)[ \t]*"""(.*?)"""|(?:^|\n)[ \t]*# ((?:[^\n]|\n[ \t]*# )*)'
        marks = r"(?m)^[ \t]*#+"
    else:
        return
    for found in re.finditer(pattern, text, re.S):
        comment = found[1] or found[2]
        if comment:
            comment = " ".join(re.sub(marks, " ", comment).split()).strip("* !<")
            if len(comment) > 2 and "SPDX" not in comment:
                yield text.count("\n", 0, found.start(1 if found[1] else 2)) + 1, comment


def paragraphs(text):
    """A page's prose: without headings, code and tables, each entry of a list by itself."""
    paragraph, code = [], False
    for line in text.split("\n") + [""]:
        code ^= line.startswith("```")
        entry = re.match(r"\s*(?:[-*]|\d+\.)\s+", line)
        apart = code or not line.strip() or line.startswith(("    ", "```", "#", "|", "![", "<"))
        if (apart or entry) and paragraph:
            yield " ".join(paragraph)
            paragraph = []
        if not apart:
            paragraph.append(line[entry.end():] if entry else line.strip())


def sentences(text):
    """How many words each sentence of a page has; code in a line is one word."""
    for paragraph in paragraphs(text):
        paragraph = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "X", paragraph))
        for sentence in re.split(r"(?<=[.!?…])[)*\"]*\s+(?=[A-Z(\[*\"0-9])", paragraph):
            if re.search(r"\w", sentence):
                yield len(sentence.split())


def missing(name, prose, paths):
    """The files and folders named in `prose`, of the file `name`, that are not there."""
    prose = re.sub(r"\w+://\S+|\]\(\w+:[^)]*\)", " ", prose)
    for found in list(NAMED.finditer(prose)) + list(FOLDER.finditer(prose)):
        path = found[1].rstrip("/")
        if PLACEHOLDER.search(path.replace("README", "").replace("CONTRIBUTING", "")
                              .replace("ZERO-COPY", "").replace("CONVOLUTION", "")):
            continue
        if os.path.basename(path) in ELSEWHERE:
            continue
        beside = os.path.normpath(os.path.join(os.path.dirname(name), path))
        if path not in paths and beside not in paths:
            yield path


def endings(files):
    """Every path that ends at a file or folder of the tree, with fewer folders before it, too."""
    ends = set()
    for name in files:
        parts = name.split("/")
        for last in range(1, len(parts) + 1):
            ends.update("/".join(parts[first:last]) for first in range(last))
    return ends


def main():
    source, verbose = sys.argv[1], "-v" in sys.argv[2:]
    files = walk(source)
    paths = endings(files)
    faults, counts = 0, {}
    for name in files:
        text = read(source, name) if name.endswith(
            (".c", ".h", ".comp", ".glsl", ".py", ".sh", ".md", "meson.build")) else ""
        prose = list(comments(name, text))
        if name.endswith(".md"):
            prose = list(enumerate(text.split("\n"), 1))
            words = list(sentences(text))
            mean = sum(words) / max(len(words), 1)
            if verbose:
                print("%s: %d sentences of %.1f words" % (name, len(words), mean))
            if mean > MEAN:
                faults += 1
                print("%s: sentences of %.1f words, more than %d: cut the longest" % (name, mean, MEAN))
        elif name.endswith((".c", ".h", ".comp", ".glsl")):
            count = counts.setdefault(os.path.dirname(name), [0, 0])
            for line, comment in prose:
                headless = bool(HEAD.match(comment))
                count[0] += 1
                count[1] += headless
                if verbose and headless:
                    print("%s:%d: %s" % (name, line, comment))
        for line, said in prose:
            for path in missing(name, said, paths):
                faults += 1
                print("%s:%d: there is no %s" % (name, line, path))
    if verbose:
        for folder, (number, headless) in sorted(counts.items()):
            print("%s: %d of %d comments are headless" % (folder, headless, number))
    for top in HELD:
        held = [c for folder, c in counts.items() if folder.split("/")[0] == top]
        number, headless = sum(c[0] for c in held), sum(c[1] for c in held)
        print("%d of %d comments of %s/ begin with what the line before explains"
              % (headless, number, top))
        if headless > HEADLESS * number or not number:
            faults += 1
            print("these are more than %.0f %%, or none was found: -v shows them" % (100 * HEADLESS))
    return 1 if faults or len(files) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
