#!/usr/bin/env python3
"""Kills recordings at random moments and looks for what they leave behind: nothing but readable files.

SPDX-License-Identifier: BSD-3-Clause

Usage: kill_test.py --idlewave PATH --bursts PATH
"""

import collections
import contextlib
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time

from support import Skip, run_checks, show, tracefs, with_tracefs

RECORDINGS = 50
AT_ONCE = 5
LATEST_SECONDS = 1.5  # later, if by then hardly any has begun
END_SECONDS = 90  # on an overloaded machine the kernel itself takes long to remove an instance or to write a file
SIGNALS = (signal.SIGKILL, signal.SIGSEGV, signal.SIGINT, signal.SIGTERM)
OPTIONS = ([], ["--attribution", "switches"], ["--under", "sleep 100 & sleep 100"],
           ["--attribution", "switches", "--under", "sleep 100 & sleep 100"])
# The sanitizer's own handler may wait for ever for a lock of the thread that it interrupts.
SANITIZER = {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:handle_segv=0".lstrip(":")}
MARK = "IW_KILL_TEST"  # an environment variable by which all that we start is known, whatever becomes of it


class Victim:
    def __init__(self, number, process, output):
        self.number = number
        self.process = process
        self.output = output
        self.signal = SIGNALS[number % len(SIGNALS)]
        self.errors = ""

    def __str__(self):
        return f"recording {self.number} (process {self.process.pid}, {self.signal.name})"


def start(idlewave, folder, number):
    output = folder / f"{number}.h5"
    options = OPTIONS[number // len(SIGNALS) % len(OPTIONS)]
    cpus = sorted(os.sched_getaffinity(0))
    process = subprocess.Popen([idlewave, "record", "--duration", "60s", "--cpus", str(cpus[number % len(cpus)]),
                                "-o", output, *options],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **SANITIZER, MARK: str(os.getpid())},
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
    return Victim(number, process, output)


def marked_processes():
    """(process id, its state) of what we have started, directly or not."""
    mark = f"{MARK}={os.getpid()}".encode()
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0") and int(entry.name) != os.getpid():
                name, state = ((entry / "stat").read_text().partition("(")[2].rpartition(")")[::2])
                found.append((int(entry.name), f"{name}, {state.split()[0]}, {(entry / 'wchan').read_text()}"))
        except OSError:  # has ended meanwhile
            continue
    return found


def end_all(processes):
    for process, _ in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def instances(victims):
    """Of tracefs, left by these."""
    names = {f"idlewave-{victim.process.pid}" for victim in victims}
    return [entry.name for entry in (tracefs() / "instances").iterdir() if entry.name in names]


def soon(find, seconds):
    """What find() finds once it finds nothing, or after so long."""
    deadline = time.monotonic() + seconds
    while (found := find()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def kill_some(victims, delays):
    """Each after its delay since the start of the first."""
    begin = time.monotonic()
    for delay, victim in sorted(zip(delays, victims), key=lambda pair: pair[0]):
        time.sleep(max(0.0, begin + delay - time.monotonic()))
        victim.process.send_signal(victim.signal)
    for victim in victims:
        try:
            victim.errors = victim.process.communicate(timeout=END_SECONDS)[1]
        except subprocess.TimeoutExpired:
            left = marked_processes()
            end_all(left)
            raise AssertionError(f"{victim} or what it has started does not end: {left}") from None


def check_gone(victims):
    try:
        left = soon(marked_processes, END_SECONDS)
        assert not left, f"still running after {', '.join(map(str, victims))}: {left}"
    finally:
        end_all(marked_processes())
    if tracefs() is not None:
        left = soon(lambda: instances(victims), END_SECONDS)
        assert not left, f"left in tracefs: {left}"


def check_file(idlewave, victim, outcomes):
    if victim.output.exists():
        show(idlewave, victim.output, "json")
        outcomes["readable"] += 1
    else:
        outcomes["no file"] += 1
    polite = victim.signal in (signal.SIGINT, signal.SIGTERM)
    remains = list(victim.output.parent.glob(f"{victim.output.name}?*"))
    outcomes["unfinished file"] += len(remains)
    # A signal before the program has begun to listen to it ends it at once.
    if polite and victim.process.returncode != -victim.signal:
        assert not remains, f"{victim} leaves {remains}"
        assert victim.process.returncode in (0, 1), f"{victim} exits {victim.process.returncode}: {victim.errors}"


def killed_recordings_leave_nothing(idlewave, _bursts, folder):
    if os.geteuid() != 0:
        raise Skip("this needs root: others leave nothing in the first place")
    drawn = random.Random(1)
    cpus, parents_cpus = os.sched_getaffinity(0), os.sched_getaffinity(os.getppid())
    outcomes, latest = collections.Counter(), LATEST_SECONDS
    for first in range(0, RECORDINGS, AT_ONCE):
        victims = [start(idlewave, folder, number) for number in range(first, first + AT_ONCE)]
        kill_some(victims, [drawn.uniform(0.0, latest) for _ in victims])
        check_gone(victims)
        for victim in victims:
            check_file(idlewave, victim, outcomes)
        if outcomes["readable"] < (first + AT_ONCE) / 3:  # a busy machine begins late
            latest = min(1.5 * latest, 20.0)
    assert os.sched_getaffinity(0) == cpus, "the affinity of this process has changed"
    assert os.sched_getaffinity(os.getppid()) == parents_cpus, "the affinity of the parent has changed"
    print(f"{RECORDINGS} killed, the last of them in {latest:.1f} s: {dict(outcomes)}")
    assert outcomes["readable"] >= RECORDINGS / 5, "hardly any recording had begun"


if __name__ == "__main__":
    with_tracefs()
    sys.exit(run_checks("Kills recordings and looks for remains.", (killed_recordings_leave_nothing,)))
