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
. "$TDL_ROOT/tests/lib/foreign.sh"
[ $# -gt 0 ] || set -- arm64 armhf i386 s390x
programs=(engine/tools/tdl-info engine/tools/tdl-run
    tests/engine/test-{cpu-cores,ops,ops-vision,frame-compose} tests/models/test-{ncnn,onnx-data,tflite-ops})
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

on() { # on PROGRAM [ARGUMENT...]
    env QEMU_CPU="$cpu" TDL_DEVICE=cpu TDL_TEST_CASES=1 "$run" "$build/$1" "${@:2}"
}

# Its range and mean; the last digits are each processor's own. XNNPACK says so if it is there
# and does not start.
mask() {
    local got
    got=$(on engine/tools/tdl-run "$model" 2>&1) || { echo "$got"; return 1; }
    echo "$got"
    [[ $got != *"XNNPACK does not start"* ]] &&
        grep '^output activation_10 .* float32\[1,256,256,1\], 0 to 6.9[0-9]*e-16, mean 1.67[0-9]*e-19$' <<<"$got"
}

# Which loops are taken, and what the processor knows.
names_instructions() {
    local wanted
    case $arch-$cpu in
    arm64-max) wanted='sve, NEON, dotprod, fp16, SVE, XNNPACK' ;;
    arm64-*) wanted='baseline, NEON, XNNPACK' ;;
    armhf-*) wanted='baseline, NEON, VFPv4, no XNNPACK' ;;
    *) wanted='baseline, no XNNPACK' ;;
    esac
    on engine/tools/tdl-info -d cpu | tee /dev/stderr | grep "driver  *$wanted"
}

# What a test is told: the page that it holds the reader against.
words_of() { # words_of PROGRAM
    case $1 in */test-ncnn) echo "$TDL_ROOT/doc/models.md" ;; esac
}

# qemu-user has no limit of addresses. Loops are those of every processor, readers are not.
is_left_out() { # is_left_out PROGRAM
    case $1 in
    */test-cpu-cores) [ "$run" != env ] ;;
    tests/models/*) [ "$cpu" != "${cpus[0]}" ] ;;
    *) false ;;
    esac
}

run_all() {
    local program
    for program in "${programs[@]}"; do
        [[ $program == tests/* ]] || continue
        ! is_left_out "$program" || continue
        # shellcheck disable=SC2046 # a word an argument
        check "$name: ${program##*/}" on "$program" $(words_of "$program")
    done
    check "$name: instructions" names_instructions
    if [ -e "$model" ]; then
        check "$name: the person model" mask
    else
        say "skipped $name, the person model: pipelines/fetch-models.sh has not fetched it"
    fi
}

check "packages for $*" install_packages "$@" || exit 1
for arch in "$@"; do
    about "$arch"
    check "$arch: set-up" set_up || continue
    check "$arch: build without a warning" ninja -C "$build" "${programs[@]}" || continue
    for cpu in "${cpus[@]}"; do
        name=$arch
        [ "$cpu" = "${cpus[0]}" ] || name+=" on $cpu"
        run_all
    done
done
