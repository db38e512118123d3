# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A compositor takes our frames as they are, from the camera's to its screen.
. "$(dirname "$0")/lib.sh"
export GST_GL_PLATFORM=egl GST_GL_API=gles2 GST_GL_WINDOW=wayland WAYLAND_DISPLAY=wayland-test

frames=12
size=640x360 # glimagesink begins with a window of 320x240, which has to fit the screen
source="$(camera_line $frames drm:XR24 $size)"
filter="tdlfilter name=filter model=$tiny mode=overlay refine=false smoothing=0 interval=15 qos=false"
still_camera

check "expected picture, by the CPU's way" $programs/still --write="$logs/expected" \
    "$(camera_line 2 BGRx $size rw) ! $filter ! appsink name=sink"

# screen_shows EXPECTED
screen_shows() {
    rm -rf "$logs/screen"
    mkdir "$logs/screen"
    (cd "$logs/screen" && limited weston-screenshooter) &&
        $programs/still --compare="$1" "filesrc location=$(echo "$logs"/screen/*.png) ! pngdec !
            videoconvert ! video/x-raw,format=BGRx ! appsink name=sink"
}
# play SINK: all frames, then screenshots while the last one stays.
play() {
    local shown=1
    hold "camera to $1, no frame copied" $programs/untouched --frames=$frames --hold \
        "$source ! $filter require-zero-copy=true ! $1 sync=false"
    for _ in $(seq 8); do
        kill -0 "$player" 2>/dev/null || break
        screen_shows "$logs/expected" >"$(log_of "$1, screen")" 2>&1 && shown=0 && break
    done
    report "$1, screen" $shown
    let_go "camera to $1, no frame copied"
}

# The only window fills the screen; --debug lets clients take pictures of it.
start_compositor() {
    weston --backend=headless --renderer=gl --shell=kiosk --width=${size%x*} --height=${size#*x} \
        --debug --socket=$WAYLAND_DISPLAY --idle-time=0 >"$(log_of "the compositor, to its end")" 2>&1 &
    compositor=$!
    wait_for $compositor test -S "$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY"
}
# Fails where the compositor was dead before its end.
attempt() {
    local status=0 log
    start_compositor
    for sink in waylandsink glimagesink; do play $sink; done
    kill $compositor
    wait $compositor || status=$? # its own, where it was dead before
    log=$(log_of "the compositor, to its end")
    dmesg | tail -n 4 >>"$log"
    report "the compositor, to its end" $status
    [ $status = 0 ] && return
    cp "$log" "$logs/compositor-died.log"
    echo "| the compositor died by itself (status $status)"
    return 1
}

# It is nobody's here, and has died once, of what is not known, on a machine with no
# time for it: one more chance, but not in silence.
told=/run/desktop-told
if ! attempt >$told; then
    sed 's/^| //; s/^/| first try: /' $told
    rm -f "$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY"
    attempt >$told
fi
cat $told
