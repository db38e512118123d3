# SPDX-License-Identifier: LGPL-2.1-or-later
# A virtual camera: what it stands on, in plain words what is missing, and its stream.
# Sourced by video-call.sh and tdl-camera, behind common.sh.

# missing WORDS COMMAND... : end the script with what is missing, and what helps.
missing() {
    printf '%s: %s\n' "${0##*/}" "$1" >&2
    shift
    printf '    %s\n' "$@" >&2
    exit 1
}

# load_line DEVICE : how the module is loaded so that the device is there.
load_line() {
    say "sudo modprobe v4l2loopback video_nr=${1//[!0-9]/} card_label=tdlfilter exclusive_caps=1"
}

# secure_boot : the firmware says that the kernel takes signed modules only.
secure_boot() {
    local variable
    for variable in /sys/firmware/efi/efivars/SecureBoot-*; do
        [ "$(od -An -tu1 -j4 -N1 "$variable" 2>/dev/null | tr -d ' ')" != 1 ] || return 0
    done
    return 1
}

# is_video DEVICE : or would be one, if it were there; else the script ends.
is_video() {
    [[ $(readlink -m -- "$1") = /dev/video[0-9]* ]] ||
        missing "$1 is no video device, as /dev/video0 is. This lists those there are:" "v4l2-ctl --list-devices"
}

# find_loopback DEVICE : sets `loopback` to its folder below /sys, and ends the script where
# it is no device of v4l2loopback.
find_loopback() {
    local folders=/sys/devices/virtual/video4linux kernel others
    is_video "$1"
    kernel=$(uname -r)
    loopback=$folders/$(basename "$(readlink -f "$1")")
    [ ! -e "$loopback/max_openers" ] || [ ! -c "$1" ] || return 0
    [ ! -c "$1" ] || missing "$1 is a camera, not a loopback device: name another one"
    if [ -e /sys/module/v4l2loopback ]; then
        others=$(cd $folders && for name in */max_openers; do echo "/dev/${name%/*}"; done 2>/dev/null)
        missing "v4l2loopback is loaded, and there is no $1 of it: its devices are ${others//$'\n'/ }." \
            "Name one of them, or load it again:" "sudo modprobe -r v4l2loopback" "$(load_line "$1")"
    elif ! PATH=$PATH:/usr/sbin:/sbin modinfo v4l2loopback >/dev/null 2>&1; then
        missing "There is no module v4l2loopback for the kernel $kernel. On Debian:" \
            "sudo apt-get install v4l2loopback-dkms linux-headers-$kernel" "$(load_line "$1")" \
            "${0##*/} pipewire    # or without a module, for programs that ask PipeWire"
    elif secure_boot; then
        missing "v4l2loopback is not loaded, so there is no $1. Secure boot takes signed modules only:" \
            "sudo mokutil --import /var/lib/dkms/mok.pub    # once, then restart and confirm" \
            "$(load_line "$1")"
    fi
    missing "v4l2loopback is not loaded, so there is no $1:" "$(load_line "$1")"
}

# may_use DEVICE : to read and write.
may_use() {
    [ -r "$1" ] && [ -w "$1" ] || missing "You may not use $1. Join the group that may, and log in again:" \
        "sudo usermod -aG $(stat -Lc %G "$1" 2>/dev/null || echo video) $(id -un)"
}

# written : somebody writes to the loopback device, or its format is kept.
written() { [ "$(cat "$loopback/state" 2>/dev/null)" = capture ]; }

# keep_format DEVICE 0|1 : with 1 programs see the camera, and its format, while nobody
# writes to it; v4l2loopback 0.15 then takes no new writer.
keep_format() {
    ! command -v v4l2-ctl >/dev/null || v4l2-ctl -d "$1" -c "keep_format=$2" 2>/dev/null || true
}

# take_loopback DEVICE : there, allowed, and written to by nobody else.
take_loopback() {
    local kept=
    find_loopback "$1"
    may_use "$1"
    if ! command -v v4l2-ctl >/dev/null; then
        say "Without v4l2-ctl (Debian: v4l-utils) programs lose $1 while the real camera is away." >&2
    elif written; then # by a script that was killed?
        kept=$(v4l2-ctl -d "$1" -C keep_format)
        keep_format "$1" 0
    fi
    written || return 0
    keep_format "$1" "${kept##*: }"
    missing "Another program writes to $1 already. This names it:" "sudo fuser -v $1"
}

# needs_pipewire : its sink for GStreamer, and its server.
needs_pipewire() {
    local socket=${PIPEWIRE_RUNTIME_DIR:-${XDG_RUNTIME_DIR:-/run/user/$(id -u)}}/${PIPEWIRE_REMOTE:-pipewire-0}
    gst-inspect-1.0 --exists pipewiresink ||
        missing "There is no pipewiresink here. On Debian:" "sudo apt-get install gstreamer1.0-pipewire"
    [ -S "$socket" ] && command -v pw-cli >/dev/null || missing "PipeWire does not run (no $socket), or there is no pw-cli:" \
        "sudo apt-get install pipewire pipewire-bin wireplumber" \
        "systemctl --user --now enable pipewire wireplumber    # as you, not as root"
}

# offered : PipeWire's programs see a camera named tdlfilter.
offered() { pw-cli ls Node 2>/dev/null | grep -q 'node.name = "tdlfilter"'; }

# ---------------------------------------------------------------- the camera itself
to=/dev/video10 camera=/dev/video0 size=1280x720 format=YUY2 properties=()

# read_words WORD... : the command line.
read_words() {
    local word
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
}

# make_words : sets `words`, the pipeline.
make_words() {
    local picture from sink
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
}

stop() { stopped=yes; [ -z "$child" ] || kill "$child" 2>/dev/null || true; }

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

# make_camera WORD... : until Ctrl-C.
make_camera() {
    stopped=no child=
    trap stop INT TERM HUP
    read_words "$@"
    make_words
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
}
