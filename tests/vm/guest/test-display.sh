# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Camera to display without a copy: the framebuffer on the screen is a dma-buf
# of ours, and the screen shows the composed picture.
. "$(dirname "$0")/lib.sh"

# The picture stands still, and so may the mask: that saves emulated time.
filter="tdlfilter name=filter model=$tiny mode=overlay refine=false smoothing=0 interval=15 qos=false"
display="kmssink driver-name=cirrus force-modesetting=true sync=false"
state=/sys/kernel/debug/dri/0/state
still_camera

check "expected picture, by the CPU's way" $programs/still --ppm=/vm/logs/display/expected.ppm \
    "$(camera_line 2 BGRx 640x480 rw) ! $filter ! appsink name=sink"

frames=16
[ -z "${VM_LONG:-}" ] || frames=300
# shown imported=yes|no: a picture of that size is on the display, in memory of
# somebody else or of its own.
shown() { sed -n '/^plane/,/^crtc/p' $state | grep -A 12 size=640x480 | grep -q "$1"; }
# play WHAT imported=yes|no ELEMENT... : camera, element, ELEMENTs, display. The last
# frame stays there until the host has looked.
play() {
    local what=$1
    hold "$what" $programs/untouched --frames=$frames --hold \
        "$(camera_line $frames drm:XR24 640x480) ! $filter require-zero-copy=true ! ${*:3} $display"
    cp $state "$(log_of "$what, framebuffer")"
    shown "$2"
    report "$what, framebuffer" $?
    echo "VM SCREEN $what: /vm/logs/display/expected.ppm"
    read -r -t 900 </dev/ttyS0
    let_go "$what"
}

# Into the display's own memory, which it offers us; and in ours, which it takes
# when the offer is withheld.
play "camera to display, in its memory" imported=no
play "camera to display, in ours" imported=yes identity drop-allocation=true !

# shellcheck disable=SC2046,SC2086 # a pipeline is many words
check_fails "require-zero-copy with a sink that takes no dma-buf" "require-zero-copy" \
    gst-launch-1.0 -q $(camera_line 5 BGRx 320x180) ! $filter require-zero-copy=true ! \
    video/x-raw ! videoconvert ! video/x-raw,format=I420 ! fakesink
