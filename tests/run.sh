#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# From a bare Debian 12 or 13 to all tests passed.
#
#   tests/run.sh                 every part but the optional ones
#   tests/run.sh --no-vm         the same without the virtual machine
#   tests/run.sh --quick         build shaders engine models element pipelines
#   tests/run.sh --nightly       every part, nothing left out, many random cases: hours
#   tests/run.sh PART...         only these (build always comes first)
#   tests/run.sh --list          the parts, with what they do
#
# Parts run beside each other, one a processor core (at most TDL_TEST_LANES, 4),
# and say what they found when they end. Random cases start from TDL_TEST_SEED,
# another one every time; the first line tells it, and naming it repeats a run.
# TDL_TEST_CASES says how many random cases each test tries. Which tests a part runs does
# not depend on the seed: tests/lib/matrix.sh has it.
#
# The last line counts: "N passed, N failed, N skipped". Logs of what failed
# lie in build/test-logs.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
export TDL_BUILD=${TDL_BUILD:-$root/build}
logs=$TDL_BUILD/test-logs
mkdir -p "$logs" "$TDL_BUILD/cache"
. tests/lib/report.sh
. tests/lib/lanes.sh
. tests/lib/matrix.sh
. tests/lib/parts.sh

quick=(build shaders engine models element pipelines)
all=("${quick[@]}" library demo validation profiles sanitizers threads fuzz soak vm)
optional=(compilers swiftshader builds onnxruntime tfjs analyze long metadata packages bookworm trixie sid ports)

list_parts() {
    local name
    for name in "${all[@]}"; do
        printf '%-12s %s\n' "$name" "$(describe "$name")"
    done
    for name in "${optional[@]}"; do
        printf '%-12s %s (only if named)\n' "$name" "$(describe "$name")"
    done
}

# without NAME : leave a part out of `all`.
without() {
    local name kept=()
    for name in "${all[@]}"; do
        [ "$name" = "$1" ] || kept+=("$name")
    done
    all=("${kept[@]}")
}

chosen=()
for arg in "$@"; do
    case $arg in
    --list) list_parts; exit ;;
    --no-vm) without vm ;;
    -h | --help) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; list_parts; exit ;;
    --nightly)
        by_night
        chosen+=("${all[@]}" compilers swiftshader builds long ports)
        ;;
    --quick) chosen+=("${quick[@]}") ;;
    *)
        [[ $arg != -* ]] || {
            echo "run.sh: '$arg' is not an option: --list, --no-vm, --quick, --nightly, --help" >&2
            exit 2
        }
        [[ " ${all[*]} ${optional[*]} " == *" $arg "* ]] || {
            echo "run.sh: no part named $arg; there are: ${all[*]} ${optional[*]}" >&2
            exit 2
        }
        chosen+=("$arg")
        ;;
    esac
done
[ ${#chosen[@]} -gt 0 ] || chosen=("${all[@]}")

# The user's own caches and registry stay as they are, and the second run of
# anything finds its shaders compiled. One cache serves all build folders.
export XDG_CACHE_HOME=$TDL_BUILD/cache
export TDL_TEST_SEED=${TDL_TEST_SEED:-$((SRANDOM % 1000000000 + 1))}
echo "Random cases: TDL_TEST_SEED=$TDL_TEST_SEED"

run_lanes build
if [ "$failed" -gt 0 ]; then
    echo "nothing else can run without the build"
else
    run_lanes "${chosen[@]}"
fi

printf '\nTimes:            wall     CPU\n'
printf '  %s\n' "${times[@]}" "$(time_row "all of it" $SECONDS "$cpu_seconds")"
if [ ${#failures[@]} -gt 0 ]; then
    printf '\nFailed (TDL_TEST_SEED=%s):\n' "$TDL_TEST_SEED"
    printf '  %s\n' "${failures[@]}"
fi
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
