# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls of every function in public headers, with one pointer NULL in each, and with all
of them: nulls.py HEADER...

RESULT(function, parameter, needed, call), OPERAND(…) of what appends to a builder, and
OTHER(…) of the rest; test-nulls.c says what they are, and has the values in `v`.
Where the parameter is a struct with reserved words, too, NEWER_RESULT(function,
parameter, call) and NEWER_OPERAND(…), with one of them set. For each struct
STRUCT(name, reserved words)."""
import re
import sys

HANDLES = ("context", "builder", "operand", "tensor", "graph", "buffer", "batch", "composer")
# NULL has a meaning there, says the header.
OPTIONAL = {"tdl_builder_create:context", "tdl_compose:mask", "tdl_builder_activation:x",
            "tdl_context_on_lost:lost", "tdl_builder_explain:report"}
OPTIONAL_NAMES = ("out_point", "out_layers", "out_infos", "out_modifiers", "out_name")
SCALARS = {"uint32_t": "1", "size_t": "4", "uint64_t": "0", "float": "1", "bool": "false",
           "int": "-1", "VkSemaphore": "VK_NULL_HANDLE"}


def structs(text):
    """Names, and how many words each has in reserve."""
    for name, body in re.findall(r"^struct (tdl_\w+) \{\n(.*?)^\};", text, re.S | re.M):
        reserved = re.search(r"^    uint64_t reserved\[(\d)\];.*\n\Z", body, re.M)
        yield name, int(reserved.group(1)) if reserved else 0


def functions(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"\bTDL_PRINTF\([^)]*\)", " ", text)
    for returns, name, rest in re.findall(
            r"^TDL_API ([\w ]+?[ *]+)(tdl_\w+)\((.*?)\)\s*;", text, re.S | re.M):
        yield returns.strip(), name, [" ".join(p.split()) for p in re.split(r",(?![^(]*\))", rest)]


def is_function(parameter):
    return re.match(r"tdl_\w+_fn \w+$", parameter) is not None


def is_pointer(parameter):
    return "*" in parameter or "[" in parameter or is_function(parameter)


def name_of(parameter):
    found = re.search(r"\(\*(\w+)\)", parameter) or re.search(r"(\w+)(\[\])?$", parameter)
    return found.group(1)


def value_of(function, parameter):
    """One that will do."""
    kind, name = re.sub(r"\bconst\b ?", "", parameter), name_of(parameter)
    if "(*" in kind:
        return "release"
    if is_function(kind):
        return "on_" + name
    if function.endswith("_async") and name == "out_data": # written later
        return "v.later"
    if not is_pointer(kind):
        kind = kind[:-len(name)].strip()
        return f"({kind})0" if kind.startswith("enum") else SCALARS[kind]
    for handle in HANDLES:
        if kind.startswith(f"struct tdl_{handle} *"):
            if kind.count("*") == 1:
                return f"v.{handle}"
            return "v.operands" if handle == "operand" else f"&v.out.{handle}"
    if kind.startswith("struct tdl_binding *"):
        return f"v.{name}"
    if "struct tdl_image *" in kind: # of which there are none everywhere
        return "NULL" if kind.count("*") == 1 and "[" not in kind else "(void *)v.scratch"
    return '"x"' if kind == f"char *{name}" else "(void *)v.scratch"


def is_needed(function, parameter):
    name = name_of(parameter)
    if f"{function}:{name}" in OPTIONAL or name in OPTIONAL_NAMES:
        return False
    return name.startswith("out") or is_function(parameter) or any(
        re.match(rf"(const )?struct tdl_{handle} \*\w+$", parameter) for handle in HANDLES)


def emit(returns, name, parameters):
    kind = {"enum tdl_result": "RESULT", "struct tdl_operand *": "OPERAND"}.get(returns, "OTHER")
    parameters = [p for p in parameters if p not in ("void", "...")]
    pointers = [p for p in parameters if is_pointer(p)]
    for null in pointers + (["all"] if len(pointers) > 1 else []):
        call = ", ".join("NULL" if null in (p, "all") and is_pointer(p) else value_of(name, p)
                         for p in parameters)
        needed = any(is_needed(name, p) for p in (pointers if null == "all" else [null]))
        print(f'{kind}("{name}", "{null if null == "all" else name_of(null)}", '
              f'{"true" if needed else "false"}, {name}({call}))')


def emit_newer(returns, name, parameters, growing):
    kind = {"enum tdl_result": "RESULT", "struct tdl_operand *": "OPERAND"}.get(returns)
    for newer in parameters if kind else []:
        found = re.match(r"const struct (tdl_\w+) \*\w+$", newer)
        if found and growing.get(found.group(1)):
            last = growing[found.group(1)] - 1
            call = ", ".join(f"&(struct {found.group(1)}){{.reserved[{last}] = 1}}"
                             if p == newer else value_of(name, p)
                             for p in parameters if p != "...")
            print(f'NEWER_{kind}("{name}", "{name_of(newer)}", {name}({call}))')


def main():
    growing = {}
    for path in sys.argv[1:]:
        for name, words in structs(open(path, encoding="utf-8").read()):
            growing[name] = words
            print(f"STRUCT({name}, {words})")
    for path in sys.argv[1:]:
        text = open(path, encoding="utf-8").read()
        found = list(functions(text))
        if len(found) != len(re.findall(r"^TDL_API\b", text, re.M)):
            sys.exit(f"{path}: {len(found)} functions are understood, and there are more")
        for returns, name, parameters in found:
            if not name.endswith("_destroy"): # test-misuse.c has those
                emit(returns, name, parameters)
                emit_newer(returns, name, parameters, growing)


main()
