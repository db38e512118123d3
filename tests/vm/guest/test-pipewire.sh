# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# pipewiresrc: PipeWire hands on the camera's dma-bufs, and nobody copies them.
[ -n "${DBUS_SESSION_BUS_ADDRESS:-}" ] || exec dbus-run-session -- bash "$0"
. "$(dirname "$0")/lib.sh"

# A server with this lane's camera, and a session manager that looks for no others.
XDG_RUNTIME_DIR=$(mktemp -d /run/pipewire-XXXXXX)
XDG_CONFIG_HOME=$XDG_RUNTIME_DIR
export XDG_RUNTIME_DIR XDG_CONFIG_HOME
mkdir -p "$XDG_CONFIG_HOME"/{pipewire/pipewire.conf.d,wireplumber/wireplumber.conf.d}
cat >"$XDG_CONFIG_HOME/pipewire/pipewire.conf.d/camera.conf" <<END
context.objects = [
    { factory = spa-node-factory
      args = { factory.name = api.v4l2.source node.name = test-camera
               media.class = Video/Source media.role = Camera api.v4l2.path = "$camera" } }
]
END
cat >"$XDG_CONFIG_HOME/wireplumber/wireplumber.conf.d/camera.conf" <<'END'
wireplumber.profiles = {
    main = { monitor.v4l2 = disabled, monitor.libcamera = disabled, monitor.alsa = disabled
             monitor.bluez = disabled, monitor.alsa-midi = disabled }
}
END

still_camera # PipeWire hands its buffers back to the driver before they are let go
pipewire >"$logs/server.log" 2>&1 &
server=$!
wait_for $server test -S "$XDG_RUNTIME_DIR/pipewire-0"
wireplumber >"$logs/manager.log" 2>&1 &
manager=$!
check "the camera's node" sh -c 'pw-cli ls Node | tee /dev/stderr | grep -q test-camera'

# exact DEVICE PATH FORMAT FRAMES : where PipeWire's link fails or never begins, as it does
# now and then on a slow machine, once more; a wrong picture is a failure at once. Gaps that
# PipeWire tells of are not in the copies: nothing is smoothed.
exact() {
    local what="$1: $4 frames of $3" log status
    log=$(log_of "$what")
    for _ in $(seq 5); do
        status=0
        limit=240 limited $programs/exact --frames="$4" --dma-buf --import-path="$2" \
            "pipewiresrc target-object=test-camera num-buffers=$4 !
                video/x-raw,format=$3,width=320,height=180,framerate=30/1" \
            "model=$tiny mode=overlay smoothing=0 device=$1 ! video/x-raw" >"$log" 2>&1 </dev/null || status=$?
        [ $status = 124 ] || grep -q "^pipewiresrc.*: " "$log" || break
        echo "| once more: $(grep -m1 "^pipewiresrc" "$log")"
    done
    report "$what" $status
}
# On the CPU alone: PipeWire opens dma-bufs for reading, and software Vulkan has to map them
# for writing, too.
exact cpu dma-buf-mapped NV12 10
exact cpu dma-buf-mapped YUY2 10
kill $manager $server
wait
