#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Drivers of GPUs that this machine lacks, for their compilers: built from the source of
# Debian's Mesa, with the shims that Mesa has for that.
#
#   tests/profiles/mesa.sh FOLDER
#
# FOLDER/build then has V3DV, turnip, PanVK, and shims for them and for Intel's driver, which
# Debian's mesa-vulkan-drivers has. 800 files are compiled at the first time. Exits with 77
# where packages are missing that only root can install.
set -euo pipefail
. "$(dirname "$0")/../../pipelines/common.sh"
[ $# = 1 ] || die "usage: mesa.sh FOLDER"
mkdir -p "$1/lists/partial"
folder=$(cd "$1" && pwd)
packages=(python3-mako bison flex libexpat1-dev libelf-dev zlib1g-dev libdrm-dev g++ dpkg-dev)
targets=(broadcom/vulkan/libvulkan_broadcom.so broadcom/drm-shim/libv3d_noop_drm_shim.so
    intel/tools/libintel_noop_drm_shim.so
    freedreno/vulkan/libvulkan_freedreno.so freedreno/drm-shim/libfreedreno_noop_drm_shim.so
    panfrost/vulkan/libvulkan_panfrost.so panfrost/drm-shim/libpanfrost_noop_drm_shim.so)

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

install_packages() {
    local name missing=()
    for name in "${packages[@]}"; do
        is_installed "$name" || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$(id -u)" = 0 ] || { say "skipped: packages are missing: ${missing[*]}"; exit 77; }
    apt_get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}"
}

# Mesa 22.3, the source package of Debian 12, by a list of sources of its own.
fetch_source() {
    local options
    cat >"$folder/source.sources" <<EOF
Types: deb-src
URIs: http://deb.debian.org/debian
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
EOF
    options=(-o "Dir::Etc::sourcelist=$folder/source.sources" -o Dir::Etc::sourceparts=/nonexistent
        -o "Dir::State::lists=$folder/lists" -o APT::Sandbox::User=root)
    (cd "$folder" && apt_get "${options[@]}" update -qq &&
        apt_get "${options[@]}" source -qq --download-only mesa)
    mkdir -p "$folder/new"
    tar -C "$folder/new" --strip-components=1 -xf "$folder"/mesa_*.orig.tar.*
}

# edit FILE SED-EXPRESSION... : each has to change something.
edit() {
    local file=$folder/new/src/$1 expression
    for expression in "${@:2}"; do
        cp "$file" "$file.before"
        sed -i "$expression" "$file"
        ! cmp -s "$file" "$file.before" || die "$1 has nothing for $expression"
        rm "$file.before"
    done
}

# V3DV asks for a display's node beside the one that renders, and for what the shim does not say
# of the kernel's part.
change_source() {
    edit broadcom/vulkan/v3dv_device.c \
        's/if (v3d_idx != -1 && vc4_idx != -1)/if (v3d_idx != -1)/' \
        's/devices\[v3d_idx\], devices\[vc4_idx\])/devices[v3d_idx], NULL)/'
    edit broadcom/drm-shim/v3d_noop.c \
        's/brcm,7278-v3d/brcm,2711-v3d/' \
        's/^\( *\)case DRM_V3D_PARAM_SUPPORTS_TFU:/&\n\1case DRM_V3D_PARAM_SUPPORTS_CSD:/' \
        's/^\( *\)case DRM_V3D_PARAM_SUPPORTS_CSD:/&\n\1case DRM_V3D_PARAM_SUPPORTS_CACHE_FLUSH:/' \
        's/^\( *\)case DRM_V3D_PARAM_SUPPORTS_CSD:/&\n\1case DRM_V3D_PARAM_SUPPORTS_PERFMON:/' \
        's/^\( *\)case DRM_V3D_PARAM_SUPPORTS_CSD:/&\n\1case DRM_V3D_PARAM_SUPPORTS_MULTISYNC_EXT:/' \
        's/\[DRM_V3D_SUBMIT_TFU\] = v3d_ioctl_noop,/& [DRM_V3D_SUBMIT_CSD] = v3d_ioctl_noop,/'
}

# Debian's python3, as its packages are for that one.
configure() {
    PATH=/usr/bin:$PATH meson setup "$folder/build" "$folder/mesa" --buildtype=release \
        -Doptimization=1 -Db_ndebug=true -Dplatforms= -Dglx=disabled -Degl=disabled -Dgbm=disabled \
        -Dopengl=false -Dgles1=disabled -Dgles2=disabled -Dgallium-drivers= -Dtools=drm-shim,intel \
        -Dvulkan-drivers=broadcom,intel,freedreno,panfrost -Dllvm=disabled -Dshared-llvm=disabled \
        -Dzstd=disabled -Dvulkan-layers= -Dvideo-codecs= -Dlibunwind=disabled -Dvalgrind=disabled \
        -Dshader-cache=disabled
}

install_packages
if [ ! -e "$folder/mesa" ]; then
    rm -rf "$folder/new" "$folder"/mesa_*
    fetch_source
    change_source
    mv "$folder/new" "$folder/mesa"
fi
[ -e "$folder/build/build.ninja" ] || configure
PATH=/usr/bin:$PATH ninja -C "$folder/build" "${targets[@]/#/src/}"
