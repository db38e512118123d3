#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a photograph is of, cut out, as a PNG with a transparent background: by ISNet, a
# network of 1024x1024 px that is not for people only.
#   pipelines/fetch-models.sh isnet
#   pipelines/cut-out.sh PHOTO OUT.png
set -eu
. "$(dirname "$0")/common.sh"
no_options "$@"
[ $# = 2 ] || misused "a photograph, and what the picture is called, are needed"
[ -r "$1" ] || die "there is no photograph $1"
use_plugin
launch_to "$2" filesrc "location=$1" ! decodebin ! videoconvert ! tdlfilter mode=alpha smoothing=0 \
    model=isnet ! pngenc snapshot=true
