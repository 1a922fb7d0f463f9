#!/bin/bash
# Trains under a real PyTorch on CPUs, profiled by the snippet of the tutorial as it is printed, and asks idlewave who made whom wait:
# the rank that collects garbage, and the one whose batches come late.
#   torch_test.sh IDLEWAVE [RELEASE]
# PyTorch is this machine's, if that has Kineto, else that of a Debian RELEASE (trixie) in a chroot, made of packages from where apt of
# this machine gets them.
# SPDX-License-Identifier: BSD-3-Clause
set -euo pipefail

idlewave=$1
release=${2:-trixie}
sources=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/torch.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' HUP INT TERM

has_kineto='import sys, torch.profiler; sys.exit(not torch.profiler.kineto_available())'
if /usr/bin/python3 -c "$has_kineto" 2>/dev/null; then
    folder=$work/run
    mkdir "$folder"
    train() { (cd "$folder" && timeout 300 /usr/bin/python3 -B "$sources/tests/support/torch_training.py" "$sources/docs/tutorials/training-jitter.md" "$@"); }
elif [ "$(id -u)" -eq 0 ] && command -v mmdebstrap >/dev/null; then
    # shellcheck source=tools/chroot.sh
    . "$sources/tools/chroot.sh"
    new_root root "$release"
    install_in "$work/root" python3-torch
    folder=$work/root/training
    mkdir "$folder"
    cp "$sources/tests/support/torch_training.py" "$sources/docs/tutorials/training-jitter.md" "$folder"
    # shellcheck disable=SC2016 # by the inner shells
    train() { timeout 300 unshare --mount --pid --fork --kill-child sh -ec '
        mount -t proc proc "$0/proc"
        mount --rbind /dev "$0/dev"
        exec chroot "$0" env -i PATH=/usr/bin:/bin sh -c "cd /training && exec python3 -B torch_training.py training-jitter.md \"\$@\"" sh "$@"' "$work/root" "$@"; }
else
    echo "SKIPPED: PyTorch: none with Kineto here, and no root or mmdebstrap to get one"
    exit 77
fi

# named WHO PAUSE CAUSE: a pause of WHO is told by its cause. On a busy machine another rank may be late too: three tries.
named() {
    local try answer
    for try in 1 2 3; do
        rm -rf "$folder/profiles"
        train --pause "$2" --active 30 2>"$work/train.log" || {
            tail -20 "$work/train.log"
            return 1
        }
        answer=$("$idlewave" waits "$folder/profiles")
        if grep -q "^Without $3 on $1 a step would be" <<<"$answer"; then
            sed -n '1,/^$/p' <<<"$answer"
            return 0
        fi
        echo "RETRIED: $3: $1 was not named in try $try"
        sed -n '1,/^$/p' <<<"$answer"
    done
    return 1
}

named "rank 1" gc "garbage collection"
named "rank 1" loader "data loading"
"$idlewave" simulate "$folder/profiles" | sed -n 1,4p
