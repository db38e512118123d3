# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# pipelines/video-call.sh makes a camera of v4l2loopback's device: its readers stay while
# the camera behind it goes and comes, and while who writes to it is killed and begins again.
. "$(dirname "$0")/lib.sh"
export TDL_BUILD=$build TDL_DEVICE=cpu
recipe=/src/pipelines/video-call.sh
loopback=/dev/video10 state=/sys/devices/virtual/video4linux/video10/state
size=320x180 bytes=$((320 * 180 * 2))
look="model=$tiny smoothing=0 refine=false interval=15" # a still camera then makes one picture again and again
still_camera

# ------------------------------------------------------ what it says is missing
check_fails "the module is not loaded" "not loaded.* $loopback:$" $recipe
modprobe v4l2loopback video_nr=10 card_label=tdlfilter exclusive_caps=1
check_fails "another device" "no /dev/video77 of it: its devices are $loopback\." $recipe /dev/video77
check_fails "a camera" "$camera is a camera, not a loopback" $recipe $camera
check_fails "no permission" "sudo usermod -aG root nobody" \
    setpriv --reuid nobody --clear-groups $recipe $loopback

# --------------------------------------------------------------- it is a camera
# expected MODE : the camera's picture as the element makes it.
expected() {
    job "expected picture, $1" --write="$logs/$1" "$(camera_line 2 YUY2 $size rw) !
        tdlfilter name=filter mode=$1 $look ! appsink name=sink"
}
expected overlay
expected passthrough
run_jobs $programs/still

# tell WHAT FUNCTION... : as check does, for what timeout cannot start.
tell() {
    local what=$1 status=0
    shift
    "$@" >"$(log_of "$what")" 2>&1 || status=$?
    report "$what" $status
}
# told LOG N : it has said N times that its camera is there.
told() { [ "$(grep -c "The camera is there" "$logs/$1")" = "$2" ]; }
call() { # call LOG : begins, and comes back when it writes
    # shellcheck disable=SC2086
    setsid $recipe --camera=/run/camera --size=$size $loopback mode=overlay $look >"$logs/$1" 2>&1 &
    caller=$!
    wait_for $caller told "$1" 1
}
read_all() { # readers write what they get to a file
    v4l2-ctl -d $loopback --stream-mmap --stream-to="/run/$1" >"$logs/$1" 2>&1 &
    reader=$!
}
count() { echo $(($(stat -c %s "/run/$1" 2>/dev/null || echo 0) / bytes)); }
has_frames() { [ "$(count "$1")" -ge "$2" ]; }
# go_on FILE : frames still come to the same reader.
go_on() {
    wait_for $caller has_frames "$1" $(($(count "$1") + 3)) && kill -0 $reader $caller
}
# shows FILE EXPECTED : its newest whole frame is that picture.
shows() {
    cmp <(tail -c +$((($(count "$1") - 1) * bytes + 1)) "/run/$1" | head -c $bytes) "$2"
}

differ() { ! shows "$@"; }

ln -s $camera /run/camera
call call.log
check "programs see a camera of that format" sh -c "v4l2-ctl -d $loopback -DV | tee /dev/stderr |
    tr -s '\n\t ' ' ' | grep -q 'Device Caps : [^ ]* Video Capture .*320/180 Pixel Format : .YUYV.'"
check_fails "another writer" "Another program writes to $loopback" $recipe $loopback
read_all first
tell "frames come" go_on first
tell "they are the element's" shows first "$logs/overlay"
tell "which the camera's are not" differ first "$logs/passthrough"

# ------------------------------------------------------------ things that happen
rm /run/camera
v4l2-ctl -d $camera -c disconnect=0
tell "it waits for the camera" wait_for $caller grep -q "Waiting for the camera" "$logs/call.log"
ln -s $camera /run/camera
wait_for $caller told call.log 2
tell "the camera comes back, and the reader has stayed" go_on first
kill -KILL -- -$caller
wait $caller
call again.log
tell "the writer was killed and begins again, and the reader has stayed" go_on first
tell "frames are the element's again" shows first "$logs/overlay"
kill $reader
wait $reader
read_all second
tell "another reader" go_on second
kill $reader

status=0
kill -TERM $caller
wait $caller || status=$?
cp "$logs/again.log" "$(log_of "it ends when it is told to")"
report "it ends when it is told to" $status
check "nobody sees a camera then" grep -q output $state
