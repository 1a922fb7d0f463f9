# Chroots for check_packages.sh and check_ports.sh, which source this: made by mmdebstrap of packages from where apt of this machine
# gets them. All is in the folder $work.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154 # work is set by who sources this

say() { printf '\n-- %s\n' "$*"; }

this_release() { sed -n 's/^VERSION_CODENAME=//p' /etc/os-release; }

# sources [RELEASE]: of this machine's apt, as lines of sources.list; RELEASE: an older Debian, from the archive that has this one
sources() {
    # shellcheck disable=SC2016 # apt's own variables
    if [ $# -eq 0 ]; then
        apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sort -u
    else
        apt-get indextargets --format 'deb $(REPO_URI) RELEASE main' 'Created-By: Packages' "Release: $(this_release)" |
            sort -u | sed "s/RELEASE/$1/"
    fi
}

# in_chroot ROOT COMMAND...: with /proc, /sys and /dev, which vanish with it. NETWORK=no: without; CCACHE_DIR is there.
in_chroot() {
    local root=$1 unshared=(--mount --pid --fork)
    shift
    [ "${NETWORK:-yes}" = yes ] || unshared+=(--net)
    # shellcheck disable=SC2016 # by the inner shell
    unshare "${unshared[@]}" sh -ec '
        root=$0
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        if [ -n "${CCACHE_DIR:-}" ]; then
            mkdir -p "$root/ccache"
            mount --bind "$CCACHE_DIR" "$root/ccache"
        fi
        exec chroot "$root" env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive CCACHE_DIR=/ccache \
            PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin "$@"' "$root" "$@"
}

# new_root NAME [RELEASE]: a clean Debian in $work/NAME; RELEASE: an older one
new_root() {
    local base=$work/base${2:+.$2}.tar
    if [ ! -e "$base" ]; then
        say "a minimal Debian: ${2:-$(this_release)}"
        # shellcheck disable=SC2086 # none or one
        sources ${2:-} | mmdebstrap --quiet --format=tar --variant=minbase "${2:-$(this_release)}" "$base.new" -
        mv "$base.new" "$base"
    fi
    rm -rf "${work:?}/$1"
    mkdir "$work/$1"
    tar -xf "$base" -C "$work/$1" --exclude './dev/*'
    cp /etc/resolv.conf /etc/hosts "$work/$1/etc/"
    echo force-unsafe-io >"$work/$1/etc/dpkg/dpkg.cfg.d/unsafe-io" # nobody misses it after a crash
}

# logged LOG COMMAND...: its last lines are shown if it fails
logged() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 || {
        tail -40 "$log"
        return 1
    }
}

install_in() { # ROOT PACKAGE...
    local root=$1
    shift
    logged "$root.install.log" in_chroot "$root" apt-get update -qq
    logged "$root.install.log" in_chroot "$root" apt-get install -qq -y --no-install-recommends "$@"
}

if [ "$(id -u)" -ne 0 ]; then
    echo "error: chroots need root" >&2
    exit 1
fi
