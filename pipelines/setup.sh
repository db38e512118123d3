#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# From a bare Debian 12 or 13 to a built plugin: install what is missing,
# fetch the person model, build into build/. Quick when nothing is missing.
#
#   pipelines/setup.sh           what demo.sh and the recipes need
#   pipelines/setup.sh --plugin  of that the plugin alone, which is enough for a first picture
#   pipelines/setup.sh --tests   and what tests/run.sh needs
set -euo pipefail
. "$(dirname "$0")/common.sh"

packages=("${TDL_PACKAGES[@]}")
tests=false plugin=false
for arg in "$@"; do
    case $arg in
    --tests)
        packages+=("${TDL_TEST_PACKAGES[@]}")
        tests=true
        ;;
    --plugin) plugin=true ;;
    *)
        no_options "$arg"
        misused "'$arg' is not an option"
        ;;
    esac
done
# By whose certificates the models come.
"$TDL_ROOT/pipelines/fetch-models.sh" --check || packages+=(ca-certificates)

# autovideosink has no window to open without one of these.
[ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || packages+=(gstreamer1.0-x)

missing_packages() {
    local name
    for name in "${packages[@]}"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] ||
            printf '%s ' "$name"
    done
}

install_packages() {
    local missing
    missing=$(missing_packages)
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" != 0 ]; then
        say "These Debian packages are missing. Install them, then run this again:" >&2
        say "" >&2
        say "    sudo apt-get install -y --no-install-recommends ${missing% }" >&2
        exit 1
    fi
    say "Installing: $missing"
    export DEBIAN_FRONTEND=noninteractive
    # A list that cannot be had is no reason to stop: the install itself says.
    apt_get update -qq || say "apt-get update failed; trying with the lists that are here" >&2
    # shellcheck disable=SC2086 # one word per package
    apt_get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 $missing >&2 ||
        die "apt-get could not install what is missing: see above"
}

# Before anything is installed or fetched for it.
make_folder() {
    mkdir -p "$TDL_BUILD" 2>/dev/null && [ -w "$TDL_BUILD" ] ||
        die "nothing can be written to $TDL_BUILD: name a folder of your own by the variable TDL_BUILD"
}

# Into the tree, whose build takes it in; the element finds a user's own, too.
fetch_model() {
    if mkdir -p "$TDL_ROOT/models" 2>/dev/null && [ -w "$TDL_ROOT/models" ]; then
        "$TDL_ROOT/pipelines/fetch-models.sh"
    elif ! "$TDL_ROOT/pipelines/fetch-models.sh" --check; then
        say "Nothing can be written to $TDL_ROOT/models: the model is fetched for you alone"
        "$TDL_ROOT/pipelines/fetch-models.sh" --user person
    fi
}

configure() { # configure MESON-ARGUMENT...
    local start=$EPOCHREALTIME
    printf 'Configuring %s' "${TDL_BUILD#"$PWD"/}"
    # shellcheck disable=SC2086 # TDL_MESON_ARGS holds several words
    meson setup "$TDL_BUILD" "$TDL_ROOT" -Dtests=$tests "$@" ${TDL_MESON_ARGS:-} >"$log" 2>&1 ||
        { say && cat "$log" >&2; die "meson setup failed"; }
    say ": $(seconds_since "$start") s"
}

# The tests are many times the plugin: who does not run them need not wait for them. Nor for
# optimisation where nothing is gained: what has loops has levels of its own, the rest is
# as fast without any, and compiles in two thirds of the time that -O1 takes. Nor for other
# machines' instructions.
build() {
    local start log=$TDL_BUILD/setup.log targets=(demo)
    local quick=(-Doptimization=0 -Ddebug=false -Db_pch=true -Dcpu-levels=native)
    if [ ! -e "$TDL_BUILD/build.ninja" ]; then
        [ $tests = false ] || quick=()
        configure --buildtype=debugoptimized "${quick[@]}"
    elif [ $tests = true ] && ! grep -q '^build tests/' "$TDL_BUILD/build.ninja"; then
        grep -q ' -O0 ' "$TDL_BUILD/build.ninja" && quick=(-Doptimization=1 -Dcpu-levels=all) || quick=()
        configure --reconfigure "${quick[@]}"
    fi
    [ $plugin = false ] || targets=(gst/libgsttdlfilter.so)
    [ $tests = false ] || targets=()
    printf 'Building'
    start=$EPOCHREALTIME
    ninja -C "$TDL_BUILD" "${targets[@]}" >"$log" 2>&1 ||
        { say && tail -n 60 "$log" >&2; die "the build failed"; }
    say ": $(seconds_since "$start") s"
    [ $plugin = true ] || say "The tools tdl-info, tdl-run and tdl-bench are in ${TDL_BUILD#"$PWD"/}/engine/tools."
}

make_folder
if command -v dpkg-query >/dev/null; then
    install_packages
else
    say "Not a Debian system. Make sure that you have the equivalents of: ${packages[*]}" >&2
fi
fetch_model
[ $tests = false ] || "$TDL_ROOT/tests/fetch-pictures.sh" || say "The test \"shapes\" will be skipped" >&2
build
