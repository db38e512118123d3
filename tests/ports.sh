#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Inside a Debian of its own, entered by tests/debian.sh: the engine built for other
# processors, and run there by qemu-user. Prints one line for each check: "ok NAME",
# "FAILED NAME: REASON" or "skipped NAME: REASON".
#
#   tests/ports.sh [arm64|armhf|i386|s390x]...
#
# models/ may have a model; what it makes of zeros is compared between all of them.
set -uo pipefail
. "$(dirname "$0")/../pipelines/common.sh"
[ $# -gt 0 ] || set -- arm64 armhf i386 s390x
programs=(engine/tools/tdl-info engine/tools/tdl-run tests/engine/test-{cpu-cores,ops,ops-vision}
    tests/models/test-{ncnn,onnx-data,tflite-ops})
model=models/selfie_segmentation.tflite
logs=$TDL_ROOT/build-ports-logs
mkdir -p "$logs"

# check WHAT COMMAND...
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

# about ARCH : gcc's name of it, meson's, the folder of its libraries, and who runs it.
about() {
    endian=little
    case $1 in
    arm64) triple=aarch64-linux-gnu family=aarch64 run=qemu-aarch64-static ;;
    armhf) triple=arm-linux-gnueabihf family=arm run=qemu-arm-static ;;
    i386) triple=i686-linux-gnu family=x86 run=env ;;
    s390x) triple=s390x-linux-gnu family=s390x run=qemu-s390x-static endian=big ;;
    *) die "no processor named $1" ;;
    esac
    libraries=${triple/i686/i386} build=$TDL_ROOT/build-$1
}

install_packages() {
    local arch packages=(meson ninja-build gcc libc6-dev pkg-config python3 glslang-tools qemu-user-static)
    export DEBIAN_FRONTEND=noninteractive
    for arch in "$@"; do
        about "$arch"
        dpkg --add-architecture "$arch"
        packages+=("gcc-$triple" {libc6-dev,libvulkan-dev,libjansson-dev,libpng-dev,libdrm-dev}":$arch")
        [ "$arch" != arm64 ] || packages+=({libxnnpack-dev,libpthreadpool-dev}":$arch")
    done
    apt_get update -qq &&
        apt_get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${packages[@]}" &&
        apt_get clean
}

set_up() {
    local shaders=()
    [ ! -e "$TDL_ROOT/build-shaders.c" ] || shaders=(-Dshaders="$TDL_ROOT/build-shaders.c")
    cat >"$build.txt" <<EOF
[binaries]
c = '$triple-gcc'
ar = '$triple-gcc-ar'
strip = '$triple-strip'
pkgconfig = 'pkg-config'
exe_wrapper = '$run'
[properties]
pkg_config_libdir = '/usr/lib/$libraries/pkgconfig:/usr/share/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = '$family'
cpu = '$family'
endian = '$endian'
EOF
    [ -e "$build/build.ninja" ] || meson setup "$build" "$TDL_ROOT" --cross-file "$build.txt" \
        --buildtype=debugoptimized -Dgst=disabled -Dwerror=true "${shaders[@]}"
}

# Its range and mean; the last digits are each processor's own.
mask() {
    local got
    got=$("$run" "$build/engine/tools/tdl-run" -d cpu "$model") || return
    grep '^output activation_10 .* float32\[1,256,256,1\], 0 to 6.9[0-9]*e-16, mean 1.67[0-9]*e-19$' <<<"$got"
}

# Tests of readers write their files' numbers as the machine has them, and one of
# operators on float16 fails on big-endian machines. qemu-user has no limit of addresses.
is_left_out() { # is_left_out PROGRAM
    case $1 in
    tests/models/* | */test-ops-vision) [ $endian = big ] ;;
    */test-cpu-cores) [ "$run" != env ] ;;
    *) false ;;
    esac
}

check "packages for $*" install_packages "$@" || exit 1
for arch in "$@"; do
    about "$arch"
    check "$arch: set-up" set_up || continue
    check "$arch: build without a warning" ninja -C "$build" "${programs[@]}" || continue
    for program in "${programs[@]}"; do
        [[ $program == tests/* ]] || continue
        ! is_left_out "$program" || continue
        check "$arch: ${program##*/}" env TDL_DEVICE=cpu TDL_TEST_CASES=1 "$run" "$build/$program"
    done
    if [ -e "$model" ]; then
        check "$arch: the person model" mask
    else
        say "skipped $arch, the person model: pipelines/fetch-models.sh has not fetched it"
    fi
done
