#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The masks of a picture or of a video, as PNG files OUT-00000.png and so on:
# white where the person is.
#   pipelines/mask-to-file.sh FILE OUT
set -eu
. "$(dirname "$0")/common.sh"
no_options "$@"
[ $# = 2 ] || misused "a picture or video, and what the masks are called, are needed"
[ -r "$1" ] || die "there is no picture or video $1"
use_plugin
launch filesrc "location=$1" ! decodebin ! videoconvert ! tdlfilter mode=mask smoothing=0 ! \
    pngenc ! multifilesink "location=$2-%05d.png"
