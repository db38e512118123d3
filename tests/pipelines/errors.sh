# SPDX-License-Identifier: LGPL-2.1-or-later
# What a user gets wrong ends soon, with a failing status and with words that
# help: never with a hang or a crash.
. "$(dirname "$0")/common.sh"
source="videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=64,height=48"

# fails WHAT PATTERN PROPERTY... : the element refuses, and its words match.
# gst-launch-1.0 ends with 1 or, when the state change fails at once, with 255;
# a crash or a hang ends with another status.
fails() {
    local what=$1 pattern=$2 status=0
    shift 2
    # shellcheck disable=SC2086
    timeout 600 gst-launch-1.0 $source ! tdlfilter "$@" ! fakesink >"$temp/log" 2>&1 || status=$?
    if [[ $status = 1 || $status = 255 ]] && grep -qi "^ERROR: .*" "$temp/log" && grep -Eqi "$pattern" "$temp/log"; then
        good "$what"
    else
        cat "$temp/log"
        bad "$what: status $status"
    fi
}

printf 'TFL3 but not a model' >"$temp/broken.tflite"
fails "a model that is not there" "no-such-file" model=/no-such-file.tflite
fails "a file that is no model" "broken.tflite|not a|damaged" "model=$temp/broken.tflite"
if [ -e "$TDL_TEST_MODELS/selfie_segmentation.tflite" ]; then
    head -c 100000 "$TDL_TEST_MODELS/selfie_segmentation.tflite" >"$temp/cut.tflite"
    fails "a model cut short" "cut.tflite|damaged|beyond|short|trunc" "model=$temp/cut.tflite"
fi
fails "a background that is no picture" "broken.tflite|picture" mode=replace "background=$temp/broken.tflite"
fails "a device that is not there" "no-such-device" device=no-such-device
export VK_ICD_FILENAMES=/no-such-driver.json VK_DRIVER_FILES=/no-such-driver.json
fails "no Vulkan driver" "vulkan" mode=mask device=vulkan
finish
