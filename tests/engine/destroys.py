# SPDX-License-Identifier: LGPL-2.1-or-later
"""DESTROY(tdl_x) for each tdl_x_destroy() in public headers: destroys.py HEADER..."""
import re
import sys

for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    for name in re.findall(r"^TDL_API void (\w+)_destroy\(struct \1 \*\*\w+\);", text, re.M):
        print(f"DESTROY({name})")
    if len(re.findall(r"^TDL_API\b[^;]*_destroy\(", text, re.M)) != len(
            re.findall(r"^TDL_API void (\w+)_destroy\(struct \1 \*\*", text, re.M)):
        sys.exit(f"{path}: a destroy function of another kind")
