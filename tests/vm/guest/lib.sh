# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: LGPL-2.1-or-later
# Shared by the guest's tests: where things are, and how results are told.
# Sourced.
name=$(basename "$0" .sh)
name=${name#test-}
build=/src/build-vm
programs=$build/tests/vm
logs=/vm/logs/$name
camera=${camera:-/dev/video0}
tiny=/vm/tiny.tflite # a network that runs in no time
rm -rf "$logs"
mkdir -p "$logs" /vm/cache
export GST_PLUGIN_PATH=$build/gst GST_REGISTRY=/vm/registry.bin GST_REGISTRY_UPDATE=no
export GST_DEBUG_NO_COLOR=1 XDG_CACHE_HOME=/vm/cache TDL_DEVICE=vulkan TDL_TEST_MODEL=$tiny

# Without the text that changes from frame to frame nothing moves.
still_camera() {
    v4l2-ctl -d $camera -c test_pattern=0,osd_text_mode=2,horizontal_movement=3,vertical_movement=3
}
moving_camera() {
    v4l2-ctl -d $camera -c test_pattern=0,osd_text_mode=0,horizontal_movement=5,vertical_movement=3
}

# camera_line FRAMES FORMAT SIZE [IO-MODE] [RATE]: the camera with caps of either
# style. FORMAT is GStreamer's name, or drm:NAME for dma-bufs.
camera_line() {
    local caps=video/x-raw,format=$2
    [[ $2 != drm:* ]] || caps="video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=${2#drm:}"
    echo "v4l2src device=$camera num-buffers=$1 io-mode=${4:-auto} !" \
        "$caps,width=${3%x*},height=${3#*x},framerate=${5:-30}/1"
}

log_of() { echo "$logs/${1//[^A-Za-z0-9.-]/_}.log"; }

# report WHAT STATUS: one check's result; 77 is a skip whose reason is the last
# line of its log.
report() {
    local log
    log=$(log_of "$1")
    case $2 in
    0) echo "ok $name: $1" ;;
    77) echo "skipped $name, $1: $(tail -n 1 "$log")" ;;
    *)
        tail -n 12 "$log" | cut -c1-250 | sed 's/^/| /'
        echo "FAILED $name: $1 (status $2)"
        ;;
    esac
}

# Limits end what hangs; how fast anything is depends on who else uses the machine.
limited() { timeout --kill-after=5 "${limit:-900}" "$@"; }

# wait_for PID COMMAND... : until the command succeeds, while that process lives.
wait_for() {
    local pid=$1
    shift
    for _ in $(seq 900); do
        "$@" && return
        kill -0 "$pid" 2>/dev/null || return
        sleep 1
    done
    return 1
}

# check WHAT COMMAND... : passes when the command does.
check() {
    local what=$1 status=0
    shift
    limited "$@" >"$(log_of "$what")" 2>&1 </dev/null || status=$?
    report "$what" $status
}

# job WHAT ARGUMENT... : for run_jobs.
job() {
    jobs+=(--job "$(log_of "$1")" "${@:2}")
    waiting+=("$1")
}
# run_jobs PROGRAM: all of them in one process, for starting one and making its kernels
# take the emulated processor longer than the frames. Each job is a check.
run_jobs() {
    local line status=0 limit=3000 log
    log=$(log_of "${1##*/} ends well")
    while IFS= read -r line; do
        case $line in
        "done: "*) report "${waiting[0]}" 0; waiting=("${waiting[@]:1}") ;;
        "status: "*) status=${line#status: } ;;
        *) echo "$line" >>"$log" ;;
        esac
    done < <(limited "$1" "${jobs[@]}" </dev/null 2>&1; echo "status: $?")
    for line in "${waiting[@]}"; do
        echo "it did not come to its end" >>"$(log_of "$line")"
        report "$line" 1
    done
    report "${1##*/} ends well" "$status"
    jobs=() waiting=()
}
jobs=() waiting=()

# hold WHAT COMMAND... : starts `untouched --hold`, or what else reads its input, and
# comes back when it has played all; sets `player`. let_go ends it and reports.
hold() {
    local log
    log=$(log_of "$1")
    rm -f "/run/hold-$name"
    mkfifo "/run/hold-$name"
    limited "${@:2}" >"$log" 2>&1 <"/run/hold-$name" &
    player=$!
    exec {holding}>"/run/hold-$name"
    wait_for $player grep -q "the pipeline ends" "$log"
}
let_go() { # let_go WHAT
    local status=0
    exec {holding}>&-
    wait "$player" || status=$?
    report "$1" $status
}

# check_fails WHAT PATTERN COMMAND... : passes when the command fails, by itself,
# and says something that fits the pattern.
check_fails() {
    local what=$1 pattern=$2 log status=0
    log=$(log_of "$1")
    shift 2
    limited "$@" >"$log" 2>&1 </dev/null || status=$?
    case $status in
    0 | 124 | 137) echo "it should have failed" >>"$log"; status=1 ;;
    *) status=0; grep -Eq "$pattern" "$log" || status=2 ;;
    esac
    report "$what" $status
}
