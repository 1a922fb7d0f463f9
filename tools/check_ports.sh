#!/usr/bin/env bash
# Another processor: cross build for aarch64, with libraries of Debian's arm64 in a folder; tests under qemu-user. Simulations must give
# the same bytes as everywhere.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: check_ports.sh FOLDER      needs root; writes below FOLDER
set -euo pipefail
mkdir -p "$1"
work=$(realpath "$1")
source=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tools/chroot.sh
. "$source/tools/chroot.sh"

libraries=(libhdf5-dev libhwloc-dev libjansson-dev librandom123-dev libyaml-dev)
optional=(libopen-trace-format2-dev libtracecmd-dev libtraceevent-dev libtracefs-dev)
testing=(libcmocka-dev libgsl-dev)
# tests of arithmetic and of simulations, as release runs them; not those of threads that spin, which starve each other in an emulator
exact=(-LE '^(dev|long|measures|mpi|release|sanitized|threads)$' -E '^(cli/|docs/|python|check_|install)')
# verbs whose cases compare times to the picosecond
verbs=(simulate schedule model wave study)

cached=()
if command -v ccache >/dev/null; then
    cached=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
fi

join() {
    local IFS=,
    echo "$*"
}

# configure BUILD OPTION...: of what is checked out
configure() {
    local build=$1
    shift
    logged "$build.log" cmake -G Ninja -S "$source" -B "$build" -DIW_WERROR=ON "${cached[@]}" "$@"
}

# expect_same_bytes NAME COMMAND_FOLDER: the cases of verbs that simulate print what is written in them
expect_same_bytes() {
    local verb
    for verb in "${verbs[@]}"; do
        printf '%s: %s: ' "$1" "$verb"
        (cd "$source/tests/cli" && python3 -B run_case.py --idlewave "$2/idlewave" "$verb"/*.test | tail -n 1)
    done
}

check_aarch64() {
    local build=$work/aarch64 sysroot=$work/aarch64.sysroot program
    say 'aarch64'
    rm -rf "$sysroot"
    sources | mmdebstrap --quiet --variant=extract --architectures=arm64 \
        "--include=$(join libc6-dev "${libraries[@]}" "${optional[@]}" "${testing[@]}")" "$(this_release)" "$sysroot" -
    configure "$build" "-DCMAKE_TOOLCHAIN_FILE=$source/cmake/toolchains/aarch64.cmake" "-DIW_SYSROOT=$sysroot" -DIW_MPI=OFF
    logged "$build.log" cmake --build "$build"
    file -b "$build/cli/idlewave" | cut -d, -f1,2
    logged "$build.tests.log" ctest --test-dir "$build" -j "$(nproc)" --timeout 3600 "${exact[@]}"
    tail -n 3 "$build.tests.log"
    mkdir -p "$build.bin"
    for program in idlewave iw_make_recording iw_make_fleet; do # as cases call them
        printf '#!/bin/sh\nexec qemu-aarch64-static %s/cli/%s "$@"\n' "$build" $program >"$build.bin/$program"
        chmod +x "$build.bin/$program"
    done
    expect_same_bytes aarch64 "$build.bin"
}

check_aarch64
