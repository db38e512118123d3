# SPDX-License-Identifier: LGPL-2.1-or-later
# Shared by the scripts here and by tests/: where things are, which packages
# are needed, how to run a pipeline with the plugin of this tree, or with the
# installed one. Sourced.

TDL_HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TDL_ROOT=${TDL_HERE%/*}
# Installed, as share/tdlfilter-recipes, there is no tree round this folder.
if [ -e "$TDL_ROOT/meson.build" ]; then
    TDL_BUILD=${TDL_BUILD:-$TDL_ROOT/build}
else
    TDL_BUILD=${TDL_BUILD:-}
fi
TDL_PORTRAIT=/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg

# Debian packages, the same names in 12 and 13.
TDL_PACKAGES=(
    meson ninja-build gcc libc6-dev pkg-config python3
    libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev
    libvulkan-dev mesa-vulkan-drivers glslang-tools glslc libdrm-dev libxnnpack-dev libpthreadpool-dev
    libjansson-dev libpng-dev gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good
    python-matplotlib-data
)
# For frames in Vulkan images; the latter are what their library's pkg-config
# file asks for.
TDL_IMAGE_PACKAGES=(
    libgstreamer-plugins-bad1.0-dev libxcb1-dev libxkbcommon-dev libxkbcommon-x11-dev
    libwayland-dev
)
TDL_TEST_PACKAGES=(
    g++ python3-numpy python3-scipy spirv-tools vulkan-validationlayers gstreamer1.0-plugins-bad "${TDL_IMAGE_PACKAGES[@]}"
    clang clang-format libclang-rt-dev
    libonnx-testdata libonnx-dev protobuf-c-compiler libprotobuf-c-dev
    parallel man-db python3-gi gir1.2-gst-plugins-bad-1.0 python3-gst-1.0 cmark-gfm
    libgtk-4-dev xvfb xdotool
)

say() { printf '%s\n' "$@"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# apt_get ARGUMENT... : apt-get, which waits where another one is at work.
apt_get() {
    local log status end=$((SECONDS + ${TDL_APT_PATIENCE:-900})) waits=
    log=$(mktemp)
    while :; do
        status=0
        LC_ALL=C apt-get -o DPkg::Lock::Timeout=60 "$@" </dev/null 2>"$log" || status=$?
        [ $status != 0 ] && [ $SECONDS -lt $end ] &&
            grep -qE 'Could not get lock|lock (is|was) locked by another' "$log" || break
        [ -n "$waits" ] || say "Another apt or dpkg is at work; waiting for it" >&2
        waits=yes
        sleep 2
    done
    cat "$log" >&2
    rm -f "$log"
    return $status
}

# usage : what the comment says that the script begins with, by the names that hold here.
usage() {
    sed -n '/^# SPDX/d; 1d; /^#/!q; s/^# \{0,1\}//p' "$0" | sed '/./,$!d' |
        if [ -e "$TDL_ROOT/meson.build" ]; then
            cat
        else
            sed "s|pipelines/fetch-models.sh|tdl-fetch-models|g; s|pipelines/|${TDL_HERE//|/\\|}/|g"
        fi
}
# misused WORD... : say so, and how it goes.
misused() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    usage >&2
    exit 2
}
# no_options WORD... : --help is answered, any other option refused.
no_options() {
    local word
    for word in "$@"; do
        case $word in
        -h | --help) usage; exit 0 ;;
        -*) misused "'$word' is not an option here" ;;
        esac
    done
}

# seconds_since START : with a decimal; START is a value of $EPOCHREALTIME.
seconds_since() {
    local us=$((${EPOCHREALTIME//[!0-9]/} - ${1//[!0-9]/}))
    printf '%d.%d' $((us / 1000000)) $((us / 100000 % 10))
}

# built : there is a plugin in the build tree.
built() { [ -n "$TDL_BUILD" ] && [ -e "$TDL_BUILD/gst/libgsttdlfilter.so" ]; }

# add_plugin FOLDER PRESETS : let GStreamer look for plugins and presets there, too.
add_plugin() {
    export GST_PLUGIN_PATH=$1${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
    export GST_PRESET_PATH=$2${GST_PRESET_PATH:+:$GST_PRESET_PATH}
}

# Let gst-launch-1.0 find the plugin, and its presets: those of the build tree, or else
# those that GStreamer knows, or that were installed below the same prefix as this file.
use_plugin() {
    local folder
    if built; then
        add_plugin "$TDL_BUILD/gst" "$TDL_BUILD/gst"
        return
    fi
    command -v gst-inspect-1.0 >/dev/null && command -v gst-launch-1.0 >/dev/null ||
        die "gst-launch-1.0 is missing (on Debian: gstreamer1.0-tools)"
    if gst-inspect-1.0 --exists tdlfilter; then
        [ -z "$TDL_BUILD" ] || say "There is no plugin in $TDL_BUILD; the installed one is taken" >&2
        return
    fi
    [ -z "$TDL_BUILD" ] || die "the plugin is not built yet: run pipelines/setup.sh first"
    for folder in "${TDL_ROOT%/*}"/lib*/{,*/}gstreamer-1.0; do
        [ -e "$folder/libgsttdlfilter.so" ] || continue
        add_plugin "$folder" "$TDL_ROOT/gstreamer-1.0/presets"
        return
    done
    die "GStreamer does not find tdlfilter: install it (on Debian: gstreamer1.0-tdlfilter), or let" \
        "GST_PLUGIN_PATH name the folder of libgsttdlfilter.so"
}

# show WORD... : a command as one could type it, with no more quotes than needed.
show() {
    local word line=
    for word in "$@"; do
        case $word in
        *[!A-Za-z0-9_./:=,@%+!-]*) line+=" '${word//\'/\'\\\'\'}'" ;;
        *) line+=" $word" ;;
        esac
    done
    say "${line# }"
}

# Without a display autovideosink may crash, which explains nothing.
has_display() {
    [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || [ -S "${XDG_RUNTIME_DIR:-/nowhere}/wayland-0" ]
}

# launch WORD... : show a gst-launch-1.0 line, then become it: whoever ends the script ends
# the stream. Ctrl-C does so properly (-e), so that files are complete.
launch() {
    show gst-launch-1.0 -e "$@" >&2
    [[ " $* " != *" autovideosink "* ]] || has_display ||
        die "there is no display (DISPLAY and WAYLAND_DISPLAY are not set): name another sink, as in" \
            "SINK=fakesink $0, or SINK=kmssink on a console"
    exec gst-launch-1.0 -q -e "$@"
}

# launch_to FILE ELEMENT... : the same into a file, which stays as it was if that fails.
launch_to() {
    local to=$1 part=$1.part
    shift
    show gst-launch-1.0 -e "$@" ! filesink "location=$to" >&2
    if gst-launch-1.0 -q -e "$@" ! filesink "location=$part"; then
        mv -- "$part" "$to"
    else
        rm -f -- "$part"
        return 1
    fi
}
