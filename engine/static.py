# SPDX-License-Identifier: LGPL-2.1-or-later
"""The static library as one object that shows public names alone.

What is hidden in a shared library is not in an archive: a program with a function of the
same name as one inside would not link, or have it called by the library.

    static.py OUTPUT ARCHIVE OBJCOPY AR COMPILER [ARGUMENT...]
"""
import os
import subprocess
import sys

output, archive, objcopy, ar, *compiler = sys.argv[1:]
whole = output + '.o'
subprocess.run([*compiler, '-r', '-nostdlib', '-Wl,--whole-archive', archive,
                '-Wl,--no-whole-archive', '-o', whole], check=True)
subprocess.run([objcopy, '--localize-hidden', whole], check=True)
if os.path.exists(output):
    os.remove(output)
subprocess.run([ar, 'rcs', output, whole], check=True)
os.remove(whole)
