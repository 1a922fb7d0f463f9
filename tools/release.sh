#!/usr/bin/env bash
# Makes a release, all but the upload: version and date, tests, tarball, wheel, packages, site, checksums and the tag.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: release.sh VERSION FOLDER
#   VERSION   as in the heading "## [VERSION] - not tagged yet" of CHANGELOG.md
#   FOLDER    where what is to be uploaded goes; made if missing
#
# Needs root, as check_packages.sh does, and a clean tree whose six shards of `.ci/run --full` passed (.ci/runs.md) with these sources.
# It commits the version and the date, and tags that commit last: run it again after a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?usage: release.sh VERSION FOLDER}
folder=$(realpath -m "${2:?usage: release.sh VERSION FOLDER}")
sources=(src cli include mpi nccl python cmake CMakeLists.txt)

fail() {
    echo "error: $1" >&2
    exit 1
}

# passed_shards: those that passed with the sources as they are now
passed_shards() {
    local commit what outcome
    while IFS='|' read -r _ _ commit what _ _ _ _ outcome _; do
        case $what:$outcome in
        *shard*:*passed*) ;;
        *) continue ;;
        esac
        git diff --quiet "${commit// /}" HEAD -- "${sources[@]}" ':!*/tests/*' 2>/dev/null && echo "${what// /}"
    done <.ci/runs.md | sort -u
}

# set_version: in every file that has it, and the date in the changelog
set_version() {
    sed -i -E "s/^(project\(idlewave VERSION )[0-9.]+/\1$version/" CMakeLists.txt
    sed -i -E "s/^version: [0-9.]+/version: $version/; s/^date-released: .*/date-released: $(date -u +%F)/" CITATION.cff
    sed -i -E "s/^version = \"[0-9.]+\"/version = \"$version\"/" python/pyproject.toml
    sed -i -E "s/^__version__ = \"[0-9.]+\"/__version__ = \"$version\"/" python/src/idlewave/__init__.py
    sed -i "s/^## \[$version\] - not tagged yet/## [$version] - $(date -u +%F)/" CHANGELOG.md
    python3 -B tools/make_badges.py
}

[ -z "$(git status --porcelain -uno)" ] || fail "the tree has changes: commit them first"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fail "v$version is tagged already"
if ! grep -q "^## \[$version\] - $(date -u +%F)" CHANGELOG.md; then
    grep -q "^## \[$version\] - not tagged yet" CHANGELOG.md || fail "CHANGELOG.md has no heading '## [$version] - not tagged yet'"
    [ "$(passed_shards | wc -l)" -eq 6 ] || fail "of the six shards of .ci/run --full these passed with these sources: $(passed_shards | tr '\n' ' ')"
    set_version
    git commit -qam "release: version $version"
fi

.ci/run --no-install
build=build/release
tools/check_abi.sh "$build/src/libidlewave.so" include
cmake --build "$build" --target dist
tools/check_packages.sh "$build"
pip wheel -q --no-deps --wheel-dir "$build/wheel" "$build/python"
cmake --build "$build" --target site

mkdir -p "$folder"
cp "$build"/idlewave-"$version".tar.* "$build"/wheel/*.whl "$folder"
find "$build/packages" \( -path '*/debs/*.deb' -o -path '*/RPMS/*.rpm' \) -exec cp {} "$folder" \;
tar -C "$build/site" --sort=name --owner=0 --group=0 --mtime="@$(git log -1 --format=%ct)" -czf "$folder/idlewave-$version-site.tar.gz" "$version"
(cd "$folder" && sha256sum -- *[!S] >SHA256SUMS)
if git config user.signingkey >/dev/null; then
    git tag -s -m "idlewave $version" "v$version"
else
    git tag -a -m "idlewave $version" "v$version"
    echo "v$version is not signed: git config user.signingkey names no key"
fi
echo "Release $version is in '$folder'. Upload it, and push the tag: git push origin main v$version"
