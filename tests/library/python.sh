#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The examples for Python. libtdl: its structures there against C's, and what tensors.py
# computes; tdlfilter: what live.py sees of it.
#
#     python.sh libtdl|tdlfilter SOURCE BUILD
#
# shellcheck disable=SC2317 # what check() calls
set -euo pipefail
what=$1 source=$2 build=$3
examples=$source/pipelines/examples
python=/usr/bin/python3 # Debian's, which has its packages
. "$(dirname "$0")/check.sh"
export LC_ALL=C.UTF-8 TDL_DEVICE=cpu LD_LIBRARY_PATH=$build/engine PYTHONDONTWRITEBYTECODE=1
skip() { echo "skipped: $*" && exit 77; }
"$python" -c 'import numpy' 2>/dev/null || skip "no NumPy (Debian package python3-numpy)"
# ends STATUS COMMAND... : what it writes goes to $work/log.
ends() {
    local status=0
    timeout 120 "${@:2}" >"$work/log" 2>&1 || status=$?
    [ "$status" = "$1" ] || { cat "$work/log" && false; }
}
says() { grep -qE -e "$1" "$work/log" || { echo "no '$1' in:" && cat "$work/log" && false; }; }

# A network without weights: what goes in comes out, three classes.
printf '%s\n' 7767517 '2 2' 'Input in 0 1 data 0=64 1=48 2=3' 'ReLU same 1 1 data out' \
    >"$work/same.param"
: >"$work/same.bin"

# live STATUS PATTERN ARGUMENT... : live.py on frames of that pattern
live() {
    ends "$1" "$python" "$examples/live.py" \
        --source "videotestsrc num-buffers=31 pattern=$2 ! video/x-raw,format=RGBA,width=70,height=50" "${@:3}"
}

test_libtdl() {
    # A C program that says where each field lies, as tdl.py has them.
    PYTHONPATH=$examples "$python" - "$work/offsets.c" >"$work/python" <<'PYTHON'
import ctypes
import sys
import tdl
pairs = {"tdl_context_params": tdl.ContextParams, "tdl_tensor_params": tdl.TensorParams,
         "tdl_binding": tdl.Binding}
with open(sys.argv[1], "w") as f:
    f.write('#include <stddef.h>\n#include <stdio.h>\n#include <tdl/tdl.h>\nint main(void)\n{\n')
    for name, structure in pairs.items():
        print(name, ctypes.sizeof(structure))
        f.write(f'printf("{name} %zu\\n", sizeof(struct {name}));\n')
        for field, kind in structure._fields_:
            print(name, field, getattr(structure, field).offset, ctypes.sizeof(kind))
            f.write(f'printf("{name} {field} %zu %zu\\n", offsetof(struct {name}, {field}), '
                    f'sizeof(((struct {name} *)0)->{field}));\n')
    for i, dtype in enumerate(tdl.DTYPES):
        print(dtype, dtype.itemsize)
        f.write(f'printf("%s %zu\\n", tdl_dtype_name({i}), tdl_dtype_size({i}));\n')
    f.write("return 0;\n}\n")
PYTHON
    check "a program says where fields lie" cc -I"$source/engine/include" "$work/offsets.c" -L"$build/engine" \
        -ltdl -o "$work/offsets"
    check "tdl.py has them there" diff <("$work/offsets") "$work/python"

    check "tensors.py" ends 0 "$python" "$examples/tensors.py" "$work/same.param"
    check "softmax is NumPy's" says 'softmax: .* ([0-9.]+e-0[789]|0\.0)$'
    check "chained runs" says '^F\(40\) = 102334155$'
    check "the model's input" says '^input data: float32\[1, 3, 48, 64\]$'
    check "the model's output" says '^output out: float32\[1, 3, 48, 64\], 0.5 to 0.5$'
    check "no model" ends 1 "$python" "$examples/tensors.py" "$work/none.onnx"
    check "it says so" says "tdl.Error: .*none.onnx"
    cat >"$work/mistakes.py" <<'PYTHON'
import numpy as np
import tdl
context = tdl.Context("cpu")
builder = context.builder()
builder.output("y", builder.matmul(builder.input("a", (2, 3)), builder.input("b", (2, 3))))
PYTHON
    check "a wrong graph" ends 1 env PYTHONPATH="$examples" "$python" "$work/mistakes.py"
    check "it says which operator" says "tdl.Error: .*matmul"
}

test_tdlfilter() {
    "$python" -c 'import gi; gi.require_version("GstVideo", "1.0"); from gi.repository import GstVideo' \
        2>/dev/null || skip "no GStreamer for Python (Debian packages python3-gi, gir1.2-gst-plugins-base-1.0)"
    printf 'reds\ngreens\nblues\n' >"$work/labels"
    check "live.py" live 0 green "model=$work/same.param" feather=0 smoothing=0
    check "modes by nick" says '^modes: mask overlay blur replace alpha passthrough picture classes$'
    check "a mask of green" says '^frame 30: 70x50, 100\.0% foreground$'
    check "another mode while it plays" says '^mode blur$'
    check "statistics" says '^frames: 31$'
    check "classes" live 0 red "model=$work/same.param" mode=classes "labels=$work/labels"
    check "a legend" says 'tdl-legend.*reds, greens, blues'
    check "no such mode" live 1 red mode=blurr
    check "it is said" says '^live\.py: .*"blurr"'
    check "no such property" live 1 red moode=blur
    check "it is said, too" says '^live\.py: .*"moode"'
    check "no such model" live 1 red model=/no-such-file
    check "an error on the bus" says '^filter: .*no-such-file'
    test_metadata
}

# metadata STATUS ARGUMENT... : metadata.py on two green frames
metadata() {
    ends "$1" "$python" "$examples/metadata.py" \
        --source "videotestsrc num-buffers=2 pattern=green ! video/x-raw,format=RGBA,width=70,height=50" "${@:2}"
}

test_metadata() {
    if ! "$python" -c 'import gi; gi.require_version("GstAnalytics", "1.0")' 2>/dev/null; then
        check "metadata.py without GStreamer 1.26" metadata 1
        check "it says what it needs" says 'metadata.py: .*1\.26.*gir1.2-gst-plugins-bad-1.0'
        return
    fi
    check "metadata.py" metadata 0 "model=$work/same.param" feather=0 smoothing=0
    check "names and shares" says '^frame 1: 70x50 at 0,0: 0\.0% background, 100\.0% foreground$'
    check "no metadata" metadata 0 "model=$work/same.param" meta=none
    check "nothing is said then" bash -c "! grep -q frame '$work/log'"
    check "no mask" metadata 1 "model=$work/same.param" mode=picture
    check "it says so" says '^filter: There is no mask for "meta"'
}

"test_$what"
exit $failed
