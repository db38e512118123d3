# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: LGPL-2.1-or-later
# Which tests a part of tests/run.sh runs. Sourced.
#
# Every run does the same; `tests/run.sh --nightly` leaves nothing out.
#
#              CPU    software Vulkan                     besides
#   engine     all    all, the layer on; of the frames'   kernels for CPUs: sanitizers
#                     kernels those for GPUs, and those
#                     of tensors for CPUs
#   models     all    all but what is long                nightly: long
#   element    all    none                                Vulkan: validation
#   validation none   all of the element's, the layer on
#   pipelines  some   all, several of them with the layer
#   sanitizers all    what is about Vulkan's host code,   nightly: the others
#                     and most frames' kernels for CPUs
#   builds     some   none                                nightly: kinds of builds
#   threads    what several threads do, on both
#   profiles   software Vulkan as a device with the least  nightly: all profiles,
#              limits, the layer on                        which drivers give names
#   vm         the camera's and the display's drivers,    nightly: GL, desktops, displays,
#              witnesses of zero copy, the engine         other cameras, hot plugging
#
# What a sanitizer sees of a kernel is the host's part. Where that is the same for both
# devices the CPU's run has it, without minutes in Mesa's compiler.
#
# A new test runs everywhere unless its name fits one of these patterns.

# The engine's tests of frames come twice, with kernels for CPUs and for GPUs. With sanitizers
# Vulkan compiles thrice as long: what has least host code runs plainly.
frames_for_cpus='frame-(compose|composer|edges|foreground|mask)-cpu'
frames_of_tensors='frame-(from|tensor)-cpu'
frames_for_gpus='frame-.*-gpu'
# Vulkan compiles for minutes; the CPU's twins run every time.
long_models='tfjs|element-prompt|onnx-microsoft|tflite-chains|tdl-run|onnx-light|person-(square|landscape)-intermediates'
# The element's tests that never call Vulkan.
element_without='element-(cpu-.*|rooms|caps|files|presets|fit|prompt-text|modelinfo|no-models|mapped|failing|threads|gst-presets)'
# Pipelines whose every frame passes through Vulkan.
watched_pipelines='zero-copy|portrait-landscape|vulkan-images|leave-early|farm|farm-codecs|relay'
# No code of ours runs in them, or it is unloaded, which sanitizers do not survive.
never_sanitized='engine-(cpu-)?unload|engine-(headers|rooms|specs|reference)|element-rooms|format'
# Runs on Vulkan whose host code the CPU's twin has, too.
sanitized_on_cpu="$long_models|$frames_for_gpus|$frames_of_tensors"
sanitized_on_cpu+='|engine-(builder|compact|conv|definitions|filling|fuse|fused|hostile|numbers|ops.*|passes|plan-models|resize|weights)'
sanitized_on_cpu+='|onnx-(attention|chains|nodes|operators|rows)|tflite-chains|person-(square|landscape)-network'
sanitized_on_cpu+='|element-(background|batches|closed|decode|edges|errors|foreground|formats|inputs|instances|ladder|live|load|mask-pad|meta|metas|model-io|objects|overlay|pictures|presence|properties|stream|yolo)'
# Long with sanitizers. The readers meet hostile files in `fuzz`, too; the others run plainly.
long_sanitized='tools|(onnx|tflite)-hostile|person-steady|engine-cpu-outline|engine-tune-models'
long_sanitized+='|person-cpu-(square-.*|.*-intermediates)|element-(begin|faults|first-load)'

# What depends on a device's limits.
profiled_every_day='engine-(tensor|dispatch|memory|ops-vision|split)|frame-(from|tensor|mask)-gpu|person-square-network'
profiled_by_night='engine-(tensor|dispatch|ops.*|memory|context|fused|conv|external|queues|rent|resize|split|storage|limits|weights|webnn)|frame-.*-gpu|person-.*-network|onnx-(attention|light)|element-(stream|formats|pictures|inputs|offered)|zero-copy'
# What another software Vulkan has: operators, the person model, frames in every mode. Its
# packHalf2x16 makes NaN of infinity, and more than 1 of 1, so that float16 is left out.
on_swiftshader='engine-(tensor|dispatch|memory|ops-vision|conv|fused)|frame-(from|tensor|compose|mask|edges)-gpu|person-square-network'
profiles_every_day=(least)
profiles_by_night=(least v3dv panvk turnip powervr radv radv-gcn anv nvk honeykrisp)

raced=(engine-{async,compile,context,tensor,dispatch,strangers,waits}
    engine-cpu-{async,dispatch,dynamic,frames,graph,scenarios})
machine=(witness engine machine) # the longest first
machine_by_night=(camera libcamera pipewire life gl desktop loopback display)

# Ways to build that no other part has: a name, and what meson is told, behind the
# environment's CC.
other_builds=(
    'without-libpng -Dpng=disabled'
    'without-XNNPACK -Dxnnpack=disabled'
    'clang CC=clang'
    'link-time-optimization -Db_lto=true'
    'O0 -Doptimization=0'
    'O3 -Doptimization=3'
    'march=native -Dc_args=-march=native'
)
# Of each. What is left to the compiler is in operators and frames.
built_otherwise='engine-cpu-(ops|ops-vision|ops-linear|ops-elementwise|conv|graph)|frame-(from|compose|mask)-cpu'

nightly=no
# by_night : nothing is left out from here on, and everything tries long.
by_night() {
    nightly=yes patience=100 sanitized_cases=10
    export TDL_TEST_CASES=${TDL_TEST_CASES:-500} # of each kind; there are some twenty kinds
    export TDL_FUZZ_SECONDS=${TDL_FUZZ_SECONDS:-1800}
}

# tests_in PART [BUILD] : their names, a line each. None would stand for all tests there are,
# so that there is a name in any case, which then fails.
tests_in() {
    local names
    names=$(names_in "$1" "${2:-$TDL_BUILD}")
    printf '%s\n' "${names:-no-test-in-$1}"
}

names_in() { # names_in PART BUILD
    local build=$2
    case $1 in
    engine) tests_of "$build" engine | by_day "$frames_for_cpus" ;;
    models) tests_of "$build" models | by_day "$long_models" ;;
    element) tests_of "$build" element | grep -xE "$element_without" ;;
    validation) tests_of "$build" element | grep -vxE "$element_without" ;;
    pipelines) tests_of "$build" pipelines | grep -vxE "$watched_pipelines" ;;
    pipelines-validated) tests_of "$build" pipelines | grep -xE "$watched_pipelines" ;;
    sanitizers)
        tests_of "$build" engine models element | grep -vxE "$never_sanitized" |
            by_day "$sanitized_on_cpu|$long_sanitized"
        # One whole pipeline, for its leaks; the other tests of that suite start
        # gst-launch-1.0, which is not built with sanitizers.
        echo zero-copy
        ;;
    profiles)
        tests_of "$build" engine models element pipelines |
            grep -xE "$([ "$nightly" = yes ] && echo "$profiled_by_night" || echo "$profiled_every_day")"
        ;;
    swiftshader) tests_of "$build" engine models element | grep -xE "$on_swiftshader" ;;
    threads) printf '%s\n' "${raced[@]}" ;;
    builds)
        tests_of "$build" engine | grep -xE "$built_otherwise"
        [[ $build != *-without-libpng ]] || echo tdl-run
        ;;
    vm)
        printf '%s\n' "${machine[@]}"
        [ "$nightly" = no ] || printf '%s\n' "${machine_by_night[@]}"
        ;;
    esac
}

# by_day PATTERN : leave out what fits it, but at night.
by_day() {
    if [ "$nightly" = yes ]; then cat; else grep -vxE "$1"; fi
}

# tests_of BUILD SUITE... : their names, a line each.
tests_of() {
    local build=$1
    shift
    meson test -C "$build" --no-rebuild --list "${@/#/--suite=}" 2>/dev/null | sed -n 's|.* / ||p'
}
