# SPDX-License-Identifier: LGPL-2.1-or-later
# The demo window on a display without a screen, with a hand that clicks and types: what it
# says (--status), what is in its picture, and what it writes.
#
#     window.sh TDL-DEMO
#
# WINDOW_PICTURE=FILE.jpg keeps a picture of the window, as doc/window.md has it.
. "$(dirname "$0")/common.sh"
demo=${1:-}
[ -x "$demo" ] || skip "no tdl-demo in this build: it needs GTK 4 (on Debian: libgtk-4-dev)"
for program in Xvfb xdotool python3; do
    command -v $program >/dev/null || skip "$program is not installed (on Debian: xvfb, xdotool)"
done
for python in python3 /usr/bin/python3; do # Debian's own has Debian's packages
    ! $python -c 'import numpy' 2>/dev/null || break
done
$python -c 'import numpy' 2>/dev/null || skip "no NumPy: install python3-numpy"
[ -e "$portrait" ] || skip "no portrait: install python-matplotlib-data"
gst-inspect-1.0 --exists ximagesrc || skip "no ximagesrc: install gstreamer1.0-plugins-good"

width=1100 height=780
mkdir "$temp/home"
export HOME=$temp/home XDG_CONFIG_HOME=$temp/home XDG_RUNTIME_DIR=$temp/home TDL_DEVICE=cpu
export GDK_BACKEND=x11 GSK_RENDERER=cairo GTK_A11Y=none GSETTINGS_BACKEND=memory GTK_THEME=Adwaita
export LC_ALL=C.UTF-8
unset GST_PRESET_PATH # the window knows those of its own tree
unset WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS
pids=()
leave() {
    [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true
    rm -rf "$temp"
}
trap leave EXIT
Xvfb -displayfd 3 -screen 0 ${width}x${height}x24 -nolisten tcp 3>"$temp/display" 2>/dev/null &
pids+=($!)

# The portrait with a ball that moves, so that no two frames are the same.
clip=$temp/clip.mkv
raw=video/x-raw,format=I420,framerate=5/1
gst-launch-1.0 -q filesrc location="$portrait" ! jpegdec ! imagefreeze num-buffers=20 ! videoscale ! \
    videoconvert ! $raw,width=256,height=300 ! compositor name=both sink_1::ypos=100 ! \
    $raw,width=256,height=300 ! jpegenc quality=95 ! matroskamux ! filesink location="$clip" \
    videotestsrc pattern=ball num-buffers=20 ! $raw,width=64,height=64 ! both.

# ------------------------------------------------------------------- the hand
# What the window says, a line NAME=VALUE each, comes by a pipe; the last of each is kept, and
# where widgets are.
declare -A last place
note() { # note LINE
    local name
    echo "$1" >>"$temp/status"
    last[${1%%=*}]=${1#*=}
    [[ $1 != at=* ]] || { name=${1#at=} && place[${name%% *}]=${name#* }; }
}
# await PATTERN : a line that it has not said yet.
await() {
    local line last_second=$((SECONDS + 60))
    while [ $SECONDS -lt $last_second ] && read -r -t 60 -u 4 line; do
        note "$line"
        [[ ! $line =~ $1 ]] || return 0
    done
    echo "it does not say '$1' but:"
    tail -n 15 "$temp/status"
    return 1
}
drain() {
    local line
    while read -r -t 0 -u 4 && read -r -u 4 line; do note "$line"; done
}
# says PATTERN COMMAND... : the command lets the window say this.
says() {
    local pattern=$1
    shift
    drain
    "$@"
    check "$* => $pattern" await "^$pattern\$"
}
key() { xdotool key --delay 40 "$@"; }
# click NAME [SHARE] : there from left to right, in the middle at first.
click() {
    local x y w h
    read -r x y w h <<<"${place[$1]}"
    xdotool mousemove $((x + w * ${2:-50} / 100)) $((y + h / 2)) click 1
}
choose() { # choose NAME KEY... : in a list
    click "$1"
    sleep 0.4
    key "${@:2}" Return
}
# What the window says is seen when the frames on their way have passed: they are few, and it
# tells the rate twice a second.
settled() { drain && await '^rate=' && await '^rate=' && await '^rate=' && await '^rate='; }
screen() { # screen NAME
    gst-launch-1.0 -q ximagesrc num-buffers=1 use-damage=false show-pointer=false ! videoconvert ! \
        video/x-raw,format=RGB ! filesink location="$temp/$1.rgb"
}
# pixels WHAT NAME EXPRESSION : of the picture `p` (rows, columns, 3) in the middle of the
# widget `view` and in the shape of the clip; `v` is all of the widget. Looked at in the end,
# all at once.
pixels() { printf '%s\t%s\t%s\t%s\n' "$1" "$temp/$2.rgb" "${place[view]}" "$3" >>"$temp/pixels"; }
check_pixels() {
    $python - "$width" "$height" "$temp/pixels" <<'PY'
import sys
import numpy
failures = 0
for line in open(sys.argv[3]):
    what, name, at, expression = line.rstrip("\n").split("\t")
    screen = numpy.fromfile(name, numpy.uint8).reshape(int(sys.argv[2]), -1, 3).astype(int)
    x, y, w, h = map(int, at.split())
    v = screen[y:y + h, x:x + w]
    fit = min(w / 256, h / 300)
    pw, ph = int(256 * fit), int(300 * fit)
    x0, y0 = (w - pw) // 2, (h - ph) // 2
    p = v[y0 + 4:y0 + ph - 4, x0 + 4:x0 + pw - 4]
    near = lambda a, b, most=12: numpy.abs(a - numpy.array(b)).max() <= most
    good = eval(expression)
    failures += not good
    print("ok:" if good else "FAILED:", what)
    if not good:
        print("corners", p[0, 0], p[0, -1], "middle", p[len(p) // 2, p.shape[1] // 2], p.shape)
sys.exit(failures > 0)
PY
}

start() { # start ARGUMENT...
    mkfifo "$temp/says"
    "$demo" --status --settings "$temp/settings.ini" "$@" >"$temp/says" 2>"$temp/errors" &
    window=$!
    pids+=("$window")
    exec 4<"$temp/says"
    rm "$temp/says"
}
stop() {
    local status=0
    kill "$window"
    wait "$window" || status=$?
    [ $status = 0 ] && [ ! -s "$temp/errors" ] && return
    echo "status $status"
    cat "$temp/errors"
    return 1
}

# -------------------------------------------------------------- picture and modes
for ((i = 0; i < 100; i++)); do
    [ ! -s "$temp/display" ] || break
    sleep 0.05
done
[ -s "$temp/display" ] || skip "Xvfb does not start"
export DISPLAY=:$(cat "$temp/display")
printf '[window]\nwidth=%s\nheight=%s\n' $width $height >"$temp/settings.ini"
start --mode passthrough "$clip"
check "it plays" await '^rate=[1-9]'
check "it says its mode" [ "${last[mode]}" = passthrough ]
check "it says how frames come" [ "${last[import-path]}" = passthrough ]
settled
screen passthrough
pixels "the portrait is there" passthrough 'p.std() > 40 and near(v[4, 4], [0, 0, 0])'
says mode=mask key 1
settled
screen mask
pixels "a mask is grey, black and white" mask \
    'numpy.ptp(p, axis=2).max() <= 2 and p.min() < 10 and p.max() > 245 and (p[-20:, 100:-100] > 200).mean() > 0.9'
says mode=replace key 4
settled
screen replace
pixels "what is behind is green" replace 'near(p[0, -1], [0, 177, 64]) and not near(p[-2, p.shape[1] // 2], [0, 177, 64], 60)'
drain
check "it says how frames go" grep -q '^export-path=pool' "$temp/status"

# --------------------------------------------------------------------- controls
says refine=false click refine
says 'threshold=0\.7.*' click threshold 60
says mode=mask choose mode Home
says mode=blur key 3
settled
screen blur
pixels "what is behind is blurred" blur 'p[:20].std() > 5 and numpy.abs(numpy.diff(p[:20], axis=1)).max() < 40'
says preset=Call choose preset Down
drain
check "a preset sets what belongs to it" [ "${last[latency-mode]} ${last[smoothing]:0:4}" = "freshest 0.85" ]

# ------------------------------------------------------------------ before, after
click view
says layout=1 choose layout Down
check "it plays on" await '^rate=[1-9]'
says mode=passthrough key 6
settled
for turn in 1 2 3; do
    screen both
    pixels "both sides show one frame ($turn)" both \
        '(lambda a, b: a.std() > 40 and near(a, b, 3))(v[100:400, :w // 2], v[100:400, w // 2:w // 2 * 2])'
    sleep 0.3
done
says layout=2 choose layout End
says mode=replace key 4
click view 50
says 'divider=0\.[23].*' xdotool mousedown 1 mousemove_relative --sync -- -100 0 mouseup 1
settled
screen divided
pixels "left of the slider is the frame, right of it the filtered one" divided \
    'not near(p[0, 0], [0, 177, 64]) and near(p[0, -1], [0, 177, 64])'
says 'divider=0\.[23].*' key Right
[ -z "${WINDOW_PICTURE:-}" ] || gst-launch-1.0 -q ximagesrc num-buffers=1 use-damage=false \
    show-pointer=false ! videoconvert ! video/x-raw,format=RGB ! \
    videoconvert ! video/x-raw,format=I420,colorimetry=1:4:0:0 ! \
    jpegenc quality=80 ! \
    filesink location="$WINDOW_PICTURE"

# ------------------------------------------------------------------------- keys
says playing=0 key space
says playing=1 key space
before=${place[view]}
says fullscreen=1 key F11
check "the picture is larger" await '^at=view '
check "it is" [ "$(cut -d' ' -f3 <<<"${place[view]}")" -gt "$(cut -d' ' -f3 <<<"$before")" ]
says fullscreen=0 key F11
check "the picture is as it was" await "^at=view $before\$"
says keys=1 key question
sleep 0.3
key Escape
sleep 0.3
says 'snapshot=.*png' key s
check "a picture is written" gst-launch-1.0 -q filesrc location="${last[snapshot]}" ! pngdec ! \
    videoconvert ! video/x-raw,format=RGB,width=256,height=300 ! filesink location="$temp/snapshot"
check "it is the filtered one" $python -c 'import sys
p = open(sys.argv[1], "rb").read()
sys.exit(len(p) != 256 * 300 * 3 or max(abs(a - b) for a, b in zip(p, (0, 177, 64))) > 12)' "$temp/snapshot"
says recording=1 key r
for mode in 1:mask 5:alpha 4:replace; do
    says "mode=${mode#*:}" key "${mode%:*}"
    check "frames of ${mode#*:}" await '^rate=[1-9]'
done
settled
says 'recorded=.*' key r
holds_frames() { # holds_frames FILE
    gst-launch-1.0 -v filesrc location="$1" ! matroskademux ! vp8dec ! fakesink silent=false | grep "chain " >/dev/null
}
check "a video is written" holds_frames "${last[recorded]}"
says playing=0 key space
says recording=1 key r
says 'warning=Nothing was recorded.*' key r
says recording=1 key r
check "no video is there before its first frame" [ "$(find "$temp" -name '*.webm' | wc -l)" = 1 ]
says playing=1 key space
check "it plays, and records" await '^rate=[1-9]'
says 'recorded=.*' key r
check "a video that began in a pause is written" holds_frames "${last[recorded]}"
# Asking for a file is not yet another source.
says asking=1 choose source End
for ((i = 0; i < 50; i++)); do # it takes keys once it is seen
    key Escape
    sleep 0.2
    drain
    [ "${last[asking]}" = 1 ] || break
done
check "a file was asked for" [ "${last[asking]}" = 0 ]
check "what plays goes on" not grep -q '^\(source\|playing\)=' <(sed '1,/^asking=1/d' "$temp/status")
if ! ls /dev/video* >/dev/null 2>&1; then
    says 'warning=There is no virtual camera.*' click camera
fi

# Every control that is seen can be had by Tab.
drain
: >"$temp/status"
for ((i = 0; i < 5; i++)); do
    key Tab Tab Tab Tab Tab Tab Tab Tab
    sleep 0.1
done
drain
sed -n 's/^focus=//p' "$temp/status" | sort -u >"$temp/focused"
for name in source layout pause snapshot record camera keys view preset mode model background \
    background-color opacity threshold refine min-area; do
    check "Tab leads to $name" grep -qx "$name" "$temp/focused"
done

# --------------------------------------------------------------- settings, errors
check "it ends well" stop
for line in mode=replace layout=2 interval=1; do
    case $line in
    interval=*) check "settings have only what was set" not grep -q '^interval=' "$temp/settings.ini" ;;
    *) check "settings have $line" grep -qx "$line" "$temp/settings.ini" ;;
    esac
done
start "$temp/none.mkv"
check "a missing file is said" await '^error=none.mkv: .*'
check "settings are back" [ "${last[mode]}" = replace ]
check "there is a button to try again" await '^at=retry '
sleep 0.4
says 'error=none.mkv.*' click retry
cp "$clip" "$temp/none.mkv"
drain
click retry
check "then it plays" await '^rate=[1-9]'
check "it ends well again" stop
gst-launch-1.0 -q audiotestsrc num-buffers=5 ! wavenc ! filesink location="$temp/sound.wav"
start "$temp/sound.wav"
check "a file without a picture is said" await '^error=sound.wav: There is no picture in it.*'
check "it ends well without one" stop

# The best model is offered where it is not there, and fetched by the program that is installed.
models=$(cd "$(dirname "$0")/../.." && pwd)/models
if [ -e "$models/rvm.json" ]; then
    echo "matting is in $models already: nothing is offered"
else
    mkdir "$temp/bin"
    cat >"$temp/bin/tdl-fetch-models" <<'FETCH'
#!/bin/bash
# Fails at first.
[ -e "${0%/*}/again" ] || { touch "${0%/*}/again" && echo "no network" >&2 && exit 1; }
[ "$*" = matting ] || exit 2
mkdir -p "$HOME/.local/share/tdlfilter/models"
touch "$HOME"/.local/share/tdlfilter/models/rvm.{json,bin}
FETCH
    chmod +x "$temp/bin/tdl-fetch-models"
    PATH=$temp/bin:$PATH start --mode mask "$clip"
    check "it plays before an offer" await '^rate=[1-9]'
    says fetch=offered choose model End Up
    sleep 0.4
    says fetch=begun key Return
    check "it says that nothing came" await '^fetch=failed'
    sleep 0.4
    says fetch=begun key Return
    check "the model comes" await '^fetch=done'
    check "it is set" await '^model=matting$'
    sed -i '/^model=/d' "$temp/settings.ini"
    check "it ends well with it" stop
    sed -i '/^model=/d' "$temp/settings.ini"
    rm -r "$temp/home/.local/share/tdlfilter"
fi

# A setting that no stream begins with.
printf '[filter]\npalette=red\n' >"$temp/settings.ini"
start "$clip"
check "a wrong setting is said" await '^error=.*palette.*'
check "there is a button for default settings" await '^at=defaults '
sleep 0.4
says 'palette=' click defaults
check "with those it plays" await '^rate=[1-9]'
says mode=mask key 1
for _ in $(seq 100); do
    ! grep -q '^mode=mask' "$temp/settings.ini" || break
    sleep 0.1
done
check "settings are written before the end" grep -qx mode=mask "$temp/settings.ini"
check "it ends well once more" stop
status=0
"$demo" --mode blurr 2>"$temp/errors" || status=$?
check "a wrong mode is said" grep -q "no mode .blurr." "$temp/errors"
check "... and the status is that of a wrong command line" [ $status = 2 ]
check_pixels || failures=$((failures + 1))
finish
