#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A camera for video calls whose background is blurred, until Ctrl-C. A stream that fails,
# as when the camera is unplugged, begins again; programs that show it stay.
#   pipelines/video-call.sh [OPTION]... [TO] [PROPERTY=VALUE...]
#     TO               /dev/videoN of v4l2loopback (default: /dev/video10), or pipewire
#     --camera=DEVICE  default: /dev/video0
#     --size=WxH       default: 1280x720; 640x480 costs less. At 30 frames a second
#     --format=FORMAT  default: YUY2, which all take; I420 and NV12 are smaller
# v4l2loopback (package v4l2loopback-dkms) makes a /dev/videoN, which all programs know:
#   sudo modprobe v4l2loopback video_nr=10 card_label=tdlfilter exclusive_caps=1
# PipeWire (package gstreamer1.0-pipewire) needs no module; its programs ask for cameras there.
# A frame takes the newest mask there is, so that the call does not lag.
# SRC and SINK in the environment take the camera's and TO's place; with SINK an error is the end.
set -eu
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/virtual-camera.bash"
make_camera "$@"
