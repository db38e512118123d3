#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Inside a Debian of its own, entered by tests/debian.sh: what compilers of a later Mesa make
# of the kernels, for the chips named. Prints lines as compilers.py does.
#
#   tests/profiles/compilers.sh CHIP...
#
# The tree may have the models, and the kernels compiled, which tests/lib/parts.sh puts there.
set -euo pipefail
. "$(dirname "$0")/../../pipelines/common.sh"
build=$TDL_ROOT/build-compilers
log=$TDL_ROOT/build-compilers.log
targets=(engine/tools/tdl-bench engine/tools/tdl-info tests/profiles/VkLayer_tdl_profile.so)

install_packages() {
    export DEBIAN_FRONTEND=noninteractive
    apt_get update -qq
    apt_get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${TDL_PACKAGES[@]}" \
        vulkan-validationlayers python3-numpy
}

# For a moment's use: without optimisation.
make_programs() {
    local shaders=()
    [ ! -e "$TDL_ROOT/build-shaders.c" ] || shaders=(-Dshaders="$TDL_ROOT/build-shaders.c")
    [ -e "$build/build.ninja" ] || meson setup "$build" "$TDL_ROOT" -Dgst=disabled \
        -Doptimization=0 -Ddebug=false -Dcpu-levels=native "${shaders[@]}"
    ninja -C "$build" "${targets[@]}"
}

for step in install_packages make_programs; do
    if ! $step >"$log" 2>&1; then
        tail -n 25 "$log" | sed 's/^/| /'
        say "FAILED $step for compilers of a later Mesa"
        exit 1
    fi
done
exec python3 -B "$TDL_ROOT/tests/profiles/compilers.py" "$build" "$TDL_ROOT/models" "$@"
