# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# OpenGL takes our dma-bufs for textures as they are: the picture drawn from them
# is, to the last byte, that of the CPU's way.
. "$(dirname "$0")/lib.sh"
export GST_GL_PLATFORM=egl GST_GL_API=gles2 GST_GL_WINDOW=surfaceless

frames=8
filter="tdlfilter name=filter model=$tiny refine=false smoothing=0 interval=15 qos=false"
still_camera

# drawn FORMAT: glcolorconvert draws. gldownload would not do alone: GStreamer
# 1.26 does not fetch the pixels of an imported texture, and says nothing.
drawn() {
    echo "glupload ! video/x-raw(memory:GLMemory) !" \
        "glcolorconvert ! video/x-raw(memory:GLMemory),format=$1 ! gldownload ! video/x-raw"
}
# imported WHAT SOURCE MODE FORMAT METHOD EXPECTED
imported() {
    local line
    line="$(camera_line $frames "$2" 320x180) ! $filter mode=$3 require-zero-copy=true ! $(drawn "$4")"
    check "$1, picture" env GST_DEBUG=glupload:6 GST_DEBUG_FILE="$logs/uploads" \
        $programs/still --frames=$frames --compare="$logs/$6" "$line ! appsink name=sink"
    sed -n 's/.*Changing uploader from .* to \(.*\) with src caps.*/\1/p' "$logs/uploads" >"$logs/methods"
    check "$1, imported" diff <(echo "$5") "$logs/methods"
    [ "$3" = alpha ] ||
        check "$1, no frame copied" $programs/untouched --frames=$frames "$line ! fakesink"
}

check "expected picture, by the CPU's way" $programs/still --write="$logs/rgb" \
    "$(camera_line 2 BGRx 320x180 rw) ! $filter mode=overlay ! appsink name=sink"
check "expected cut-out, by the CPU's way" $programs/still --write="$logs/alpha" \
    "$(camera_line 2 BGRx 320x180 rw) ! $filter mode=alpha ! video/x-raw,format=BGRA ! appsink name=sink"
# The colours are GL's, whose rounding is its own.
check "expected picture, uploaded from the CPU's" $programs/still --write="$logs/yuv" \
    "$(camera_line 2 NV12 320x180 rw) ! $filter mode=overlay ! $(drawn BGRx) ! appsink name=sink"

imported "XR24 to glupload" drm:XR24 overlay BGRx DirectDmabuf rgb
imported "NV12 to glupload" drm:NV12 overlay BGRx Dmabuf yuv
imported "cut-out to glupload" drm:XR24 alpha BGRA DirectDmabuf alpha
