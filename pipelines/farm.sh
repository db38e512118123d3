#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A long recording through tdlfilter in pieces, by several processes, GPUs or hosts.
#   pipelines/farm.sh [OPTION...] VIDEO OUT.mkv [PROPERTY=VALUE...]
#   --engine E      who runs the pieces: parallel (GNU parallel, the default) or slurm
#   --workers N     how many at once (default: GPUs, or half of the cores)
#   --hosts FILE    GNU parallel's --sshloginfile; each host has the plugin and the
#                   folders under the same paths; where unlike processors compute, built
#                   with -Dcpu-levels=all
#   --seconds S     length of a piece at most, cut at keyframes (default 60)
#   --before N      frames of the piece before that the filter sees first (default 24)
#   --encoder E     elements that encode (default: x264enc of 4:2:0, else vp8enc; neither
#                   keeps mode=alpha's alpha)
#   --retries N     how often a piece is tried (default 3)
# The recording is cut at keyframes into OUT.mkv.farm/, where what is done stays if
# anything fails: the same line again does the rest. The sound is the recording's. Whoever
# ends this script ends its workers.
set -eu
. "$(dirname "$0")/common.sh"
export TDL_BUILD

engine=parallel workers='' hosts='' seconds=60 before=24 encoder='' retries=3 properties=''
farm='' info=''

# find_programs : sets `farm` and `info`, of the build tree or beside the installed plugin.
find_programs() {
    local plugin
    use_plugin
    farm=$TDL_BUILD/pipelines/farm info=$TDL_BUILD/engine/tools/tdl-info
    if ! built; then
        plugin=$(LC_ALL=C gst-inspect-1.0 tdlfilter | sed -n 's/^ *Filename *//p')
        farm=$(dirname "$plugin")/../tdlfilter/farm info=tdl-info
    fi
    [ -x "$farm" ] || die "there is no program $farm: build it by pipelines/setup.sh, or install tdlfilter again"
}

# devices : the GPUs by index; none: the processor alone.
devices() {
    ! command -v "$info" >/dev/null || "$info" | awk '
        /^[0-9]+:/ { device = $1 + 0 }
        /^ +type +(discrete|integrated|virtual)/ { print device }'
}

# piece FOLDER NUMBER [SLOT] : what a worker does; whatever was begun before starts anew.
piece() {
    local folder=$1 in out gpus
    local -a words=()
    printf -v in '%s/in-%05d.mkv' "$folder" "$2"
    printf -v out '%s/out-%05d.mkv' "$folder" "$2"
    [ ! -e "$out" ] || return 0
    mapfile -t starts <"$folder/starts"
    mapfile -t filter <"$folder/filter"
    [ "$2" = 0 ] || words=("$(printf '%s/in-%05d.mkv' "$folder" $(($2 - 1)))"
        "${starts[$2]}" "${filter[2]}")
    mapfile -t gpus < <(devices)
    [ ${#gpus[@]} = 0 ] || export TDL_DEVICE=${TDL_DEVICE:-${gpus[$((${3:-$2} % ${#gpus[@]}))]}}
    "$farm" process "$out.part" "${filter[0]}" "${filter[1]}" "$in" "${words[@]}"
    mv -- "$out.part" "$out"
}

# Who comes second is refused: both would write the same files.
lock_folder() {
    exec {lock}>>"$folder/lock"
    # No locks there at all: flock says so, with another status.
    flock --nonblock $lock || [ $? != 1 ] || die "$folder is in use: another farm.sh makes $out"
    [ "$folder/lock" -ef /dev/fd/$lock ] || die "$folder is gone: another farm.sh has just made $out"
}

# for_sh WORD... : a line that any sh takes apart into these again; %q writes some as bash's alone.
for_sh() {
    local word
    for word in "$@"; do printf "'%s' " "${word//\'/\'\\\'\'}"; done
}

# A job of a Slurm array; a piece that fails is put back into the queue.
slurm_piece() {
    piece "$1" "$SLURM_ARRAY_TASK_ID" && return
    [ "${SLURM_RESTART_COUNT:-0}" -ge $(($2 - 1)) ] ||
        scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
    return 1
}

run_pieces() {
    local last=$((${#starts[@]} - 1)) self
    self=$(cd "$(dirname "$0")" && pwd)/farm.sh
    case $engine in
    parallel)
        # Not as arguments: parallel would replace what it takes for its own braces in them.
        export TDL_FARM_SELF=$self TDL_FARM_FOLDER=$folder
        # shellcheck disable=SC2016 # for the worker's shell
        seq 0 $last | setpriv --pdeathsig TERM \
            parallel --will-cite --jobs "$workers" --retries "$retries" \
            ${hosts:+--sshloginfile "$hosts" --env TDL_BUILD --env TDL_DEVICE} \
            ${hosts:+--env TDL_FARM_SELF --env TDL_FARM_FOLDER} --joblog "$folder/jobs" \
            '"$TDL_FARM_SELF" --piece "$TDL_FARM_FOLDER" {} {%}'
        ;;
    slurm)
        sbatch --wait --parsable --requeue --open-mode=append --array="0-$last%$workers" \
            --job-name=tdl-farm --output="${folder//%/%%}/log-%a" --chdir="$PWD" --wrap \
            "$(for_sh "$self" --slurm-piece "$folder" "$retries")" >"$folder/job" &
        # Its jobs are no processes of this one.
        trap 'scancel "$(cut -d ";" -f 1 "$folder/job")"; kill $!; exit 1' HUP INT TERM
        wait $!
        ;;
    esac
}

engine_is_there() {
    case $engine in
    parallel)
        command -v parallel >/dev/null || die "GNU parallel is missing: apt install parallel"
        ;;
    slurm) command -v sbatch >/dev/null || die "Slurm is missing: apt install slurm-wlm" ;;
    *) misused "there is no engine '$engine'" ;;
    esac
}

default_encoder() {
    if gst-inspect-1.0 --exists x264enc; then
        say "video/x-raw,format=I420 ! x264enc speed-preset=veryfast" # what all players take
    else
        say "vp8enc deadline=1 cpu-used=4 end-usage=cq cq-level=10 target-bitrate=20000000"
    fi
}

case ${1:-} in
--piece) find_programs; shift; piece "$@"; exit ;;
--slurm-piece) find_programs; shift; slurm_piece "$@"; exit ;;
esac
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) usage; exit 0 ;;
    --engine | --workers | --hosts | --seconds | --before | --encoder | --retries)
        [ $# -gt 1 ] || misused "$1 needs a value"
        declare "${1#--}=$2"
        shift 2
        ;;
    -*) misused "'$1' is not an option here" ;;
    *) break ;;
    esac
done
[ $# -ge 2 ] || misused "a video and the name of the result are needed"
[ -e "$1" ] || die "there is no $1"
find_programs
video=$(realpath -- "$1") out=$(realpath -m -- "$2")
folder=$out.farm
shift 2
[ ! -e "$out" ] || [ ! "$out" -ef "$video" ] || misused "the result would take the video's place"
[[ $out == *.mkv ]] || misused "'$out' does not end in .mkv, and Matroska it is"
[ -d "$(dirname "$out")" ] || die "there is no folder $(dirname "$out")"
for word in workers retries; do
    [[ -z ${!word} || ${!word} =~ ^[1-9][0-9]*$ ]] || misused "--$word takes a number from 1 on, not '${!word}'"
done
[[ $before =~ ^[0-9]+$ ]] || misused "--before takes a number, not '$before'"
[[ $seconds =~ ^[0-9]+([.][0-9]+)?$ && $seconds =~ [1-9] ]] ||
    misused "--seconds takes a number above 0, not '$seconds'"
# "-", "." and ".." are GNU parallel's own names of such files.
[[ -z $hosts || $hosts == @(-|.|..) || -r $hosts ]] ||
    die "--hosts: there is no file $hosts that can be read"
[ ! -e "$out" ] || say "$out is there already, and will be replaced" >&2
if [ -z "$workers" ]; then
    command -v "$info" >/dev/null ||
        say "Without $info (Debian: tdl-tools) nothing is known of GPUs: each worker takes the first one, or none" >&2
    workers=$(devices | wc -l)
    [ "$workers" -gt 0 ] || workers=$((($(nproc) + 1) / 2))
fi
# Values may have spaces in them.
for word in "$@"; do
    [[ $word == ?*=* ]] || misused "'$word' is no PROPERTY=VALUE"
    [[ $word != *$'\n'* ]] || misused "the value of ${word%%=*} has a line break, which a line of gst-launch-1.0 cannot have"
    value=${word#*=} value=${value//\\/\\\\}
    properties+=" ${word%%=*}=\"${value//\"/\\\"}\""
done
line=$(say "tdlfilter$properties" "${encoder:-$(default_encoder)}" "$before" "$video" "$seconds")
engine_is_there
"$farm" try "$(head -n 1 <<<"$line")" "$(sed -n 2p <<<"$line")" || die "so no piece was begun"
mkdir -p -- "$folder"
lock_folder
if [ -e "$folder/filter" ] && [ "$(cat "$folder/filter")" != "$line" ]; then
    die "$folder is of another line, with other properties or options: rm -r '$folder' first"
fi
say "$line" >"$folder/filter"
if [ ! -e "$folder/starts" ]; then
    "$farm" cut "$video" "$folder" "$seconds" >"$folder/starts.part" || {
        rm -r -- "$folder"
        exit 1
    }
    mv -- "$folder/starts.part" "$folder/starts"
fi
mapfile -t starts <"$folder/starts"
there=$(find "$folder" -name 'out-*.mkv' | wc -l)
[ "$there" = 0 ] && there='' || there=", $there of them done before"
say "${#starts[@]} pieces, $workers at once$there" >&2
run_pieces || die "not every piece came through; what is done lies in $folder, the same line goes on"
"$farm" join "$out.part" "$video" "$folder"
mv -- "$out.part" "$out"
rm -r -- "$folder"
