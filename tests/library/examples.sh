#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# libtdl as its users meet it: install it into an empty folder, build the
# examples against that by pkg-config alone, in C and from C++, and run them.
#
#     examples.sh SOURCE BUILD IOU-PROGRAM
set -euo pipefail
source=$1 build=$2 iou=$3
. "$(dirname "$0")/check.sh"

DESTDIR=$work meson install -C "$build" --no-rebuild --quiet
pc=$(find "$work" -name tdl.pc)
check "tdl.pc is installed" test -n "$pc"
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$work
export LD_LIBRARY_PATH=${pc%/pkgconfig/tdl.pc}
read -ra flags < <(pkg-config --cflags --libs tdl)

# Of Vulkan's loader, which is opened at run time, nothing is asked for; its headers are for
# those who include <tdl/vulkan.h>.
check "tdl.pc needs no other file" env PKG_CONFIG_LIBDIR="${pc%/*}" PKG_CONFIG_PATH= \
    pkg-config --static --cflags --libs tdl
check "tdl.pc links no loader" sh -c '! pkg-config --static --libs tdl | grep -e -lvulkan'

for header in "$source"/engine/include/tdl/*.h; do
    check "${header##*/} is installed" \
        test -e "$(pkg-config --variable=includedir tdl | sed "s|^$work||; s|^|$work|")/tdl/${header##*/}"
done
reference=$(find "$work" -name 'libtdl-reference.md')
check "the reference is installed" test -s "${reference:-/nowhere}"
examples=${reference%/*}/examples
# Those of the element come with it (installed.sh).
check "the examples are installed" diff -r -x .gitignore -x live.py -x metadata.py -x detections.c -x detections.py -x rust "$source/pipelines/examples" "$examples"

for file in "$examples"/*.c; do
    name=${file##*/} name=${name%.c}
    # Nothing of the source tree is in the path but the file itself.
    libraries=(-lm)
    # Which has a device of its own.
    [ "$name" != effect-loop ] || read -ra libraries < <(echo -lm; pkg-config --cflags --libs vulkan)
    check "$name builds" cc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror "$file" \
        "${flags[@]}" "${libraries[@]}" -o "$work/$name"
    case $name in
    person-mask) ;; # takes files, below
    *) check "$name runs" "$work/$name" ;;
    esac
done

printf '#include <tdl/frame.h>\n#include <cstdio>\nint main() { std::puts(tdl_result_string(TDL_OK)); }\n' >"$work/a.cc"
check "from C++" c++ -Wall -Wextra -Werror "$work/a.cc" "${flags[@]}" -o "$work/a"
check "from C++, running" "$work/a"

model=$source/models/selfie_segmentation.tflite
{ printf 'P6\n256 256\n255\n' && cat "$source/tests/data/grace_hopper.256.rgb"; } >"$work/portrait.ppm"
check "person-mask runs" "$work/person-mask" "$model" "$work/portrait.ppm" "$work/mask.pgm"
tail -c 65536 "$work/mask.pgm" >"$work/mask.gray"
check "person-mask finds the person" "$iou" "$work/mask.gray" 256 256 \
    "$source/tests/data/grace_hopper.256.mask.f32" 256 256 0.97
head -c 1000 "$model" >"$work/short.tflite"
status=0
"$work/person-mask" "$work/short.tflite" "$work/portrait.ppm" "$work/mask.pgm" 2>"$work/text" || status=$?
check "a truncated model is an error with text" test "$status" = 1 -a -s "$work/text"
exit $failed
