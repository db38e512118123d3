#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Fuzz the model importer.
#
#   tests/fuzz/run.sh [SECONDS]   default 60
#
# Needs clang. What it finds lies under build-fuzz/findings; run
# build-fuzz/tests/fuzz/fuzz-tflite FILE to see it again.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
build=${TDL_FUZZ_BUILD:-build-fuzz}

if ! command -v clang >/dev/null; then
    echo "fuzz: clang is missing (Debian packages: clang, libclang-rt-dev)" >&2
    exit 77
fi
if [ ! -e "$build/build.ninja" ]; then
    CC=clang meson setup "$build" -Dfuzz=true -Dgst=disabled -Db_lundef=false \
        -Db_sanitize=address,undefined -Dc_args=-fsanitize=fuzzer-no-link >/dev/null
fi
ninja -C "$build" tests/fuzz/fuzz-tflite tests/fuzz/make-seeds >/dev/null

mkdir -p "$build/corpus" "$build/seeds" "$build/findings"
rm -f "$build"/seeds/*
"$build/tests/fuzz/make-seeds" "$build/seeds" $(ls models/*.tflite 2>/dev/null)
# A report of UBSan must end the run as one of ASan does.
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
status=0
"$build/tests/fuzz/fuzz-tflite" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
    -print_final_stats=1 -artifact_prefix="$build/findings/" "$build/corpus" "$build/seeds" \
    >"$build/fuzz.log" 2>&1 || status=$?
grep -E '^(SUMMARY|stat::number|stat::peak|#[0-9]+.DONE)|ERROR: |runtime error' "$build/fuzz.log" || true
[ "$status" = 0 ] || echo "fuzz: found something, see $build/findings and $build/fuzz.log"
exit "$status"
