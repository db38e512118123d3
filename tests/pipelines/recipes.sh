# SPDX-License-Identifier: LGPL-2.1-or-later
# The recipes of pipelines/, with a test picture for the camera and a file for
# the window.
. "$(dirname "$0")/common.sh"
[ -e "$portrait" ] || skip "no portrait: install python-matplotlib-data"
recipes=$root/pipelines
export TDL_BUILD=${GST_PLUGIN_PATH%/gst}
export SRC="videotestsrc num-buffers=3 ! video/x-raw,format=NV12,width=64,height=48,framerate=30/1"
rgb="videoconvert ! video/x-raw,format=RGB"

bytes() { [ -e "$1" ] && stat -c %s "$1" || echo 0; }
# writes WHAT BYTES COMMAND... : the command ends well and $temp/out has so many
# bytes (a pattern: "100|200").
writes() {
    local what=$1 expected=$2 status=0
    shift 2
    rm -f "$temp/out"
    "$@" >"$temp/log" 2>&1 || status=$?
    if [ $status = 0 ] && [[ $(bytes "$temp/out") =~ ^($expected)$ ]]; then
        good "$what"
    else
        cat "$temp/log"
        bad "$what: status $status, $(bytes "$temp/out") bytes of $expected"
    fi
}

frames=$((3 * 64 * 48 * 3))
export SINK="$rgb ! filesink location=$temp/out"
writes camera-window $frames "$recipes/camera-window.sh" mode=blur
writes replace-background $frames "$recipes/replace-background.sh" "$portrait"

(unset SINK DISPLAY WAYLAND_DISPLAY XDG_RUNTIME_DIR
    not "$recipes/camera-window.sh" mode=blur 2>"$temp/log")
check "no display is said, and how to do without" grep -q "no display .*SINK=fakesink" "$temp/log"

# alive NAME : a program runs with a sink of that name.
alive() { pgrep -f "^[^ ]*gst-launch-1.0 .*name=$1( |\$)" >/dev/null; }
# until_it COMMAND... : within 30 s.
until_it() {
    local tries
    for ((tries = 0; tries < 300; tries++)); do
        ! "$@" || return 0
        sleep 0.1
    done
    return 1
}
# Whoever ends a recipe ends its stream.
ends_with_it() {
    local name=sink$$
    SRC="videotestsrc is-live=true ! video/x-raw,width=64,height=48" SINK="fakesink name=$name" \
        "$recipes/camera-window.sh" >"$temp/log" 2>&1 &
    local script=$!
    until_it alive $name || return 1
    kill -TERM $script
    wait $script || true
    until_it not alive $name
}
check "a stream ends with its recipe" ends_with_it

# Whatever the mode makes, into a window of another format: the recipe, and the
# first line of README.md.
bgrx="video/x-raw,format=BGRx ! filesink location=$temp/out"
for mode in mask overlay alpha; do
    SINK=$bgrx writes "camera-window mode=$mode" $((3 * 64 * 48 * 4)) \
        "$recipes/camera-window.sh" mode=$mode
done
line=$(grep -m1 '^    gst-launch-1.0 v4l2src' "$root/README.md")
line=${line/v4l2src/$SRC} line=${line/mode=blur/mode=mask}
# shellcheck disable=SC2086
writes "README.md's first line" $((3 * 64 * 48 * 4)) ${line/autovideosink/$bgrx}
# videoconvert behind the element costs no copy where the formats are the same.
SINK="video/x-raw,format=NV12 ! filesink location=$temp/out" \
    writes "camera-window without a copy" $((3 * 64 * 48 * 3 / 2)) \
    "$recipes/camera-window.sh" require-zero-copy=true
# The size and the rate are the call's, whatever the camera's are; tests/vm has it with devices.
SINK="filesink location=$temp/out" writes video-call $((3 * 96 * 64 * 2)) "$recipes/video-call.sh" --size=96x64
i420=$((96 * 64 * 3 / 2)) # of three frames at half the rate GStreamer's releases make more or fewer
SRC=${SRC/30/15} SINK="filesink location=$temp/out" TDL_DEVICE=cpu \
    writes "video-call, I420 of a slower camera" "$((4 * i420))|$((5 * i420))|$((6 * i420))" "$recipes/video-call.sh" --size=96x64 --format=I420
(unset SINK && not "$recipes/video-call.sh" /dev/video99 2>"$temp/log")
check "video-call says what is missing" grep -q "no /dev/video99\|no module v4l2loopback" "$temp/log"
check "... and what helps" grep -q "^    sudo modprobe v4l2loopback video_nr=99 .*exclusive_caps=1" "$temp/log"

# refuses PATTERN OPTION... : video-call.sh says this, and that it is no use.
refuses() {
    local pattern=$1
    shift
    (unset SRC SINK && not "$recipes/video-call.sh" "$@" 2>"$temp/log") && grep -q "$pattern" "$temp/log"
}
check "video-call: no video device" refuses "^video-call.sh: /dev/null is no video device" /dev/null
check "video-call: no camera" refuses "^video-call.sh: /dev/null is no video device" --camera=/dev/null
check "video-call: no size" refuses "^video-call.sh: '--size=abc': give width and height" --size=abc

check "fetch-models --check: a name that there is not" not "$recipes/fetch-models.sh" --check nosuch

writes masks-to-program $((3 * 640 * 360)) "$recipes/masks-to-program.sh" tee "$temp/out"

# The mixers' sizes follow their settings, and both inputs end after 3 frames.
wide=$((3 * 1280 * 360 * 3))
writes two-cameras $wide "$recipes/two-cameras.sh"
SRC2="${SRC/64/96}" writes "two-cameras of two kinds" $wide "$recipes/two-cameras.sh"
gst-launch-1.0 -q videotestsrc num-buffers=3 ! \
    video/x-raw,format=I420,width=64,height=48,framerate=30/1 ! jpegenc ! matroskamux ! \
    filesink location="$temp/video.mkv"
# Matroska's times are in ms, so that the mixer may find room for one frame more.
writes over-video "$frames|$((4 * 64 * 48 * 3))" "$recipes/over-video.sh" "$temp/video.mkv"

check mask-to-file "$recipes/mask-to-file.sh" "$portrait" "$temp/mask"
check "mask-to-file writes a PNG picture" grep -q PNG "$temp/mask-00000.png"

# Its model is large, and not fetched for tests.
if [ -e "$root/models/isnet.onnx" ]; then
    # Its weights are more than some software Vulkan reaches.
    TDL_DEVICE=cpu check cut-out "$recipes/cut-out.sh" "$portrait" "$temp/cut-out.png"
    check "cut-out writes a PNG picture" grep -q PNG "$temp/cut-out.png"
else
    "$recipes/cut-out.sh" "$portrait" "$temp/cut-out.png" >"$temp/log" 2>&1 || true
    check "cut-out says what is missing" grep -q "fetch-models.sh isnet" "$temp/log"
    check "fetch-models --check tells, too" not "$recipes/fetch-models.sh" --check isnet
fi

# Models without weights stand in: a picture twice as large, and its colours for classes.
printf '%s\n' 7767517 "2 2" "Input in 0 1 data 0=64 1=48 2=3" \
    "Interp up 1 1 data out 0=1 1=2.0 2=2.0" >"$temp/twice.param"
printf '%s\n' 7767517 "2 2" "Input in 0 1 data 0=64 1=48 2=3" "ReLU same 1 1 data out" \
    >"$temp/same.param"
: >"$temp/twice.bin" >"$temp/same.bin"
check enlarge "$recipes/enlarge.sh" "$portrait" "$temp/large.png" "model=$temp/twice.param"
check "enlarge makes it twice as large" grep -qaP 'IHDR\x00\x00\x04\x00' "$temp/large.png"
check "enlarge makes a clip" "$recipes/enlarge.sh" "$temp/video.mkv" "$temp/large.mkv" \
    "model=$temp/twice.param"
printf '%s\n' background "cats & dogs" birds >"$temp/labels.txt"
writes classes $frames "$recipes/classes.sh" "$temp/same.param" "$temp/labels.txt"
"$recipes/classes.sh" "$temp/labels.txt" "$temp/labels.txt" >"$temp/log" 2>&1 || true
check "classes says what is wrong with a model" grep -q "no model of a kind" "$temp/log"
check "... and then shows no legend" sh -c '! grep -q birds "$1"' - "$temp/log"

# A recipe that is not here is not tested.
for recipe in "$recipes"/*.sh; do
    name=$(basename "$recipe" .sh)
    case $name in
    common | setup | fetch-models | demo) ;; # run by tests/run.sh itself
    compare-onnxruntime) ;; # wants Node.js, and compares times
    farm | relay) ;; # have tests of their own
    *) check "$name is among these tests" grep -q "/$name.sh\"" "$0" ;;
    esac
done
finish
