#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Library, tools and plugin built without Vulkan, where its headers only fail; then a
# short run of them.
#
#     without-vulkan.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2/without-vulkan
command -v meson >/dev/null || { echo "skipped: meson is not installed" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }; }

# As pipelines/setup.sh has it, unoptimised and for this machine alone, since it runs for a
# moment only; kept, so that the next time is quick.
poison=$2/no-vulkan-headers
mkdir -p "$poison/vulkan"
for name in vulkan.h vulkan_core.h; do
    echo "#error Vulkan in a build without it" >"$poison/vulkan/$name"
done
[ -e "$build/build.ninja" ] || quietly meson setup "$build" "$source" -Dvulkan=disabled \
    -Dtests=false -Doptimization=0 -Ddebug=false -Dcpu-levels=native -Dwerror=true "-Dc_args=-I$poison"
quietly meson configure "$build" -Ddefault_library=both
quietly ninja -C "$build" -j 2

DESTDIR=$work quietly meson install -C "$build" --no-rebuild
[ -z "$(find "$work" -path '*/tdl/vulkan.h')" ] || { echo "FAILED: vulkan.h is installed" && exit 1; }
pc=$(find "$work" -name tdl.pc)
grep -q '^vulkan=no$' "$pc"

# Public names alone, so that a program's own functions are its own.
nm -g --defined-only "$(find "$work" -name libtdl.a)" | grep ' [A-Z] ' >"$work/names"
! grep -v ' tdl_' "$work/names" || { echo "FAILED: names of libtdl.a" && exit 1; }
grep -q ' T tdl_context_create$' "$work/names"

# A program that has the library in itself, and a function with a name of its inside.
cat >"$work/alone.c" <<'END'
#include <tdl/models.h>
int ncnn_find_blob(void);
int ncnn_find_blob(void) { return 0; }
int main(void)
{
    struct tdl_context *context;
    const enum tdl_result r =
        tdl_context_create(&(struct tdl_context_params){.device = "cpu"}, &context);
    tdl_context_destroy(&context);
    return r != TDL_OK;
}
END
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$work
read -ra flags < <(pkg-config --static --cflags --libs tdl | sed 's/-ltdl\b/-l:libtdl.a/')
cc -std=c11 "$work/alone.c" "${flags[@]}" -o "$work/alone"
! ldd "$work/alone" | grep libtdl || { echo "FAILED: linked to the shared library" && exit 1; }
"$work/alone" || { echo "FAILED: a program that is linked statically" && exit 1; }
GST_PLUGIN_PATH=$build/gst GST_REGISTRY=$build/registry.bin \
    bash "$source/tests/pipelines/no-vulkan.sh" "$build" no-build
