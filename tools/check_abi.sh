#!/bin/sh
# Compares libidlewave with that of the last tag, as far as stable headers reach, by abidiff.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: check_abi.sh LIBRARY HEADERS [OLD_LIBRARY OLD_HEADERS]
#   exit 0: compatible, or there is no tag to compare with; 1: a stable function was removed or changed; 77: no abidiff.
# Without OLD_LIBRARY the last tag is built into a temporary folder. First it is seen that abidiff notices a removed function.
set -eu
library=$1
headers=$2
command -v abidiff > /dev/null || { echo "SKIPPED: ABI: no abidiff; on Debian: apt-get install abigail-tools"; exit 77; }
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# stable OF TO: the headers that do not call themselves experimental
stable() {
    mkdir -p "$2"
    grep -L '^ \* Experimental:' "$1"/idlewave/*.h | grep -v '/idlewave\.h$' | xargs -I{} cp {} "$2"
}

# compare OLD OLD_HEADERS NEW NEW_HEADERS: fails if a function of OLD_HEADERS was removed, or one of them or a type changed.
# Types are seen only where both libraries have full debug information (-g); without it all removed names are listed.
compare() {
    code=0
    abidiff --no-added-syms --suppressions "$scratch/private" --headers-dir1 "$2" --headers-dir2 "$4" "$1" "$3" > "$scratch/report" 2>&1 || code=$?
    [ $((code & 3)) -eq 0 ] || return 1
    ! grep -q '^ *\[C\]' "$scratch/report" || return 1
    sed -n 's/^ *\[D\].*{\([A-Za-z_0-9]*\).*}$/\1/p' "$scratch/report" > "$scratch/removed"
    while read -r name; do
        ! grep -qw "$name" "$2"/*.h || return 1
    done < "$scratch/removed"
}

# what libidlewave shows to libidlewave-tools only
printf '[suppress_function]\n  name_regexp = ^iwi_\n[suppress_variable]\n  name_regexp = ^iwi_\n' > "$scratch/private"

self_check() {
    printf 'int iw_a(void);\nint iw_b(void);\n' > "$scratch/two.h"
    printf '#include "two.h"\nint iw_a(void) { return 1; }\nint iw_b(void) { return 2; }\n' > "$scratch/two.c"
    printf '#include "two.h"\nint iw_a(void) { return 1; }\n' > "$scratch/one.c"
    for name in two one; do
        "${CC:-cc}" -g -shared -fPIC "$scratch/$name.c" -o "$scratch/lib$name.so"
    done
    mkdir "$scratch/self"
    cp "$scratch/two.h" "$scratch/self"
    compare "$scratch/libtwo.so" "$scratch/self" "$scratch/libtwo.so" "$scratch/self" ||
        { echo "error: abidiff finds a library different from itself"; exit 1; }
    if compare "$scratch/libtwo.so" "$scratch/self" "$scratch/libone.so" "$scratch/self"; then
        echo "error: abidiff does not notice that a function was removed"
        exit 1
    fi
}

self_check
stable "$headers" "$scratch/new"
if [ $# -ge 4 ]; then
    old_library=$3
    old_headers=$4
    what=$3
else
    what=$(git -C "$root" describe --tags --abbrev=0 2> /dev/null || true)
    if [ -z "$what" ]; then
        echo "check_abi: there is no tag yet, so nothing was compared; abidiff notices a removed function"
        exit 0
    fi
    target=$(basename "$library" | sed 's/^lib\(.*\)\.so.*/\1/') # of the target that makes it
    git -C "$root" archive --prefix=tag/ "$what" | tar -x -C "$scratch"
    if ! { cmake -G Ninja -S "$scratch/tag" -B "$scratch/build" -DCMAKE_C_FLAGS=-g -DBUILD_TESTING=OFF -DIW_MPI=OFF &&
        ninja -C "$scratch/build" "$target"; } > "$scratch/log" 2>&1; then
        tail -20 "$scratch/log"
        echo "error: '$what' cannot be built"
        exit 1
    fi
    old_library=$(find "$scratch/build" -name "lib$target.so" | head -1)
    old_headers=$scratch/tag/include
fi
stable "$old_headers" "$scratch/old"
if ! compare "$old_library" "$scratch/old" "$library" "$scratch/new"; then
    cat "$scratch/report"
    echo "error: the stable part of the library is not compatible with $what"
    exit 1
fi
echo "check_abi: the stable headers are compatible with $what"
