# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for tdl-camera: the options of its --help, devices, modes and pictures.
_tdl_camera() {
    local cur=$2 before=$3
    # Bash cuts words at "=": --camera=/dev/video2.
    if [ "$cur" = = ]; then
        cur=
    elif [ "$before" = = ]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    else
        before=
    fi
    case $before,$cur in
    --camera,*) mapfile -t COMPREPLY < <(compgen -G "${cur:-/dev/video}*") ;;
    --format,*) mapfile -t COMPREPLY < <(compgen -W "YUY2 I420 NV12" -- "$cur") ;;
    --size,*) mapfile -t COMPREPLY < <(compgen -W "1280x720 640x480 1920x1080" -- "$cur") ;;
    mode,*) mapfile -t COMPREPLY < <(compgen -W "overlay blur replace passthrough" -- "$cur") ;;
    background,* | model,*)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    ,-*)
        mapfile -t COMPREPLY < <(compgen -W "$("$1" --help 2>/dev/null | grep -oE '^ +(-., )?--[a-z-]+' |
            grep -oE -e '--[a-z-]+')" -- "$cur")
        [[ ${COMPREPLY[*]} != --@(camera|size|format) ]] || compopt -o nospace 2>/dev/null ;;
    ,*)
        mapfile -t COMPREPLY < <(compgen -W "pipewire $(compgen -G '/dev/video*') mode= background=" -- "$cur")
        [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null ;;
    esac
}
complete -F _tdl_camera tdl-camera
