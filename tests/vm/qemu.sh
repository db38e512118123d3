# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Where QEMU and virtiofsd are on this machine. Sourced.

# Debian 12 has virtiofsd with QEMU, Debian 13 in a package of its own.
find_qemu() {
    local path
    virtiofsd=
    for path in /usr/libexec/virtiofsd /usr/lib/qemu/virtiofsd; do
        [ -z "$virtiofsd" ] && [ -x "$path" ] && virtiofsd=$path
    done
    [ -n "$virtiofsd" ] && command -v qemu-system-x86_64 >/dev/null
}

install_qemu() {
    local packages="qemu-system-x86"
    apt_get update -qq || true
    ! apt-cache show virtiofsd >/dev/null 2>&1 || packages+=" virtiofsd"
    # shellcheck disable=SC2086 # one word per package
    DEBIAN_FRONTEND=noninteractive apt_get install -y -qq --no-install-recommends \
        -o Dpkg::Use-Pty=0 $packages
}

# start_virtiofsd SOCKET FOLDER: the first generation is written in C, and takes
# other arguments than the second.
start_virtiofsd() {
    case $virtiofsd in
    /usr/lib/qemu/*) "$virtiofsd" --socket-path="$1" -o source="$2" -o cache=always -o sandbox=chroot ;;
    *) "$virtiofsd" --socket-path="$1" --shared-dir="$2" --cache=always --sandbox=chroot ;;
    esac
}
