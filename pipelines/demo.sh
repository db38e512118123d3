#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# From a fresh Debian to a segmented person. With a camera and a display: a
# live window. Else, or with --clip: the portrait, and a clip that pans and
# zooms over it, through every mode into pictures and a video.
#
#   pipelines/demo.sh [--clip] [FOLDER]     default folder: build/demo
set -euo pipefail
. "$(dirname "$0")/common.sh"
export LC_ALL=C # the clock below is read from gst-launch's English

live=yes
[ "${1:-}" != --clip ] || { live=no; shift; }
folder=${1:-$TDL_BUILD/demo}
frames=${FRAMES:-75}

# Every mode: its name here, and the element's settings.
modes=(
    "mask             mode=mask"
    "overlay          mode=overlay"
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

# Says the line, runs it, and gives its output back in $output.
output=
play() {
    show gst-launch-1.0 "$@"
    output=$(gst-launch-1.0 "$@" 2>&1) || { say "$output" >&2; die "this pipeline failed"; }
    ! grep -q 'ERROR' <<<"$output" || { say "$output" >&2; die "this pipeline failed"; }
}

# Frames per second of the last play: gst-launch's clock starts with the first
# frame at the sink, so compiling shaders does not count.
rate() {
    local clock
    clock=$(sed -n 's/^Execution ended after //p' <<<"$output")
    awk -v frames="$frames" -F: '{ printf "%.1f", (frames - 1) / ($1 * 3600 + $2 * 60 + $3) }' <<<"$clock"
}

# What a mode's frames pass on the way to the encoder, to be in JPEG's format and
# colours like the others.
to_video() {
    case $1 in
    alpha) say "! compositor background=checker ! videoconvert ! video/x-raw,format=I420,colorimetry=1:4:0:0" ;;
    mask) say "! videoconvert ! video/x-raw,format=I420,colorimetry=1:4:0:0" ;;
    esac
}

make_inputs() {
    say "# The picture for mode=replace, and the clip:"
    play videotestsrc num-buffers=1 pattern=gradient foreground-color=0xfff4a460 \
        background-color=0xff203050 ! video/x-raw,width=1280,height=720 ! videoconvert ! pngenc ! \
        filesink location=background.png
    show "$TDL_BUILD/pipelines/clip" "$TDL_PORTRAIT" clip.mkv "$frames"
    "$TDL_BUILD/pipelines/clip" "$TDL_PORTRAIT" clip.mkv "$frames"
}

# shellcheck disable=SC2086 # settings and pipeline pieces are several words
one_mode() {
    local name=$1 settings=$2 clip="filesrc location=clip.mkv ! matroskademux ! jpegdec"
    say "" "# $name"
    play filesrc "location=$TDL_PORTRAIT" ! jpegdec ! tdlfilter $settings ! videoconvert ! pngenc ! \
        filesink "location=$name.png"
    play $clip ! tdlfilter $settings ! fakesink
    rates+=("$(printf '%-16s %6s frames/s' "$name" "$(rate)")")
    play $clip ! tdlfilter $settings $(to_video "$name") ! jpegenc ! matroskamux ! \
        filesink "location=$name.mkv"
    [ -s "$name.png" ] && [ -s "$name.mkv" ] || die "$name: a file is empty"
}

# One video of all, and one picture of all: four beside each other, twice.
# shellcheck disable=SC2086
put_together() {
    local name i=0 parts= tiles= pads=
    for name in "${names[@]}"; do
        parts+=" filesrc location=$name.mkv ! matroskademux ! all."
    done
    for name in input "${names[@]}"; do
        pads+=" sink_$i::xpos=$((i % 4 * 240)) sink_$i::ypos=$((i / 4 * 281))"
        pads+=" sink_$i::width=240 sink_$i::height=281"
        case $name in
        input) tiles+=" filesrc location=$TDL_PORTRAIT ! jpegdec" ;;
        *) tiles+=" filesrc location=$name.png ! pngdec" ;;
        esac
        tiles+=" ! videoconvert ! video/x-raw,format=RGBA ! all."
        i=$((i + 1))
    done
    say "" "# All of them:"
    play concat name=all ! matroskamux ! filesink location=all-modes.mkv $parts
    play compositor name=all background=checker $pads ! videoconvert ! jpegenc ! \
        filesink location=all-modes.jpg $tiles
}

"$TDL_ROOT/pipelines/setup.sh"
use_plugin
if [ $live = yes ] && has_camera_and_display; then
    say "Close the window to end."
    launch v4l2src ! tdlfilter ! autovideosink
    exit
fi

mkdir -p "$folder"
cd "$folder"
say "" "# The lines below were run with"
show export "GST_PLUGIN_PATH=$GST_PLUGIN_PATH"
show cd "$PWD"
make_inputs
names=() rates=()
for row in "${modes[@]}"; do
    read -r name settings <<<"$row"
    names+=("$name")
    one_mode "$name" "$settings"
done
put_together

say "" "Frame rates (1280x720, JPEG decoding included):"
printf '  %s\n' "${rates[@]}"
say "" "Pictures of the portrait in every mode, and all in one:"
for name in "${names[@]}" all-modes; do ls "$PWD/$name".[jp][pn]g; done | sed 's/^/  /'
say "" "Videos of the clip in every mode, and all in one:"
for name in "${names[@]}" all-modes; do say "  $PWD/$name.mkv"; done
