# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A compositor takes our frames as they are.
. "$(dirname "$0")/lib.sh"

frames=20
filter="tdlfilter name=filter model=$tiny mode=overlay refine=false require-zero-copy=true qos=false"
export WAYLAND_DISPLAY=wayland-test
still_camera

weston --backend=headless --renderer=gl --width=640 --height=480 --socket=$WAYLAND_DISPLAY \
    --idle-time=0 >"$(log_of weston)" 2>&1 &
compositor=$!
for _ in $(seq 600); do [ -S "$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY" ] && break; sleep 0.1; done
check "camera to waylandsink, no frame copied" $programs/untouched --frames=$frames \
    "$(camera_line $frames drm:XR24 320x180) ! $filter ! waylandsink sync=false"
kill $compositor
wait $compositor 2>/dev/null
