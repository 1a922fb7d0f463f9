#!/usr/bin/env bash
# Builds the packages of packaging/ without network, and tries them in a clean chroot: installed, run, removed without a trace; and
# images of them.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: check_packages.sh BUILD_DIR [deb] [image] [apptainer] [rpm]      all of them unless some are named, in this order; needs root
#
#   deb        as Debian builds them, looked at by lintian
#   image      an image of the Debian packages for podman, built by buildah
#   apptainer  the commands of its definition, in a chroot: Apptainer is not in Debian
#   rpm        with what Debian calls its libraries, so without a look at the names of dependencies; once more for OpenHPC
#
# BUILD_DIR is a configured build of a git checkout: packages are made of what is committed. All is written below
# BUILD_DIR/packages, which may grow to some GB. Packages of Debian come from where apt of this machine gets them.
set -euo pipefail
build=$(realpath "$1")
shift
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

# new_trial NAME: a clean root with a folder /try, and a list of its files
new_trial() {
    new_root "$1"
    install_in "$work/$1" ca-certificates # nothing else: apt updates its lists
    files_of "$work/$1" >"$work/$1.before"
    mkdir "$work/$1/try"
}

# what the tests of installed packages use of others
beside=(python3 python3-pandas gcc g++ libc6-dev libmpich-dev libopenmpi-dev mpich openmpi-bin pkg-config)

# run_installed ROOT [VARIABLE=VALUE]...: the tests of debian/tests, with what is installed there
run_installed() {
    local root=$1 test
    shift
    for test in "$build"/packaging/debian/tests/*; do
        if [ -x "$test" ]; then
            say "$(basename "$test")"
            cp "$test" "$root/try/"
            in_chroot "$root" env "$@" "/try/$(basename "$test")"
        fi
    done
}

check_deb() {
    local root=$work/build debs=$work/debs trial=$work/trial packages package
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
    new_trial trial
    cp "$debs"/*.deb "$trial/try"
    install_in "$trial" "/try/$(basename "$debs"/idlewave_*.deb)"
    in_chroot "$trial" idlewave --version
    mapfile -t packages < <(find "$trial/try" -name '*.deb' ! -name '*-dbgsym_*' -printf '/try/%f\n')
    install_in "$trial" "${packages[@]}" "${beside[@]}"
    run_installed "$trial"
    say 'removed'
    logged "$trial.purge.log" in_chroot "$trial" apt-get purge -qq -y --auto-remove '*idlewave*' "${beside[@]}"
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

# section NAME: the commands of packaging/apptainer/idlewave.def there, for the image with the part for Open MPI
section() {
    sed -n "/^%$1/,/^%/p" "$build/packaging/apptainer/idlewave.def" | sed -e '/^%/d' -e 's/{{ MPI }}/openmpi/g'
}

check_apptainer() {
    local root=$work/apptainer
    say 'the commands of the definition for Apptainer'
    new_root apptainer
    (cd "$work/debs" && APPTAINER_ROOTFS=$root && export APPTAINER_ROOTFS && section setup | sh -eu)
    logged "$root.log" in_chroot "$root" sh -euc "$(section post)"
    in_chroot "$root" sh -euc "$(section test)"
    in_chroot "$root" sh -euc "$(section runscript)" idlewave --version
    du -sh "$root" | cut -f1
}

# rpmbuild_in ROOT OPTION...
rpmbuild_in() {
    local root=$1
    shift
    NETWORK=no logged "$work/rpm.log" in_chroot "$root" rpmbuild --nodeps --define '_topdir /rpm' --define '_smp_mflags -j2' "$@" /rpm/idlewave.spec
}

check_rpm() {
    local root=$work/build trial=$work/rpm_trial package depends
    [ -e "$root/build/idlewave" ] || new_build_root
    install_in "$root" rpm rpmlint
    rm -rf "$root/rpm"
    mkdir -p "$root/rpm/SOURCES"
    cp "$tarball" "$root/rpm/SOURCES"
    cp "$build/packaging/rpm/idlewave.spec" "$root/rpm"
    say 'rpmbuild, without network'
    rpmbuild_in "$root" -ba
    say 'rpmlint: how often it finds what' # Debian's has the rules of distributions that are gone: packaging/README.md says what counts
    in_chroot "$root" sh -c 'rpmlint /rpm/RPMS/*/*.rpm /rpm/SRPMS/*.rpm' >"$work/rpmlint.log" || true
    sed -nE 's/^[^ ]+ ([EW]): ([^ ]+).*/\1 \2/p' "$work/rpmlint.log" | sort | uniq -c | sort -rn
    say 'for OpenHPC'
    rpmbuild_in "$root" -bb --with ohpc
    # shellcheck disable=SC2016 # by the inner shell
    in_chroot "$root" sh -c 'for package in /rpm/RPMS/*/*-ohpc-*.rpm; do rpm -qpl "$package"; done' >"$work/rpm.ohpc"
    if grep -v '^/opt/ohpc/pub/\(apps\|modulefiles\)/idlewave' "$work/rpm.ohpc"; then
        echo "error: outside of OpenHPC's folders" >&2
        return 1
    fi
    echo "$(wc -l <"$work/rpm.ohpc") files below /opt/ohpc/pub"
    say 'RPMs in a clean Debian: installed and run'
    new_trial rpm_trial
    find "$root/rpm/RPMS" -name '*.rpm' ! -name '*-ohpc-*' ! -name '*-debuginfo-*' ! -name '*-debugsource-*' -exec cp {} "$trial/try" \;
    # Debian's names of what they depend on, as those of the Debian packages say
    mapfile -t depends < <(for package in "$work"/debs/{idlewave,idlewave-openmpi,idlewave-mpich}_*.deb; do dpkg-deb -f "$package" Depends; done |
        sed 's/ *([^)]*)//g; s/, */\n/g' | grep -v idlewave | sort -u)
    install_in "$trial" rpm "${depends[@]}" "${beside[@]}"
    # shellcheck disable=SC2016 # by the inner shell
    in_chroot "$trial" sh -ec 'rpm -i --nodeps --force-debian /try/*.rpm
        rpm -qa --queryformat "%{NAME} %{VERSION}: %{SIZE} bytes\n" | sort'
    # where Fedora's tools look by themselves; its packages own the compiled files of Python, which Debian's rpmbuild does not make
    run_installed "$trial" PKG_CONFIG_PATH=/usr/lib64/pkgconfig LD_LIBRARY_PATH=/usr/lib64 PYTHONPATH=/usr/lib/python3/site-packages \
        PYTHONDONTWRITEBYTECODE=1
    say 'RPMs removed'
    # shellcheck disable=SC2016
    in_chroot "$trial" sh -ec 'rpm -e --nodeps --force-debian $(rpm -qa)'
    expect_no_trace "$trial" "$trial.before"
}

cmake --build "$build" --target dist
tarball=$(echo "$build"/idlewave-*.tar.gz)
version=${tarball##*/idlewave-}
version=${version%.tar.gz}
[ $# -gt 0 ] || set -- deb image apptainer rpm
for kind in "$@"; do
    "check_$kind"
done
