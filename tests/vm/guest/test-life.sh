# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What happens to pipelines, while dma-bufs are under way.
. "$(dirname "$0")/lib.sh"

small=width=320,height=180
properties="model=$tiny mode=overlay refine=false smoothing=0"
moving_camera

# With a device of its own each time.
check "restart" $programs/life restart $camera "$properties" "video/x-raw,format=NV12,$small,framerate=30/1"
life() { job "$1" "$2" $camera "${@:3}"; }
life "flush" flush "$properties" "video/x-raw,format=NV12,$small,framerate=30/1"
life "another size" renegotiate "$properties" \
    "video/x-raw,format=NV12,$small,framerate=30/1" \
    "video/x-raw,format=NV12,width=640,height=360,framerate=30/1" \
    "video/x-raw,format=NV12,$small,framerate=30/1"
life "the camera fails" error "$properties" "video/x-raw,format=NV12,$small,framerate=30/1"
life "the camera is unplugged" unplug "$properties" "video/x-raw,format=NV12,$small,framerate=30/1"
run_jobs $programs/life
frames=300
[ -z "${VM_LONG:-}" ] || frames=1000
check "$frames frames" $programs/life "flat:$frames" $camera "model=$tiny mode=mask refine=false" \
    "video/x-raw,format=NV12,$small,framerate=120/1"
