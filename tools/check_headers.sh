#!/bin/sh
# Compiles each public header, and each of the command's own, alone, as C11 and as C++17, with all warnings as errors.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: check_headers.sh [INCLUDE_DIR]     CC and CXX choose the compilers.
set -u
include=${1:-$(dirname "$0")/../include}
cc=${CC:-cc}
cxx=${CXX:-c++}
count=0
failed=0

# compile HEADER COMPILER LANGUAGE STANDARD: the header twice, so that a missing guard shows too
compile() {
    printf '#include <%s>\n#include <%s>\n' "$1" "$1" |
        "$2" -x "$3" -std="$4" -Wall -Wextra -Werror -pedantic -fsyntax-only -I "$include" - || {
        echo "error: <$1> does not compile alone as $4" >&2
        failed=1
    }
}

for path in "$include"/idlewave/*.h "$include"/idlewave/internal/*.h; do
    [ -e "$path" ] || continue
    header=${path#"$include"/}
    compile "$header" "$cc" c c11
    compile "$header" "$cxx" c++ c++17
    count=$((count + 1))
done
if [ "$count" -eq 0 ]; then
    echo "error: no headers in '$include/idlewave'" >&2
    exit 1
fi
echo "check_headers: $count headers as C11 and C++17"
exit "$failed"
