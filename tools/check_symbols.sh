#!/bin/sh
# A shared library exports exactly the functions that its public headers declare, under the version of its soname; core's private
# ones, for tools, are iwi_... under the whole version; and nothing else.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: check_symbols.sh core|tools|some-tools LIBRARY [ROOT]
#   some-tools: features were left out, so headers declare more than there is
# src/core/headers.txt lists the headers of core; all others of include/idlewave are those of tools.
set -eu
export LC_ALL=C
which=$1
library=$2
root=${3:-$(dirname "$0")/..}
include=$root/include/idlewave
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
complain() { # FILE TEXT
    if [ -s "$1" ]; then
        sed "s/^/error: $2: /" "$1" >&2
        failed=1
    fi
}

version=$(sed -n 's/^project(idlewave VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
case $version in
0.*) short=${version%.*} ;;
*) short=${version%%.*} ;;
esac
sed "s:.*:$include/&.h:" "$root/src/core/headers.txt" | sort > "$scratch/core"
printf '%s\n' "$include"/*.h | sort > "$scratch/all"
case $which in
core) node=IDLEWAVE headers=$scratch/core ;;
*)
    node=IDLEWAVE_TOOLS headers=$scratch/tools
    comm -13 "$scratch/core" "$scratch/all" > "$headers"
    ;;
esac
comm -23 "$scratch/core" "$scratch/all" > "$scratch/missing"
complain "$scratch/missing" "named in src/core/headers.txt, but not there"

# name@@node; nodes themselves are absolute
nm -D --defined-only --with-symbol-versions "$library" | awk 'NF >= 3 && $2 != "A" { print $3 }' | sort -u > "$scratch/symbols"
# a declaration is "IW_API ... iw_name(", over several lines if need be; internal/ is linked statically, never exported
xargs cat < "$headers" | tr '\n' ' ' | grep -o 'IW_API [^(;]*[ *]iw_[a-z0-9_]*(' |
    sed "s/.*[ *]\(iw_[a-z0-9_]*\)(\$/\1@@${node}_$short/" | sort -u > "$scratch/declared"

if grep -n 'IW_API' "$include"/internal/*.h >&2; then
    echo "error: headers of internal/ export nothing" >&2
    failed=1
fi
grep '^iw_' "$scratch/symbols" > "$scratch/exported" || true
grep '^iwi_' "$scratch/symbols" > "$scratch/private" || true
grep -v '^iwi\{0,1\}_' "$scratch/symbols" > "$scratch/foreign" || true
if [ "$which" = core ]; then
    grep -v "@@${node}_PRIVATE_$version\$" "$scratch/private" > "$scratch/misplaced" || true
else
    cp "$scratch/private" "$scratch/misplaced"
fi
comm -23 "$scratch/exported" "$scratch/declared" > "$scratch/undeclared"
comm -13 "$scratch/exported" "$scratch/declared" > "$scratch/undefined"
complain "$scratch/foreign" "exported without the prefix iw_"
complain "$scratch/misplaced" "private, but exported as if it were not"
complain "$scratch/undeclared" "exported but not declared in a public header of this library"
[ "$which" = some-tools ] || complain "$scratch/undefined" "declared in a public header but not exported"
if [ ! -s "$scratch/exported" ]; then
    echo "error: '$library' exports nothing" >&2
    failed=1
fi
echo "check_symbols: $(wc -l < "$scratch/exported") symbols, $(wc -l < "$scratch/private") private ones"
exit "$failed"
