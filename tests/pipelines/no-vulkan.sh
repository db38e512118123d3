#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Where Vulkan is not there (no loader, no driver, not in this build) the CPU computes
# and says why, and who insists on Vulkan hears what to install.
#
#     no-vulkan.sh BUILD KIND...    a KIND is no-loader, no-driver or no-build
. "$(dirname "$0")/common.sh"
build=$1
shift
plugin=$build/gst/libgsttdlfilter.so
model=$TDL_TEST_MODELS/selfie_segmentation_landscape.tflite
install='mesa-vulkan-drivers|libvulkan-dev'
unset TDL_DEVICE

# without KIND COMMAND... : run it so.
without() {
    local kind=$1 settings=()
    shift
    case $kind in
    no-loader) settings=("LD_PRELOAD=$build/tests/lib/libno-loader.so") ;;
    no-driver) settings=(VK_DRIVER_FILES=/nowhere VK_ICD_FILENAMES=/nowhere) ;;
    esac
    env "${settings[@]}" timeout 300 "$@" >"$temp/log" 2>&1
}
says() { grep -Eq "$1" "$temp/log" || { cat "$temp/log" && false; }; }

frames() { # frames KIND PROPERTY... : three of them through the element
    local kind=$1
    shift
    GST_DEBUG='tdl*:4' GST_DEBUG_NO_COLOR=1 without "$kind" gst-launch-1.0 -v \
        videotestsrc num-buffers=3 ! video/x-raw,format=NV12,width=64,height=48 ! \
        tdlfilter "$@" ! fakesink silent=false
}

tools() { # tools KIND
    check "$1: tdl-info" without "$1" "$build/engine/tools/tdl-info"
    check "$1: it lists the CPU" says '^ +type +CPU$'
    check "$1: and says why that is all" says "^Nothing but the CPU: .*($install)"
    check "$1: tdl-bench" without "$1" "$build/engine/tools/tdl-bench" -w 1 -i 1 "$model"
    check "$1: it runs on the CPU" says '^device +CPU'
    check "$1: tdl-bench --device vulkan fails" \
        not without "$1" "$build/engine/tools/tdl-bench" --device vulkan -w 1 -i 1 "$model"
    check "$1: and says what to install" says "$install"
}

element() { # element KIND
    check "$1: tdlfilter" frames "$1"
    check "$1: three frames come out" test "$(grep -c 'chain  *\*' "$temp/log")" = 3
    check "$1: the log says who computes, and why" says "device cpu computes: .*($install)"
    check "$1: device=vulkan fails" not frames "$1" device=vulkan
    check "$1: and says what to install" says "$install"
}

for kind in "$@"; do
    tools "$kind"
    # GStreamer's library for Vulkan is linked to the loader, and the plugin to that.
    if [ "$kind" = no-loader ] && ldd "$plugin" | grep -q libgstvulkan; then
        printf 'left out: %s for a plugin that shares images with GStreamer\n' "$kind"
        continue
    fi
    check "$kind: the plugin is not linked to the loader" \
        not grep -q 'NEEDED.*libvulkan' <(objdump -p "$plugin")
    element "$kind"
done
finish
