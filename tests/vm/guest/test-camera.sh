# SPDX-License-Identifier: LGPL-2.1-or-later
# Pictures from the camera's dma-bufs are the same, to the last byte, as pictures
# of the same frames copied by the CPU.
. "$(dirname "$0")/lib.sh"

size=width=320,height=180,framerate=30/1
moving_camera

# camera_line FRAMES IO-MODE CAPS
camera_line() { echo "v4l2src device=$camera num-buffers=$1 io-mode=$2 ! $3,$size"; }
# exact WHAT FRAMES IO-MODE CAPS PROPERTIES OPTION...
exact() {
    local what=$1 line
    line=$(camera_line "$2" "$3" "$4")
    check "$what, $3" $build/tests/vm/exact --frames="$2" --moving "${@:6}" "$line" "model=$tiny $5"
}

for io_mode in auto dmabuf; do
    exact "NV12, plain caps" 10 $io_mode video/x-raw,format=NV12 mode=overlay
    exact "YUYV, plain caps" 10 $io_mode video/x-raw,format=YUY2 mode=overlay
    exact "XR24, plain caps" 10 $io_mode video/x-raw,format=BGRx mode=overlay
done
