#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Camera to window with the classes of a model in their colours, and a legend of them: in
# the window where there is textoverlay (Debian's gstreamer1.0-x), else in the terminal.
#   pipelines/classes.sh MODEL LABELS [PROPERTY=VALUE...]      such as input-range=-1,1
# LABELS has the classes' names, one a line, the background's first.
set -eu
. "$(dirname "$0")/common.sh"
no_options "$@"
[ $# -ge 2 ] || misused "a model, and a file with the names of its classes, are needed"
use_plugin
model=$1 labels=$2
shift 2
case $model in
*://*) ;;
*[/.]*) [ -f "$model" ] || die "there is no model '$model': give the path of a file" ;;
esac
[[ -f $labels && -r $labels ]] ||
    die "'$labels' is no file that can be read: give one with the classes' names, one a line"
# What the element says of the model comes before the legend.
gst-launch-1.0 -q videotestsrc num-buffers=0 ! tdlfilter mode=classes "model=$model" "$@" ! fakesink ||
    die "the model cannot be used"
most=24 # lines that a window has room for

# color CLASS : as PASCAL VOC has them: its bits, by threes, from the colours' highest down.
color() {
    local class=$1 bit r=0 g=0 b=0
    for bit in 7 6 5 4 3 2 1 0; do
        r=$((r | (class & 1) << bit)) g=$((g | (class >> 1 & 1) << bit))
        b=$((b | (class >> 2 & 1) << bit)) class=$((class >> 3))
    done
    printf '#%02x%02x%02x' $r $g $b
}

legend='' class=0
while read -r name || [ -n "$name" ]; do
    name=$(sed 's/\r$//; s/&/\&amp;/g; s/</\&lt;/g' <<<"$name")
    [ $class = 0 ] || legend+="<span foreground=\"$(color $class)\">█</span> $name"$'\n'
    class=$((class + 1))
    [ $class -le $most ] || break
done <"$labels"
if gst-inspect-1.0 --exists textoverlay; then
    quoted=${legend//\\/\\\\}
    shown=(! textoverlay "text=\"${quoted//\"/\\\"}\"" valignment=top halignment=left line-alignment=left
        "font-desc=Sans 10" ! videoconvert)
else
    shown=()
    sed 's/<span foreground="\(#......\)">█<.span>/\1/; s/&lt;/</g; s/&amp;/\&/g' <<<"$legend" >&2
fi
# shellcheck disable=SC2086
launch ${SRC:-v4l2src} ! tdlfilter mode=classes "model=$model" "labels=$labels" "$@" ! \
    videoconvert "${shown[@]}" ! ${SINK:-autovideosink}
