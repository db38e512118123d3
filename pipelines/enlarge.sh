#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A clip or a picture twice as large, by a network for super-resolution (of drawn films;
# others by model=FILE). OUT ending in .png is a picture, anything else a Matroska clip.
#   pipelines/fetch-models.sh enlarge
#   pipelines/enlarge.sh FILE OUT [PROPERTY=VALUE...]      such as device=0
set -eu
. "$(dirname "$0")/common.sh"
no_options "$@"
[ $# -ge 2 ] || misused "a clip or picture, and what the larger one is called, are needed"
[ -r "$1" ] || die "there is no clip or picture $1"
use_plugin
from=$1 to=$2
shift 2
case $to in
*.png) coded="videoconvert ! pngenc snapshot=true" ;;
*) coded="videoconvert ! jpegenc quality=95 ! matroskamux" ;;
esac
# shellcheck disable=SC2086
launch_to "$to" filesrc "location=$from" ! decodebin ! videoconvert ! tdlfilter mode=picture model=enlarge \
    model-size=frame "$@" ! $coded
