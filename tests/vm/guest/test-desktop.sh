# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A compositor takes our frames as they are, from the camera's to its screen.
. "$(dirname "$0")/lib.sh"
export GST_GL_PLATFORM=egl GST_GL_API=gles2 GST_GL_WINDOW=wayland WAYLAND_DISPLAY=wayland-test

frames=20
size=640x360 # glimagesink begins with a window of 320x240, which has to fit the screen
source="$(camera_line $frames drm:XR24 $size)"
endless="${source/num-buffers=$frames/}"
filter="tdlfilter name=filter model=$tiny mode=overlay refine=false smoothing=0 interval=15 qos=false"
still_camera

check "expected picture, by the CPU's way" $programs/still --write="$logs/expected" \
    "$(camera_line 2 BGRx $size rw) ! $filter ! appsink name=sink"

# The only window fills the screen; --debug lets clients take pictures of it.
weston --backend=headless --renderer=gl --shell=kiosk --width=${size%x*} --height=${size#*x} --debug \
    --socket=$WAYLAND_DISPLAY --idle-time=0 >"$(log_of "the compositor, to its end")" 2>&1 &
compositor=$!
wait_for $compositor test -S "$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY"

# screen_shows EXPECTED
screen_shows() {
    rm -rf "$logs/screen"
    mkdir "$logs/screen"
    (cd "$logs/screen" && limited weston-screenshooter) &&
        $programs/still --compare="$1" "filesrc location=$(echo "$logs"/screen/*.png) ! pngdec !
            videoconvert ! video/x-raw,format=BGRx ! appsink name=sink"
}
# play SINK: it plays until its picture is on the screen, or for eight screenshots.
play() {
    local player shown=1
    # shellcheck disable=SC2086 # a pipeline is many words
    gst-launch-1.0 -q $endless ! $filter require-zero-copy=true ! $1 >"$(log_of "$1, player")" 2>&1 &
    player=$!
    for _ in $(seq 8); do
        kill -0 $player 2>/dev/null || break
        screen_shows "$logs/expected" >"$(log_of "$1, screen")" 2>&1 && shown=0 && break
    done
    kill $player 2>/dev/null
    wait $player 2>/dev/null
    report "$1, screen" $shown
}

for sink in waylandsink glimagesink; do
    check "camera to $sink, no frame copied" $programs/untouched --frames=$frames \
        "$source ! $filter require-zero-copy=true ! $sink sync=false"
    play $sink
done
kill $compositor
status=0
wait $compositor || status=$? # its own, where it was dead before
dmesg | tail -n 4 >>"$(log_of "the compositor, to its end")"
report "the compositor, to its end" $status
