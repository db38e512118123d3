#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A camera for video calls whose background is blurred. It comes out of a
# loopback device, which the kernel module of package v4l2loopback-dkms makes:
#   sudo modprobe v4l2loopback video_nr=10 card_label=tdlfilter exclusive_caps=1
#   pipelines/video-call.sh [DEVICE]                    default: /dev/video10
# A frame takes the newest mask there is, so that the call does not lag.
set -eu
. "$(dirname "$0")/common.sh"
no_options "$@"
device=${1:-/dev/video10}
[ -n "${SINK:-}" ] || [ -c "$device" ] || die "no device $device: load v4l2loopback first (see $0)"
use_plugin
# shellcheck disable=SC2086
launch ${SRC:-v4l2src} ! tdlfilter mode=blur blur-radius=20 latency-mode=freshest ! \
    videoconvert ! video/x-raw,format=YUY2 ! ${SINK:-v4l2sink "device=$device"}
