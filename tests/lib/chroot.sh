# SPDX-License-Identifier: LGPL-2.1-or-later
# Other Debians in folders, for root. Sourced, behind pipelines/common.sh.

# make_debian RELEASE FOLDER : a bare one, unless it is there.
make_debian() {
    [ ! -e "$2/.complete" ] || return 0
    command -v debootstrap >/dev/null ||
        apt_get install -y -qq --no-install-recommends debootstrap
    rm -rf "$2"
    mkdir -p "$2"
    debootstrap --variant=minbase "$1" "$2"
    touch "$2/.complete"
}

# join_network FOLDER : names and certificates as on this machine, whose network may have
# its own.
join_network() {
    cp -L /etc/resolv.conf "$1/etc/resolv.conf"
    if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
        mkdir -p "$1/usr/local/share"
        cp -L /etc/ssl/certs/ca-certificates.crt "$1/usr/local/share/host-certificates.crt"
    fi
}

# inside FOLDER PLACE COMMAND... : run in that Debian, in its folder PLACE. The mounts
# live in a namespace of their own, and go with it.
inside() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount --propagation private bash -euc '
        system=$1 place=$2
        shift 2
        mount -t proc proc "$system/proc"
        # XNNPACK starts only where /sys tells of processors. Nothing there is changed from inside.
        mount --rbind -o ro /sys "$system/sys"
        mount --rbind /dev "$system/dev"
        exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
            ${CI:+CI=$CI} ${FRAMES:+FRAMES=$FRAMES} \
            NODE_EXTRA_CA_CERTS=/usr/local/share/host-certificates.crt \
            npm_config_cafile=/usr/local/share/host-certificates.crt \
            chroot "$system" bash -c "cd \"\$0\" && exec \"\$@\"" "$place" "$@"
    ' - "$@"
}
