#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Run a command of this tree in a fresh Debian, made by debootstrap and kept
# under build/ for the next time. Root only.
#
#   tests/debian.sh bookworm|trixie|sid COMMAND [ARGUMENT...]
#
# such as: tests/debian.sh trixie tests/run.sh --quick
set -euo pipefail
. "$(dirname "$0")/../pipelines/common.sh"
. "$TDL_ROOT/tests/lib/chroot.sh"
[ $# -ge 2 ] || die "usage: debian.sh bookworm|trixie|sid COMMAND [ARGUMENT...]"
release=$1
shift
system=$TDL_BUILD/$release
[ "$(id -u)" = 0 ] || { say "skipped: only root can make and enter another Debian"; exit 77; }
make_debian "$release" "$system"
join_network "$system"

# The tree without what was built here: only what a clone would have. What was
# built there stays.
mkdir -p "$system/src"
find "$system/src" -mindepth 1 -maxdepth 1 ! -name 'build*' ! -name models -exec rm -rf {} +
tar -C "$TDL_ROOT" --exclude='./build*' --exclude=./.git --exclude=./models -cf - . |
    tar -C "$system/src" -xf -

inside "$system" /src "$@"
