#!/bin/sh
# Programs and libraries are hardened, look for libraries in absolute folders only, and have no MPI in them unless they are the
# parts for one. libidlewave needs the C library only.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: check_binaries.sh FILE...
set -eu
failed=0
complain() { # FILE TEXT
    echo "error: $1: $2" >&2
    failed=1
}

for file in "$@"; do
    dynamic=$(readelf -d "$file")
    # an empty element stands for the current folder
    path=$(printf '%s\n' "$dynamic" | sed -n 's/.*(R\(UN\)\{0,1\}PATH).*\[\(.*\)\]$/\2/p')
    case ":${path:-/}:" in
    *::*) complain "$file" "its run path '$path' names the current folder" ;;
    esac
    old_ifs=$IFS
    IFS=:
    for folder in $path; do
        case $folder in
        /* | \$ORIGIN*) ;;
        *) complain "$file" "its run path '$path' has a relative folder" ;;
        esac
    done
    IFS=$old_ifs
    printf '%s\n' "$dynamic" | grep -q 'BIND_NOW\|NOW' || complain "$file" "is not linked with -z now"
    readelf -lW "$file" | grep -q GNU_RELRO || complain "$file" "is not linked with -z relro"
    case $file in
    */idlewave/openmpi/* | */idlewave/mpich/*) ;;
    *) ldd "$file" | grep -q 'libmpi' && complain "$file" "needs an MPI, by a library that does" ;;
    esac
    case $file in
    */libidlewave.so*)
        needed=$(printf '%s\n' "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | grep -v '^lib\(c\|m\|pthread\)\.so\|^ld-linux' || true)
        [ -z "$needed" ] || complain "$file" "needs more than the C library: $(echo "$needed" | tr '\n' ' ')"
        ;;
    esac
    # targets of indirect calls, each marked; a few come with the C library's own start files, whose lack of a note hides ours
    if readelf -h "$file" | grep -q 'X86-64' &&
        [ "$(LC_ALL=C grep -aoP '\xf3\x0f\x1e\xfa' "$file" | wc -l)" -le 16 ]; then
        complain "$file" "is built without -fcf-protection"
    fi
    symbols=$(nm -D "$file")
    printf '%s\n' "$symbols" | grep -q '__stack_chk_fail' || complain "$file" "has no stack protector"
    printf '%s\n' "$symbols" | grep -q '_chk\(@\|$\)' || complain "$file" "is built without _FORTIFY_SOURCE"
done
echo "check_binaries: $# files"
exit "$failed"
