# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# libcamerasrc: planes in memories of their own, all of one dma-buf, under plain caps. Its
# virtual camera draws moving bars into dma-bufs of the kernel's heap. Debian's libcamera
# (0.4) adds no GstVideoMeta: of 322 px a row has 322 bytes, where GStreamer has 324.
. "$(dirname "$0")/lib.sh"
export LIBCAMERA_PIPELINES_MATCH_LIST=virtual LIBCAMERA_LOG_LEVELS='*:WARN'

mkdir -p /usr/share/libcamera/pipeline/virtual
cat >/usr/share/libcamera/pipeline/virtual/virtual.yaml <<'END'
%YAML 1.1
---
"Bars":
  supported_formats:
  - width: 320
    height: 180
  - width: 322
    height: 182
  test_pattern: "bars"
END

# It has no num-buffers, and the last buffer of eos-after does not pass.
exact() { # exact DEVICE PATH SIZE FRAMES
    job "$1: $4 frames of $3" --frames="$4" --moving --dma-buf --import-path="$2" \
        "libcamerasrc camera-name=Bars ! video/x-raw,format=NV12,width=${3%x*},height=${3#*x} !
            identity eos-after=$(($4 + 1))" \
        "model=$tiny mode=overlay require-zero-copy=false device=$1 ! video/x-raw"
}
exact vulkan dma-buf 320x180 20 # its four buffers go round
exact vulkan dma-buf 322x182 10
exact cpu dma-buf-mapped 320x180 10
exact cpu dma-buf-mapped 322x182 10
run_jobs $programs/exact
