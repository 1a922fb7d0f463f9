#!/bin/sh
# cppcheck and clang-tidy over the library, the command and the benchmarks.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: check_static.sh BUILD_DIR     with compile_commands.json in it (all presets make one). JOBS: parallel runs.
set -eu
build=$1
root=$(cd "$(dirname "$0")/.." && pwd)
jobs=${JOBS:-$(nproc)}
database=$build/compile_commands.json
# files as the build knows them, so that each is checked with its own flags
files=$(sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$database" | grep -E "^$root/(src|cli|bench)/" | sort -u)
[ -n "$files" ] || {
    echo "error: no sources of '$root' in '$database'" >&2
    exit 1
}

failed=0
# null pointers and leaks are left to the analyzer of clang-tidy, which follows paths better
echo "cppcheck"
# shellcheck disable=SC2086
cppcheck --quiet -j "$jobs" --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
    --suppress=missingIncludeSystem --suppress='*:*/Random123/*' --suppress=arrayIndexThenCheck --suppress=nullPointer \
    --suppress=memleak -D_GNU_SOURCE -D__GNUC__ -DH5E_BEGIN_TRY= -DH5E_END_TRY= -DIW_VERSION='""' \
    -I "$root/include" -I "$root/src" $files || failed=1

# one file a process: with several, clang-tidy 14 reports every va_list as uninitialised
echo "clang-tidy"
# shellcheck disable=SC2016
echo "$files" | xargs -P "$jobs" -n 1 sh -c \
    'out=$(clang-tidy --quiet -p "$0" "$1" 2>&1) || { echo "$out"; exit 1; }' "$build" || failed=1
echo "check_static: $(echo "$files" | wc -l) files"
exit "$failed"
