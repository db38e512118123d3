#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The Debian packages: built and looked at by lintian in a fresh Debian, then installed
# in another, bare one, used there, and purged. Prints one line for each check:
# "ok NAME", "FAILED NAME: REASON" or "skipped NAME: REASON". Root only.
#
#   tests/packages.sh bookworm|trixie
#
# The packages are left in build/packages-RELEASE, logs in build/test-logs.
#
# shellcheck disable=SC2016,SC2317 # what check() calls, and shells over there read
set -uo pipefail
. "$(dirname "$0")/../pipelines/common.sh"
. "$TDL_ROOT/tests/lib/chroot.sh"
[ $# = 1 ] || die "usage: packages.sh bookworm|trixie"
release=$1
logs=$TDL_BUILD/test-logs
debs=$TDL_BUILD/packages-$release
bare=$TDL_BUILD/$release-bare
system=$TDL_BUILD/$release-packages
failures=0
mkdir -p "$logs"
[ "$(id -u)" = 0 ] || { say "skipped packages for $release: only root can make another Debian"; exit 77; }

# check WHAT COMMAND... : what it wrote is shown where it fails.
check() {
    local what="$release: $1" log
    log=$logs/packages-$release-${1//[^A-Za-z0-9.-]/_}.log
    shift
    if "$@" >"$log" 2>&1 </dev/null; then
        say "ok $what"
    else
        tail -n 25 "$log" | sed 's/^/| /'
        say "FAILED $what: see ${log#"$TDL_ROOT"/}"
        failures=$((failures + 1))
    fi
}

# ------------------------------------------------------------------- build
same_version() {
    local meson changelog
    meson=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$TDL_ROOT/meson.build")
    changelog=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$TDL_ROOT/debian/changelog")
    echo "meson.build has $meson, debian/changelog $changelog"
    [ "$meson" = "$changelog" ]
}
check "one version" same_version
# A copy, as dpkg-buildpackage writes beside the tree and into it.
build() {
    "$TDL_ROOT/tests/debian.sh" "$release" bash -euc '
        export DEBIAN_FRONTEND=noninteractive
        . pipelines/common.sh
        apt_get update -qq
        apt_get install -y -qq --no-install-recommends build-essential debhelper fakeroot lintian
        rm -rf /packages
        mkdir -p /packages/tdlfilter
        tar --exclude="./build*" -cf - . | tar -C /packages/tdlfilter -xf -
        cd /packages/tdlfilter
        apt_get build-dep -y -qq --no-install-recommends ./
        dpkg-buildpackage -b -us -uc'
    rm -rf "$debs" && mkdir "$debs" &&
        cp "$TDL_BUILD/$release"/packages/*.{deb,changes,buildinfo} "$debs"
}
clean_for_lintian() {
    inside "$TDL_BUILD/$release" /packages sh -c 'lintian --fail-on error,warning -I *.changes'
}
check "dpkg-buildpackage" build
ls "$debs"/*.deb >/dev/null 2>&1 || exit 1
check "lintian" clean_for_lintian
check "no package has a model" sh -c '! for deb in "$@"; do dpkg-deb -c "$deb"; done |
    grep -E "\.(tflite|onnx|param)\$"' - "$debs"/*.deb
# It would have it as it is, with what the file says of itself.
check "nor has the plugin" sh -c 'dpkg-deb --fsys-tarfile "$1" |
    tar -xOf - --wildcards "*/libgsttdlfilter.so" | { ! grep -aq keras2tflite; }' - \
    "$debs"/gstreamer1.0-tdlfilter_*.deb

# ------------------------------------------------------------- first install
make_bare() {
    make_debian "$release" "$bare" && rm -rf "$system" && cp -a --reflink=auto "$bare" "$system" &&
        join_network "$system" && mkdir "$system/packages" && cp "$debs"/*.deb "$system/packages" &&
        rm "$system"/packages/*-dbgsym_* && cp -r "$TDL_ROOT/debian/tests" "$system/packages/tests"
}
over_there() { inside "$system" /packages env DEBIAN_FRONTEND=noninteractive "$@"; }
apt_over_there() { over_there bash -c "$(declare -f say apt_get); apt_get \"\$@\"" - "$@"; }
# What the packages and their tests ask for, and what tdl-fetch-models does.
install_all() {
    local needed
    needed=$(sed -n 's/^Depends: //p' "$TDL_ROOT/debian/tests/control" | tr -s ', ' '\n' |
        sort -u | grep -vE 'tdl' | xargs)
    apt_over_there update -qq
    # shellcheck disable=SC2046,SC2086 # a name a word
    apt_over_there install -y -qq --no-install-recommends $needed python3 ca-certificates \
        $(cd "$system/packages" && ls ./*.deb)
}
# Files, but for what apt, dpkg and ldconfig keep for themselves.
files() {
    find "$system" -path "$system/packages" -prune -o -path "$system/dev" -prune -o \
        -path "$system/proc" -prune -o -printf '%P %y %s\n' |
        grep -vE '^var/(lib/(dpkg|apt)|cache/(apt|ldconfig|debconf|man)|log)/|^etc/ld.so.cache' |
        sed -E '/ d [0-9]+$/s/[0-9]+$//' | sort
}
packages=(gstreamer1.0-tdlfilter libtdl0 libtdl-dev tdl-demo tdl-tools)
purge() { over_there dpkg --purge "${packages[@]}"; }

check "a bare Debian" make_bare
check "apt-get install of all" install_all
check "purge" purge
files >"$logs/packages-$release.before"
check "install again" over_there sh -c 'dpkg -i ./*.deb'

# ------------------------------------------------------------------- use
for name in element recipes library tools; do
    check "debian/tests/$name" over_there "tests/$name"
done
launch_person() { # with the model that is looked for
    over_there sh -c 'gst-launch-1.0 -q videotestsrc num-buffers=3 ! \
        video/x-raw,format=NV12,width=320,height=240 ! tdlfilter device=cpu mode=blur ! fakesink'
}
says_how() {
    local text
    text=$(launch_person 2>&1) && { echo "it ran without a model"; return 1; }
    echo "$text"
    grep -q 'run tdl-fetch-models person' <<<"$text"
}
check "recipes.md is there to be read" test -s "$system/usr/share/doc/gstreamer1.0-tdlfilter/recipes.md"
check "the camera waits until a user asks for it" sh -c '! find "$1"/etc/systemd/user/*.wants -name "tdl-*" | grep .' - "$system"
check "without a model it says how to get one" says_how
check "tdl-fetch-models" over_there tdl-fetch-models
check "it lies in /var/lib" test -s "$system/var/lib/tdlfilter/models/selfie_segmentation.tflite"
check "then it runs" launch_person
check "it runs for others, too" over_there setpriv --reuid nobody --clear-groups \
    sh -c 'cd / && HOME=/tmp gst-launch-1.0 -q videotestsrc num-buffers=1 ! \
        video/x-raw,format=NV12,width=64,height=64 ! tdlfilter device=cpu model=person-landscape ! fakesink'
pages() {
    over_there sh -c 'for name in bench camera demo fetch-models info run; do
        zcat "/usr/share/man/man1/tdl-$name.1.gz" | grep -q "^.SH OPTIONS"; done'
}
check "manual pages" pages

# ------------------------------------------------------------------- purge
rm -rf "$system/root/.cache" "$system/tmp/.cache"
check "purge after use" purge
files >"$logs/packages-$release.after"
check "nothing is left" diff "$logs/packages-$release.before" "$logs/packages-$release.after"
rm -rf "$system"
exit $((failures > 0))
