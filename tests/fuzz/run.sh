#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Fuzz a reader of models, or the calls of a builder.
#
#   tests/fuzz/run.sh tflite|ncnn|onnx|tfjs|builder [SECONDS]   default 30
#
# Needs clang. What it finds lies under build-fuzz/findings; run
# build-fuzz/tests/fuzz/fuzz-TARGET FILE to see it again.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${1:?usage: run.sh tflite|ncnn|onnx|tfjs|builder [SECONDS]}
seconds=${2:-30}
build=${TDL_FUZZ_BUILD:-build-fuzz}

if ! command -v clang >/dev/null; then
    echo "fuzz: clang is missing (Debian packages: clang, libclang-rt-dev)" >&2
    exit 77
fi
shaders=${TDL_BUILD:-$PWD/build}/shaders/shaders.c # compiled already, where tests/run.sh starts this
[ -e "$shaders" ] || shaders=
# A build without optimisation takes a fourth of the time, and then runs 1.7 times as long: less in
# all for a short run, which takes one in three of ONNX's many seeds, others each time.
optimization=2 share=1
[ "$seconds" -ge 60 ] || optimization=0 share=3
if [ ! -e "$build/build.ninja" ]; then
    CC=clang meson setup "$build" -Dfuzz=true -Dgst=disabled -Dshaders="$shaders" -Db_lundef=false \
        -Doptimization=$optimization -Db_sanitize=address,undefined \
        "-Dc_args=-fsanitize=fuzzer-no-link -g1" >/dev/null
elif ! grep -q -e "-std=gnu11 -O$optimization " "$build/build.ninja"; then
    meson configure "$build" -Doptimization=$optimization
fi
ninja -C "$build" "tests/fuzz/fuzz-$target" tests/fuzz/make-{,ncnn-,onnx-}seeds >/dev/null

corpus=$build/corpus-$target seeds=$build/seeds-$target log=$build/fuzz-$target.log
mkdir -p "$corpus" "$seeds" "$build/findings"
rm -f "$seeds"/*
# Calls of a builder need no seeds: any bytes are calls.
[ "$target" != tflite ] ||
    "$build/tests/fuzz/make-seeds" "$seeds" $(ls models/*.tflite 2>/dev/null)
[ "$target" != ncnn ] || "$build/tests/fuzz/make-ncnn-seeds" "$seeds"
# ONNX's own node tests (Debian package: libonnx-testdata), where there are.
[ "$target" != onnx ] ||
    "$build/tests/fuzz/make-onnx-seeds" "$seeds" \
        $(find /usr/share/libonnx-testdata/data/node -name model.onnx -size -8k 2>/dev/null | sort |
            awk -v n="$share" -v first="${TDL_TEST_SEED:-$RANDOM}" '(NR + first) % n == 0')
[ "$target" != onnx ] || /usr/bin/python3 -B tests/models/test-microsoft.py --seeds "$seeds"
[ "$target" != tfjs ] || /usr/bin/python3 -B tests/models/test-tfjs.py --seeds "$seeds"
# A report of UBSan must end the run as one of ASan does.
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
status=0
"$build/tests/fuzz/fuzz-$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
    -print_final_stats=1 -artifact_prefix="$build/findings/$target-" "$corpus" "$seeds" \
    >"$log" 2>&1 || status=$?
grep -E '^(SUMMARY|stat::number|stat::peak|#[0-9]+.DONE)|ERROR: |runtime error' "$log" || true
[ "$status" = 0 ] || echo "fuzz: found something, see $build/findings and $log"
exit "$status"
