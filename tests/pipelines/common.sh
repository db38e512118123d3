# SPDX-License-Identifier: LGPL-2.1-or-later
# Shared by the shell tests here. Sourced; meson sets the environment.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
portrait=/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
failures=0
export LC_ALL=C

skip() { printf 'skipped: %s\n' "$*"; exit 77; }
good() { printf 'ok: %s\n' "$*"; }
bad() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }
# check WHAT COMMAND... : the command succeeds.
check() {
    local what=$1
    shift
    if "$@"; then good "$what"; else bad "$what"; fi
}
not() { ! "$@"; }
finish() { exit $((failures > 0)); }

# most_apart FILE FILE : how far apart two bytes at one place are; cmp prints octal values.
most_apart() {
    cmp -l "$1" "$2" | awk '
        function value(o) { return int(o / 100) * 64 + int(o % 100 / 10) * 8 + o % 10 }
        { d = value($2) - value($3); d = d < 0 ? -d : d; if (d > most) most = d }
        END { print most + 0 }'
}

command -v gst-launch-1.0 >/dev/null || skip "gst-launch-1.0 is not installed"

# Kernels are tested (TDL_DEVICE, tests/meson.build) where there is a device for them.
info=${GST_PLUGIN_PATH%/gst}/engine/tools/tdl-info
if [ "${TDL_DEVICE:-}" = vulkan ] && [ -x "$info" ] && ! "$info" | grep -q '^ *Vulkan  '; then
    echo "no device of Vulkan's: on the CPU"
    export TDL_DEVICE=cpu
fi
