# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for tdl-fetch-models: what its --help and --list have.
_tdl_fetch_models() {
    local words
    if [[ $2 = -* ]]; then
        words=$("$1" --help 2>/dev/null | grep -oE '^ +-., --[a-z-]+' | grep -oE -e '--[a-z-]+')
    else
        words=$("$1" --list 2>/dev/null | sed -n 's/^\([a-z-]*\): .*/\1/p')
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2")
}
complete -F _tdl_fetch_models tdl-fetch-models
