#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Run a command of this tree in a fresh Debian, made by debootstrap and kept
# under build/ for the next time. Root only.
#
#   tests/debian.sh bookworm|trixie COMMAND [ARGUMENT...]
#
# such as: tests/debian.sh trixie tests/run.sh --quick
set -euo pipefail
. "$(dirname "$0")/../pipelines/common.sh"
[ $# -ge 2 ] || die "usage: debian.sh bookworm|trixie COMMAND [ARGUMENT...]"
release=$1
shift
system=$TDL_BUILD/$release
[ "$(id -u)" = 0 ] || { say "skipped: only root can make and enter another Debian"; exit 77; }
command -v debootstrap >/dev/null ||
    apt-get install -y -qq --no-install-recommends debootstrap </dev/null

if [ ! -e "$system/.complete" ]; then
    rm -rf "$system"
    mkdir -p "$system"
    debootstrap --variant=minbase "$release" "$system"
    touch "$system/.complete"
fi

# Names and certificates as on this machine, whose network may have its own.
cp -L /etc/resolv.conf "$system/etc/resolv.conf"
if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
    mkdir -p "$system/usr/local/share"
    cp -L /etc/ssl/certs/ca-certificates.crt "$system/usr/local/share/host-certificates.crt"
fi

# The tree without what was built here: only what a clone would have. What was
# built there stays.
mkdir -p "$system/src"
find "$system/src" -mindepth 1 -maxdepth 1 ! -name 'build*' ! -name models -exec rm -rf {} +
tar -C "$TDL_ROOT" --exclude='./build*' --exclude=./.git --exclude=./models -cf - . |
    tar -C "$system/src" -xf -

# The mounts live in a namespace of their own, and go with it.
# shellcheck disable=SC2016 # expanded by the inner shell
exec unshare --mount --propagation private bash -euc '
    system=$1
    shift
    mount -t proc proc "$system/proc"
    mount --rbind /dev "$system/dev"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        ${CI:+CI=$CI} ${FRAMES:+FRAMES=$FRAMES} \
        NODE_EXTRA_CA_CERTS=/usr/local/share/host-certificates.crt \
        npm_config_cafile=/usr/local/share/host-certificates.crt \
        chroot "$system" bash -c "cd /src && exec \"\$@\"" - "$@"
' - "$system" "$@"
