#!/bin/sh
# cppcheck and clang-tidy over the library, the command, what is built for each MPI, and the benchmarks.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: check_static.sh BUILD_DIR [FILE...]
# BUILD_DIR has compile_commands.json in it (all presets make one) and is built: some headers are generated. FILE: only
# these sources. JOBS: parallel runs.
set -eu
build=$(cd "$1" && pwd)
shift
root=$(cd "$(dirname "$0")/.." && pwd)
jobs=${JOBS:-$(nproc)}
once=$(mktemp -d)
trap 'rm -rf "$once"' EXIT

# Files as the build knows them, so that each is checked with its own flags; those that are built several times, for
# each MPI or also for tests, once.
python3 - "$build" "$root" "$once" "$@" >"$once/files" <<'END'
import json, pathlib, re, sys
build, root, once = map(pathlib.Path, sys.argv[1:4])
wanted = {str(pathlib.Path(name).resolve()) for name in sys.argv[4:]}
entries = {}
for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
    if re.match(f"{re.escape(str(root))}/(src|cli|bench|mpi)/", entry["file"]):
        entries.setdefault(entry["file"], entry)
entries = [entries[name] for name in sorted(entries) if not wanted or name in wanted]
(once / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
print("\n".join(entry["file"] for entry in entries))
END
files=$(cat "$once/files")
[ -n "$files" ] || {
    echo "error: no sources of '$root' in '$build/compile_commands.json', or none of those named" >&2
    exit 1
}

failed=0
# null pointers and leaks are left to the analyzer of clang-tidy, which follows paths better
echo "cppcheck"
# shellcheck disable=SC2086
cppcheck --quiet -j "$jobs" --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
    --suppress=missingIncludeSystem --suppress='*:*/Random123/*' --suppress=arrayIndexThenCheck --suppress=nullPointer \
    --suppress=memleak -D_GNU_SOURCE -D__GNUC__ -DH5E_BEGIN_TRY= -DH5E_END_TRY= -DIW_VERSION='""' -DIW_MPI_NAME='""' \
    -I "$root/include" -I "$root/src" -I "$root" $files || failed=1

# one file a process: with several, clang-tidy 14 reports every va_list as uninitialised
echo "clang-tidy"
# shellcheck disable=SC2016
xargs -P "$jobs" -n 1 sh -c \
    'out=$(clang-tidy --quiet -p "$0" "$1" 2>&1) || { echo "$out"; exit 1; }' "$once" <"$once/files" || failed=1
echo "check_static: $(wc -l <"$once/files") files"
exit "$failed"
