# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# That the CPU touches no pixel, by witnesses other than the element: GStreamer's
# logs, the system calls, and memory that kills who touches it. Each witness is
# shown to speak up when frames are touched on purpose.
. "$(dirname "$0")/lib.sh"

frames=12
filter="tdlfilter name=filter model=$tiny mode=overlay refine=false smoothing=0 require-zero-copy=true qos=false"
source=$(camera_line $frames drm:NV12 320x180)
still_camera

job "logs tell of no map and no copy" --frames=$frames \
    "$source ! $filter ! fakesink"
job "logs tell of a map made on purpose" --frames=$frames --touch=map \
    "$source ! $filter ! fakesink"
job "logs tell of a copy made on purpose" --frames=$frames --touch=copy \
    "$source ! $filter ! fakesink"
run_jobs $programs/untouched

# Where every map of a frame by the CPU is PROT_NONE, the pipeline still runs;
# what comes out of it is looked at in another process.
expected=$logs/expected
check "picture by the CPU's way" $programs/still --write="$expected" \
    "$(camera_line 2 NV12 320x180 rw) ! $filter require-zero-copy=false ! appsink name=sink"
socket=/run/frames
# poisoned LINE [WRAPPER...]
poisoned() {
    local log
    log=$(log_of poisoned)
    # shellcheck disable=SC2086 # a pipeline is many words
    limited "${@:2}" env LD_PRELOAD=$programs/libpoison.so gst-launch-1.0 -q --no-fault $1 >"$log" 2>&1
}
# The receiver has no other element of video than ours, which has to name
# GstVideoMeta's type in time for the first frame; with opacity 0 it changes nothing.
receive() {
    limited $programs/still --frames=$((frames - 1)) --dma-buf --compare="$expected" \
        "unixfdsrc socket-path=$socket ! $filter opacity=0 ! appsink name=sink sync=false"
}
poisoned "$source ! $filter ! unixfdsink socket-path=$socket wait-for-connection=true sync=false" &
sender=$!
wait_for $sender test -S $socket
receive >"$(log_of "poisoned frames, seen by another process")" 2>&1
report "poisoned frames, seen by another process" $?
status=0
wait $sender || status=$?
cp "$(log_of poisoned)" "$(log_of "a pipeline over poisoned frames")"
report "a pipeline over poisoned frames" $status
check "poison: only the driver maps frames" \
    grep -E "driver-maps=[1-9][0-9]* cpu-maps=0 .*syncs=0" "$(log_of poisoned)"

# Another process's frames come in a new memory each, of a handful of dma-bufs:
# they are imported twice each (V4L2 has 32 at most), not once a frame.
rm -f $socket
limited gst-launch-1.0 -q --no-fault $(camera_line 100 drm:NV12 320x180 auto 15) ! \
    unixfdsink socket-path=$socket wait-for-connection=true sync=false >"$logs/sender.log" 2>&1 &
sender=$!
wait_for $sender test -S $socket
check "dma-bufs of another process are known again" $programs/still --frames=99 --imports=64 \
    "unixfdsrc socket-path=$socket ! $filter ! appsink name=sink sync=false"
wait $sender

# The kernel's own record of the calls, against what was counted inside.
calls=$logs/calls
if poisoned "$source ! $filter ! fakesink" \
    strace -f --seccomp-bpf -y -e trace=mmap,ioctl -o "$calls"; then
    all=$(grep -c 'mmap(.*dmabuf' "$calls")
    check "strace: no map of a frame but the driver's" \
        grep "driver-maps=$all cpu-maps=0" "$(log_of poisoned)"
    check "strace: no DMA_BUF_IOCTL_SYNC" test "$(grep -c DMA_BUF_IOCTL_SYNC "$calls")" = 0
else
    report poisoned 1
fi

# What reads frames in spite of it does not survive.
kills() { # kills WHAT LINE
    local status=0
    poisoned "$2" || status=$?
    cp "$(log_of poisoned)" "$(log_of "$1")"
    echo "status $status" >>"$(log_of "$1")"
    [ $status = 139 ] # SIGSEGV
    report "$1" $?
}
kills "poison kills who reads the camera's frames" \
    "$(camera_line 3 NV12 320x180) ! videoconvert ! video/x-raw,format=I420 ! fakesink"
kills "poison kills who reads the element's frames" \
    "$source ! $filter ! fakesink dump=true"
