#!/bin/sh
# Runs every fuzz target for some time, and fails if one of them finds something.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: fuzz_all.sh BUILD_DIR SECONDS [JOBS]
# BUILD_DIR is of the preset 'fuzz', with the targets built; SECONDS are for each of them, JOBS (default 1) run side by
# side. FUZZ_KEEP: a folder for what is found and the logs (default: a new one below /tmp, removed if nothing is found).
# FUZZ_ONLY: a pattern of the shell for names of targets, such as 'fuzz_goal_*'. FUZZ_TIMEOUT: seconds for one input
# (default 20; more where others keep the machine busy).
set -eu

# One target, called by xargs below; its row of the table goes to KEEP/rows.
if [ "${1:-}" = --one ]; then
    seconds=$2 keep=$3 target=$4 corpus=$5
    name=$(basename "$target")
    mkdir -p "$keep/$name/found"
    work=$(mktemp -d)
    status=0
    # memory that is not given back, and time that does not end, are findings too
    "$target" -max_total_time="$seconds" -timeout="${FUZZ_TIMEOUT:-20}" -rss_limit_mb=2560 \
        -report_slow_units=1000 -print_final_stats=1 -artifact_prefix="$keep/$name/found/" "$work" "$corpus" \
        >"$keep/$name/log" 2>&1 || status=$?
    rm -rf "$work"
    findings=$(find "$keep/$name/found" -type f | wc -l)
    [ "$findings" -gt 0 ] || [ "$status" -eq 0 ] || findings=1
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$keep/$name/log")
    used=$(sed -n 's/^Done .* runs in \([0-9]*\) second.*/\1/p' "$keep/$name/log")
    printf '%-28s %12s %8s %9s\n' "$name" "${executions:--}" "${used:--}" "$findings" | tee -a "$keep/rows"
    [ "$findings" -eq 0 ] || touch "$keep/failed"
    exit 0
fi

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo "usage: $0 BUILD_DIR SECONDS [JOBS]" >&2
    exit 64
fi
build=$(cd "$1" && pwd)
seconds=$2 jobs=${3:-1}
root=$(cd "$(dirname "$0")/.." && pwd)
grep -q '^IW_FUZZ:[A-Z]*=\(ON\|1\|TRUE\)$' "$build/CMakeCache.txt" || {
    echo "error: '$build' has no fuzz targets that search: use 'cmake --preset fuzz'" >&2
    exit 1
}
keep=${FUZZ_KEEP:-$(mktemp -d /tmp/iw_fuzz_all_XXXXXX)}
mkdir -p "$keep"
rm -f "$keep/rows" "$keep/failed"

printf '%-28s %12s %8s %9s\n' target executions seconds findings
for source in "$root"/tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    # shellcheck disable=SC2254
    case $name in ${FUZZ_ONLY:-*}) ;; *) continue ;; esac
    if [ -x "$build/tests/fuzz/$name" ]; then
        printf '%s\0%s\0' "$build/tests/fuzz/$name" "$root/tests/fuzz/corpus/${name#fuzz_}"
    elif grep -q "^build tests/fuzz/$name:" "$build/build.ninja"; then # else a library is missing that it needs
        echo "error: '$build/tests/fuzz/$name' is not built" >&2
        touch "$keep/failed"
    fi
done | xargs -0 -r -n 2 -P "$jobs" "$0" --one "$seconds" "$keep"

[ -s "$keep/rows" ] || {
    echo "error: no fuzz targets in '$build/tests/fuzz'" >&2
    exit 1
}
if [ -e "$keep/failed" ]; then
    echo "error: see '$keep' for logs and for inputs that show what was found" >&2
    exit 1
fi
[ -n "${FUZZ_KEEP:-}" ] || rm -rf "$keep"
