#!/usr/bin/env python3
"""Shows that `record` names what took the CPU: as root by kernel events, as anybody else by context switches.

SPDX-License-Identifier: BSD-3-Clause

Usage: attribution_test.py --idlewave PATH --bursts PATH
"""

import os
import shutil
import sys

from support import (BURSTS_NAME, Bursts, Skip, attempts, can_mount_tracefs, last_cpu, record_bursts, run_checks,
                     share)

NOBODY = 65534


def record(idlewave, bursts, folder, user=None):
    cpu = last_cpu()
    plan = Bursts(bursts, folder, cpu, 1000, (50, 500), (1500, 3500))
    return record_bursts(idlewave, plan, ["--cpus", str(cpu)], 4, user)


def check_matched(recording):
    """What the kernel reports falls into detours."""
    events, matched, lost = (int(recording.attributes[name])
                             for name in ("kernel_events", "kernel_events_matched", "kernel_events_lost"))
    print(f"rung {recording.rung}: {matched} of {events} kernel events in detours, {lost} lost")
    assert events >= 1000, f"only {events} kernel events"
    assert lost == 0, f"{lost} kernel events were lost"
    assert matched >= 0.95 * events, f"only {matched} of {events} kernel events are in detours"


def detours_of(run):
    """Of the bursts that are most of their detour: the kernel may also let others run before and after them."""
    found = []
    for burst in run.bursts:
        detour = run.recording.overlapping(burst.start_ns, burst.end_ns)
        if detour and burst.end_ns - burst.start_ns > (detour.end_ns - detour.start_ns) / 2:
            found.append(detour)
    assert len(found) >= 0.9 * len(run.bursts), f"only {len(found)} of {len(run.bursts)} bursts had the CPU at once"
    return found


def root_learns_names(idlewave, bursts, folder):
    if os.geteuid() != 0 or not can_mount_tracefs():
        raise Skip("this needs root and tracefs")

    def attempt():
        run = record(idlewave, bursts, folder)
        assert run.recording.rung in ("tracefs", "osnoise"), f"the rung is {run.recording.rung}"
        check_matched(run.recording)
        found = detours_of(run)
        named = share(detour.kind == "thread" and detour.name == BURSTS_NAME for detour in found)
        print(f"{named:.2%} of {len(found)} bursts have their name")
        assert named >= 0.99, f"only {named:.2%} of the bursts have their name"

    attempts(3, attempt)


def others_learn_of_switches(idlewave, bursts, folder):
    if os.geteuid() != 0:
        raise Skip("only root can become somebody else and make bursts")
    program = folder / "idlewave"  # the build may lie where others may not look
    shutil.copy(idlewave, program)

    def attempt():
        run = record(program, bursts, folder, NOBODY)
        assert run.recording.rung == "switches", f"the rung is {run.recording.rung}"
        check_matched(run.recording)
        found = detours_of(run)
        threads = share(detour.kind == "thread" for detour in found)
        print(f"{threads:.2%} of {len(found)} bursts are known to be threads")
        assert threads >= 0.99, f"only {threads:.2%} of the bursts are known to be threads"
        told = "because these failed: osnoise, tracefs"
        assert told in run.text, f"the text does not tell of the fall-back:\n{run.text}"

    attempts(3, attempt)


if __name__ == "__main__":
    sys.exit(run_checks("Compares the names in recordings with what really ran.",
                        (root_learns_names, others_learn_of_switches)))
