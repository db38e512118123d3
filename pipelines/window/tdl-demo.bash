# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for tdl-demo: the options of its --help, modes and files.
_tdl_demo() {
    local cur=$2 before=$3
    # Bash cuts words at "=": --mode=blur.
    if [ "$cur" = = ]; then
        cur=
    elif [ "$before" = = ]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case $before,$cur in
    -m,* | --mode,*)
        mapfile -t COMPREPLY < <(compgen -W "mask overlay blur replace alpha passthrough picture classes" -- "$cur") ;;
    *,-*)
        mapfile -t COMPREPLY < <(compgen -W "$("$1" --help 2>/dev/null | grep -oE '^ +(-., )?--[a-z-]+' |
            grep -oE -e '--[a-z-]+')" -- "$cur") ;;
    *)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    esac
}
complete -F _tdl_demo tdl-demo
