#!/bin/sh
# Runs the studies of examples/paper and prints how long each took, and how much CPU time.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: run_paper_studies.sh IDLEWAVE DIR [TRIALS]
#   IDLEWAVE   the command, build/release/cli/idlewave
#   DIR        where the results and text reports go, a folder for each study; started again, it goes on
#   TRIALS     simulations of each cell, instead of what the studies say: a shorter run with wider intervals
set -eu

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    sed -n '5,8s/^# //p' "$0" >&2
    exit 2
fi
idlewave=$1 dir=$2 trials=${3:-}
studies=$(cd "$(dirname "$0")/../examples/paper" && pwd)
mkdir -p "$dir"

# Sets cpu: seconds of CPU time of all commands so far. `times` tells it only in this shell, not in $(...).
measure_cpu() {
    times > "$dir/times"
    cpu=$(sed -n 2p "$dir/times" | tr 'ms' '  ' | awk '{ printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }')
}

report() { # NAME BEGAN CPU_BEFORE
    measure_cpu
    printf '%-16s %5d s  %5d s of CPU time\n' "$1" $(($(date +%s) - $2)) $((cpu - $3))
}

measure_cpu
all_began=$(date +%s)
for study in "$studies"/*.yaml; do
    name=$(basename "$study" .yaml)
    if [ -n "$trials" ]; then
        sed "s/^trials: .*/trials: $trials/" "$study" > "$dir/$name.yaml"
        study=$dir/$name.yaml
    fi
    began=$(date +%s) cpu_before=$cpu
    "$idlewave" study "$study" -o "$dir/$name" > "$dir/$name.log" || { cat "$dir/$name.log"; exit 1; }
    "$idlewave" report "$dir/$name" -o "$dir/$name.txt" >> "$dir/$name.log" 2>&1
    report "$name" "$began" "$cpu_before"
done
report all "$all_began" 0
