#!/bin/sh
# Says which C files clang-format would change; with --fix, changes them.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: check_format.sh [--fix] [FILE ...]     CLANG_FORMAT chooses the program; version 14 is the norm.
set -u
format=${CLANG_FORMAT:-clang-format}
root=$(dirname "$0")/..
mode='--dry-run -Werror'
if [ "${1:-}" = --fix ]; then
    mode=-i
    shift
fi
if [ $# -eq 0 ]; then
    # no file name in this tree has blanks
    # shellcheck disable=SC2046
    set -- $(find "$root/include" "$root/src" "$root/cli" "$root/bench" "$root/tests" -name '*.[ch]' | sort)
fi
if [ $# -eq 0 ]; then
    echo "error: no files" >&2
    exit 1
fi
# shellcheck disable=SC2086
"$format" $mode "$@" || {
    echo "error: not formatted; tools/check_format.sh --fix puts it right" >&2
    exit 1
}
echo "check_format: $# files"
