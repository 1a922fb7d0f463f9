#!/bin/sh
# The shared library exports exactly what the public headers declare, and nothing without the prefix iw_.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: check_symbols.sh LIBRARY [INCLUDE_DIR]
set -eu
export LC_ALL=C
library=$1
include=${2:-$(dirname "$0")/../include}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

nm -D --defined-only "$library" | awk 'NF >= 3 { print $3 }' | sort -u > "$scratch/exported"
# a declaration is "IW_API ... iw_name(", over several lines if need be; internal/ is linked statically, never exported
cat "$include"/idlewave/*.h | tr '\n' ' ' | grep -o 'IW_API [^(;]*[ *]iw_[a-z0-9_]*(' |
    sed 's/.*[ *]\(iw_[a-z0-9_]*\)($/\1/' | sort -u > "$scratch/declared"

failed=0
if grep -n 'IW_API' "$include"/idlewave/internal/*.h >&2; then
    echo "error: headers of internal/ export nothing" >&2
    failed=1
fi
complain() { # FILE TEXT
    if [ -s "$1" ]; then
        sed "s/^/error: $2: /" "$1" >&2
        failed=1
    fi
}
grep -v '^iw_' "$scratch/exported" > "$scratch/foreign" || true
comm -23 "$scratch/exported" "$scratch/declared" | grep '^iw_' > "$scratch/undeclared" || true
comm -13 "$scratch/exported" "$scratch/declared" > "$scratch/undefined"
complain "$scratch/foreign" "exported without the prefix iw_"
complain "$scratch/undeclared" "exported but not declared in a public header"
complain "$scratch/undefined" "declared in a public header but not exported"
if [ ! -s "$scratch/exported" ]; then
    echo "error: '$library' exports nothing" >&2
    failed=1
fi
echo "check_symbols: $(wc -l < "$scratch/exported") symbols"
exit "$failed"
