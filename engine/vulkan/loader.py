#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The functions of Vulkan's loader that are called by their own names.

loader.py OUTPUT INCLUDES SOURCE... -- CC...

Writes a line for each function that a SOURCE calls, after the prototypes that
the compiler CC finds in <vulkan/vulkan_core.h>, there or in the folder INCLUDES:

    RESULT(name, (parameters), (arguments))

FUNCTION in RESULT's place where it returns a pointer to a function, NOTHING
where it returns nothing. loader.c makes code of them.
"""
import re
import subprocess
import sys

KINDS = {"VkResult": "RESULT", "PFN_vkVoidFunction": "FUNCTION", "void": "NOTHING"}
PROTOTYPE = re.compile(r"^\s*(\w+)\s+(vk[A-Z]\w*)\s*\(([^()]*)\)\s*;", re.MULTILINE)
CALL = re.compile(r"\b(vk[A-Z]\w*)\s*\(")


def prototypes(compiler, includes):
    text = subprocess.run([*compiler, "-E", "-P", "-I", includes, "-x", "c", "-"],
                          input="#include <vulkan/vulkan_core.h>\n", capture_output=True,
                          text=True, check=True).stdout
    return {name: (result, parameters) for result, name, parameters in PROTOTYPE.findall(text)}


def line(name, result, parameters):
    """Arguments are the parameters' names: their last words, but for array brackets."""
    one_by_one = [" ".join(p.split()) for p in parameters.split(",")]
    arguments = [re.search(r"(\w+)\s*(\[\w*\])?$", p)[1] for p in one_by_one]
    return "%s(%s, (%s), (%s))\n" % (KINDS[result], name, ", ".join(one_by_one),
                                     ", ".join(arguments))


def main():
    output, includes, *sources = sys.argv[1:sys.argv.index("--")]
    known = prototypes(sys.argv[sys.argv.index("--") + 1:], includes)
    called = set()
    for source in sources:
        with open(source, encoding="utf-8") as f:
            called.update(CALL.findall(f.read()))
    lines = [line(name, *known[name]) for name in sorted(called) if name in known]
    if not lines:
        sys.exit("loader.py: no functions of <vulkan/vulkan_core.h> are called: were it and the "
                 "sources found?")
    with open(output, "w", encoding="utf-8") as f:
        f.writelines(lines)


if __name__ == "__main__":
    main()
