# SPDX-License-Identifier: LGPL-2.1-or-later
# What meson says about the models: without them it goes on, and one that was
# asked for and cannot be built in stops it with a sentence.
. "$(dirname "$0")/common.sh"
command -v meson >/dev/null || skip "meson is not installed"

# A tree as cloned: no models, nothing built.
mkdir "$temp/source"
tar -C "$root" --exclude='./build*' --exclude=./.git --exclude=./models -cf - . |
    tar -C "$temp/source" -xf -
configure() { # configure ARGUMENT...
    rm -rf "$temp/build"
    meson setup "$temp/build" "$temp/source" -Dtests=false -Dvulkan-image=disabled "$@" >"$temp/log" 2>&1
}
says() { grep -Eq "$1" "$temp/log"; }
refuses() { # refuses WHAT PATTERN COMMAND...
    local what=$1 pattern=$2
    shift 2
    check "$what: fails" not "$@"
    check "$what: says so" says "$pattern" || cat "$temp/log"
}
look_at() { python3 "$root/gst/check_model.py" "$1" >"$temp/log" 2>&1; }

check "without models it goes on" configure
check "and warns" says "WARNING: .*run pipelines/fetch-models.sh"
check "and sums up" says "bundled models *: none"
[ $failures = 0 ] || cat "$temp/log"

refuses "a model that is not there" "ERROR: .*no file /no-such-file" configure -Dmodel=/no-such-file
refuses "no model at all" "ERROR: .*README.md is not a TensorFlow Lite model" \
    configure "-Dmodel=$root/README.md"
: >"$temp/empty"
refuses "an empty model" "empty is empty" look_at "$temp/empty"
model=$TDL_TEST_MODELS/selfie_segmentation.tflite
if [ -e "$model" ]; then
    head -c 200000 "$model" >"$temp/cut"
    refuses "a model cut short" "cut is cut short or damaged" look_at "$temp/cut"
    check "a model of one's own" configure "-Dmodel=$model"
    check "is built in alone" says "bundled models *: person$" || cat "$temp/log"
fi
finish
