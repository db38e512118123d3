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
# line SOURCE MODE FORMAT
line() {
    echo "$(camera_line $frames "$1" 320x180) ! $filter mode=$2 require-zero-copy=true ! $(drawn "$3")"
}
# picture WHAT SOURCE MODE FORMAT EXPECTED
picture() {
    job "$1, picture" --frames=$frames --compare="$logs/$5" "$(line "${@:2:3}") ! appsink name=sink"
}
imported() { # imported WHAT METHOD
    sed -n 's/.*Changing uploader from .* to \(.*\) with src caps.*/\1/p' \
        "$(log_of "$1, picture")" >"$logs/methods"
    check "$1, imported" diff <(echo "$2") "$logs/methods"
}

job "expected picture, by the CPU's way" --write="$logs/rgb" \
    "$(camera_line 2 BGRx 320x180 rw) ! $filter mode=overlay ! appsink name=sink"
job "expected cut-out, by the CPU's way" --write="$logs/alpha" \
    "$(camera_line 2 BGRx 320x180 rw) ! $filter mode=alpha ! video/x-raw,format=BGRA ! appsink name=sink"
# The colours are GL's, whose rounding is its own.
job "expected picture, uploaded from the CPU's" --write="$logs/yuv" \
    "$(camera_line 2 NV12 320x180 rw) ! $filter mode=overlay ! $(drawn BGRx) ! appsink name=sink"

picture "XR24 to glupload" drm:XR24 overlay BGRx rgb
picture "NV12 to glupload" drm:NV12 overlay BGRx yuv
picture "cut-out to glupload" drm:XR24 alpha BGRA alpha
GST_DEBUG=glupload:6 run_jobs $programs/still
imported "XR24 to glupload" DirectDmabuf
imported "NV12 to glupload" Dmabuf
imported "cut-out to glupload" DirectDmabuf

for drm in XR24 NV12; do
    job "$drm to glupload, no frame copied" --frames=$frames "$(line drm:$drm overlay BGRx) ! fakesink"
done
run_jobs $programs/untouched
