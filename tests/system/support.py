"""What the tests on a live system share: recordings, bursts of known noise, tracefs, attempts.

SPDX-License-Identifier: BSD-3-Clause
"""

import argparse
import bisect
import collections
import contextlib
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
BURSTS_NAME = "iw-bursts"
TRACEFS_VARIABLE = "IW_TEST_TRACEFS"

Burst = collections.namedtuple("Burst", "start_ns end_ns due_ns")  # CLOCK_MONOTONIC_RAW
Run = collections.namedtuple("Run", "recording bursts pid text")  # pid, text: the recorder's
Detour = collections.namedtuple("Detour", "start_ns end_ns kind name")  # the same clock


class Skip(Exception):
    """This machine cannot run the test."""


def run_checks(purpose, checks):
    """The main program: each check is called with (idlewave, bursts, folder); exit code as run_case.py."""
    parser = argparse.ArgumentParser(description=purpose)
    parser.add_argument("--idlewave", required=True, type=pathlib.Path)
    parser.add_argument("--bursts", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    failed = skipped = 0
    for check in checks:
        with tempfile.TemporaryDirectory(prefix="iw_system_") as folder:
            os.chmod(folder, 0o777)  # other users record into it
            begin = time.monotonic()
            try:
                check(arguments.idlewave.resolve(), arguments.bursts.resolve(), pathlib.Path(folder))
                print(f"{check.__name__}: passed, {time.monotonic() - begin:.1f} s", flush=True)
            except Skip as reason:
                print(f"SKIPPED: {check.__name__}: {reason}", flush=True)
                skipped += 1
            except AssertionError as fault:
                print(f"{check.__name__}: FAILED, {fault}", flush=True)
                failed += 1
    if failed:
        return 1
    return SKIPPED if skipped == len(checks) else 0


def attempts(count, attempt):
    """Calls attempt() until it does not fail: the machine is shared, its noise may hide ours."""
    for number in range(count):
        try:
            return attempt()
        except AssertionError as fault:
            if number + 1 == count:
                raise
            print(f"RETRIED: attempt {number + 1} of {count}: {fault}", flush=True)
    return None


MOUNTING = 'mount -t tracefs tracefs "$0" && "$@"; code=$?; umount -l "$0"; exit $code'


def can_mount_tracefs():
    with tempfile.TemporaryDirectory(prefix="iw_tracefs_") as folder:
        command = ["unshare", "--mount", "sh", "-c", MOUNTING, folder, "true"]
        try:
            return subprocess.run(command, capture_output=True, check=False).returncode == 0
        except FileNotFoundError:
            return False


def with_tracefs():
    """Starts this program again where it alone sees tracefs, unless that has been done or is not allowed."""
    if TRACEFS_VARIABLE in os.environ or not can_mount_tracefs():
        return
    folder = tempfile.mkdtemp(prefix="iw_tracefs_")
    command = ["unshare", "--mount", "sh", "-c", MOUNTING, folder, sys.executable, "-B", *sys.argv]
    code = subprocess.run(command, env=dict(os.environ, **{TRACEFS_VARIABLE: folder}), check=False).returncode
    os.rmdir(folder)
    sys.exit(code)


def tracefs():
    """Where tracefs is mounted for this program; None: nowhere."""
    folder = os.environ.get(TRACEFS_VARIABLE)
    return pathlib.Path(folder) if folder else None


@contextlib.contextmanager
def trace_instance(cpu, events):
    """A folder of tracefs that collects events of one CPU on CLOCK_MONOTONIC_RAW; kinds that this kernel lacks
    are left out."""
    instance = tracefs() / "instances" / f"iwtest-{os.getpid()}"
    instance.mkdir()
    try:
        (instance / "trace_clock").write_text("mono_raw")
        (instance / "buffer_size_kb").write_text("8192")
        (instance / "tracing_cpumask").write_text(f"{1 << cpu:x}")
        for event in events:
            switch = instance / "events" / event / "enable"
            if switch.exists():
                switch.write_text("1")
        yield instance
    finally:
        (instance / "tracing_on").write_text("0")
        instance.rmdir()


def last_cpu():
    return max(os.sched_getaffinity(0))


def become(user):
    """For a child before it runs a program. At real-time priority ordinary processes do not push it aside; without
    the right to have it, nothing happens."""
    def prepare():
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
    return prepare


class Bursts:
    """Bursts of known noise: the arguments of bursts.c."""

    def __init__(self, program, folder, cpu, count, lengths_us, gaps_us, seed=1):
        self.log = folder / "bursts.log"
        self.command = [str(argument) for argument in (program, cpu, count, *lengths_us, *gaps_us, seed, BURSTS_NAME,
                                                       self.log)]

    def run(self):
        """The bursts."""
        done = subprocess.run(self.command, capture_output=True, text=True, check=True)
        return self.read(done.stderr)

    @contextlib.contextmanager
    def running(self):
        """Meanwhile; gives a list that has the bursts afterwards."""
        made = []
        with subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True) as process:
            try:
                yield made
            finally:
                process.terminate()
                made += self.read(process.communicate()[1])

    def read(self, errors):
        if "no real-time priority" in errors:
            raise Skip("bursts need real-time priority to take the CPU at once")
        return [Burst(*map(int, line.split())) for line in self.log.read_text().splitlines()]


class Recording:
    """A noise file as `noise show` tells it."""

    def __init__(self, idlewave, path):
        shown = show(idlewave, path, "json")
        self.about = json.loads(shown)
        self.attributes = self.about["attributes"]
        self.rung = self.about["rung"]
        self.zero_ns = int(self.attributes["start_raw_ns"])
        self.end_ns = self.zero_ns + min(cpu["length_ns"] for cpu in self.about["cpus"])
        self.detours = []
        for row in csv.DictReader(show(idlewave, path, "csv").splitlines()):
            start_ns = self.zero_ns + int(row["start_ns"])
            self.detours.append(Detour(start_ns, start_ns + int(row["duration_ns"]), row["class"], row["source"]))
        self.starts = [detour.start_ns for detour in self.detours]

    def overlapping(self, start_ns, end_ns):
        """The detour that shares most time with the interval; None if none does. Of one CPU only."""
        found, most_ns = None, 0
        place = bisect.bisect_left(self.starts, end_ns) - 1
        while place >= 0 and self.detours[place].end_ns > start_ns:
            detour = self.detours[place]
            shared_ns = min(end_ns, detour.end_ns) - max(start_ns, detour.start_ns)
            if shared_ns > most_ns:
                found, most_ns = detour, shared_ns
            place -= 1
        return found


def show(idlewave, path, form):
    done = subprocess.run([idlewave, "noise", "show", path, "--format", form], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, f"noise show {path} exits {done.returncode}: {done.stderr}"
    return done.stdout


def record_bursts(idlewave, bursts, options, seconds, user=None):
    """A recording by that user in which the bursts fall."""
    path = bursts.log.parent / "recording.h5"
    path.unlink(missing_ok=True)
    # some hosts hold a CPU up for a moment 200,000 times a second: room for detours would end before the bursts do
    command = [idlewave, "record", "--duration", f"{seconds}s", "--threshold", "60", "-o", path, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          preexec_fn=become(user)) as recorder:
        wait_until_measuring(recorder)
        made = bursts.run()
        text, errors = recorder.communicate()
    assert recorder.returncode == 0, f"record exits {recorder.returncode}: {errors}"
    recording = Recording(idlewave, path)
    inside = [burst for burst in made if recording.zero_ns <= burst.start_ns and burst.end_ns <= recording.end_ns]
    assert len(inside) >= 0.9 * len(made), f"only {len(inside)} of {len(made)} bursts lie in the time of the recording"
    return Run(recording, inside, recorder.pid, text)


def wait_until_measuring(recorder):
    """Until one of its threads has used the CPU for a while: it does nothing long before it measures."""
    ticks_per_second = os.sysconf("SC_CLK_TCK")
    for _ in range(1200):
        time.sleep(0.05)
        with contextlib.suppress(OSError):
            fields = pathlib.Path(f"/proc/{recorder.pid}/stat").read_text().rpartition(")")[2].split()
            if int(fields[11]) + int(fields[12]) > 0.5 * ticks_per_second:
                return
    raise AssertionError("record does not measure")


def share(values):
    """Of those that are true."""
    values = list(values)
    return sum(map(bool, values)) / len(values) if values else 0.0


def quantile(values, part):
    ordered = sorted(values)
    return ordered[int(part * (len(ordered) - 1))]
