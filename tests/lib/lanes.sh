# SPDX-License-Identifier: LGPL-2.1-or-later
# Parts of tests/run.sh beside each other. Sourced, after report.sh.

times=() cpu_seconds=0
lanes=$(nproc)
[ "$lanes" -le "${TDL_TEST_LANES:-4}" ] || lanes=${TDL_TEST_LANES:-4}

# The longest first, so that none is left alone at the end; but sanitizers behind
# those that leave them the most kernels compiled, which takes thrice as long there.
longest_first=(build long packages bookworm trixie sid ports analyze onnxruntime tfjs vm engine validation sanitizers models
    pipelines fuzz threads library profiles soak element demo shaders)

time_row() { printf '%-12s %6d s %6d s' "$@"; }

# A part in a process of its own: what it says goes into one file, what it
# counted into another.
part_alone() {
    local TIMEFORMAT='%0R %0U %0S'
    part=$1 passed=0 failed=0 skipped=0 failures=()
    { time "part_$part" >"$logs/$part.out" 2>&1 </dev/null; } 2>"$logs/$part.time"
    printf '%s\n' "$passed $failed $skipped" "${failures[@]}" >"$logs/$part.counts"
}

# told PART : show what a part that ended has said, and add up what it counted.
told() {
    local wall=0 user=0 system=0 p=0 f=1 s=0 lines=("no counts: was it killed?")
    [ ! -e "$logs/$1.time" ] || read -r wall user system <"$logs/$1.time"
    if [ -e "$logs/$1.counts" ]; then
        { read -r p f s; mapfile -t lines; } <"$logs/$1.counts"
    else
        lines=("$1: ${lines[0]}")
    fi
    printf '\n== %s: %s\n' "$1" "$(describe "$1")"
    cat "$logs/$1.out"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    for line in "${lines[@]}"; do
        [ -z "$line" ] || failures+=("$line")
    done
    times+=("$(time_row "$1" "$wall" $((user + system)))")
    cpu_seconds=$((cpu_seconds + user + system))
}

# run_lanes PART... : those that have not run yet, each once. A part may keep
# `processes` cores busy: one, but for the last of fewer parts than lanes.
run_lanes() {
    local name pid processes waiting=()
    local -A running=()
    for name in "$@"; do
        [[ " ${longest_first[*]} " == *" $name "* ]] || longest_first+=("$name")
    done
    for name in "${longest_first[@]}"; do
        [[ " $* " != *" $name "* ]] || [ -n "${have_run[$name]:-}" ] || waiting+=("$name")
    done
    processes=$(((lanes + ${#waiting[@]} - 1) / (${#waiting[@]} + !${#waiting[@]})))
    while [ ${#waiting[@]} -gt 0 ] || [ ${#running[@]} -gt 0 ]; do
        while [ ${#waiting[@]} -gt 0 ] && [ ${#running[@]} -lt "$lanes" ]; do
            name=${waiting[0]} waiting=("${waiting[@]:1}")
            have_run[$name]=yes
            rm -f "$logs/$name".{out,time,counts}
            set -m # a group of processes each, to be stopped with what they started
            part_alone "$name" &
            set +m
            running[$!]=$name
        done
        # shellcheck disable=SC2064 # these processes
        trap "stop_lanes ${!running[*]}" INT TERM
        wait -n -p pid "${!running[@]}"
        told "${running[$pid]}"
        unset "running[$pid]"
    done
    trap - INT TERM
}
declare -A have_run=()

stop_lanes() {
    local pid
    for pid in "$@"; do kill -TERM -- "-$pid" 2>/dev/null; done
    echo "stopped"
    exit 130
}
