"""What the tests of `watch` share: jobs that wait for their signal, and a watcher that sees them.

SPDX-License-Identifier: BSD-3-Clause
"""

import json
import pathlib
import re
import subprocess
import sys
import time

from support import Skip

# A job that is ready, waits for a line on its standard input, works for so many seconds, and waits again: `work` is called.
JOB = """
import os, sys, time
def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
def work():
    {work}
print("ready", flush=True)
sys.stdin.readline()
work()
print("done", flush=True)
sys.stdin.readline()
"""


class Job:
    """Processes that do the same, stopped before and after their work."""

    def __init__(self, count, work, cpu=None):
        command = [sys.executable, "-c", JOB.format(work=work)]
        if cpu is not None:
            command = ["taskset", "-c", str(cpu), *command]
        self.processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                          for _ in range(count)]
        self.pids = [process.pid for process in self.processes]

    def __enter__(self):
        for process in self.processes:
            process.stdout.readline()  # ready
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.communicate()

    def start(self):
        for process in self.processes:
            process.stdin.write("\n")
            process.stdin.flush()

    def finish(self):
        for process in self.processes:
            process.stdout.readline()

    def schedstat(self):
        """Seconds of all: run, waited; and how often they got a CPU."""
        rows = [pathlib.Path(f"/proc/{pid}/schedstat").read_text().split() for pid in self.pids]
        return [sum(int(row[i]) for row in rows) * scale for i, scale in enumerate((1e-9, 1e-9, 1))]


class Watcher:
    """`watch`, from the moment on in which it sees everything."""

    def __init__(self, idlewave, folder, options, prefix=()):
        self.file = folder / "watched.h5"
        self.file.unlink(missing_ok=True)
        self.process = subprocess.Popen([*prefix, idlewave, "watch", "--no-config", *map(str, options), "--format", "json", "-o",
                                         self.file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while self.process.poll() is None and not self.file.exists():
            time.sleep(0.02)
        if self.process.poll():  # it failed; a short watch may have ended already
            errors = self.process.communicate()[1]
            if any(words in errors for words in ("watching needs", "this build of idlewave cannot watch", "the kernel refuses")):
                raise Skip(errors.strip().splitlines()[-1])
            raise AssertionError(f"watch exits {self.process.returncode}: {errors}")

    def end(self):
        self.process.terminate()  # SIGINT is ignored by what a script starts in the background
        return self.finish()

    def finish(self):
        """Without a signal: its duration is over, or its job has ended."""
        text, self.errors = self.process.communicate()
        assert self.process.returncode == 0, f"watch exits {self.process.returncode}: {self.errors}"
        result = json.loads(text)
        hold_together(result["watch"])
        return result


def hold_together(watch):
    """No CPU was wanted for longer than it was watched, and totals are sums."""
    cpus, totals = watch["cpus"], watch["totals"]
    assert all(cpu["wanted_ns"] <= watch["watched_ns"] for cpu in cpus), (watch["watched_ns"], cpus)
    assert all(cpu["lost_ns"] <= cpu["wanted_ns"] for cpu in cpus), cpus
    for key in ("wanted_ns", "lost_ns", "detours"):
        assert sum(cpu[key] for cpu in cpus) == totals[key], (key, totals, cpus)
    # an interrupt that comes while a softirq's end is counted may give both the same moment
    of_sources = sum(source["time_ns"] for source in watch["sources"])
    assert abs(of_sources - totals["lost_ns"]) <= 0.01 * totals["lost_ns"], (totals, watch["sources"])


def pid_option(job):
    return ["--pid", ",".join(map(str, job.pids))]


# A detour that is told as it ends.
LINE = re.compile(r"^(\d+)\.(\d{9}) s, CPU (\d+): \S+ \S+, (.*)$")
