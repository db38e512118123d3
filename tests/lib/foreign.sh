# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: LGPL-2.1-or-later
# Other processors, inside a Debian with libraries of theirs. Sourced, behind
# pipelines/common.sh, by tests/ports.sh and tests/ports-packages.sh.

logs=$TDL_ROOT/build-ports-logs
model=$TDL_ROOT/models/selfie_segmentation.tflite
mkdir -p "$logs"

# check WHAT COMMAND... : what it wrote is shown where it fails.
check() {
    local what=$1 log=$logs/${1//[^A-Za-z0-9.-]/_}.log status=0
    shift
    "$@" >"$log" 2>&1 </dev/null || status=$?
    if [ $status = 0 ]; then
        say "ok $what"
    else
        tail -n 25 "$log" | cut -c1-300 | sed 's/^/| /'
        say "FAILED $what: status $status, see ${log#"$TDL_ROOT"/} there"
    fi
    return $status
}

# about ARCH : gcc's name of it, meson's, the folder of its libraries, who runs its programs,
# and the processors that are pretended (qemu's QEMU_CPU), the one with most first.
about() {
    endian=little cpus=(max)
    case $1 in
    arm64) triple=aarch64-linux-gnu family=aarch64 run=qemu-aarch64-static cpus=(max cortex-a53) ;;
    armhf) triple=arm-linux-gnueabihf family=arm run=qemu-arm-static ;;
    i386) triple=i686-linux-gnu family=x86 run=env ;;
    s390x) triple=s390x-linux-gnu family=s390x run=qemu-s390x-static endian=big ;;
    *) die "no processor named $1" ;;
    esac
    libraries=${triple/i686/i386} build=$TDL_ROOT/build-$1
}
