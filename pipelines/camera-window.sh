#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A camera in a window, the person tinted. (videoconvert costs nothing where the
# window takes the format.)
#   pipelines/camera-window.sh [PROPERTY=VALUE...]      such as mode=blur, or @preset=Call
set -eu
. "$(dirname "$0")/common.sh"
no_options "$@"
use_plugin
# shellcheck disable=SC2086
launch ${SRC:-v4l2src} ! tdlfilter "$@" ! videoconvert ! ${SINK:-autovideosink}
