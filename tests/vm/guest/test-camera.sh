# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Pictures from the camera's dma-bufs are the same, to the last byte, as pictures
# of the same frames copied by the CPU. With io-mode=dmabuf-import the camera
# writes into memory of ours, with our rows.
. "$(dirname "$0")/lib.sh"

moving_camera

# exact FRAMES FORMAT IO-MODE OPTION... : the camera moves, so a stale frame is
# a wrong one.
device=vulkan path=dma-buf behind=
exact() {
    job "$device: $1 frames of $2, io-mode $3" --frames="$1" --moving --dma-buf \
        --import-path=$path "${@:4}" "$(camera_line "$1" "$2" 320x180 "$3")" \
        "model=$tiny mode=overlay require-zero-copy=false device=$device $behind"
}

exact 40 NV12 auto # buffers go round several times
exact 10 YUY2 auto
exact 10 BGRx auto
exact 10 NV12 dmabuf
exact 10 drm:NV12 auto
exact 10 drm:YUYV dmabuf
exact 10 drm:XR24 auto
exact 10 NV12 dmabuf-import --padded
exact 10 YUY2 dmabuf-import --padded
exact 10 BGRx dmabuf-import
exact 10 drm:NV12 dmabuf-import --padded

# The CPU as the device reads them where they lie, mapped once, and makes none.
device=cpu path=dma-buf-mapped behind="! video/x-raw"
exact 40 NV12 auto
exact 10 BGRx dmabuf
exact 10 drm:NV12 auto
exact 10 drm:YUYV dmabuf
run_jobs $programs/exact
