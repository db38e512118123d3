# SPDX-License-Identifier: LGPL-2.1-or-later
# The parts of tests/run.sh, one function each. Sourced.

describe() {
    case $1 in
    build) echo "install what is missing, fetch the models, build" ;;
    headers) echo "each public header compiles alone, in C and in C++" ;;
    shaders) echo "spirv-val over every kernel" ;;
    engine) echo "operators, passes, tensors, frames against plain C references" ;;
    models) echo "importers, and the person models against the reference data" ;;
    element) echo "tdlfilter under GstHarness" ;;
    pipelines) echo "whole pipelines with gst-launch-1.0" ;;
    demo) echo "pipelines/demo.sh, shortened" ;;
    validation) echo "element and pipelines under the Vulkan validation layer, as the others always are" ;;
    sanitizers) echo "all suites built with ASan, UBSan and leak detection" ;;
    threads) echo "what several threads do with the engine, built with ThreadSanitizer" ;;
    library) echo "libtdl installed, and its examples built against it" ;;
    fuzz) echo "libFuzzer on the model importer and on the builder, a minute each" ;;
    soak) echo "5,000 frames with resident memory flat" ;;
    vm) echo "camera, dma-bufs and display of an emulated machine (root only; left out by --no-vm)" ;;
    bookworm) echo "demo and quick tests in a fresh Debian 12 (root only)" ;;
    trixie) echo "the same in a fresh Debian 13" ;;
    esac
}

part_build() {
    # Warnings stop CI, not people whose compiler knows more of them.
    [ -z "${CI:-}" ] || export TDL_MESON_ARGS=-Dwerror=true
    expect "pipelines/setup.sh --tests" pipelines/setup.sh --tests
}

header_alone() { # header_alone C|C++ HEADER
    local words="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iengine/include"
    # shellcheck disable=SC2086
    case $1 in
    C) gcc -std=c11 $words -x c - ;;
    C++) g++ -std=c++17 $words -x c++ - ;;
    esac <<<"#include <tdl/$2>"
}

part_headers() {
    local header
    for header in engine/include/tdl/*.h; do
        header=${header##*/}
        expect "$header in C" header_alone C "$header"
        expect "$header in C++" header_alone C++ "$header"
    done
}

part_shaders() {
    local file found=no
    for file in "$TDL_BUILD"/shaders/*.spv; do
        [ -e "$file" ] || break
        found=yes
        expect "${file##*/}" spirv-val --target-env vulkan1.1 "$file"
    done
    [ $found = yes ] || fail "no SPIR-V in $TDL_BUILD/shaders"
}

# Two at a time where no clock matters: compilers and references are busy on one
# core only. What plays at a pace runs alone.
part_engine() { meson_tests "$TDL_BUILD" 2 --suite engine; }
part_models() { meson_tests "$TDL_BUILD" 2 --suite models; }
part_element() { meson_tests "$TDL_BUILD" 1 --suite element; }
part_pipelines() { meson_tests "$TDL_BUILD" 1 --suite pipelines; }
part_soak() { meson_tests "$TDL_BUILD" 1 --suite soak; }

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

part_validation() {
    local layer=/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json
    local wrapper=$root/tests/lib/validated.sh
    if [ ! -e "$layer" ]; then
        skip validation "no validation layer (Debian package vulkan-validationlayers)"
        return
    fi
    expect "a wrong call is noticed" must_fail "$wrapper" "$TDL_BUILD/tests/pipelines/invalid-call"
    # The engine's and the models' suites have the layer on in any case.
    meson_tests "$TDL_BUILD" 1 --wrapper "$wrapper" --timeout-multiplier 6 \
        --suite element --suite pipelines
}

must_fail() { ! "$@"; }

part_sanitizers() {
    local build=$root/build-asan
    expect "build with sanitizers" build_with_sanitizers "$build"
    [ -e "$build/build.ninja" ] || return
    local run=(--wrapper "$root/tests/lib/sanitized.sh $build" --timeout-multiplier 6)
    meson_tests "$build" 2 "${run[@]}" --suite engine --suite models
    meson_tests "$build" 1 "${run[@]}" --suite element
    # One whole pipeline, for its leaks; the other tests of that suite start
    # gst-launch-1.0, which is not built with sanitizers.
    meson_tests "$build" 1 "${run[@]}" zero-copy
}

build_with_sanitizers() {
    if [ ! -e "$1/build.ninja" ]; then
        meson setup "$1" "$root" --buildtype=debugoptimized \
            -Db_sanitize=address,undefined || return 1
        ln -sfn "$TDL_BUILD/cache" "$1/cache"
    fi
    ninja -C "$1"
}

part_threads() {
    local build=$root/build-tsan tests=(context tensor dispatch strangers) name
    local programs=(tests/lib/race)
    for name in "${tests[@]}"; do programs+=("tests/engine/test-$name"); done
    expect "build with ThreadSanitizer" build_with_tsan "$build" "${programs[@]}"
    [ -e "$build/tests/lib/race" ] || return
    expect "a race is noticed" must_fail "$root/tests/lib/raced.sh" "$build/tests/lib/race"
    meson_tests "$build" 2 --wrapper "$root/tests/lib/raced.sh" --timeout-multiplier 6 \
        "${tests[@]/#/engine-}"
}

build_with_tsan() { # build_with_tsan FOLDER TARGET...
    if [ ! -e "$1/build.ninja" ]; then
        meson setup "$1" "$root" --buildtype=debugoptimized -Dgst=disabled \
            -Db_sanitize=thread -Db_lundef=false || return 1
        ln -sfn "$TDL_BUILD/cache" "$1/cache"
    fi
    ninja -C "$@"
}

part_library() { meson_tests "$TDL_BUILD" 1 --suite library; }

part_fuzz() {
    expect "importer, 60 s" tests/fuzz/run.sh tflite 60
    expect "builder, 60 s" tests/fuzz/run.sh builder 60
}

part_vm() {
    told_results tests/vm/run.sh
    # In the same root, but on this machine: emulation would add nothing.
    [ ! -e "$TDL_BUILD/trixie/vm/vmlinuz" ] ||
        expect "Vulkan images between GStreamer 1.26's elements" \
            tests/debian.sh trixie tests/vm/images.sh
}

part_bookworm() { fresh_debian bookworm; }
part_trixie() { fresh_debian trixie; }

fresh_debian() {
    expect "pipelines/demo.sh" tests/debian.sh "$1" pipelines/demo.sh --clip
    expect "tests/run.sh --quick" tests/debian.sh "$1" tests/run.sh --quick
}
