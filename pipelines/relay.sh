#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Live streams in, through tdlfilter, and out again: between programs and hosts.
#   pipelines/relay.sh FROM TO [FROM TO]... [PROPERTY=VALUE...]
# FROM: /dev/videoN, rtp://:PORT (VP8), srt://..., unixfd:SOCKET, or any URI of a file or server
# TO:   /dev/videoN (v4l2loopback), rtp://HOST:PORT (VP8), srt://... (H.264), unixfd:SOCKET
# RTP is payload 96 with a clock of 90000 Hz. A frame of a live source that comes too soon
# replaces the one that waits; a file is read as fast as frames leave. Ctrl-C ends it.
# Several streams are one process with one device and one set of weights; batch-size=0
# lets them share the network's runs, too. One process a stream: tdlfilter-relay@.service.
#   pipelines/relay.sh /dev/video0 srt://:7001?mode=listener mode=blur
#   pipelines/relay.sh rtp://:5000 unixfd:/run/a rtp://:5002 unixfd:/run/b batch-size=0
# unixfd hands dma-bufs on without a copy and needs GStreamer 1.24.
set -eu
. "$(dirname "$0")/common.sh"

# needs ELEMENT PACKAGE
needs() { gst-inspect-1.0 --exists "$1" || die "there is no $1 here: it comes with $2"; }
bad=gstreamer1.0-plugins-bad

# input FROM : words of the pipeline, into the array `from`. What is live is not waited for.
input() {
    leaky=downstream
    case $1 in
    /dev/*) from=(v4l2src "device=$1") ;;
    rtp://:[0-9]*)
        from=(udpsrc "port=${1#rtp://:}"
            "caps=application/x-rtp,media=video,encoding-name=VP8,payload=96,clock-rate=90000" !
            rtpjitterbuffer ! rtpvp8depay ! vp8dec)
        ;;
    srt://*)
        needs srtsrc $bad
        from=(srtsrc "uri=$1" ! decodebin)
        ;;
    unixfd:*)
        needs unixfdsrc "$bad of GStreamer 1.24"
        from=(unixfdsrc "socket-path=${1#unixfd:}")
        ;;
    file://*)
        from=(uridecodebin "uri=$1")
        leaky=no
        ;;
    rtp://*) misused "'$1' is no source: rtp://:PORT is" ;;
    *://*) from=(uridecodebin "uri=$1") ;;
    *) misused "'$1' is no source" ;;
    esac
}

h264() {
    if gst-inspect-1.0 --exists x264enc; then
        say x264enc tune=zerolatency speed-preset=superfast key-int-max=30
    else
        needs openh264enc $bad
        say openh264enc gop-size=30
    fi
}

# output TO : likewise, into the array `to`.
output() {
    local host=${1#rtp://}
    local -a encoder
    case $1 in
    # v4l2loopback's own buffers are too few for the queue.
    /dev/*) to=(video/x-raw,format=YUY2 ! identity drop-allocation=true ! v4l2sink "device=$1") ;;
    rtp://?*:[0-9]*)
        to=(vp8enc deadline=1 cpu-used=8 keyframe-max-dist=60 ! rtpvp8pay pt=96 picture-id-mode=2 !
            udpsink "host=${host%:*}" "port=${host##*:}")
        ;;
    srt://*)
        needs srtsink $bad
        mapfile -t encoder < <(h264)
        to=("${encoder[@]}" ! h264parse config-interval=-1 ! mpegtsmux alignment=7 !
            srtsink "uri=$1" wait-for-connection=false)
        ;;
    unixfd:*)
        needs unixfdsink "$bad of GStreamer 1.24"
        to=("video/x-raw(memory:DMABuf);video/x-raw" ! unixfdsink "socket-path=${1#unixfd:}")
        ;;
    *) misused "'$1' is no place for a stream to go" ;;
    esac
}

words=() pairs=() properties=()
for word in "$@"; do
    case $word in
    -h | --help) usage; exit 0 ;;
    -*) misused "'$word' is not an option here" ;;
    *)
        # URIs have "=" in them, too.
        if [[ $word =~ ^[a-z][a-z0-9-]*= ]]; then properties+=("$word"); else pairs+=("$word"); fi
        ;;
    esac
done
[ ${#pairs[@]} -gt 0 ] && [ $((${#pairs[@]} % 2)) = 0 ] ||
    misused "streams are pairs of where from and where to"
use_plugin
for ((i = 0; i < ${#pairs[@]}; i += 2)); do
    input "${pairs[i]}"
    output "${pairs[i + 1]}"
    convert=(videoconvert !)
    [[ ${pairs[i + 1]} != unixfd:* ]] || convert=()
    words+=("${from[@]}" ! queue max-size-buffers=2 leaky=$leaky !
        tdlfilter "${properties[@]}" ! queue max-size-buffers=2 ! "${convert[@]}" "${to[@]}")
done
launch "${words[@]}"
