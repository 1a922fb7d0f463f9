#!/usr/bin/env bash
# Builds the Debian packages of packaging/ as Debian does, without network, and tries them in a clean chroot: installed, run, removed
# without a trace; and images of them.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: check_packages.sh BUILD_DIR      needs root
#
# BUILD_DIR is a configured build of a git checkout: packages are made of what is committed. All is written below
# BUILD_DIR/packages, which may grow to some GB. Packages of Debian come from where apt of this machine gets them.
set -euo pipefail
build=$(realpath "$1")
source=$(cd "$(dirname "$0")/.." && pwd)
work=$build/packages
mkdir -p "$work"

# shellcheck source=tools/chroot.sh
. "$source/tools/chroot.sh"

# new_build_root: with the source, its tarball and what it takes to build it, in /build
new_build_root() {
    local root=$work/build
    new_root build
    mkdir -p "$root/build/idlewave"
    tar -xf "$tarball" -C "$root/build/idlewave" --strip-components=1
    cp -r "$build/packaging/debian" "$root/build/idlewave/debian"
    cp "$tarball" "$root/build/idlewave_$version.orig.tar.gz"
    install_in "$root" build-essential ccache fakeroot lintian
    logged "$root.install.log" in_chroot "$root" sh -c 'cd /build/idlewave && apt-get build-dep -qq -y --no-install-recommends ./'
}

# files_of ROOT: all but what package managers keep of their own work
files_of() {
    (cd "$1" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./var/cache -o -path ./var/log \
        -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./try -o -path ./root \) -prune -o -print | sort)
}

# expect_no_trace ROOT BEFORE: nothing of ours is left; of others, what they leave
expect_no_trace() {
    files_of "$1" >"$1.after"
    comm -13 "$2" "$1.after" >"$1.left"
    if find "$1" -xdev -path "$1/proc" -prune -o -iname '*idlewave*' -print | grep -v "^$1/\(try\|tmp\|root\)/" >"$1.ours"; then
        echo "error: left behind:" >&2
        cat "$1.ours" >&2
        return 1
    fi
    echo "removed without a trace; $(wc -l <"$1.left") files are left by packages that it depended on"
}

check_deb() {
    local root=$work/build debs=$work/debs trial=$work/trial packages package test
    new_build_root
    say 'dpkg-buildpackage, without network'
    NETWORK=no logged "$work/deb.log" in_chroot "$root" sh -ec 'cd /build/idlewave && dpkg-buildpackage -us -uc -j2'
    rm -rf "$debs"
    mkdir "$debs"
    find "$root/build" -maxdepth 1 -name '*.deb' -exec cp {} "$debs" \;
    for package in "$debs"/*.deb; do
        # shellcheck disable=SC2016 # dpkg's own
        dpkg-deb -W --showformat '${Package} ${Version}: ${Installed-Size} KiB installed\n' "$package"
    done
    say 'lintian'
    in_chroot "$root" sh -ec 'cd /build && lintian --allow-root --display-info --fail-on error,warning ./*.changes'
    say 'a clean Debian: installed and run'
    new_root trial
    install_in "$trial" ca-certificates # nothing else: apt updates its lists
    files_of "$trial" >"$trial.before"
    mkdir "$trial/try"
    cp "$debs"/*.deb "$trial/try"
    install_in "$trial" "/try/$(basename "$debs"/idlewave_*.deb)"
    in_chroot "$trial" idlewave --version
    mapfile -t packages < <(find "$trial/try" -name '*.deb' ! -name '*-dbgsym_*' -printf '/try/%f\n')
    install_in "$trial" "${packages[@]}" python3 python3-pandas gcc g++ libc6-dev libmpich-dev libopenmpi-dev mpich openmpi-bin pkg-config
    for test in "$build"/packaging/debian/tests/*; do
        if [ -x "$test" ]; then
            say "$(basename "$test")"
            cp "$test" "$trial/try/"
            in_chroot "$trial" "/try/$(basename "$test")"
        fi
    done
    say 'removed'
    in_chroot "$trial" sh -ec 'apt-get purge -qq -y --auto-remove "*idlewave*" python3 python3-pandas gcc g++ libc6-dev libmpich-dev \
        libopenmpi-dev mpich openmpi-bin pkg-config' >"$trial.purge.log" 2>&1
    expect_no_trace "$trial" "$trial.before"
}

# An image of Debian and our packages, by buildah: a base of our own in place of debian:12-slim, which a registry has.
check_image() {
    local buildah=(buildah --root "$work/storage" --runroot "$work/storage.run" --storage-driver vfs)
    local context=$work/image container mpi verb
    rm -rf "$context" "$work/storage"
    mkdir "$context"
    printf 'FROM scratch\nADD base.tar /\n' >"$context/Base"
    cp "$work/base.tar" "$context"
    say 'images'
    logged "$work/image.log" "${buildah[@]}" bud --isolation chroot -t localhost/base -f "$context/Base" "$context"
    for mpi in '' openmpi; do
        logged "$work/image.log" "${buildah[@]}" bud --isolation chroot --build-arg BASE=localhost/base --build-arg "MPI=$mpi" \
            -t "localhost/idlewave${mpi:+-$mpi}" -f "$build/packaging/container/Containerfile" "$work/debs"
    done
    "${buildah[@]}" images
    container=$("${buildah[@]}" from localhost/idlewave)
    for verb in 'simulate --pattern barrier --ranks 1Ki --noise periodic:1kHz,10us' 'record --duration 1s -o /tmp/node.h5' \
        'noise show /tmp/node.h5 --plot /tmp/node.svg'; do
        # shellcheck disable=SC2086 # words
        "${buildah[@]}" run --isolation chroot "$container" -- idlewave $verb
    done
}

cmake --build "$build" --target dist
tarball=$(echo "$build"/idlewave-*.tar.gz)
version=${tarball##*/idlewave-}
version=${version%.tar.gz}
check_deb
check_image
