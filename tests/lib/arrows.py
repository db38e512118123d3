# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who calls whom among the files of a static library, by the symbols of its objects."""
import collections
import os
import subprocess


def _sources(root):
    """Of each C file below root, by the name of its object in the library."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".c"):
                path = os.path.relpath(os.path.join(folder, name), root)
                found[path.replace(os.sep, "_") + ".o"] = path
    return found


def calls(root, library):
    """{file: {file that it calls: [symbols]}}, as paths from root."""
    sources, defined, used = _sources(root), {}, collections.defaultdict(set)
    source = None
    lines = subprocess.run(["nm", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in lines.splitlines():
        words = line.split()
        if len(words) == 1 and line.endswith(":"):
            source = sources.get(os.path.basename(words[0][:-1]))
        elif source and len(words) == 3 and words[1] in "TDRBCVW":
            defined[words[2]] = source
        elif source and len(words) == 2 and words[0] == "U":
            used[source].add(words[1])
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for caller, symbols in used.items():
        for symbol in sorted(symbols):
            callee = defined.get(symbol, caller)
            if callee != caller:
                found[caller][callee].append(symbol)
    return found


def circles(found):
    """Files that call each other in a circle, the largest circle first (Tarjan 1972)."""
    index, low, stack, out = {}, {}, [], []

    def visit(start):
        work = [(start, iter(found.get(start, ())))]
        index[start] = low[start] = len(index)
        stack.append(start)
        while work:
            node, callees = work[-1]
            for callee in callees:
                if callee not in index:
                    index[callee] = low[callee] = len(index)
                    stack.append(callee)
                    work.append((callee, iter(found.get(callee, ()))))
                    break
                if callee in stack:
                    low[node] = min(low[node], index[callee])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    circle = stack[stack.index(node):]
                    del stack[stack.index(node):]
                    if len(circle) > 1:
                        out.append(sorted(circle))

    for node in list(found):
        if node not in index:
            visit(node)
    return sorted(out, key=len, reverse=True)


FREE = 4  # files that may call each other in a circle without a reason
LARGEST = 10


def large_circles(found, known):
    """What is larger than may be. Known: {folder: (files at most, why they are in a circle)}."""
    if sum(len(callees) for callees in found.values()) < 100:
        yield "only %d files call others: were the objects found?" % len(found)
    for circle in circles(found):
        most, _ = known.get(os.path.commonpath(circle), (FREE, ""))
        if len(circle) > min(most, LARGEST):
            yield "%d files call each other in a circle: %s" % (len(circle), " ".join(circle))
