#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Between GStreamer's Vulkan elements: on their device, in their images, and to
# the last byte what comes out by way of system memory. Needs GStreamer 1.24.
. "$(dirname "$0")/common.sh"
for element in vulkanupload vulkandownload; do
    gst-inspect-1.0 --exists $element || skip "there is no $element"
done
gst-inspect-1.0 tdlfilter >"$temp/inspect"
grep -q memory:VulkanImage "$temp/inspect" ||
    skip "built without vulkan-image (gstreamer-vulkan-1.0 1.24 to 1.26)"

# $TDL_TEST_MODEL: a smaller one, whose kernels are compiled in no time.
model=${TDL_TEST_MODEL:+model=$TDL_TEST_MODEL}
filter="tdlfilter name=filter $model mode=overlay opacity=0.7"
run() { # run FORMAT FILE ELEMENT... : what comes out, and the log beside it
    local source=(videotestsrc num-buffers=5 pattern=ball '!'
        "video/x-raw,format=$1,width=324,height=242,framerate=30/1")
    # shellcheck disable=SC2086 # the filter is many words
    GST_DEBUG=tdlfilter:4 GST_DEBUG_NO_COLOR=1 timeout 300 gst-launch-1.0 -q "${source[@]}" ! \
        "${@:3}" ! "video/x-raw,format=$1" ! filesink location="$2" >"$2.log" 2>&1
}

for format in NV12 RGBA BGRA; do
    # shellcheck disable=SC2086
    {
        check "$format: system memory" run $format "$temp/plain" $filter
        check "$format: images in and out" run $format "$temp/images" vulkanupload ! $filter ! \
            vulkandownload
        check "$format: images out" run $format "$temp/out" $filter ! vulkandownload
        check "$format: images in" run $format "$temp/in" vulkanupload ! $filter
    }
    check "$format: the picture is not empty" [ "$(stat -c %s "$temp/plain")" -gt 500000 ]
    for way in images out in; do
        check "$format: the same bytes ($way)" cmp "$temp/plain" "$temp/$way"
    done
    check "$format: they came as images" grep -q 'frames come by "vulkan-image"' "$temp/images.log"
    check "$format: they went as images" grep -q 'frames go by "vulkan-image"' "$temp/images.log"
    check "$format: the device is shared" grep -q "the neighbours have" "$temp/images.log"
done

# Two of ours behind a tee read the same images, on one device, though neither
# has a neighbour that knows of it. (Two vulkandownloads hang there by themselves,
# and with a queue behind it GStreamer 1.26's vulkanupload gives its source's memory
# back too early: the two agree on what then is in the images.)
two() {
    # shellcheck disable=SC2086 # the filter is many words
    timeout 300 gst-launch-1.0 -q videotestsrc num-buffers=5 pattern=ball ! \
        video/x-raw,format=NV12,width=324,height=242,framerate=30/1 ! vulkanupload ! tee name=t \
        t. ! queue ! $filter ! video/x-raw,format=NV12 ! filesink location="$temp/left" \
        t. ! queue ! ${filter/name=filter/} ! video/x-raw,format=NV12 ! filesink location="$temp/right"
}
check "images for two" two
check "images for two: all frames" [ "$(stat -c %s "$temp/left")" = $((324 * 242 * 3 / 2 * 5)) ]
check "images for two: the same bytes" cmp "$temp/left" "$temp/right"

# There are no images of masks: they go through memory, without a word from the user.
check "a mask of images" timeout 300 gst-launch-1.0 -q videotestsrc num-buffers=3 ! \
    video/x-raw,format=NV12,width=324,height=242 ! vulkanupload ! ${filter/mode=overlay/mode=mask} ! fakesink

# Images into system memory is a way through the CPU: an error if that is forbidden.
# shellcheck disable=SC2086
if run NV12 "$temp/refused" vulkanupload ! $filter require-zero-copy=true; then
    bad "require-zero-copy lets images into system memory"
else
    check "the error names a way out" grep -q "require-zero-copy=false" "$temp/refused.log"
fi
finish
