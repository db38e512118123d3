# SPDX-License-Identifier: LGPL-2.1-or-later
# The parts of tests/run.sh, one function each. Sourced.

describe() {
    case $1 in
    build) echo "install what is missing, fetch the models, build" ;;
    shaders) echo "spirv-val over every kernel" ;;
    engine) echo "operators, passes, tensors, frames against plain C references, half of it on Vulkan by the seed" ;;
    models) echo "importers, and the person models against the reference data, likewise" ;;
    element) echo "tdlfilter under GstHarness, all of it on the CPU, half of it on Vulkan by the seed" ;;
    pipelines) echo "whole pipelines with gst-launch-1.0" ;;
    demo) echo "pipelines/demo.sh, shortened" ;;
    validation) echo "the other half, and pipelines, under the Vulkan validation layer, as the others always are" ;;
    sanitizers) echo "all suites built with ASan, UBSan and leak detection, each on one of the devices, long ones by turns" ;;
    metadata) echo "what frames carry since GStreamer 1.26, with sanitizers" ;;
    threads) echo "what several threads do with the engine, built with ThreadSanitizer" ;;
    library) echo "libtdl installed, and its examples built against it; all of it built without Vulkan" ;;
    fuzz) echo "libFuzzer on the readers of models and on the builder, a quarter of a minute each" ;;
    soak) echo "1,000 frames with resident memory flat" ;;
    vm) echo "camera, dma-bufs and display of an emulated machine (root only; left out by --no-vm)" ;;
    onnxruntime) echo "models of others against ONNX Runtime (fetches 150 MB at the first time)" ;;
    tfjs) echo "models of others against TensorFlow.js (fetches 250 MB at the first time)" ;;
    analyze) echo "the engine and the element under gcc -fanalyzer and clang-tidy" ;;
    nightly) echo "ten thousand random cases, a million runs, long fuzzing and soak: some hours" ;;
    packages) echo "Debian packages of a fresh Debian 12: built, lintian, installed, used, purged (root only)" ;;
    bookworm) echo "demo and quick tests in a fresh Debian 12 (root only)" ;;
    trixie) echo "the same in a fresh Debian 13" ;;
    sid) echo "what only a Debian sid has: GStreamer's overlay of our metadata, software matrix units (root only)" ;;
    esac
}

part_build() {
    # Warnings stop CI, not people whose compiler knows more of them.
    [ -z "${CI:-}" ] || export TDL_MESON_ARGS=-Dwerror=true
    expect "pipelines/setup.sh --tests" pipelines/setup.sh --tests
}

part_shaders() {
    local file target found=no
    for file in "$TDL_BUILD"/shaders/*.spv; do
        [ -e "$file" ] || break
        found=yes
        target=vulkan1.1
        [[ ${file##*/} != *tensors_* ]] || target=vulkan1.3 # as shaders/compile.py has it
        expect "${file##*/}" spirv-val --target-env "$target" "$file"
    done
    [ $found = yes ] || fail "no SPIR-V in $TDL_BUILD/shaders"
}

# What runs on Vulkan and on the CPU compiles kernels on the one for minutes, and computes on
# the other in no time: half of it on Vulkan by the seed, all of it on the CPU.
part_engine() { half_on_vulkan engine "other seeds"; }
part_models() { half_on_vulkan models "other seeds"; }
part_element() { half_on_vulkan element "validation and to other seeds"; }

# half_on_vulkan SUITE TO-WHOM : and tell which tests are left to whom.
half_on_vulkan() {
    local tests=() others
    mapfile -t tests < <(tests_of "$TDL_BUILD" "$1" | vulkan_half 0)
    meson_tests "$TDL_BUILD" "${tests[@]}"
    others=$(tests_of "$TDL_BUILD" "$1" | grep -vxFf <(printf '%s\n' "${tests[@]}") | paste -sd ' ')
    [ -z "$others" ] || printf '  left to %s, but on the CPU: %s\n' "$2" "$others"
}
part_pipelines() { meson_tests "$TDL_BUILD" --suite pipelines; }
part_soak() { meson_tests "$TDL_BUILD" --suite soak; }

part_demo() {
    local folder=$TDL_BUILD/demo-test name
    rm -rf "$folder"
    expect "pipelines/demo.sh --clip" env FRAMES=20 pipelines/demo.sh --clip "$folder"
    for name in mask overlay blur replace-colour replace-picture alpha passthrough; do
        expect "$name: picture and video" \
            gst-launch-1.0 -q filesrc location="$folder/$name.png" ! pngdec ! fakesink \
            filesrc location="$folder/videos/$name.mkv" ! matroskademux ! jpegdec ! fakesink
    done
    expect "all videos in one" has_frames "$folder/all-modes.mkv" $((7 * 20))
}

has_frames() { # has_frames VIDEO COUNT
    [ "$(gst-launch-1.0 -v filesrc location="$1" ! matroskademux ! fakesink silent=false |
        grep -c 'chain ')" = "$2" ]
}

part_validation() { # part_validation [TESTS-TO-LEAVE-OUT]
    local layer=/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json
    local wrapper=$root/tests/lib/validated.sh
    if [ ! -e "$layer" ]; then
        skip validation "no validation layer (Debian package vulkan-validationlayers)"
        return
    fi
    expect "a wrong call is noticed" must_fail "$wrapper" "$TDL_BUILD/tests/pipelines/invalid-call"
    # The engine's and the models' suites have the layer on in any case. What
    # scripts do differs only before the first call of Vulkan; `nightly` has them,
    # and what never calls it.
    local tests=()
    mapfile -t tests < <(tests_of "$TDL_BUILD" element pipelines | vulkan_half "${1:-1}" |
        grep -vxE "${1:-recipes|errors|documentation|window|portrait-square|no-vulkan|element-cpu-.*|element-(caps|files|presets|fit|modelinfo|no-models|mapped)}")
    TDL_TEST_CASES=${TDL_TEST_CASES:-1} meson_tests "$TDL_BUILD" --wrapper "$wrapper" --timeout-multiplier 6 "${tests[@]}"
}

must_fail() { ! "$@"; }

# What runs under AddressSanitizer: all that leads through other code. Not the
# kernels for GPUs (the host's part in them is the same as for CPUs), and few
# random cases: sanitizers look at code, and long comparisons of numbers take
# the same way through it. Of those that compile hundreds of kernels the CPU's twin.
sanitized_tests() {
    # libkeep-loaded.so has nothing unloaded, which one test is about.
    tests_of "$1" engine models element | grep -vxE 'engine-(cpu-)?unload' |
        grep -vxE "${2:-onnx-nodes|tdl-run|person-landscape-network}" | one_device "${2:-}" |
        by_turns "${2:-}" | grep -vxE "${2:-frame-.*-gpu|engine-headers|engine-rooms|engine-specs|format|engine-tune-models|person-square-.*|person-.*-intermediates}"
    # One whole pipeline, for its leaks; the other tests of that suite start
    # gst-launch-1.0, which is not built with sanitizers.
    echo zero-copy
}

# Suites that run on both devices, NAME-REST and NAME-cpu-REST or NAME-cpu, on one of
# them: the seed says which, another time it is the other one. With an argument, on both.
one_device() {
    if [ -n "$1" ]; then
        cat
        return
    fi
    awk -v seed="${TDL_TEST_SEED:-0}" '
        { name[NR] = $0; twin = $0; sub(/-cpu/, "", twin); of[NR] = twin; count[twin]++ }
        END {
            for (i = 1; i <= NR; i++) {
                if (!(of[i] in number))
                    number[of[i]] = n++
                cpu = name[i] != of[i]
                if (count[of[i]] == 1 || cpu == (seed + number[of[i]]) % 2)
                    print name[i]
            }
        }'
}

# Tests NAME or NAME-gpu that have a twin on the CPU, with "-cpu" in its name, in one of two
# runs, by the seed: those of half 0 or of half 1; with another argument, or TDL_TEST_CASES
# from 100 on, all of them. The twins and all others: always; but of NAME-cpu and
# NAME-gpu, which are kernels for kinds of devices, one or the other.
vulkan_half() {
    [ "${TDL_TEST_CASES:-0}" -lt 100 ] || set -- all
    awk -v seed="${TDL_TEST_SEED:-0}" -v half="$1" '
        {
            name[NR] = $0
            twin = $0
            on_cpu[NR] = sub(/-cpu/, "", twin)
            sub(/-gpu/, "", twin)
            of[NR] = twin
            if (on_cpu[NR])
                has_cpu[twin]
            else if (twin != $0)
                has_gpu[twin]
        }
        END {
            for (i = 1; i <= NR; i++) {
                twins = of[i] in has_cpu && half ~ /^[01]$/
                if (twins && of[i] in has_gpu) {
                    if (!(of[i] in turn))
                        turn[of[i]] = (seed + turns++) % 2 == half
                    if (on_cpu[i] == turn[of[i]])
                        print name[i]
                } else if (on_cpu[i] || !twins || (seed + n++) % 2 == half) {
                    print name[i]
                }
            }
        }'
}

# Those that take longest with sanitizers: one of three by the seed. With an argument,
# all of them.
by_turns() {
    local slow="tools (onnx|tflite)-hostile frame-composer(-cpu)? person-steady engine-(cpu-)?faults"
    slow+=" element-(cpu-)?(background|begin|errors|faults|formats|live|mask-pad|memory|metas"
    slow+="|pictures|properties|stream|zero-copy)"
    awk -v seed="${TDL_TEST_SEED:-0}" -v all="${1:+1}" -v slow="^(${slow// /|})$" '
        all || $0 !~ slow || (seed + n++) % 3 == 0'
}

# tests_of BUILD SUITE... : their names, a line each.
tests_of() {
    local build=$1
    shift
    meson test -C "$build" --no-rebuild --list "${@/#/--suite=}" 2>/dev/null | sed -n 's|.* / ||p'
}

part_sanitizers() { # part_sanitizers [TESTS-TO-LEAVE-OUT]
    local build=$root/build-asan tests
    set_up_sanitizers "$build" || return
    mapfile -t tests < <(sanitized_tests "$build" "$@")
    sanitize "$build" "${tests[@]}"
}

# What frames carry, which Debian 12 cannot build, on the CPU: software Vulkan compiles for minutes
# there, and Mesa 25.0 then leaves 49 empty contexts of its own behind, however many kernels.
part_metadata() {
    local build=$root/build-asan
    set_up_sanitizers "$build" || return
    sanitize "$build" element-cpu-{meta,metas,mask-pad}
}

set_up_sanitizers() { # set_up_sanitizers BUILD
    expect "set-up with sanitizers" configure "$1" -Db_sanitize=address,undefined \
        -Doptimization=1 # which compiles faster, and runs no slower to speak of
    [ -e "$1/build.ninja" ]
}

sanitize() { # sanitize BUILD TEST...
    local build=$1
    shift
    expect "build with sanitizers" build_tests "$build" gst/libgsttdlfilter.so \
        tests/lib/libkeep-loaded.so "${@/#/test:}"
    TDL_TEST_CASES=${TDL_TEST_CASES:-1} meson_tests "$build" \
        --wrapper "$root/tests/lib/sanitized.sh $build" --timeout-multiplier 6 "$@"
}

# configure FOLDER MESON-ARGUMENT... : a second build, with the kernels and the
# compiled shaders of the first one. Reports name lines, which takes no more than -g1.
configure() {
    [ -e "$1/build.ninja" ] || meson setup "$1" "$root" --buildtype=debugoptimized \
        -Dshaders="$TDL_BUILD/shaders/shaders.c" -Dc_args=-g1 "${@:2}" || return 1
    ln -sfn "$TDL_BUILD/cache" "$1/cache"
}

# build_tests FOLDER TARGET|test:NAME... : nothing but what these tests need.
build_tests() {
    local build=$1
    shift
    # shellcheck disable=SC2046 # a target a word
    ninja -C "$build" -j "$processes" $(meson introspect --targets --tests "$build" |
        python3 "$root/tests/lib/test_targets.py" "$build" "$@")
}

part_threads() {
    local build=$root/build-tsan tests=(engine-{async,compile,context,tensor,dispatch,strangers,waits}
        engine-cpu-{async,dispatch,frames,graph,scenarios})
    expect "set-up with ThreadSanitizer" configure "$build" -Dgst=disabled \
        -Db_sanitize=thread -Db_lundef=false -Doptimization=1
    expect "build with ThreadSanitizer" build_tests "$build" tests/lib/race \
        tests/lib/libkeep-loaded.so "${tests[@]/#/test:}"
    [ -e "$build/tests/lib/race" ] || return
    expect "a race is noticed" must_fail "$root/tests/lib/raced.sh" "$build/tests/lib/race"
    TDL_TEST_CASES=${TDL_TEST_CASES:-1} meson_tests "$build" --wrapper "$root/tests/lib/raced.sh" --timeout-multiplier 6 "${tests[@]}"
}

part_library() { meson_tests "$TDL_BUILD" --suite library; }

part_fuzz() {
    local target
    for target in tflite ncnn onnx tfjs builder; do
        expect "$target, ${TDL_FUZZ_SECONDS:-15} s" tests/fuzz/run.sh "$target" \
            "${TDL_FUZZ_SECONDS:-15}"
    done
}

# Zero copy is shown every time. What cameras, pipelines and drivers do takes turns by the
# seed, and so do textures of the GPU's, a compositor's, displays and loopback cameras; with
# TDL_TEST_CASES from 100 on all of them run.
part_vm() {
    local seed=${TDL_TEST_SEED:-0} inside=(camera life engine) outside=(gl desktop loopback display)
    local left=${TDL_TEST_CASES:-1} name tests=()
    unset "inside[$seed % 3]" "outside[$seed / 3 % 4]"
    [ "$left" -lt 100 ] && left=" ${inside[*]} ${outside[*]} " || left=
    for name in witness camera gl life desktop loopback display engine machine; do
        [[ $left = *" $name "* ]] || tests+=("$name")
    done
    [ -z "$left" ] || printf '  left to other seeds: %s\n' "${left# }"
    told_results tests/vm/run.sh "${tests[@]}"
    # In the same root, but on this machine: emulation would add nothing.
    [ -e "$TDL_BUILD/trixie/vm/vmlinuz" ] || return 0
    expect "Vulkan images between GStreamer 1.26's elements" tests/debian.sh trixie tests/vm/images.sh
    expect "pipelines/demo.sh in a Debian 13" env FRAMES=10 tests/debian.sh trixie pipelines/demo.sh --clip
}

part_onnxruntime() { told_results tests/models/onnxruntime.sh; }

part_tfjs() { told_results tests/models/tfjs.sh; }

part_analyze() {
    local tool
    for tool in gcc clang-tidy; do
        expect "$tool" python3 tests/lib/analyze.py "$tool" "$TDL_BUILD" tests/analyze.supp "$processes"
    done
}

# What costs hours, and all that other parts leave out.
part_nightly() {
    export TDL_TEST_CASES=${TDL_TEST_CASES:-500} # of each kind; there are some twenty kinds
    export TDL_FUZZ_SECONDS=${TDL_FUZZ_SECONDS:-1800}
    meson_tests "$TDL_BUILD" --timeout-multiplier 100 --suite engine --suite models --suite element
    nightly_slurm
    expect "a million runs" in_build tests/engine/test-runs 1000000
    expect "200,000 frames" in_build tests/pipelines/soak 200000
    part_validation none
    TDL_TEST_CASES=10 part_sanitizers none
    part_fuzz
    part_vm
    # In the machine's root. PipeWire's session manager forgets one reader in three or four,
    # which then asks again: too much luck for every day.
    expect "a camera for PipeWire" tests/debian.sh trixie tests/vm/pipewire.sh
}

# Packages that only this needs, and two minutes until Slurm tries a piece again.
nightly_slurm() {
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        expect "packages of Slurm" apt-get -o DPkg::Lock::Timeout=900 install -y \
            --no-install-recommends slurmctld slurmd slurm-client munge
    fi
    meson_tests "$TDL_BUILD" --suite slurm
}

# in_build PROGRAM [ARGUMENT...] : with the surroundings that meson gives tests.
in_build() {
    GST_PLUGIN_PATH=$TDL_BUILD/gst GST_REGISTRY=$TDL_BUILD/registry.bin "$TDL_BUILD/$1" "${@:2}"
}

# TDL_TEST_RELEASE=trixie: those of a Debian 13.
part_packages() { told_results tests/packages.sh "${TDL_TEST_RELEASE:-bookworm}"; }
part_bookworm() { fresh_debian bookworm; }
part_trixie() { fresh_debian trixie; }

fresh_debian() {
    expect "pipelines/demo.sh" tests/debian.sh "$1" pipelines/demo.sh --clip
    expect "tests/run.sh --quick" tests/debian.sh "$1" tests/run.sh --quick
    [ "$1" = bookworm ] ||
        expect "tests/run.sh metadata" tests/debian.sh "$1" tests/run.sh metadata
}

# With the models that are here: to fetch them there would need npm, and shows nothing.
part_sid() {
    expect "a Debian sid" tests/debian.sh sid true
    [ -e "$TDL_BUILD/sid/src" ] || return 0
    mkdir -p "$TDL_BUILD/sid/src/models"
    cp -rLu models/. "$TDL_BUILD/sid/src/models/"
    told_results tests/debian.sh sid tests/sid.sh
}
