#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Inside a Debian of its own, entered by tests/debian.sh: the Debian packages built for
# other processors by cross compilers, installed there, and run by qemu-user. Prints one
# line for each check: "ok NAME", "FAILED NAME: REASON" or "skipped NAME: REASON".
#
#   tests/ports-packages.sh [arm64|armhf]...
#
# The packages are left in /packages/ARCH. The tree may have a model, and the kernels
# compiled, which tests/lib/parts.sh puts there.
set -uo pipefail
. "$(dirname "$0")/../pipelines/common.sh"
. "$TDL_ROOT/tests/lib/foreign.sh"
[ $# -gt 0 ] || set -- arm64 armhf
# GTK's packages for other processors cannot be installed beside this one's.
profiles=cross,nocheck,pkg.tdlfilter.small
export DEBIAN_FRONTEND=noninteractive
[ ! -e "$TDL_ROOT/build-shaders.c" ] || export TDL_SHADERS=$TDL_ROOT/build-shaders.c

get_tools() {
    local arch
    for arch in "$@"; do dpkg --add-architecture "$arch"; done
    apt_get update -qq && install debhelper fakeroot build-essential "${@/#/crossbuild-essential-}"
}
install() { apt_get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "$@"; }

# A copy, as dpkg-buildpackage writes beside the tree and into it.
copy() {
    mkdir -p "$debs/tdlfilter" && rm -f "$debs"/*.deb &&
        tar -C "$TDL_ROOT" --exclude='./build*' --exclude=./models -cf - . | tar -C "$debs/tdlfilter" -xf -
}
needs() {
    cd "$debs/tdlfilter" && apt_get build-dep -y -qq --no-install-recommends \
        -o Dpkg::Use-Pty=0 --host-architecture "$arch" -P "$profiles" ./
}
packages() {
    cd "$debs/tdlfilter" && DEB_BUILD_OPTIONS='nocheck noautodbgsym' \
        dpkg-buildpackage -b -us -uc -a "$arch" -P"$profiles" && ls "$debs"/*_"$arch".deb
}
# GStreamer's commands are of one processor at a time.
installed() {
    install "$debs"/*_"$arch".deb gstreamer1.0-{tools,plugins-base}":$arch"
}

# Of GStreamer's helper for plugins, which is the processor's, too, nothing starts.
over_there() { GST_REGISTRY_FORK=no GST_REGISTRY=/tmp/registry-$arch "$run" "$@"; }
inspected() {
    over_there /usr/bin/gst-inspect-1.0 tdlfilter | tee /dev/stderr |
        grep "Filename .*/lib/$libraries/gstreamer-1.0/libgsttdlfilter.so$"
}
# Two masks, a byte a pixel.
pipeline() {
    local raw=/tmp/$arch.gray
    rm -f "$raw"
    over_there /usr/bin/gst-launch-1.0 -q videotestsrc num-buffers=2 pattern=ball ! \
        video/x-raw,format=NV12,width=320,height=240 ! \
        tdlfilter device=cpu mode=mask model="$model" ! \
        filesink location="$raw" && [ "$(stat -c %s "$raw")" = $((2 * 320 * 240)) ]
}
has_pages() {
    dpkg-deb --fsys-tarfile "$debs"/tdl-tools_*_"$arch".deb |
        tar -xOf - ./usr/share/man/man1/tdl-info.1.gz | zcat | grep '^.SH OPTIONS'
}

check "what packages are made by" get_tools "$@" || exit 1
for arch in "$@"; do
    about "$arch"
    debs=/packages/$arch
    check "$arch packages: a copy of the tree" copy || continue
    check "$arch packages: what they are built with" needs || continue
    check "$arch packages: dpkg-buildpackage" packages || continue
    check "$arch packages: manual pages" has_pages
    check "$arch packages: apt-get install" installed || continue
    check "$arch packages: tdl-info" over_there /usr/bin/tdl-info -d cpu
    check "$arch packages: gst-inspect-1.0" inspected
    if [ -e "$model" ]; then
        check "$arch packages: a pipeline" pipeline
    else
        say "skipped $arch packages, a pipeline: pipelines/fetch-models.sh has fetched no model"
    fi
done
