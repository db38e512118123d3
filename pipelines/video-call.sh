#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A camera for video calls whose background is blurred, until Ctrl-C. A stream that fails,
# as when the camera is unplugged, begins again; programs that show it stay.
#   pipelines/video-call.sh [OPTION]... [TO] [PROPERTY=VALUE...]
#     TO               /dev/videoN of v4l2loopback (default: /dev/video10), or pipewire
#     --camera=DEVICE  default: /dev/video0
#     --size=WxH       default: 1280x720; 640x480 costs less. At 30 frames a second
#     --format=FORMAT  default: YUY2, which all take; I420 and NV12 are smaller
# v4l2loopback (package v4l2loopback-dkms) makes a /dev/videoN, which all programs know:
#   sudo modprobe v4l2loopback video_nr=10 card_label=tdlfilter exclusive_caps=1
# PipeWire (package gstreamer1.0-pipewire) needs no module; its programs ask for cameras there.
# A frame takes the newest mask there is, so that the call does not lag.
# SRC and SINK in the environment take the camera's and TO's place; with SINK an error is the end.
set -eu
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/virtual-camera.bash"
to=/dev/video10 camera=/dev/video0 size=1280x720 format=YUY2 properties=()
for word in "$@"; do
    case $word in
    -h | --help) usage; exit 0 ;;
    --camera=?*) camera=${word#*=} ;;
    --size=[1-9]*x[1-9]*) size=${word#*=} ;;
    --format=YUY2 | --format=I420 | --format=NV12) format=${word#*=} ;;
    --camera=*) misused "'$word': give the camera's device, as in --camera=/dev/video2" ;;
    --size=*) misused "'$word': give width and height, as in --size=1280x720" ;;
    --format=*) misused "'$word': the formats are YUY2, I420 and NV12" ;;
    -*) misused "'$word' is not an option here" ;;
    /dev/* | pipewire) to=$word ;;
    *=*) properties+=("$word") ;;
    *) misused "'$word' is neither a device nor a property" ;;
    esac
done

# What the camera gives at that size comes first, raw or as JPEG; then whatever it has.
picture=width=${size%x*},height=${size#*x},framerate=30/1
from=(v4l2src "device=$camera" !
    "video/x-raw,$picture;image/jpeg,$picture;video/x-raw;image/jpeg" ! decodebin)
# v4l2loopback's own buffers are too few for videorate to hold one back.
case $to in
pipewire) sink=(pipewiresink mode=provide
    "stream-properties=props,media.class=Video/Source,media.role=Camera,node.name=tdlfilter,node.description=tdlfilter") ;;
*) sink=(identity drop-allocation=true ! v4l2sink "device=$to" sync=false) ;;
esac
# shellcheck disable=SC2206 # words of a pipeline
[ -z "${SRC:-}" ] || from=($SRC)
# shellcheck disable=SC2206
[ -z "${SINK:-}" ] || sink=($SINK) to=
words=("${from[@]}" ! videoscale ! "video/x-raw,${picture%,*},pixel-aspect-ratio=1/1" !
    tdlfilter mode=blur blur-radius=20 latency-mode=freshest "${properties[@]}" !
    videorate ! videoconvert ! "video/x-raw,format=$format,$picture" ! "${sink[@]}")

stop() { stopped=yes; [ -z "$child" ] || kill "$child" 2>/dev/null || true; }
stopped=no child=
trap stop INT TERM HUP

# wait_for_camera : says so once; what a file or a test gives needs no wait.
wait_for_camera() {
    [ -z "${SRC:-}" ] && [ ! -r "$camera" ] || return 0
    [ ! -c "$camera" ] || [ $ran = yes ] || may_use "$camera"
    say "Waiting for the camera $camera" >&2
    while [ ! -r "$camera" ] && [ $stopped = no ]; do sleep 1; done
}

# there : programs can see the camera that this makes.
there() {
    case $to in
    /dev/*) written && keep_format "$to" 1 ;;
    pipewire) offered ;;
    esac
}

# stream : one gst-launch-1.0 from its begin to its end; sets `status`, and `ran` once
# the camera was there.
stream() {
    local began=$SECONDS seen=no
    [[ $to != /dev/* ]] || keep_format "$to" 0
    # --no-fault: a crash (PipeWire 1.4's sink has some, when its reader ends) ends it; else
    # gst-launch would wait for a debugger.
    gst-launch-1.0 -q --no-fault "${words[@]}" &
    child=$!
    while [ $seen = no ] && kill -0 $child 2>/dev/null; do
        sleep 0.2
        ! there || seen=yes
    done
    [ $seen = no ] || [ -z "$to" ] || { ran=yes; say "The camera is there: $to" >&2; }
    status=0
    wait $child || status=$?
    [ $stopped = no ] || wait $child || true # the signal ended the first wait
    child=
    [ $((SECONDS - began)) -lt 5 ] || pause=1
}

[ -n "${SRC:-}" ] || is_video "$camera"
use_plugin
case $to in
/dev/*) take_loopback "$to" ;;
pipewire) needs_pipewire ;;
esac
show gst-launch-1.0 "${words[@]}" >&2
ran=no pause=1
while [ $stopped = no ]; do
    wait_for_camera
    [ $stopped = no ] || break
    stream
    [ $stopped = no ] && [ $status != 0 ] || break
    [ -n "$to" ] || exit "$status" # GStreamer has said what can be said of elements in SINK
    [ $ran = yes ] || die "the stream did not begin; if a device is busy, 'sudo fuser -v $camera $to' says by whom"
    say "The stream ended with an error; again in $pause s" >&2
    sleep $pause &
    child=$!
    wait $child || true # not asleep to signals
    pause=$((pause < 16 ? pause * 2 : 30))
done
[[ $to != /dev/* ]] || keep_format "$to" 0
[ $stopped = yes ] || exit "$status"
