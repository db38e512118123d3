#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# tdl-info and tdl-bench from the command line.
#
#   tools.sh TDL-INFO TDL-BENCH
set -u
info=$1
bench=$2
model=${TDL_TEST_MODELS:-models}/selfie_segmentation_landscape.tflite
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# expect STATUS PATTERN COMMAND...: the exit status, and a line of all output
expect() {
    local status=$1 pattern=$2 got
    shift 2
    "$@" >"$dir/out" 2>&1
    got=$?
    if [ "$got" != "$status" ]; then
        fail "'$*' ended with $got instead of $status:"
        head -n 5 "$dir/out"
    elif ! grep -qE -- "$pattern" "$dir/out"; then
        fail "'$*' says nothing like '$pattern':"
        head -n 5 "$dir/out"
    fi
}

# json EXPRESSION: true in Python for the object `o` in the last output
json() {
    python3 -c 'import json, sys; o = json.load(open(sys.argv[1])); sys.exit(not ('"$1"'))' \
        "$dir/out" || fail "not so in the JSON: $1"
}

# What needs no device.
expect 0 '^Usage: tdl-info' "$info" --help
expect 0 '^Usage: tdl-bench' "$bench" --help
expect 2 "Try 'tdl-info --help'" "$info" --no-such-option
expect 2 'one model at a time' "$info" a b
expect 2 "precision 'fp8'" "$info" --precision fp8
expect 2 'a model or --op' "$bench"
expect 2 'a model or --op' "$bench" --op add model.tflite
expect 2 "'0' is not a value of --iterations, which takes a number, 1 to" "$bench" --op add --iterations 0
expect 2 "'1,2,3' is not a value of --shape, which takes N,H,W,C" "$bench" --op add --shape 1,2,3
expect 2 "'-3x3' is not a value" "$bench" --op conv2d --kernel -3x3
expect 2 'goes with a model' "$bench" --frame 64x48 --op add
expect 2 'belong to --frame' "$bench" --mode blur model.tflite
expect 2 'needs a model' "$bench" --frame 64x48
expect 2 "'64' is not a value of --frame, which takes width x height" "$bench" --frame 64 model.tflite
expect 2 "'NV99' is not a value of --format, which takes .*NV12,.* P010" "$bench" --frame 64x48 --format NV99 model.tflite
expect 2 "'fog' is not a value of --mode, which takes mask, overlay" "$bench" --frame 64x48 --mode fog \
    model.tflite
expect 2 '--streams belongs to --frame' "$bench" --streams 4 model.tflite
expect 2 'more frames at once' "$bench" --frame 64x48 --streams 1,2 --batch 4 model.tflite
expect 2 "'4,1' is not a value of --streams" "$bench" --frame 64x48 --streams 4,1 model.tflite
expect 2 'it belongs to --streams' "$bench" --frame 64x48 --batch 2 model.tflite
expect 2 'takes one number for a model' "$bench" --batch 2,4 model.tflite
expect 2 'modes that run the network' "$bench" --frame 64x48 --streams 4 --mode passthrough m.tflite
expect 2 "'4,2' is not a value of --batch, which takes up to 8 rising" "$bench" --frame 64x48 \
    --streams 4 --batch 4,2 model.tflite
expect 2 "'fp8' is not a value of --precision, which takes auto, fp32 or fp16" "$bench" -p fp8 m.tflite
expect 2 "'-1' is not a value of --threads" "$bench" -t -1 model.tflite
expect 2 "'0.5' is not a value of --patience, which takes a number of 1" "$bench" --patience 0.5 m.tflite
expect 2 "'x' is no such value: --bind wants" "$bench" --bind x model.tflite
expect 2 "no operator 'conv9d'; there are conv2d, .*tanh" "$bench" --op conv9d
expect 1 'no-such-folder/x.svg cannot be written: No such' "$bench" --op add \
    --svg "$dir/no-such-folder/x.svg"
! grep -q 'runs' "$dir/out" || fail 'measured what could not be drawn'
expect 1 'No such file' "$info" --operators-only "$dir/missing.tflite"
expect 0 '^conv2d  *input  *rank 4; float32 float16$' "$info" --limits -d cpu
expect 0 '^ *condition  *rank 0–6; uint8$' "$info" --limits -d cpu
for format in 'TensorFlow Lite' ONNX ncnn; do
    expect 0 "^$format: [A-Z]" "$info" --known
done
echo 'this is no model at all' >"$dir/text.tflite"
expect 1 'no model of a kind that libtdl reads' "$info" --operators-only "$dir/text.tflite"
cp "$dir/text.tflite" "$dir/text.bin"
expect 1 'give the file ".*/text.param" that goes with it' "$info" --operators-only "$dir/text.bin"
if [ -e "$model" ]; then
    expect 0 'operator [0-9]+ Convolution2DTransposeBias .* +float32.1,72,128,16. +float32.1,144,256,1.' \
        "$info" --operators-only "$model"
    expect 0 '^33\.32 million multiply-accumulates' "$info" --operators-only "$model"
    expect 0 '^246 operators in the file, 110 of them computed when it was read' "$info" \
        --operators-only "$model"
fi

for format in NV12 RGBx P010 GRAY16_LE; do
    expect 0 "^ +([A-Z].*[ ,])?$format(,|\$)" "$bench" --help
done
# What has no room is lost, and is no success.
if [ -w /dev/full ]; then
    for command in "$info --help" "$info --known" "$info -d cpu" "$bench --help" \
        "$bench -d cpu --op add --shape 1,3,5,7 -w 0 -i 1" \
        "$bench -d cpu --op add --shape 1,3,5,7 -w 0 -i 1 --json"; do
        expect 1 'cannot write the output: No space left' sh -c "$command >/dev/full"
    done
else
    echo 'skipped: there is no /dev/full'
fi
# What the environment chose is named, where it is what is wrong.
expect 1 'no-such-device.*TDL_DEVICE=no-such-device in the environment' \
    env TDL_DEVICE=no-such-device "$bench" --op add
expect 0 'device=auto (takes [0-9]+, a card: |takes the CPU, as there is no GPU |measures .* beside)' \
    env -u TDL_DEVICE "$info"
expect 0 'device=auto takes what TDL_DEVICE .* says: cpu' env TDL_DEVICE=cpu "$info"
expect 1 'no-other-device' env TDL_DEVICE=cpu "$bench" --device no-other-device --op add
! grep -q 'TDL_DEVICE' "$dir/out" || fail 'TDL_DEVICE is named, and did not choose'

expect 1 'one way to compute convolutions' "$bench" --device cpu --compare --op conv2d
# The CPU is always there, and the last of the list.
expect 0 '^ +type +CPU' "$info"
expect 0 '^ +type +CPU' "$info" --device cpu
! grep -q '^ *Vulkan  ' "$dir/out" || fail 'other devices than the one that was named'
expect 1 'no-such-device' "$info" --device no-such-device
# The rest looks at kernels. A machine without a driver has none of them.
if ! "$info" | grep -q '^ *Vulkan  '; then
    echo 'skipped: there is no Vulkan device'
    [ $failed = 0 ] && exit 77
    exit 1
fi
expect 0 '^0: .' "$info"
expect 0 'Vulkan +1\.[1-9]' "$info"
expect 1 'no-such-device' "$bench" --device no-such-device --op add
# A bar on a terminal, and nowhere else.
expect 0 'compiling kernels [#.]* 0 of [1-9]' \
    script -qec "$bench --op add -w 1 -i 1 --shape 1,3,5,7" /dev/null
expect 0 '"wall_ms"' "$bench" --op add -w 1 -i 1 --shape 1,3,5,7 --json
! grep -q 'compiling' "$dir/out" || fail "a bar where there is no terminal"
expect 1 '3 groups do not divide' "$bench" --op conv2d --groups 3
# Under sanitizers, which are slow and look at code, one of a kind is enough.
few=$([ "${TDL_TEST_CASES:-}" != 1 ] || echo few)
ops='conv2d conv_transpose2d average_pool2d global_average_pool resample2d add mul sigmoid'
[ -z "$few" ] || ops='conv2d add'
for op in $ops; do
    expect 0 '"wall_ms"' "$bench" --op $op --shape 1,9,7,5 --precision fp32 --warmup 1 \
        --iterations 3 --json
    json 'o["iterations"] == 3 and len(o["steps"]) == o["dispatches"] > 0'
    json '0 < o["wall_ms"]["min"] <= o["wall_ms"]["median"] <= o["wall_ms"]["max"]'
done
# 5x5 pixels x 4 channels x 7x7 window, depthwise
expect 0 '"macs": 4900,' "$bench" --op conv2d --shape 1,10,10,4 --kernel 7x7 --groups 4 \
    --stride 2 --precision fp32 -w 0 -i 1 --json
# 2 products of 9x10 by 10x11, of halves; a layer of 18 rows
expect 0 '"macs": 1980,' "$bench" --op matmul --shape 2,9,10,11 -p fp16 -w 0 -i 1 --json
expect 0 '"macs": 1980,' "$bench" --op gemm --shape 2,9,10,11 -p fp16 -w 0 -i 1 --json
expect 0 'GFLOP/s|no timestamps' "$bench" --op conv2d --shape 1,16,16,8 -w 1 -i 2
if [ -e "$model" ]; then
    expect 0 'operators in [0-9]+ dispatches' "$info" --precision fp32 "$model"
    expect 0 '"fuse": false' "$bench" --no-fuse --precision fp32 -w 1 -i 3 --json "$model"
    json 'o["macs"] == 33324928 and o["allocations"] == 0 and o["pipelines"] == 0'
    # One submission a run, the very first and those to warm up included.
    json 'o["submits"] == 1 + 1 + 3 and o["arena_bytes"] < o["tensor_bytes"]'
fi

# Several inputs at once are so much more work.
expect 0 '"macs": 6912,' "$bench" --op conv2d --shape 1,4,4,4 --batch 3 -w 0 -i 1 --json

# Every device in turns: the CPU is the last one.
expect 2 'goes without' "$bench" --compare-devices --device 0 --op add
expect 0 '"devices"' "$bench" --compare-devices --op conv2d --shape 1,9,7,5 -w 1 -i 10 --json \
    --svg "$dir/devices.svg"
json '[d["index"] for d in o["devices"]] == list(range(len(o["devices"])))'
json 'o["devices"][-1]["name"].startswith("CPU") and o["iterations"] == 10'
json 'all(0 < d["min_ms"] <= d["median_ms"] for d in o["devices"] if not "error" in d)'
expect 0 '3 runs on each device' "$bench" --compare-devices --op relu --shape 1,9,7,5 -i 3
[ "$(grep -c '<rect x' "$dir/devices.svg")" = "$("$info" | grep -c '^[0-9]*: ')" ] ||
    fail 'a device has no bar'

# Whole frames: with the network in every mode but one, and nothing made anew.
# frame TARGET-FORMAT OPTION...
frame() {
    local target=$1
    shift
    expect 0 '"first_frame_ms"' "$bench" --frame 98x70 -w 3 -i 4 --json "$@" "$model"
    json 'o["target_format"] == "'$target'" and (o["width"], o["height"]) == (98, 70)'
    json 'o["submits"] == 8 and o["allocations"] == 0 and o["pipelines"] == 0'
    json 'o["frames_per_second"] > 0 and 0 < o["cpu_ms"]["median"] <= o["wall_ms"]["max"]'
    json 'o["first_frame_ms"] > o["context_ms"] + o["build_ms"] > 0'
    # The drawn person is found, so the kernels see both of what they look for.
    json '"foreground" not in o or 0.1 < o["foreground"] < 0.5'
    json '("foreground" in o) == (o["mode"] != "passthrough")'
    json '"gpu_ms" not in o or 0 < o["gpu_ms"]["compose"]["max"] <= o["gpu_ms"]["sum"]["max"]'
}
# drawn N : one of four, another one in other runs; all of them where many cases are asked for.
seed=${TDL_TEST_SEED:-$RANDOM}
drawn() {
    [ -z "$few" ] && { [ "${TDL_TEST_CASES:-0}" -ge 100 ] || [ $(((seed + $1) % 4)) = 0 ]; }
}
if [ -e "$model" ]; then
    frame NV12
    frame GRAY8 --mode mask --format YUY2
    frame RGB --mode blur --format RGB --frame-memory device
    drawn 0 && frame P010 --mode replace --format P010
    drawn 1 && frame BGRA --mode alpha --format BGRx
    drawn 2 && frame RGBA --mode alpha --format I420
    drawn 3 && frame GRAY8 --mode passthrough --format GRAY8
    expect 0 'frames/s with 3 under way' "$bench" --frame 64x48 -w 1 -i 2 "$model"
    ! grep -iE '^gpu ' "$dir/out" || fail 'times of a GPU, which may be the CPU'
    grep -qE '^device network +[0-9]|no timestamps' "$dir/out" || fail "no time of the network's"
    expect 0 '"streams": 3, "batch": 2' "$bench" --frame 64x48 --streams 1,3 --batch 1,2 -w 0 -i 2 \
        --json --svg "$dir/streams.svg" "$model"
    [ "$(grep -c '<rect x=.*fill="#59a14f"' "$dir/streams.svg")" = 2 ] && # its rate and its time
        [ "$(grep -c '<rect x=' "$dir/streams.svg")" = 6 ] || fail "streams.svg has other bars"
    json '[(r["streams"], r["batch"]) for r in o["batches"]] == [(1, 1), (3, 1), (3, 2)]'
    json 'all(r["frames_per_second"] > 0 and r["p99_ms"] >= r["median_ms"] > 0 for r in o["batches"])'
    expect 1 'too large' "$bench" --frame 40000x2 "$model"
fi
python3 -c 'import sys; sys.path.insert(0, sys.argv[1]); import run
run.write_onnx(sys.argv[2], 2, (1, 16, 16, 3))' "$(dirname "$0")" "$dir/bytes.onnx"
expect 1 'both of floats and with channels last, not uint8.1,16,16,3. in and' \
    "$bench" -d cpu --frame 64x48 "$dir/bytes.onnx"
python3 -c 'import sys; sys.path.insert(0, sys.argv[1]); import run
run.write_onnx(sys.argv[2], 1, ("N", 3, "H", 17))' "$(dirname "$0")" "$dir/open.onnx"
expect 0 '^dynamic  H  *256 here; 1 or more$' "$info" --operators-only "$dir/open.onnx"
expect 0 '^dynamic  H  *40 here; 1 or more$' "$info" -o --bind H=40 "$dir/open.onnx"
grep -q '^dynamic  N  *1 here' "$dir/out" || fail 'the number of pictures is not dynamic'
[ $failed = 0 ] && echo "all as expected"
exit $failed
