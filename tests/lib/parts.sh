# SPDX-License-Identifier: LGPL-2.1-or-later
# The parts of tests/run.sh, one function each, with the tests that matrix.sh gives them.
# Sourced.
# shellcheck disable=SC2046 # a test a word

describe() {
    case $1 in
    build) echo "install what is missing, fetch the models, build" ;;
    shaders) echo "spirv-val over every kernel" ;;
    engine) echo "operators, passes, tensors, frames against plain C references, on both devices" ;;
    models) echo "importers, and the person models against the reference data, likewise" ;;
    element) echo "tdlfilter under GstHarness, on the CPU and without a device" ;;
    pipelines) echo "whole pipelines with gst-launch-1.0, some under the Vulkan validation layer" ;;
    demo) echo "pipelines/demo.sh, shortened" ;;
    validation) echo "tdlfilter under GstHarness on Vulkan, under the validation layer, which the engine always has on" ;;
    profiles) echo "kernels and frames on a device that pretends the limits of others, under the validation layer" ;;
    compilers) echo "Mesa's compilers for AMD, Intel, Raspberry Pi and Adreno over the kernels of models and frames (builds Mesa at the first time)" ;;
    swiftshader) echo "what of profiles there is on SwiftShader, whose subgroups have 4 invocations (fetches 30 MB at the first time)" ;;
    sanitizers) echo "the suites built with ASan, UBSan and leak detection, on the CPU; on Vulkan what is about it" ;;
    metadata) echo "what frames carry since GStreamer 1.26, with sanitizers" ;;
    threads) echo "what several threads do with the engine, built with ThreadSanitizer" ;;
    builds) echo "other compilers and options, and builds without libpng or XNNPACK: no warning, a few tests" ;;
    library) echo "libtdl installed, and its examples built against it; all of it built without Vulkan" ;;
    fuzz) echo "libFuzzer on the readers of models and on the builder, a quarter of a minute each" ;;
    soak) echo "1,000 frames with resident memory flat" ;;
    vm) echo "camera, dma-bufs and display of an emulated machine (root only; left out by --no-vm)" ;;
    onnxruntime) echo "models of others against ONNX Runtime (fetches 150 MB at the first time)" ;;
    tfjs) echo "models of others against TensorFlow.js (fetches 250 MB at the first time)" ;;
    analyze) echo "the engine and the element under gcc -fanalyzer and clang-tidy" ;;
    long) echo "a million runs, 200,000 frames, Slurm, PipeWire: hours" ;;
    packages) echo "Debian packages of a fresh Debian 12: built, lintian, installed, used, purged (root only)" ;;
    bookworm) echo "demo and quick tests in a fresh Debian 12 (root only)" ;;
    trixie) echo "the same in a fresh Debian 13" ;;
    ports) echo "the engine for arm64, armhf, i386 and s390x, packages for arm64 and armhf, run by qemu-user (root only)" ;;
    sid) echo "what only a Debian sid has: GStreamer's overlay of our metadata, software matrix units (root only)" ;;
    esac
}

part_build() {
    # Warnings stop CI, not people whose compiler knows more of them; and who uses a debugger
    # wants more than lines.
    [ -z "${CI:-}" ] || export TDL_MESON_ARGS="-Dwerror=true -Dc_args=-g1"
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

part_engine() { meson_tests "$TDL_BUILD" $(tests_in engine); }
part_models() { meson_tests "$TDL_BUILD" $(tests_in models); }
part_element() { meson_tests "$TDL_BUILD" $(tests_in element); }
part_validation() { validated $(tests_in validation); }

part_pipelines() {
    meson_tests "$TDL_BUILD" $(tests_in pipelines)
    validated $(tests_in pipelines-validated)
}

# validated TEST... : under the Vulkan validation layer. Where there is none they run all
# the same, and its absence is told.
validated() {
    local layer=/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json wrapper=()
    if [ -e "$layer" ]; then
        wrapper=(--wrapper "$root/tests/lib/validated.sh")
        expect "a wrong call is noticed" notices_wrong_call
    else
        skip "validation layer" "there is none (Debian package vulkan-validationlayers)"
    fi
    TDL_TEST_CASES=${TDL_TEST_CASES:-1} meson_tests "$TDL_BUILD" "${wrapper[@]}" \
        --timeout-multiplier "${patience:-6}" "$@"
}

notices_wrong_call() {
    local program=$TDL_BUILD/tests/pipelines/invalid-call
    [ -x "$program" ] && must_fail "$root/tests/lib/validated.sh" "$program"
}

# On software Vulkan with the limits of drivers that people own (tests/profiles).
part_profiles() {
    local profile profiles=("${profiles_every_day[@]}")
    [ "$nightly" = no ] || profiles=("${profiles_by_night[@]}")
    expect "a device without timeline semaphores is refused by name" refused_without_timeline
    expect "the validation layer sees the limits that are pretended" sees_pretended_limits
    for profile in "${profiles[@]}"; do
        expect "$profile is pretended" pretends "$profile"
        TDL_PROFILE=$profile validated $(tests_in profiles)
    done
}

part_compilers() {
    expect "drivers of GPUs that are not here, out of Mesa's source" \
        tests/profiles/mesa.sh "$TDL_BUILD/mesa"
    told_results python3 tests/profiles/compilers.py "$TDL_BUILD" "$root/models"
    if [ "$(id -u)" != 0 ]; then
        skip "Mesa 25 for RDNA 4" "only root can make and enter another Debian"
        return
    fi
    expect "a Debian 13, for Mesa 25" tests/debian.sh trixie true
    [ -e "$TDL_BUILD/trixie/src" ] || return 0
    lend "$TDL_BUILD/trixie"
    told_results tests/debian.sh trixie tests/profiles/compilers.sh GFX1201
}

# lend SYSTEM : the models that are here, which to fetch there would need npm and show nothing,
# and the compiled kernels.
lend() {
    mkdir -p "$1/src/models"
    cp -rLu models/. "$1/src/models/"
    cp "$TDL_BUILD/shaders/shaders.c" "$1/src/build-shaders.c"
}

# Another software Vulkan: it shares no dma-bufs, and stores no float16.
part_swiftshader() {
    local folder=$TDL_BUILD/swiftshader
    expect "SwiftShader out of Debian's chromium-common" tests/profiles/swiftshader.sh "$folder"
    [ -e "$folder/vk_swiftshader_icd.json" ] || return 0
    VK_DRIVER_FILES=$folder/vk_swiftshader_icd.json validated $(tests_in swiftshader)
}

# pretends PROFILE : and the device is still good enough.
pretends() {
    local told
    told=$(TDL_PROFILE=$1 "$root/tests/lib/validated.sh" "$TDL_BUILD/engine/tools/tdl-info") || return 1
    [[ $told == *"(pretended)"* && $told != *"not usable"* ]] || { echo "$told"; return 1; }
}

# A call that breaks nothing but the pretended limits is noticed, and fine without them.
sees_pretended_limits() {
    local call=("$root/tests/lib/validated.sh" "$TDL_BUILD/tests/pipelines/invalid-call" limits)
    [ -e /usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json ] || return 0
    "${call[@]}" || return 1
    TDL_PROFILE=least must_fail "${call[@]}"
}

refused_without_timeline() {
    TDL_PROFILE=no-timeline "$root/tests/lib/validated.sh" "$TDL_BUILD/engine/tools/tdl-info" |
        grep -q 'why not.*timeline semaphores'
}

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

must_fail() { ! "$@"; }

part_sanitizers() {
    local build=$root/build-asan
    set_up_sanitizers "$build" || return
    sanitize "$build" $(tests_in sanitizers "$build")
}

# What frames carry, which Debian 12 cannot build, on the CPU: software Vulkan compiles for minutes
# there, and Mesa 25.0 then leaves 49 empty contexts of its own behind, however many kernels.
part_metadata() {
    local build=$root/build-asan
    set_up_sanitizers "$build" || return
    sanitize "$build" element-cpu-{meta,metas,mask-pad,tensors}
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
    TDL_TEST_CASES=${sanitized_cases:-${TDL_TEST_CASES:-1}} meson_tests "$build" \
        --wrapper "$root/tests/lib/sanitized.sh $build" --timeout-multiplier "${patience:-6}" "$@"
}

# configure FOLDER MESON-ARGUMENT... : a second build, with the kernels and the
# compiled shaders of the first one. Reports name lines, which takes no more than -g1.
configure() {
    [ -e "$1/build.ninja" ] || meson setup "$1" "$root" --buildtype=debugoptimized \
        -Dshaders="$TDL_BUILD/shaders/shaders.c" -Dc_args=-g1 "${@:2}" || return 1
    # Its list of tests is that of the tree as it is now.
    ninja -C "$1" build.ninja || return 1
    ln -sfn "$TDL_BUILD/cache" "$1/cache"
}

# build_tests FOLDER TARGET|test:NAME... : nothing but what these tests need.
build_tests() {
    local build=$1
    shift
    ninja -C "$build" -j "$processes" $(meson introspect --targets --tests "$build" |
        python3 "$root/tests/lib/test_targets.py" "$build" "$@")
}

part_threads() {
    local build=$root/build-tsan tests
    read -ra tests < <(tests_in threads | paste -sd ' ')
    expect "set-up with ThreadSanitizer" configure "$build" -Dgst=disabled \
        -Db_sanitize=thread -Db_lundef=false -Doptimization=1
    expect "build with ThreadSanitizer" build_tests "$build" tests/lib/race \
        tests/lib/libkeep-loaded.so "${tests[@]/#/test:}"
    [ -e "$build/tests/lib/race" ] || return
    expect "a race is noticed" must_fail "$root/tests/lib/raced.sh" "$build/tests/lib/race"
    TDL_TEST_CASES=${TDL_TEST_CASES:-1} meson_tests "$build" --wrapper "$root/tests/lib/raced.sh" \
        --timeout-multiplier "${patience:-6}" "${tests[@]}"
}

# Each in a folder of its own, which stays for the next time.
part_builds() {
    local row name words build
    for row in "${other_builds[@]}"; do
        read -r name words <<<"$row"
        build=$root/build-$name
        # shellcheck disable=SC2086 # a word an argument
        expect "$name: set-up" built_as "$build" $words
        [ -e "$build/build.ninja" ] || continue
        expect "$name: build without a warning" build_tests "$build" engine/tools/tdl-info \
            $(tests_in builds "$build" | sed 's/^/test:/')
        TDL_TEST_CASES=${TDL_TEST_CASES:-1} meson_tests "$build" \
            --timeout-multiplier "${patience:-6}" $(tests_in builds "$build")
    done
}

# built_as FOLDER [CC=COMPILER] [MESON-ARGUMENT...]
built_as() {
    local folder=$1 compiler=cc
    shift
    case ${1:-} in CC=*) compiler=${1#CC=} && shift ;; esac
    CC=$compiler configure "$folder" -Dgst=disabled -Dwerror=true "$@"
}

part_library() { meson_tests "$TDL_BUILD" --suite library; }

part_fuzz() {
    local target
    for target in tflite ncnn onnx tfjs builder; do
        expect "$target, ${TDL_FUZZ_SECONDS:-15} s" tests/fuzz/run.sh "$target" \
            "${TDL_FUZZ_SECONDS:-15}"
    done
}

part_vm() {
    told_results tests/vm/run.sh $(tests_in vm)
    # In the same root, but on this machine: emulation would add nothing.
    [ -e "$TDL_BUILD/trixie/vm/vmlinuz" ] || return 0
    expect "Vulkan images between GStreamer 1.26's elements" tests/debian.sh trixie tests/vm/images.sh
    [ "$nightly" = no ] ||
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

# What costs hours, and no other part has.
part_long() {
    long_slurm
    expect "a million runs" in_build tests/engine/test-runs 1000000
    expect "200,000 frames" in_build tests/pipelines/soak 200000
    # In the machine's root. PipeWire's session manager forgets one reader in three or four,
    # which then asks again: too much luck for every day.
    expect "a camera for PipeWire" tests/debian.sh trixie tests/vm/pipewire.sh
}

# Packages that only this needs, and two minutes until Slurm tries a piece again.
long_slurm() {
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
    expect "tests/run.sh --quick validation" tests/debian.sh "$1" tests/run.sh --quick validation
    [ "$1" = bookworm ] ||
        expect "tests/run.sh metadata" tests/debian.sh "$1" tests/run.sh metadata
}

# In a Debian of its own, which has the libraries of several processors. With the kernels that
# are compiled here, and the models.
part_ports() {
    local own=$TDL_BUILD/ports system=$TDL_BUILD/ports/bookworm
    if [ "$(id -u)" != 0 ]; then
        skip "other processors" "only root can make and enter another Debian"
        return
    fi
    mkdir -p "$system"
    expect "a Debian for other processors" env TDL_BUILD="$own" tests/debian.sh bookworm true
    [ -e "$system/src" ] || return 0
    mkdir -p "$system/src/models"
    cp -Lu models/selfie_segmentation.tflite "$system/src/models/"
    cp "$TDL_BUILD/shaders/shaders.c" "$system/src/build-shaders.c"
    told_results env TDL_BUILD="$own" tests/debian.sh bookworm tests/ports.sh
    told_results env TDL_BUILD="$own" tests/debian.sh bookworm tests/ports-packages.sh
}

part_sid() {
    expect "a Debian sid" tests/debian.sh sid true
    [ -e "$TDL_BUILD/sid/src" ] || return 0
    lend "$TDL_BUILD/sid"
    told_results tests/debian.sh sid tests/sid.sh
}
