#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The person of the camera, cut out, in front of a running video.
#   pipelines/over-video.sh VIDEO
set -eu
. "$(dirname "$0")/common.sh"
no_options "$@"
[ $# = 1 ] || misused "one video is needed"
[ -r "$1" ] || die "there is no video $1"
use_plugin
# shellcheck disable=SC2086
launch compositor name=mix sink_0::zorder=1 sink_1::zorder=0 ! videoconvert ! \
    ${SINK:-autovideosink} \
    ${SRC:-v4l2src} ! tdlfilter mode=alpha ! queue ! mix.sink_0 \
    filesrc "location=$1" ! decodebin ! videoconvert ! queue ! mix.sink_1
