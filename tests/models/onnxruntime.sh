#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Models of others, and small ones with their patterns, against ONNX Runtime, which
# computes what is right for the same numbers: on each device, fused and not. Prints
# "ok WHAT", "FAILED WHAT" or "skipped WHAT: WHY". Fetches 150 MB at the first time.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tests/models
build=${TDL_BUILD:-$root/build}
folder=$build/onnxruntime
log=$build/test-logs/onnxruntime.log
python=/usr/bin/python3 # Debian's, which has Debian's modules

skip_all() { echo "skipped ONNX Runtime: $*" && exit 77; }
command -v node >/dev/null || skip_all "no node (Debian package nodejs)"
command -v npm >/dev/null ||
    skip_all "no npm (Debian package npm)"
"$python" -c 'import onnx, numpy' 2>/dev/null ||
    skip_all "no python3-onnx (Debian package python3-onnx)"
mkdir -p "$folder" "$(dirname "$log")"
cd "$folder"
[ -d node_modules/onnxruntime-node ] ||
    npm install --silent --no-audit --no-fund --ignore-scripts onnxruntime-node@1.23.0 >"$log" 2>&1 ||
    skip_all "npm cannot fetch onnxruntime-node"

# against WHAT MODEL[=REFERENCE] DEVICES INPUT=SHAPE...
against() {
    local what=$1
    shift
    if node "$here/against-onnxruntime.mjs" "$build/engine/tools/tdl-run" "$@" >"$log" 2>&1; then
        echo "ok $what on $2"
    else
        echo "FAILED $what on $2"
    fi
    sed 's/^/| /' "$log"
}

fetched() { # fetched NAME : or say why not
    "$root/pipelines/fetch-models.sh" "$1" >"$log" 2>&1 || {
        echo "skipped $1: it cannot be fetched"
        return 1
    }
}

devices=cpu
! "$build/engine/tools/tdl-info" | grep -q '^ *Vulkan  ' || devices=cpu,vulkan
"$python" "$here/patterns.py" . >patterns.txt
while read -r name shapes; do
    # shellcheck disable=SC2086 # an input each
    against "$name" "$name.onnx" $devices $shapes
    node "$here/optimise.mjs" "$name.onnx" "$name-optimised.onnx" >"$log" 2>&1
    # shellcheck disable=SC2086
    against "$name, optimised" "$name-optimised.onnx=$name.onnx" $devices $shapes
done <patterns.txt
mkdir -p nodes
if TDL_DEVICE=cpu "$python" "$here/test-microsoft.py" "$build/engine/tools/tdl-run" --keep nodes >"$log" 2>&1 &&
    node "$here/nodes-onnxruntime.mjs" nodes >"$log" 2>&1; then
    echo "ok nodes of ONNX Runtime's domain"
else
    echo "FAILED nodes of ONNX Runtime's domain"
fi
sed 's/^/| /' "$log"
for size in 256,256 144,256; do
    name=selfie_segmentation
    [ $size = 256,256 ] || name=${name}_landscape
    "$python" "$here/tflite-to-onnx.py" "$root/models/$name.tflite" $name.onnx
    against $name "$root/models/$name.tflite=$name.onnx" $devices input_1=1,${size},3
done
if fetched pose; then
    model=$root/models/pose_landmark_lite.tflite
    "$python" "$here/tflite-to-onnx.py" "$model" pose.onnx
    against "pose" "$model=pose.onnx" cpu input_1=1,256,256,3
fi
if fetched text; then
    model=$root/models/ch_PP-OCRv4_det_infer.onnx
    against "text, 320x320" "$model" $devices x=1,3,320,320
    against "text, 640x480" "$model" cpu x=1,3,480,640
    against "text, 960x960" "$model" cpu x=1,3,960,960
fi
if fetched isnet; then
    [ -e isnet32.onnx ] || "$python" "$here/to-float32.py" "$root/models/isnet.onnx" isnet32.onnx
    against "isnet, 1024x1024" "$root/models/isnet.onnx=isnet32.onnx" cpu input=1,3,1024,1024
fi
if fetched matting; then
    model=$root/models/rvm.json
    "$python" "$here/tfjs-to-onnx.py" "$model" rvm.onnx 512x288 --nhwc downsample_ratio=1
    against "matting, 512x288" "$model=rvm.onnx" cpu src=1,288,512,3 r1i=1,144,256,16 \
        r2i=1,72,128,20 r3i=1,36,64,40 r4i=1,18,32,64 \
        --input-size 512x288 --number downsample_ratio=1
    "$python" "$here/tfjs-to-onnx.py" "$model" rvm.onnx 384x216 --nhwc downsample_ratio=1
    against "matting, 384x216" "$model=rvm.onnx" cpu src=1,216,384,3 r1i=1,108,192,16 \
        r2i=1,54,96,20 r3i=1,27,48,40 r4i=1,14,24,64 \
        --input-size 384x216 --number downsample_ratio=1
fi
