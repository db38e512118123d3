#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Inside the trixie root, entered by tests/debian.sh when tests/vm/run.sh has made and
# built it: pipelines/video-call.sh makes a camera of PipeWire's. A bus, a server and a
# session manager of its own, and no camera but a test picture.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -n "${DBUS_SESSION_BUS_ADDRESS:-}" ] || exec dbus-run-session -- bash "$0"
export TDL_BUILD=$PWD/build-vm GST_REGISTRY=/vm/registry.bin TDL_DEVICE=cpu
XDG_RUNTIME_DIR=$(mktemp -d)
export XDG_RUNTIME_DIR
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$XDG_RUNTIME_DIR"' EXIT
cd "$XDG_RUNTIME_DIR"
: >reader
recipe=$TDL_BUILD/../pipelines/video-call.sh
export SRC="videotestsrc is-live=true ! video/x-raw,format=YUY2,width=320,height=180,framerate=30/1"
look="model=/vm/tiny.tflite mode=overlay smoothing=0 refine=false"
bytes=$((320 * 180 * 2))

# expect WHAT COMMAND... : or it ends here.
expect() {
    local what=$1
    shift
    if "$@"; then
        echo "ok: $what"
    else
        echo "FAILED: $what"
        cat log reader
        exit 1
    fi
}
until_true() { # until_true COMMAND... : within a minute
    for _ in $(seq 600); do
        ! "$@" || return 0
        sleep 0.1
    done
    return 1
}
says() { ! "$recipe" pipewire >log 2>&1 && grep -q "$1" log; }
told() { tail -n 1 log | grep -q "The camera is there: pipewire"; }
# Three frames from the camera into the file `frames`. A reader that asks before
# the session manager has seen the camera may wait for ever: it asks again.
read_frames() {
    local try
    rm -f frames
    for try in $(seq 12); do
        until_true told || return
        ! timeout 10 gst-launch-1.0 -q pipewiresrc target-object=tdlfilter num-buffers=3 ! \
            video/x-raw,format=YUY2,width=320,height=180 ! filesink location=frames >>reader 2>&1 ||
            break
        echo "reader $try got nothing"
    done
    [ "$(stat -c %s frames)" = $((3 * bytes)) ]
}
shows() { cmp <(tail -c $bytes frames) "$1" >>reader; }

expect "without a server it says what to do" says "PipeWire does not run.*pipewire-0"
pipewire >server 2>&1 &
expect "a server" until_true test -S pipewire-0
wireplumber >manager 2>&1 &
# shellcheck disable=SC2086 # words of a pipeline
for mode in overlay passthrough; do
    GST_PLUGIN_PATH=$TDL_BUILD/gst gst-launch-1.0 -q ${SRC/ ! / num-buffers=1 ! } ! \
        tdlfilter $look mode=$mode ! filesink location=$mode
done
# shellcheck disable=SC2086
"$recipe" pipewire --size=320x180 $look >log 2>&1 &
call=$!
expect "frames come" read_frames
expect "they are the element's" shows overlay
expect "which the camera's are not" eval '! shows passthrough'
# PipeWire's sink ends with its last reader.
expect "another reader" read_frames
expect "it ends when it is told to" eval 'kill $call && wait $call'
