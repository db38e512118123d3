# SPDX-License-Identifier: LGPL-2.1-or-later
# Shared by the guest's tests: where things are, and how results are told.
# Sourced.
name=$(basename "$0" .sh)
name=${name#test-}
build=/src/build-vm
logs=/vm/logs/$name
camera=/dev/video0
rm -rf "$logs"
mkdir -p "$logs" /vm/cache
export GST_PLUGIN_PATH=$build/gst GST_REGISTRY=/vm/registry.bin GST_REGISTRY_UPDATE=no
export GST_DEBUG_NO_COLOR=1 XDG_CACHE_HOME=/vm/cache
tiny=/vm/tiny.tflite

# Every test starts with a camera in the same state: a still picture, without
# the text that changes from frame to frame, unless it asks for it.
still_camera() {
    v4l2-ctl -d $camera -c test_pattern=0,osd_text_mode=2,horizontal_movement=3,vertical_movement=3
}
moving_camera() {
    v4l2-ctl -d $camera -c test_pattern=0,osd_text_mode=0,horizontal_movement=5,vertical_movement=3
}

# check WHAT COMMAND... : passes when the command does; status 77 is a skip
# whose reason is the last line that it wrote.
check() {
    local what=$1 log status=0 from=$SECONDS
    shift
    log=$logs/${what//[^A-Za-z0-9.-]/_}.log
    timeout --kill-after=5 "${LIMIT:-100}" "$@" >"$log" 2>&1 </dev/null || status=$?
    case $status in
    0) echo "ok $name: $what ($((SECONDS - from)) s)" ;;
    77) echo "skipped $name, $what: $(tail -n 1 "$log")" ;;
    *)
        tail -n 12 "$log" | cut -c1-250 | sed 's/^/| /'
        echo "FAILED $name: $what (status $status)"
        ;;
    esac
}
