# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The machine has what the other tests stand on; should one of these fail, look
# no further.
. "$(dirname "$0")/lib.sh"

check "camera" v4l2-ctl -d $camera --info
check "udmabuf" test -c /dev/udmabuf
check "dma heap" test -c /dev/dma_heap/system
check "display" grep -q cirrus /sys/class/drm/card*/device/uevent
check "element" gst-inspect-1.0 tdlfilter
still_camera
check "camera to element" gst-launch-1.0 -q v4l2src device=$camera num-buffers=5 ! \
    video/x-raw,format=NV12,width=320,height=180 ! \
    tdlfilter model=$tiny mode=overlay refine=false smoothing=0 ! fakesink # the kernels of others
