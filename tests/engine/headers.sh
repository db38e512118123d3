#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Each public header compiles alone, in strict C11 and in C++, and the library
# exports what the headers declare, all of it and nothing else.
#
#     headers.sh INCLUDE_DIR LIBRARY CC...
set -eu
include=$1 library=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "headers.sh: $*" >&2
    failed=1
}

compile() { # HEADER NAME COMMAND...
    header=$1 name=$2
    shift 2
    "$@" -Wall -Wextra -pedantic -Werror "-I$include" -c -o "$work/o" "$work/alone.${name%%[0-9]*}" ||
        fail "tdl/$header does not compile as $name"
}

# Is there a C++ compiler that belongs to the C compiler?
case $(basename "$1") in
*clang*) cxx=clang++ ;;
*) cxx=c++ ;;
esac
command -v "$cxx" >/dev/null || { echo "headers.sh: no $cxx: C++ is not checked"; cxx=; }

for path in "$include"/tdl/*.h; do
    header=$(basename "$path")
    # Twice: the guard against a second inclusion is part of it.
    for suffix in c cc; do
        printf '#include <tdl/%s>\n#include <tdl/%s>\nint alone;\n' "$header" "$header" \
            >"$work/alone.$suffix"
    done
    compile "$header" c11 "$@" -std=c11 -Wstrict-prototypes
    [ -z "$cxx" ] || compile "$header" cc11 "$cxx" -std=c++11
    [ -z "$cxx" ] || compile "$header" cc20 "$cxx" -std=c++20
done

# A declaration may span lines, and its name may stand on the second.
grep -hv "^#" "$include"/tdl/*.h | tr '\n' ' ' | grep -o 'TDL_API [^;(]*(' |
    sed 's/ *($//; s/.*[ *]//' | sort >"$work/declared"
nm -D --defined-only "$library" | awk '$2 == "T" || $2 == "D" || $2 == "R" || $2 == "B" {
    sub(/@.*/, "", $3); print $3 }' | sort >"$work/exported"
[ "$(wc -l <"$work/declared")" -gt 50 ] || fail "found only $(wc -l <"$work/declared") declarations"
missing=$(comm -23 "$work/declared" "$work/exported")
extra=$(comm -13 "$work/declared" "$work/exported" | grep -v '^_\(init\|fini\|edata\|end\)$\|^__' || true)
[ -z "$missing" ] || fail "declared, but not in the library:" $missing
[ -z "$extra" ] || fail "in the library, but in no header:" $extra
# Packages of programs depend on the version that brought a function.
sed -n 's/^ \(tdl_[^@]*\)@.*/\1/p' "$include/../../debian/libtdl0.symbols" | sort >"$work/packaged"
unlisted=$(comm -3 "$work/packaged" "$work/exported" | tr -d '\t' | grep '^tdl_' || true)
[ -z "$unlisted" ] || fail "not the same in the library and in debian/libtdl0.symbols:" $unlisted
# Programs know the library by this name, from version to version.
soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p')
[ "$soname" = libtdl.so.0 ] || fail "the library's soname is '$soname', not libtdl.so.0"
exit $failed
