#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Two cameras beside each other in one pipeline. Both elements use one device
# and one set of compiled shaders.
#   pipelines/two-cameras.sh [DEVICE DEVICE]   default: /dev/video0 /dev/video2
# SRC takes the place of both cameras, SRC2 that of the second one.
set -eu
. "$(dirname "$0")/common.sh"
no_options "$@"
[ $# -le 2 ] || misused "two cameras at most, not also '$3'"
first=${1:-/dev/video0} second=${2:-/dev/video2}
use_plugin
# shellcheck disable=SC2086
launch compositor name=mix sink_0::width=640 sink_0::height=360 \
    sink_1::width=640 sink_1::height=360 sink_1::xpos=640 ! videoconvert ! \
    ${SINK:-autovideosink} \
    ${SRC:-v4l2src "device=$first"} ! tdlfilter mode=blur ! queue ! mix.sink_0 \
    ${SRC2:-${SRC:-v4l2src "device=$second"}} ! tdlfilter mode=overlay ! queue ! mix.sink_1
