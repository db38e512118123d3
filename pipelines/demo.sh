#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# From a fresh Debian to a segmented person. With a camera and a display: a
# live window. Else, or with --clip: the portrait, and a clip that pans and
# zooms over it, through every mode into pictures and a video. In the end, but
# with --clip, the demo window, where there are a display and GTK 4.
#
#   pipelines/demo.sh [--clip] [--matting] [FOLDER]     default folder: build/demo
#
# With --matting it fetches the model "matting" (145 MB; doc/models.md says whose it is), and
# shows what that and the person model cut out, side by side. FRAMES=20 in the environment
# makes the clip that short (50).
set -euo pipefail
. "$(dirname "$0")/common.sh"
export LC_ALL=C # the clock below is read from gst-launch's English
begin=$EPOCHREALTIME

live=yes matting=no people=()
while :; do
    case ${1:-} in
    --clip) live=no ;;
    --matting) matting=yes ;;
    *) break ;;
    esac
    shift
done
no_options "$@"
[ $# -le 1 ] || misused "one folder at most"
folder=${1:-$TDL_BUILD/demo}
frames=${FRAMES:-50}

# Every mode: its name here, and the element's settings.
modes=(
    "overlay          mode=overlay"
    "mask             mode=mask"
    "blur             mode=blur"
    "replace-colour   mode=replace background-color=0xff2e8b57"
    "replace-picture  mode=replace background=background.png"
    "alpha            mode=alpha"
    "passthrough      mode=passthrough"
)

has_camera_and_display() {
    local camera
    for camera in /dev/video*; do
        [ -c "$camera" ] && [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && return 0
    done
    return 1
}

# run WORD... : say a command and run it; what it says is in $output then, and
# what it took, in seconds, in $took.
output= took=
run() {
    local start=$EPOCHREALTIME
    show "$@"
    output=$("$@" 2>&1) || { say "$output" >&2; die "this command failed"; }
    ! grep -q '^ERROR' <<<"$output" || { say "$output" >&2; die "this command failed"; }
    took=$(seconds_since "$start")
}

# The engine's log names its device; the window has it in itself.
asked_debug=${GST_DEBUG:-}
export GST_DEBUG=${GST_DEBUG:+$GST_DEBUG,}tdl:4 GST_DEBUG_NO_COLOR=1
device=
play() {
    run gst-launch-1.0 "$@"
    [ -z "$device" ] || return 0
    device=$(sed -n 's/.* device: //p' <<<"$output" | head -n 1)
    [ -z "$device" ] || say "# The device: $device"
}

# made FILE [WORD...] : the last command's result, as soon as it is there. With a
# # before it, all that is printed can be pasted into a shell.
made() {
    local file=$1
    shift
    [ -s "$file" ] || die "$file is empty"
    say "# $took s: $PWD/$file${*:+, $*}"
}

# Frames per second of the last play: gst-launch's clock starts with the first
# frame at the sink, so compiling shaders does not count.
rate() {
    local clock
    clock=$(sed -n 's/^Execution ended after //p' <<<"$output")
    awk -v frames="$frames" -F: '{ printf "%.1f", (frames - 1) / ($1 * 3600 + $2 * 60 + $3) }' <<<"$clock"
}

# What a mode's frames pass on the way to the encoder, to be in JPEG's format and
# colours like the others: Matroska takes no other ones behind them. GStreamer 1.26 tells
# where chroma lies, too, which decoded JPEGs say and converted frames do not.
to_video() {
    local jpeg="video/x-raw,format=I420,colorimetry=1:4:0:0,chroma-site=jpeg"
    case $1 in
    alpha) say "! compositor background=checker ! videoconvert ! $jpeg" ;;
    mask) say "! videoconvert ! $jpeg" ;;
    esac
}

background() {
    play videotestsrc num-buffers=1 pattern=gradient foreground-color=0xfff4a460 \
        background-color=0xff203050 ! video/x-raw,width=1280,height=720 ! videoconvert ! pngenc ! \
        filesink location=background.png
    made background.png
}

# shellcheck disable=SC2086 # settings are several words
picture() { # picture NAME SETTINGS
    [[ $2 != *background=* ]] || background
    play filesrc "location=$TDL_PORTRAIT" ! jpegdec ! tdlfilter $2 ! videoconvert ! pngenc ! \
        filesink "location=$1.png"
    made "$1.png"
}

# The rate is that of the whole line, alone on the machine.
# shellcheck disable=SC2086
video() { # video NAME SETTINGS
    play filesrc location=clip.mkv ! matroskademux ! jpegdec ! tdlfilter $2 $(to_video "$1") ! \
        jpegenc ! matroskamux ! filesink "location=videos/$1.mkv"
    made "videos/$1.mkv" "$(rate) frames/s"
    rates+=("$(printf '%-16s %6s frames/s' "$1" "$(rate)")")
}

# All pictures in one: four beside each other, twice.
# shellcheck disable=SC2086
pictures_together() {
    local name i=0 tiles= pads=
    for name in input mask overlay blur replace-colour replace-picture alpha passthrough; do
        pads+=" sink_$i::xpos=$((i % 4 * 240)) sink_$i::ypos=$((i / 4 * 281))"
        pads+=" sink_$i::width=240 sink_$i::height=281"
        case $name in
        input) tiles+=" filesrc location=$TDL_PORTRAIT ! jpegdec" ;;
        *) tiles+=" filesrc location=$name.png ! pngdec" ;;
        esac
        tiles+=" ! videoconvert ! video/x-raw,format=RGBA ! all."
        i=$((i + 1))
    done
    play compositor name=all background=checker $pads ! videoconvert ! jpegenc ! \
        filesink location=all-modes.jpg $tiles
    made all-modes.jpg
}

# The videos after each other. Not by concat: demuxers that are linked to one
# element while all of them start get into each other's way.
videos_together() {
    play splitmuxsrc 'location=videos/*.mkv' ! matroskamux ! filesink location=all-modes.mkv
    made all-modes.mkv
}

# side_by_side MODEL FROM... -- TO... : what the person model cuts out, and that model.
side_by_side() {
    local model=$1 from=() cut=(mode=replace background-color=0xff2e8b57)
    shift
    while [ "$1" != -- ]; do from+=("$1"); shift; done
    shift
    play "${from[@]}" ! tee name=each each. ! queue ! tdlfilter "${cut[@]}" ! videoconvert ! both. \
        each. ! queue ! tdlfilter "model=$model" "${cut[@]}" ! videoconvert ! both. \
        compositor name=both sink_1::xpos=1280 ! videoconvert ! "$@"
}

# The tools and what makes the clip, while there are pictures to look at.
rest= rest_log=$TDL_BUILD/rest.log
build_rest() {
    nice "$TDL_ROOT/pipelines/setup.sh" >"$rest_log" 2>&1 &
    rest=$!
}
await_rest() {
    wait "$rest" || { cat "$rest_log" >&2; die "the build failed"; }
    say "" "$(tail -n 1 "$rest_log")"
}

# Built only here, as nothing else needs it. Without GTK 4 meson has no such target.
demo_window() { # demo_window [FILE]
    local window=pipelines/window/tdl-demo
    if [ $live = no ]; then
        return 0
    elif [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
        say "" "With a display (DISPLAY or WAYLAND_DISPLAY is set) there would be a demo window now."
        return 0
    elif ! ninja -C "$TDL_BUILD" -t query $window >/dev/null 2>&1; then
        say "" "With GTK 4 (on Debian: libgtk-4-dev) there would be a demo window now."
        return 0
    fi
    ninja -C "$TDL_BUILD" $window >"$rest_log" 2>&1 || { cat "$rest_log" >&2; die "the build failed"; }
    say "" "The demo window; close it to end."
    show "$TDL_BUILD/$window" "$@"
    GST_DEBUG=$asked_debug "$TDL_BUILD/$window" "$@"
}

each_mode() { # each_mode picture|video
    local row name settings
    for row in "${modes[@]}"; do
        read -r name settings <<<"$row"
        "$1" "$name" "$settings"
    done
}

"$TDL_ROOT/pipelines/setup.sh" --plugin
use_plugin
build_rest
[ $matting = no ] || "$TDL_ROOT/pipelines/fetch-models.sh" matting
if [ $live = yes ] && has_camera_and_display; then
    say "Close the window to end."
    # Of matting the one that is small enough for a processor.
    [ $matting = no ] || people=(model=matting-small)
    (launch v4l2src ! tdlfilter "${people[@]}" ! videoconvert ! autovideosink) \
        2> >(sed -u 's/.* device: /The device: /; t; /INFO .* tdl /d' >&2)
    await_rest
    demo_window
    exit
fi

mkdir -p "$folder/videos" 2>/dev/null && [ -w "$folder" ] ||
    die "nothing can be written to $folder: name another folder (demo.sh --clip FOLDER)"
cd "$folder"
rm -f videos/*.mkv
say "" "# The lines below are run with"
show export "GST_PLUGIN_PATH=$GST_PLUGIN_PATH" "GST_PRESET_PATH=$GST_PRESET_PATH"
show cd "$PWD"
say "" "# The portrait in every mode. The first line makes the network ready for the device; on a" \
    "# GPU that compiles kernels, which are kept for later."
each_mode picture
pictures_together
await_rest
say "" "# A clip of the portrait, and it in every mode:"
run "$TDL_BUILD/pipelines/clip" "$TDL_PORTRAIT" clip.mkv "$frames"
made clip.mkv
rates=()
each_mode video
videos_together
if [ $matting = yes ]; then
    say "" "# The clip, cut out by the person model, and by matting:"
    side_by_side matting filesrc location=clip.mkv ! matroskademux ! jpegdec -- \
        jpegenc ! matroskamux ! filesink location=matting.mkv
    made matting.mkv "$(rate) frames/s"
    play filesrc location=matting.mkv ! matroskademux ! jpegdec ! videorate ! \
        video/x-raw,framerate=1/1 ! jpegenc ! multifilesink location=matting.jpg
    made matting.jpg
fi

say "" "Frame rates of these lines (1280x720, JPEG decoded and encoded) on ${device:-this device}:"
printf '  %s\n' "${rates[@]}"
say "" "Pictures of the portrait in every mode, and all in one:"
for row in "${modes[@]}" all-modes; do ls "$PWD/${row%% *}".[jp][pn]g; done | sed 's/^/  /'
say "" "Videos of the clip in every mode, and all in one:"
for row in "${modes[@]}"; do say "  $PWD/videos/${row%% *}.mkv"; done
say "  $PWD/all-modes.mkv" "" "All of it took $(seconds_since "$begin") s."
demo_window "$PWD/clip.mkv"
