#!/bin/sh
# cppcheck and clang-tidy over the library, the command, what is built for each MPI, the benchmarks; clang-tidy over the tests.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: check_static.sh BUILD_DIR [--since COMMIT | FILE...]
# BUILD_DIR has compile_commands.json in it (all presets make one) and is built: some headers are generated.
# --since COMMIT: only sources that changed since COMMIT, or that include a header that did. FILE: only these sources.
# JOBS: parallel runs.
set -eu
build=$(cd "$1" && pwd)
shift
since=
if [ "${1:-}" = --since ]; then
    since=$2
    shift 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
jobs=${JOBS:-$(nproc)}
once=$(mktemp -d)
trap 'rm -rf "$once"' EXIT

# Files as the build knows them, so that each is checked with its own flags; those that are built several times, for
# each MPI or also for tests, once.
python3 - "$build" "$root" "$once" "$since" "$@" <<'END'
import json, pathlib, re, subprocess, sys
build, root, once = map(pathlib.Path, sys.argv[1:4])
since = sys.argv[4]
wanted = {str(pathlib.Path(name).resolve()) for name in sys.argv[5:]}
entries = {}
for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
    if re.match(f"{re.escape(str(root))}/(src|cli|bench|mpi|nccl|tests)/", entry["file"]):
        entries.setdefault(entry["file"], entry)
entries = [entries[name] for name in sorted(entries) if not wanted or name in wanted]
if not entries:
    sys.exit(f"error: no sources of '{root}' in '{build}/compile_commands.json', or none of those named")
(once / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")

def changed_since(commit):
    """Paths below root that changed; None when git cannot tell."""
    done = subprocess.run(["git", "-C", root, "diff", "--name-only", commit, "--"], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else None

changed = changed_since(since) if since else None
if since and changed is None:
    print(f"check_static: git knows no commit '{since}': all files are checked")
headers = {pathlib.Path(name).name for name in changed or () if name.endswith(".h")}
def is_due(name):
    if changed is None or str(pathlib.Path(name).relative_to(root)) in changed:
        return True
    included = re.findall(r'^#include [<"](?:[^>"]*/)?([^/>"]+)[>"]', pathlib.Path(name).read_text(encoding="utf-8"), re.MULTILINE)
    return bool(headers & set(included))
names = [entry["file"] for entry in entries if is_due(entry["file"])]
for listed, is_test in (("files", False), ("tests", True)):
    (once / listed).write_text("".join(name + "\n" for name in names if ("/tests/" in name) == is_test), encoding="utf-8")
print(f"check_static: {len(names)} of {len(entries)} files")
END

failed=0
tidy() { # LIST [CHECKS]: one file a process: with several, the analyzer of clang-tidy 14 reports every va_list as uninitialised
    # shellcheck disable=SC2016
    xargs -r -P "$jobs" -n 1 sh -c 'out=$(clang-tidy --quiet --extra-arg=-Wno-unknown-warning-option ${1:+"--checks=$1"} -p "$0" "$2" 2>&1) || { echo "$out"; exit 1; }' \
        "$once" "${2:-}" <"$1" || failed=1
}

# null pointers and leaks are left to the analyzer of clang-tidy, which follows paths better
echo "cppcheck"
[ ! -s "$once/files" ] || cppcheck --quiet -j "$jobs" --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
    --suppress=missingIncludeSystem --suppress='*:*/Random123/*' --suppress=arrayIndexThenCheck --suppress=nullPointer \
    --suppress=memleak -D_GNU_SOURCE -D__GNUC__ -DH5E_BEGIN_TRY= -DH5E_END_TRY= -DIW_VERSION='""' -DIW_MPI_NAME='""' \
    -I "$root/include" -I "$root/src" -I "$root/cli" -I "$root" --file-list="$once/files" || failed=1

echo "clang-tidy"
tidy "$once/files"
# of tests the analyzer does not know that cmocka's assertions end them; and their numbers are small and known
tidy "$once/tests" "-clang-analyzer-core.*,-clang-analyzer-unix.*,-clang-analyzer-security.FloatLoopCounter,-clang-analyzer-optin.*\
,-bugprone-implicit-widening-of-multiplication-result,-bugprone-misplaced-widening-cast,-bugprone-integer-division\
,-bugprone-not-null-terminated-result,-bugprone-sizeof-expression,-cert-err34-c,-readability-function-size\
,-readability-inconsistent-declaration-parameter-name"
exit "$failed"
