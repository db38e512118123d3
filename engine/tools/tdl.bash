# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for tdl-info, tdl-bench and tdl-run. The options are those that the
# tool's own --help has.

# _tdl_values TOOL OPTION : words that it takes; nothing for numbers and the like.
_tdl_values() {
    case $2 in
    -d | --device) echo auto cpu gpu vulkan && compgen -G '/dev/dri/renderD*' ;;
    -p | --precision) echo auto fp32 fp16 ;;
    -a | --algorithm) echo pointwise depthwise direct implicit winograd23 winograd43 im2col grouped \
            cooperative ;;
    --op)
        echo conv2d conv_transpose2d average_pool2d max_pool2d global_average_pool resample2d \
            resample2d_nearest instance_normalization layer_normalization depth_to_space \
            concat add mul matmul gemm relu relu6 sigmoid hard_swish tanh ;;
    --activation) echo none relu relu6 sigmoid hard_swish tanh ;;
    --mode) echo mask overlay blur replace alpha passthrough ;;
    --frame-memory) echo mapped device ;;
    --format)
        echo NV12 I420 YUY2 UYVY P010 RGBA BGRA RGBx BGRx RGB BGR GRAY8 ARGB ABGR xRGB xBGR \
            NV21 NV16 YV12 Y42B Y444 I420_10LE I422_10LE Y444_10LE GRAY16_LE ;;
    esac
}

# _tdl_files WORD PATTERN : folders, and files of that kind.
_tdl_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <({ compgen -d -- "$1"; shopt -s extglob; compgen -f -X "!$2" -- "$1"; } | sort -u)
}

_tdl() {
    local cur=$2 before=$3 help words
    # Bash cuts words at "=": --mode=blur, and -i image=photo.png.
    if [ "$cur" = = ]; then
        cur=
    elif [ "$before" = = ]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [[ $before != -* && ${COMP_WORDS[COMP_CWORD - 1]} = = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 3]}
    fi
    help=$("$1" --help 2>/dev/null)
    if [[ $cur = -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(grep -oE '^ {2,6}(-., )?--[a-z-]+' <<<"$help" |
            grep -oE -e '--[a-z-]+' | sort -u)" -- "$cur")
        return
    fi
    words=$(_tdl_values "$1" "$before")
    if [ -n "$words" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    elif [[ ${1##*/}$before = tdl-run@(-i|--input|-o|--output) || $before = --svg ]]; then
        _tdl_files "$cur" '*'
    elif [[ $before != -* ]] || ! grep -qE "^ {2,6}(-., )?$before [^ ]|^ {2,6}$before, --[a-z-]+ [^ ]" <<<"$help"; then
        _tdl_files "$cur" '*.@(tflite|onnx|param)'
    fi
}
complete -F _tdl tdl-info tdl-bench tdl-run
