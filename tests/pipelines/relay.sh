# SPDX-License-Identifier: LGPL-2.1-or-later
# relay.sh: two streams in one process over RTP, one over SRT, frames by unixfd where
# GStreamer has that, the unit that runs it, and what it refuses.
. "$(dirname "$0")/common.sh"
export TDL_BUILD=${GST_PLUGIN_PATH%/gst} TDL_DEVICE=cpu
relay=$root/pipelines/relay.sh
jobs=()
cd "$temp"
stop() {
    local job
    for job in "${jobs[@]}"; do kill -TERM -- "-$job" 2>/dev/null || true; done
    wait
    rm -rf "$temp"
}
trap stop EXIT
camera="videotestsrc is-live=true ! video/x-raw,format=I420,width=160,height=120,framerate=15/1"

# begin COMMAND... : in the background, with a process group of its own.
begin() {
    setsid "$@" &
    jobs+=($!)
}
# arrives WHAT ELEMENT... : ten frames come there.
arrives() {
    local what=$1
    shift
    check "$what" timeout 60 gst-launch-1.0 -q "$@" ! fakesink num-buffers=10
}
rtp="caps=application/x-rtp,media=video,encoding-name=VP8,payload=96,clock-rate=90000"
receive() { arrives "$1" udpsrc "port=$2" "$rtp" ! rtpjitterbuffer ! rtpvp8depay ! vp8dec; }
has() { gst-inspect-1.0 --exists "$1"; }

port=$((20000 + $$ % 20000))
# shellcheck disable=SC2086
if has rtpvp8pay && has udpsrc; then
    for i in 0 2; do
        begin gst-launch-1.0 -q $camera ! vp8enc deadline=1 keyframe-max-dist=15 ! rtpvp8pay ! \
            udpsink host=127.0.0.1 port=$((port + i))
    done
    begin "$relay" rtp://:$port rtp://127.0.0.1:$((port + 1)) \
        rtp://:$((port + 2)) rtp://127.0.0.1:$((port + 3)) mode=blur
    receive "the first stream comes back" $((port + 1))
    receive "the second one, too" $((port + 3))
else
    echo "not tried: RTP, as rtpvp8pay is missing"
fi
if has srtsink && has openh264dec; then
    begin gst-launch-1.0 -q $camera ! vp8enc deadline=1 keyframe-max-dist=15 ! rtpvp8pay ! \
        udpsink host=127.0.0.1 port=$((port + 4))
    begin "$relay" rtp://:$((port + 4)) "srt://127.0.0.1:$((port + 5))?mode=listener" mode=overlay
    arrives "a stream by SRT" srtsrc "uri=srt://127.0.0.1:$((port + 5))?mode=caller" ! decodebin
else
    echo "not tried: SRT, as srtsink or openh264dec is missing"
fi
if has unixfdsink; then
    begin gst-launch-1.0 -q $camera ! unixfdsink "socket-path=$temp/in"
    until [ -S in ]; do sleep 0.1; done
    begin "$relay" "unixfd:$temp/in" "unixfd:$temp/out" mode=overlay
    until [ -S out ]; do sleep 0.1; done
    arrives "frames by unixfd" unixfdsrc "socket-path=$temp/out"
else
    check "without unixfd it says so" not "$relay" unixfd:a unixfd:b
fi
ends() { # ends STATUS WORDS COMMAND... : with that status, saying so
    local status=$1 words=$2 got=0
    shift 2
    "$@" >log 2>&1 || got=$?
    [ $got = "$status" ] && grep -q -- "$words" log
}
check "no end" ends 2 "pairs of where from and where to" "$relay" /dev/video0
check "no source" ends 2 "'nowhere' is no source" "$relay" nowhere /dev/video9
check "no sink" ends 2 "'nowhere' is no place" "$relay" /dev/video0 nowhere
if command -v systemd-analyze >/dev/null; then
    mkdir unit
    sed "s|/opt/tdlfilter|$root|" "$root/pipelines/tdlfilter-relay@.service" \
        >"unit/tdlfilter-relay@door.service"
    check "the unit is well formed" systemd-analyze verify --man=no "unit/tdlfilter-relay@door.service"
else
    echo "not tried: the unit, as systemd-analyze is missing"
fi
finish
