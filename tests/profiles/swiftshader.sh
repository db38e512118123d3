#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# SwiftShader, a software Vulkan, out of Debian's package chromium-common, which is not
# installed.
#
#   tests/profiles/swiftshader.sh FOLDER
#
# FOLDER then has vk_swiftshader_icd.json, for VK_DRIVER_FILES, and the library beside it.
set -euo pipefail
. "$(dirname "$0")/../../pipelines/common.sh"
[ $# = 1 ] || die "usage: swiftshader.sh FOLDER"
folder=$1
[ ! -e "$folder/vk_swiftshader_icd.json" ] || exit 0
mkdir -p "$folder"
cd "$folder"
apt-get download -qq chromium-common
dpkg-deb --fsys-tarfile chromium-common_*.deb |
    tar --strip-components=4 -xf - ./usr/lib/chromium/libvk_swiftshader.so \
        ./usr/lib/chromium/vk_swiftshader_icd.json
rm chromium-common_*.deb
