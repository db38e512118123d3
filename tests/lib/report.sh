# SPDX-License-Identifier: LGPL-2.1-or-later
# Counting and telling: every part of tests/run.sh ends in these. Sourced.

passed=0 failed=0 skipped=0
failures=()

pass() { passed=$((passed + 1)); printf '  ok       %s\n' "$*"; }
fail() { failed=$((failed + 1)); failures+=("$part: $*"); printf '  FAILED   %s\n' "$*"; }
# skip WHAT REASON
skip() { skipped=$((skipped + 1)); printf '  skipped  %s: %s\n' "$1" "$2"; }

# expect WHAT COMMAND... : passes when the command does; 77 is a skip whose
# reason is the last line that it wrote. What a failing command wrote is shown.
expect() {
    local what=$1 log=$logs/$part-${1//[^A-Za-z0-9.-]/_}.log status=0
    shift
    "$@" >"$log" 2>&1 </dev/null || status=$?
    case $status in
    0) pass "$what" ;;
    77) skip "$what" "$(tail -n 1 "$log")" ;;
    *)
        tail -n 25 "$log" | cut -c1-300 | sed 's/^/    | /'
        fail "$what (status $status, all of it in ${log#"$root/"})"
        ;;
    esac
}

# meson_tests BUILD ARGUMENT... : run `meson test`, and count each of its tests.
meson_tests() {
    local build=$1 result name detail base=of-$part
    shift
    rm -f "$build/meson-logs/$base"[.-]*
    meson test -C "$build" --no-rebuild --num-processes "$processes" --logbase "$base" "$@" \
        >"$logs/$part-meson.log" 2>&1 || true
    while IFS=$'\t' read -r result name detail; do
        case $result in
        ok) pass "$name ($detail)" ;;
        skip) skip "$name" "$detail" ;;
        fail)
            printf '%b' "$detail" | sed 's/^/    | /'
            fail "$name"
            ;;
        none)
            tail -n 25 "$logs/$part-meson.log" | sed 's/^/    | /'
            fail "meson test $* ran no test"
            ;;
        esac
    done < <(python3 "$root/tests/lib/meson_results.py" "$build/meson-logs/$base")
}

# told_results COMMAND... : count the results that a command tells in lines such
# as "ok WHAT", "FAILED WHAT: WHY", "skipped WHAT: WHY"; "| TEXT" is shown.
told_results() {
    local line count=$((passed + failed + skipped))
    while IFS= read -r line; do
        case $line in
        "ok "*) pass "${line#ok }" ;;
        "FAILED "*) fail "${line#FAILED }" ;;
        "skipped "*) skip "$(cut -d: -f1 <<<"${line#skipped }")" "${line#*: }" ;;
        "| "*) printf '    %s\n' "$line" ;;
        esac
    done < <("$@" 2>&1 </dev/null)
    [ $((passed + failed + skipped)) -gt "$count" ] || fail "$* told no result"
}
