# SPDX-License-Identifier: LGPL-2.1-or-later
# farm.sh and what recordings are made of: codecs whose parsers and decoders differ in the
# form that they ask for, with pictures that come in another order than they are shown, in
# Matroska and MP4, with sound and without.
. "$(dirname "$0")/common.sh"
command -v parallel >/dev/null || skip "GNU parallel is not installed"
real=${GST_PLUGIN_PATH%/gst}
export TDL_DEVICE=cpu TDL_BUILD=$real # the device is not what is tried here
frames=45 size=$((160 * 120 * 3 / 2))
raw=video/x-raw,format=I420
cd "$temp"

one_of() { # one_of ELEMENT... : there is one of them
    local name
    for name in "$@"; do
        ! gst-inspect-1.0 --exists "$name" || return 0
    done
    return 1
}
# record FILE MUXER ENCODER [ELEMENT...] : the elements are those of the sound.
record() {
    gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=$frames ! \
        $raw,width=160,height=120,framerate=30/1 ! $3 ! queue max-size-time=0 ! \
        $2 name=m ! filesink "location=$1" "${@:4}"
}
sound=(audiotestsrc num-buffers=75 samplesperbuffer=960 ! audio/x-raw,rate=48000 ! opusenc ! queue ! m.)
stream() { # stream FILE DEMUXER PAD OUT : what the container holds
    gst-launch-1.0 -q filesrc "location=$1" ! $2 name=d "d.$3" ! queue ! filesink "location=$4"
}

times() {
    mkdir times
    "$real/pipelines/farm" cut "$1" times 0.001
    rm -r times
}

# A piece is shorter here than masks fade, and times differ a little between containers:
# without smoothing frames are the same whatever was before. farm.sh's own test has it.
# in_pieces WHAT FILE [DEMUXER] : the frames are those of one.raw, and so is the sound.
in_pieces() {
    local status=0
    timeout 120 "$root/pipelines/farm.sh" --workers 2 --seconds 0.5 --encoder $raw \
        "$2" out.mkv smoothing=0 >log 2>&1 || status=$?
    check "$1" test $status = 0
    if [ $status != 0 ]; then
        cat log
        rm -rf out.mkv*
        return
    fi
    check "... in three pieces" grep -q '^3 pieces' log
    stream out.mkv matroskademux video_0 out.raw
    check "... as many frames" test "$(stat -c %s out.raw)" = $((frames * size))
    # It can be cut at each frame, all of which are keyframes.
    check "... each at its time" test "$(times out.mkv)" = "$(times one.mkv)"
    check "... equal within a step" test "$(most_apart one.raw out.raw)" -le 1
    if [ -n "${3:-}" ]; then
        stream "$2" "$3" audio_0 in.opus
        stream out.mkv matroskademux audio_0 out.opus
        check "... there is sound" test -s in.opus
        check "... which is the same" cmp in.opus out.opus
    fi
    rm -f out.mkv
}

# codec NAME ENCODER DECODER... : an encoder as a line of elements, and who could decode it.
codec() {
    local name=$1 encoder=$2
    if ! one_of "${encoder%% *}" || ! one_of "${@:3}"; then
        echo "not tried: $name, as ${encoder%% *} is missing, or a decoder"
        return 1
    fi
    record in.mkv matroskamux "$encoder"
    "$real/pipelines/farm" process one.mkv "tdlfilter smoothing=0" $raw in.mkv
    stream one.mkv matroskademux video_0 one.raw
    check "$name in one piece has all frames" test "$(stat -c %s one.raw)" = $((frames * size))
    in_pieces "$name" in.mkv
    record in.mkv matroskamux "$encoder" "${sound[@]}"
    in_pieces "$name, with sound" in.mkv matroskademux
}
in_mp4() { # in_mp4 NAME ENCODER
    record in.mp4 mp4mux "$2" "${sound[@]}"
    in_pieces "$1 in MP4, with sound" in.mp4 qtdemux
}

one_of h264parse || skip "h264parse is missing: install gstreamer1.0-plugins-bad"
one_of x264enc openh264enc || skip "x264enc and openh264enc are missing: install gstreamer1.0-plugins-bad"
h264=(openh264dec avdec_h264)
encoder="openh264enc gop-size=15 ! h264parse"
if codec "H.264" "$encoder" "${h264[@]}"; then
    in_mp4 "H.264" "$encoder"
    record in.ts mpegtsmux "$encoder"
    in_pieces "H.264 in MPEG-TS" in.ts
    stream in.ts tsdemux video_0_0041 in.h264
    status=0
    "$root/pipelines/farm.sh" --encoder $raw in.h264 out.mkv >log 2>&1 || status=$?
    check "H.264 without a container is refused" test $status = 1
    check "... for what it lacks" grep -q "in.h264 have no times" log
fi
encoder="x264enc key-int-max=15 bframes=2 ! h264parse"
codec "H.264 in another order" "$encoder" "${h264[@]}" && in_mp4 "H.264 in another order" "$encoder"
# Its pictures before a keyframe, which refer to those behind it.
encoder="x265enc key-int-max=15 speed-preset=ultrafast ! h265parse"
codec "H.265" "$encoder" libde265dec avdec_h265 && in_mp4 "H.265" "$encoder"
encoder="av1enc cpu-used=8 usage-profile=realtime keyframe-max-dist=15 ! av1parse"
codec "AV1" "$encoder" av1dec dav1ddec && in_mp4 "AV1" "$encoder"
codec "VP9" "vp9enc deadline=1 keyframe-max-dist=15" vp9dec avdec_vp9 || true
codec "MJPEG" jpegenc jpegdec || true
finish
