#!/bin/sh
# Traces the programs that imitate POP, Sweep3D and AMG2006, runs the studies of examples/apps on the traces, and reports.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: run_app_studies.sh IDLEWAVE PROGRAMS DIR [small]
#   IDLEWAVE   the command, build/release/cli/idlewave
#   PROGRAMS   the folder with pop_like, sweep_like and amg_like, build/release/tests/mpi/bin/openmpi
#   DIR        where traces, results and reports go; what is there already is kept, and the rest done
#   small      16 traced ranks instead of 128 (AMG2006: 125), an eighth of the calls, up to 1,024 ranks: a minute, for tests
# MPIRUN names another launcher than mpirun. Any number of cores will do: the traces count CPU time.
set -eu

if [ $# -lt 3 ] || [ $# -gt 4 ] || [ "${4:-small}" != small ]; then
    sed -n '5,10s/^# //p' "$0" >&2
    exit 2
fi
idlewave=$1 programs=$2 dir=$3 size=${4:-full}
studies=$(cd "$(dirname "$0")/../examples/apps" && pwd)
ranks=128
part=1
if [ "$size" = small ]; then
    ranks=16
    part=8
fi

# More ranks than cores, also as root: those that wait leave the cores to those that work. Only Open MPI reads these.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none

mkdir -p "$dir"
for app in pop sweep amg; do
    if [ "$app $size" = 'amg full' ]; then
        ranks=125 # a cube
    fi
    study=$dir/$app.yaml
    if [ ! -f "$dir/$app/traces.otf2" ]; then
        began=$(date +%s)
        "${MPIRUN:-mpirun}" -n "$ranks" "$idlewave" trace --overwrite -o "$dir/$app" -- \
            "$programs/${app}_like" --part "$part"
        echo "$app: traced on $ranks ranks in $(($(date +%s) - began)) s"
    fi
    cp "$studies/$app.yaml" "$study"
    if [ "$size" = small ]; then
        sed -e 's/^trials: .*/trials: 3/' -e 's/^ranks: .*/ranks: [16, 128, 1Ki]/' "$studies/$app.yaml" > "$study"
    fi
    began=$(date +%s)
    "$idlewave" study "$study" -o "$dir/$app-study"
    echo "$app: simulated in $(($(date +%s) - began)) s"
    "$idlewave" report "$dir/$app-study" -o "$dir/$app.txt"
    "$idlewave" report "$dir/$app-study" -o "$dir/$app.html"
done
