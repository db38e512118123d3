#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Tests with a real camera driver, real dma-bufs and a real display driver, in
# a Debian 13 that QEMU runs in software. Prints one line for each check:
# "ok NAME", "FAILED NAME: REASON" or "skipped NAME: REASON".
#
#   tests/vm/run.sh            all of tests/vm/guest/test-*.sh
#   tests/vm/run.sh NAME...    only these, such as: tests/vm/run.sh camera
#   VM_LONG=1 tests/vm/run.sh  more frames where leaks or wear could show
#
# The root is that of `tests/debian.sh trixie`, with more packages; the guest
# reads it through virtiofs. Nothing is installed on this machine but QEMU, and
# that only where apt-get can be asked. Logs lie in build/test-logs/vm.
set -uo pipefail
. "$(dirname "$0")/../../pipelines/common.sh"
system=$TDL_BUILD/trixie
logs=$TDL_BUILD/test-logs/vm
mkdir -p "$logs"

skip_all() { say "skipped virtual machine: $*"; exit 77; }
failed() { say "FAILED $1: see ${2#"$TDL_ROOT"/}"; tail -n 15 "$2" | sed 's/^/| /'; exit 1; }

needs() {
    [ "$(id -u)" = 0 ] || skip_all "only root can make another Debian and boot it"
    [ "$(uname -m)" = x86_64 ] || skip_all "the guest is made for x86_64, this machine is $(uname -m)"
    command -v apt-get >/dev/null || command -v qemu-system-x86_64 >/dev/null ||
        skip_all "no QEMU (qemu-system-x86_64), and no apt-get to install it with"
    . "$TDL_ROOT/tests/vm/qemu.sh"
    find_qemu || install_qemu >"$logs/qemu.log" 2>&1
    # Root could have installed it: what it proves is not left out without a word.
    find_qemu || failed "installing QEMU and virtiofsd" "$logs/qemu.log"
}

# The models need no second fetch over there.
share_models() {
    local source=$TDL_ROOT/models target=$system/src/models
    mkdir -p "$target"
    cp -rLu "$source/." "$target/"
}

# Nor do the kernels need a second compiler, where this machine has a build.
share_kernels() {
    local file=$TDL_BUILD/shaders/shaders.c target=$system/vm/shaders.c
    mkdir -p "$system/vm"
    if [ -e "$TDL_BUILD/build.ninja" ] && ninja -C "$TDL_BUILD" shaders/shaders.c; then
        cmp -s "$file" "$target" || cp "$file" "$target"
    else
        rm -f "$target"
    fi
}

make_root() {
    [ -e "$TDL_ROOT/models/selfie_segmentation.tflite" ] || "$TDL_ROOT/pipelines/fetch-models.sh"
    [ -e "$system/.complete" ] || "$TDL_ROOT/tests/debian.sh" trixie true || return
    share_models && share_kernels && "$TDL_ROOT/tests/debian.sh" trixie tests/vm/root.sh
}

needs
make_root >"$logs/root.log" 2>&1 </dev/null || failed "making the root" "$logs/root.log"
grep -h '^VM PHASE' "$logs/root.log" | sed 's/^/| /'
[ -e "$system/vm/vmlinuz" ] || failed "kernel of the guest" "$logs/root.log"

# In namespaces of their own: whatever ends this script, by whatever signal,
# ends QEMU and virtiofsd, and no mount is left.
exec unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
    "$TDL_ROOT/tests/vm/boot.sh" "$system" "$logs" "$@" </dev/null
