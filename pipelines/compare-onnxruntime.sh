#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# compare-onnxruntime.sh [--busy] [--threads N] [--rounds N]
# The person networks on the CPU, by tdlfilter's engine and by ONNX Runtime (from npm),
# in turns. With --busy, all cores have other work meanwhile.
set -euo pipefail
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"

threads=2 rounds=10 busy=
while [ $# -gt 0 ]; do
    case $1 in
    --busy) busy=1 ;;
    --threads | --rounds)
        [ $# -ge 2 ] || misused "$1 needs a number"
        [ "$1" = --threads ] && threads=$2 || rounds=$2
        shift
        ;;
    *)
        no_options "$1"
        misused "'$1' is not an option"
        ;;
    esac
    shift
done
[ -x "$TDL_BUILD/engine/tools/tdl-bench" ] ||
    die "there is no $TDL_BUILD/engine/tools/tdl-bench: build first (pipelines/demo.sh, or" \
        "meson setup build && ninja -C build)"
python=/usr/bin/python3 # Debian's, which has Debian's modules
"$python" -c 'import onnx' 2>/dev/null ||
    die 'python3-onnx is needed (on Debian: apt-get install python3-onnx)'
command -v npm >/dev/null || die 'npm is needed (on Debian: apt-get install npm)'

folder=$TDL_BUILD/onnxruntime
mkdir -p "$folder"
cd "$folder"
[ -d node_modules/onnxruntime-node ] ||
    npm install --silent --no-audit --no-fund --ignore-scripts onnxruntime-node@1.23.0

neighbours=()
trap '[ ${#neighbours[@]} = 0 ] || kill "${neighbours[@]}"' EXIT
for ((i = 0; i < ${busy:-0} * $(nproc); i++)); do
    while :; do :; done &
    neighbours+=($!)
done
for model in selfie_segmentation selfie_segmentation_landscape; do
    "$python" "$TDL_ROOT/tests/models/tflite-to-onnx.py" "$TDL_ROOT/models/$model.tflite" $model.onnx
    node "$TDL_ROOT/tests/models/compare-onnxruntime.mjs" "$TDL_BUILD/engine/tools/tdl-bench" \
        "$TDL_ROOT/models/$model.tflite" $model.onnx "$threads" "$rounds"
done
