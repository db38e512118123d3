# SPDX-License-Identifier: LGPL-2.1-or-later
# A real JPEG through the element's mask mode, against the reference network's
# mask:  portrait.sh IOU-PROGRAM MODEL REFERENCE.f32 WIDTH HEIGHT
. "$(dirname "$0")/common.sh"
iou=$1 model=$2 reference=$3 width=$4 height=$5
[ -e "$portrait" ] || skip "no portrait: install python-matplotlib-data"

gst-launch-1.0 -q filesrc location="$portrait" ! jpegdec ! videoconvert ! \
    video/x-raw,format=NV12 ! tdlfilter mode=mask model="$model" ! \
    filesink location="$temp/mask.gray"
check "mask of the portrait" "$iou" "$temp/mask.gray" 512 600 "$reference" "$width" "$height" 0.97

# The comparison itself can fail: the inverted mask has next to nothing in common.
gst-launch-1.0 -q filesrc location="$portrait" ! jpegdec ! videoconvert ! \
    video/x-raw,format=NV12 ! tdlfilter mode=mask invert=true model="$model" ! \
    filesink location="$temp/inverted.gray"
check "the inverted mask is another one" \
    not "$iou" "$temp/inverted.gray" 512 600 "$reference" "$width" "$height" 0.1
finish
