#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Masks for a program of your own: 640x360 bytes a frame on its standard
# input, 0 to 255. (In C, put appsink in fdsink's place.)
#   pipelines/masks-to-program.sh PROGRAM [ARGUMENT...]
set -euo pipefail
. "$(dirname "$0")/common.sh"
no_options "${1:-}" # the others are the program's
[ $# -ge 1 ] || misused "a program is needed"
use_plugin
# shellcheck disable=SC2086
launch ${SRC:-v4l2src} ! videoconvertscale ! video/x-raw,format=I420,width=640,height=360 ! \
    tdlfilter mode=mask ! fdsink fd=1 | "$@"
