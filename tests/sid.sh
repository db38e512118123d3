#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Inside a Debian sid, entered by tests/debian.sh: what no Debian has that was released.
# GStreamer 1.28's own overlay and decoders of our metadata, and software Vulkan with matrix units.
# ONNX's node tests are newer there, too.
# Prints one line for each check: "ok NAME", "FAILED NAME: REASON" or "skipped NAME: REASON".
set -uo pipefail
. "$(dirname "$0")/../pipelines/common.sh"
build=$TDL_ROOT/build-sid
logs=$build/logs
mkdir -p "$logs"
packages=("${TDL_PACKAGES[@]}" "${TDL_IMAGE_PACKAGES[@]}" gstreamer1.0-plugins-bad vulkan-validationlayers
    libonnx-dev libonnx-testdata libprotobuf-c-dev protobuf-c-compiler)
programs=(tests/element/test-{overlay,tensors} tests/engine/test-{ops-matrices,ops-vision,conv} tests/models/test-onnx-nodes)
export GST_PLUGIN_PATH=$build/gst GST_REGISTRY=$build/registry.bin XDG_CACHE_HOME=$build/cache
export TDL_TEST_DATA=$TDL_ROOT/tests/data TDL_TEST_MODELS=$TDL_ROOT/models

# check WHAT COMMAND... : 77 is a skip, whose reason is the last line; what it says of matrix
# units is told.
check() {
    local what=$1 log=$logs/${1//[^A-Za-z0-9.-]/_}.log status=0 units
    shift
    "$@" >"$log" 2>&1 </dev/null || status=$?
    case $status in
    0)
        units=$(grep '^on matrix units: ' "$log")
        say "ok $what${units:+, $units}"
        ;;
    77) say "skipped $what: $(tail -n 1 "$log")" ;;
    *)
        tail -n 25 "$log" | cut -c1-300 | sed 's/^/| /'
        say "FAILED $what: status $status, see ${log#"$TDL_ROOT"/} there"
        ;;
    esac
    return "$status"
}

# It changes every day: what is there today, or what a mirror has that is behind.
install_packages() {
    export DEBIAN_FRONTEND=noninteractive
    printf 'path-exclude=/usr/share/%s/*\n' doc man locale >/etc/dpkg/dpkg.cfg.d/tests
    echo force-unsafe-io >>/etc/dpkg/dpkg.cfg.d/tests
    apt_get update -qq -o Acquire::Check-Valid-Until=false &&
        apt_get dist-upgrade -y -qq -o Dpkg::Use-Pty=0 &&
        apt_get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${packages[@]}" &&
        apt_get clean
}

build() {
    [ -e "$build/build.ninja" ] || meson setup "$build" "$TDL_ROOT" --buildtype=debugoptimized \
        -Dcpu-levels=native -Danalytics=enabled || return
    ninja -C "$build" gst/libgsttdlfilter.so engine/tools/tdl-info "${programs[@]}"
}

picture() {
    gst-launch-1.0 -q filesrc location="$TDL_PORTRAIT" ! jpegdec ! videoconvert ! \
        video/x-raw,format=RGB ! tdlfilter device=cpu mode=passthrough meta=segmentation ! \
        segmentationoverlay ! pngenc ! filesink location="$build/overlay.png"
}

# Few random cases: each of them has kernels of its own, which software Vulkan compiles for long.
on_units() { # on_units PROGRAM CASES
    local log=$logs/units
    TDL_DEVICE=vulkan TDL_TEST_CASES=${TDL_TEST_CASES:-$2} "$build/tests/engine/$1" 2>&1 | tee "$log" ||
        return
    grep -q '^on matrix units: [1-9]' "$log" || { say "no step ran on matrix units"; return 1; }
}

check "packages of today's sid" install_packages &&
    check "build with metadata" build || exit 1
for device in cpu vulkan; do
    check "GStreamer's segmentationoverlay, $device" env TDL_DEVICE=$device "$build/tests/element/test-overlay"
    check "tensors in caps, $device" env TDL_DEVICE=$device "$build/tests/element/test-tensors"
done
check "ONNX's node tests" env TDL_DEVICE=cpu "$build/tests/models/test-onnx-nodes"
check "a picture: ${build#"$TDL_ROOT"/}/overlay.png" picture
for cases in ops-matrices:2 ops-vision:4 conv:2; do
    name=${cases%:*}
    if "$build/engine/tools/tdl-info" | grep -q 'matrix units *[0-9]'; then
        check "$name" on_units "test-$name" "${cases#*:}"
    else
        say "skipped $name: $("$build/engine/tools/tdl-info" | sed -n 's/^ *driver  *//p' | head -n 1) has no matrix units"
    fi
done
