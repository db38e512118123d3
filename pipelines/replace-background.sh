#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A camera in a window, in front of a picture of your own.
#   pipelines/replace-background.sh PICTURE
set -eu
. "$(dirname "$0")/common.sh"
no_options "$@"
[ $# = 1 ] || misused "one picture is needed"
[ -r "$1" ] || die "there is no picture $1"
use_plugin
# shellcheck disable=SC2086
launch ${SRC:-v4l2src} ! tdlfilter mode=replace "background=$1" ! videoconvert ! \
    ${SINK:-autovideosink}
