#!/usr/bin/env bash
# Other processors, compilers, C libraries and older systems: what was tried is what docs/how-to/install.md names. Simulations must give
# the same bytes everywhere.
# SPDX-License-Identifier: BSD-3-Clause
#
# Usage: check_ports.sh FOLDER [aarch64] [clang] [musl] [debian11]      all of them unless some are named; needs root; writes below FOLDER
#
#   aarch64   cross build, with libraries of Debian's arm64 in a folder; tests under qemu-user
#   clang     the compiler that the fuzz targets use, for all of it
#   musl      all in one file without libraries, with the required libraries built from Debian's sources
#   debian11  GCC 9, CMake 3.18, HDF5 1.10.6, glibc 2.31 in a chroot
set -euo pipefail
mkdir -p "$1"
work=$(realpath "$1")
shift
source=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tools/chroot.sh
. "$source/tools/chroot.sh"

libraries=(libhdf5-dev libhwloc-dev libjansson-dev librandom123-dev libyaml-dev)
optional=(libopen-trace-format2-dev libtracecmd-dev libtraceevent-dev libtracefs-dev)
testing=(libcmocka-dev libgsl-dev)
# tests of arithmetic and of simulations, as release runs them; not those of threads that spin, which starve each other in an emulator
exact=(-LE '^(dev|long|measures|mpi|release|sanitized|threads)$' -E '^(cli/|docs/|python|check_|install|web_)')
# verbs whose cases compare times to the picosecond
verbs=(simulate schedule model wave study)

cached=()
if command -v ccache >/dev/null; then
    cached=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
fi

join() {
    local IFS=,
    echo "$*"
}

# build BUILD OPTION...: of what is checked out
build() {
    local build=$1
    shift
    logged "$build.log" cmake -G Ninja -S "$source" -B "$build" -DIW_WERROR=ON "${cached[@]}" "$@"
    logged "$build.log" cmake --build "$build" -j "$(nproc)"
}

run_tests() { # BUILD
    logged "$1.tests.log" ctest --test-dir "$1" -j "$(nproc)" --timeout 3600 "${exact[@]}"
    sed -n '/tests passed/p' "$1.tests.log"
}

# expect_same_bytes NAME COMMAND_FOLDER [WORDS]: the cases of verbs that simulate print what is written in them; without those in which
# one of WORDS (for grep) stands
expect_same_bytes() {
    local verb cases
    for verb in "${verbs[@]}"; do
        printf '%s: %s: ' "$1" "$verb"
        mapfile -t cases < <(cd "$source/tests/cli" && grep -L -e "${3:-no case has this}" "$verb"/*.test)
        (cd "$source/tests/cli" && python3 -B run_case.py --idlewave "$2/idlewave" "${cases[@]}" | tail -n 1)
    done
}

check_aarch64() {
    local build=$work/aarch64 sysroot=$work/aarch64.sysroot program
    if [ ! -e "$sysroot.done" ]; then
        rm -rf "$sysroot"
        sources | mmdebstrap --quiet --variant=extract --architectures=arm64 \
            "--include=$(join libc6-dev "${libraries[@]}" "${optional[@]}" "${testing[@]}")" "$(this_release)" "$sysroot" -
        touch "$sysroot.done"
    fi
    build "$build" "-DCMAKE_TOOLCHAIN_FILE=$source/cmake/toolchains/aarch64.cmake" "-DIW_SYSROOT=$sysroot" -DIW_MPI=OFF
    file -b "$build/cli/idlewave" | cut -d, -f1,2
    run_tests "$build"
    mkdir -p "$build.bin"
    for program in idlewave iw_make_recording iw_make_fleet; do # as cases call them
        printf '#!/bin/sh\nexec qemu-aarch64-static %s/cli/%s "$@"\n' "$build" $program >"$build.bin/$program"
        chmod +x "$build.bin/$program"
    done
    expect_same_bytes aarch64 "$build.bin"
}

check_clang() {
    clang --version | head -n 1
    build "$work/clang" -DCMAKE_C_COMPILER=clang
    run_tests "$work/clang"
    expect_same_bytes clang "$work/clang/cli"
}

# musl_library ROOT PACKAGE CONFIGURE_OPTION...: Debian's source, built by musl-gcc into /musl of a chroot
musl_library() {
    local root=$1 package=$2
    shift 2
    # shellcheck disable=SC2016 # by the inner shell
    logged "$root.$package.log" in_chroot "$root" sh -ec '
        package=$0
        mkdir -p /tmp/sources && cd /tmp/sources
        apt-get source -qq "$package" && cd "$package"-*/
        [ -e configure ] || autoreconf -fi
        CC=musl-gcc CFLAGS="-O2 -fPIC -I/musl/include" LDFLAGS=-L/musl/lib ./configure --prefix=/musl "$@"
        make -j2 && make install' "$package" "$@"
}

check_musl() {
    local root=$work/musl
    local verbs=(simulate schedule study) # its logarithms differ in the last digit, and so do intervals and fits
    if [ ! -e "$root.done" ]; then
        new_root musl
        sources "$(this_release)" | sed 's/^deb/deb-src/' >"$root/etc/apt/sources.list.d/sources.list"
        install_in "$root" automake ca-certificates ccache cmake dpkg-dev g++ gcc libc6-dev libtool linux-libc-dev librandom123-dev make musl-tools \
            ninja-build pkg-config python3
        # kernel headers, which musl leaves to others
        in_chroot "$root" sh -ec 'cd /usr/include/x86_64-linux-musl && ln -s ../linux ../asm-generic ../x86_64-linux-gnu/asm .
            mkdir -p /musl/include && ln -s /usr/include/Random123 /musl/include/'
        musl_library "$root" zlib --static
        musl_library "$root" jansson --disable-shared
        musl_library "$root" libyaml --disable-shared
        musl_library "$root" hwloc --disable-shared --enable-static --disable-libxml2 --disable-pci --disable-opencl --disable-cairo \
            --disable-libudev --disable-plugins
        musl_library "$root" hdf5 --disable-shared --disable-tests --disable-tools --disable-hl --with-zlib=/musl
        touch "$root.done"
    fi
    copy_source "$root"
    # HDF5 has no file for pkg-config that would name zlib
    logged "$work/musl.log" in_chroot "$root" sh -ec 'cd /source
        export PKG_CONFIG_LIBDIR=/musl/lib/pkgconfig
        cmake -G Ninja -B build -DCMAKE_C_COMPILER=musl-gcc -DCMAKE_EXE_LINKER_FLAGS=-static -DBUILD_TESTING=OFF -DIW_MPI=OFF -DIW_WERROR=ON \
            -DCMAKE_C_COMPILER_LAUNCHER=ccache -DRANDOM123_INCLUDE_DIR=/musl/include -DHDF5_ROOT=/musl -DHDF5_USE_STATIC_LIBRARIES=ON -DCMAKE_C_STANDARD_LIBRARIES=/musl/lib/libz.a
        cmake --build build -j 2 --target idlewave_cli'
    file -b "$root/source/build/cli/idlewave" | cut -d, -f1,2,4
    expect_same_bytes musl "$root/source/build/cli" 'iw_make_\|/traces/' # made by the tests' own programs, or OTF2
}

copy_source() { # ROOT: what is committed, into /source
    rm -rf "$1/source"
    mkdir "$1/source"
    git -C "$source" archive HEAD | tar -x -C "$1/source"
}

check_debian11() {
    local root=$work/debian11
    if [ ! -e "$root.done" ]; then
        new_root debian11 bullseye
        install_in "$root" ccache cmake file g++ gcc-9 ninja-build pkg-config python3 "${libraries[@]}" "${testing[@]}"
        touch "$root.done"
    fi
    copy_source "$root"
    # without -Werror: it warns of conversions that are none
    logged "$root.log" in_chroot "$root" sh -ec 'cd /source
        cmake -G Ninja -B build -DCMAKE_C_COMPILER=gcc-9 -DCMAKE_C_COMPILER_LAUNCHER=ccache
        cmake --build build -j 2'
    # shellcheck disable=SC2016 # by the inner shell; this ctest has no --test-dir
    logged "$root.tests.log" in_chroot "$root" sh -ec 'cd /source/build && exec ctest -j 2 "$@"' ctest "${exact[@]}"
    sed -n '/tests passed/p' "$root.tests.log"
}

[ $# -gt 0 ] || set -- aarch64 clang musl debian11
for port in "$@"; do
    say "$port"
    "check_$port"
done
