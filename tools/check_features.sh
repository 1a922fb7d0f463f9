#!/usr/bin/env bash
# The core alone, and idlewave without each of its features: builds, and passes the tests that are left.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: check_features.sh FOLDER [none|FEATURE]...      all of them unless some are named; goes on after a failure and names all.
# FOLDER: one for the build, which is configured anew for each. The core has the same tests whatever is beside it: these run once, for
# `none`; CASES=1 leaves out all but the cases of the command.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
shift
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046  # names without blanks
    set -- none $(sed -n '/^set(IW_ALL_FEATURES/,/)/p' "$root/cmake/Features.cmake" | tr -d '()' | sed 's/^set *IW_ALL_FEATURES//')
fi
options=(-DCMAKE_BUILD_TYPE=Release -DIW_WERROR=ON)
if command -v ccache > /dev/null; then
    options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
fi
mkdir -p "$folder"

run_tests() { # FEATURE BUILD
    local folder folders=("$2")
    if [ "$1" != none ]; then
        folders=("$2/tests/cli")
        [ -n "${CASES:-}" ] || folders+=("$2"/src/kit/*/tests "$2"/src/features/*/tests)
    fi
    for folder in "${folders[@]}"; do
        if [ -e "$folder/CTestTestfile.cmake" ]; then
            ctest --test-dir "$folder" -j "$(nproc)" -LE 'long|measures|release|mpi' --output-on-failure || return
        fi
    done
}

failed=()
for feature in "$@"; do
    wanted=-$feature
    build=$folder/all-but-one
    if [ "$feature" = none ]; then
        wanted=none
        build=$folder/none
    fi
    log=$folder/$feature.log
    if [ -d "$build" ]; then
        find "$build" -name CTestTestfile.cmake -delete # of what is left out now
    fi
    if cmake -G Ninja -S "$root" -B "$build" "${options[@]}" "-DIW_FEATURES=$wanted" > "$log" 2>&1 && ninja -C "$build" >> "$log" 2>&1 &&
        run_tests "$feature" "$build" >> "$log" 2>&1; then
        echo "IW_FEATURES=$wanted: $(grep -c ' Passed ' "$log") tests passed"
    else
        echo "IW_FEATURES=$wanted: failed, see $log"
        failed+=("$feature")
    fi
done
if [ ${#failed[@]} -gt 0 ]; then
    echo "error: without these: ${failed[*]}" >&2
    exit 1
fi
