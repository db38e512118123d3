#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Inside the trixie root, entered by tests/debian.sh: install what the guest
# needs, take kernel and modules out of their package, build the module of loopback
# cameras, the plugin and the guest's programs. Quick when nothing has changed.
set -euo pipefail
. "$(dirname "$0")/../../pipelines/common.sh"
build=$TDL_ROOT/build-vm
vm=/vm

packages=(
    "${TDL_PACKAGES[@]}" libgstreamer-plugins-bad1.0-0
    gstreamer1.0-gl v4l-utils weston strace kmod xz-utils make
    pipewire wireplumber gstreamer1.0-pipewire dbus-daemon gstreamer1.0-libcamera
)
# Of these a few files are enough: with all that they depend on (OpenCV, VTK, GDAL)
# there would be three packages for every two.
plugins=(kms unixfd vulkan waylandsink)
for package in "${TDL_IMAGE_PACKAGES[@]}"; do
    [ "$package" = libgstreamer-plugins-bad1.0-dev ] || packages+=("$package")
done

phase() { printf 'VM PHASE %s %s\n' "$SECONDS" "$*"; }

install_packages() {
    local stamp=$vm/packages wanted="${packages[*]} ${plugins[*]}"
    [ ! -e "$stamp" ] || [ "$(cat "$stamp")" != "$wanted" ] || return 0
    phase packages
    # No manuals, no fsync after each file: this system is made for tests.
    printf 'path-exclude=/usr/share/%s/*\n' doc man locale >/etc/dpkg/dpkg.cfg.d/tests
    echo force-unsafe-io >>/etc/dpkg/dpkg.cfg.d/tests
    export DEBIAN_FRONTEND=noninteractive
    apt_get update -qq
    apt_get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${packages[@]}"
    take_plugins
    apt_get clean
    printf '%s' "$wanted" >"$stamp"
}

take_plugins() {
    local folder=usr/lib/x86_64-linux-gnu unpacked name
    unpacked=$(mktemp -d)
    (cd "$unpacked" && apt-get download -qq -o APT::Sandbox::User=root \
        gstreamer1.0-plugins-bad libgstreamer-plugins-bad1.0-dev &&
        for name in *.deb; do dpkg-deb -x "$name" .; done)
    for name in "${plugins[@]}"; do
        cp -p "$unpacked/$folder/gstreamer-1.0/libgst$name.so" "/$folder/gstreamer-1.0/"
    done
    cp -a "$unpacked/usr/include/." /usr/include/
    cp -a "$unpacked/$folder/"libgst*.so "/$folder/"
    cp -a "$unpacked/$folder/pkgconfig/." "/$folder/pkgconfig/"
    rm -rf "$unpacked"
}

# The kernel's package is unpacked, not installed: its scripts would make an
# initial ram disk that nobody needs. Its headers go from the archive when it does:
# what was built with them comes and goes with it.
take_kernel() {
    local name unpacked version
    [ ! -e "$vm/vmlinuz" ] ||
        ! compgen -G "/usr/lib/modules/*/v4l2loopback.ko" >/dev/null || return 0
    phase kernel
    name=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    unpacked=$(mktemp -d)
    (cd "$unpacked" && apt-get download -qq -o APT::Sandbox::User=root "$name" &&
        dpkg-deb -x "$name"_*.deb .)
    version=$(basename "$unpacked"/usr/lib/modules/*)
    rm -rf /usr/lib/modules/*
    mkdir -p "/usr/lib/modules/$version"
    take_modules "$unpacked/usr/lib/modules/$version" "/usr/lib/modules/$version"
    build_loopback "$version"
    depmod "$version"
    cp "$unpacked/boot/vmlinuz-$version" "$vm/vmlinuz.new"
    mv "$vm/vmlinuz.new" "$vm/vmlinuz"
    rm -rf "$unpacked"
}

# take_modules FROM TO: those of the virtual camera, the displays and all that
# they stand on.
take_modules() {
    local file
    cp "$1"/modules.{order,builtin,builtin.modinfo} "$2/"
    (cd "$1" && find kernel -name '*.ko*' \( -path '*/media/test-drivers/*' -o -path '*/media/common/*' \
        -o -path '*/media/v4l2-core/*' -o -path '*/media/mc/*' -o -path '*/media/rc/*' \
        -o -path '*/media/cec/*' -o -path '*/gpu/drm/drm*' -o -path '*/drm/display/*' \
        -o -path '*/drm/tiny/*' -o -path '*/drm/ttm/*' \
        -o -path '*/drm/virtio/*' -o -path '*/kernel/lib/*' -o -path '*/drivers/virtio/*' \)) |
        while read -r file; do
            install -D -m 644 "$1/$file" "$2/$file"
        done
    find "$2" -name '*.ko.xz' -exec unxz {} +
}

# build_loopback VERSION: loopback cameras, from the sources that Debian's package has
# dkms compile. What compiles them is unpacked, and taken away again: 100 MB for 100 kB.
build_loopback() {
    local headers made
    phase v4l2loopback
    headers=$(mktemp -d)
    mapfile -t made < <(apt-cache depends "linux-headers-$1" |
        sed -n 's/.*Depends: \(linux-\(headers\|kbuild\)-.*\)/\1/p')
    (cd "$headers" && apt-get download -qq -o APT::Sandbox::User=root \
        "linux-headers-$1" "${made[@]}" v4l2loopback-dkms &&
        for name in *.deb; do dpkg-deb -x "$name" .; done)
    # Their makefiles name each other by their place.
    ln -sfn "$headers"/usr/src/linux-* /usr/src/
    ln -sfn "$headers"/usr/lib/linux-kbuild-* /usr/lib/
    make -C "$headers/usr/src/linux-headers-$1" M="$(echo "$headers"/usr/src/v4l2loopback-*)" \
        CONFIG_DEBUG_INFO_BTF_MODULES= modules # which would need pahole
    cp "$headers"/usr/src/v4l2loopback-*/v4l2loopback.ko "/usr/lib/modules/$1/"
    rm -rf "$headers" /usr/src/linux-* /usr/lib/linux-kbuild-*
}

build_tree() {
    local shaders=
    phase build
    [ ! -e "$vm/shaders.c" ] || shaders=$vm/shaders.c # the kernels, compiled already
    if [ ! -e "$build/build.ninja" ]; then
        # Nobody looks for lines there, and a fifth of the compiler's time goes to them.
        meson setup "$build" "$TDL_ROOT" -Doptimization=2 -Ddebug=false -Dshaders="$shaders"
    elif [ "$shaders" != "$(cat "$build/of-shaders" 2>/dev/null)" ]; then
        meson configure "$build" -Dshaders="$shaders"
    fi
    printf '%s' "$shaders" >"$build/of-shaders"
    ninja -C "$build" vm-guest
    "$build/tests/vm/tiny-model" "$vm/tiny.tflite"
    "$build/tests/vm/tsc" >"$vm/tsc-khz"
}

# Scanning plugins takes the emulated processor fifteen seconds.
make_registry() {
    phase registry
    GST_REGISTRY=$vm/registry.bin GST_PLUGIN_PATH=$build/gst gst-inspect-1.0 tdlfilter
}

mkdir -p "$vm"
install_packages
take_kernel
build_tree
make_registry
phase end
