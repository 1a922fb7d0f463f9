#!/usr/bin/env python3
"""A simulation with restart points, killed at random moments, goes on to the same bytes: a process of two is killed (kill -9), the
next run has another number of processes. --only often: some more times.

SPDX-License-Identifier: BSD-3-Clause
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import run_mpi
from simulate_matrix import NOISE, TRACE

CASES = {  # how often each is killed with --only often, and what it is
    "dissemination": (10, ["--pattern", "barrier:dissemination", "--ranks", "32Ki", "--repeat", "30", "--compute", "10us"]),
    "halo and allreduce": (5, ["--pattern", "halo2d+allreduce", "--ranks", "4096", "--bytes", "20KiB", "--repeat", "100", "--compute",
                           "10us", "--trials", "2", "--lanes", "2"]),
    "extrapolated trace": (5, [TRACE, "--ranks", "16Ki", "--trials", "4", "--lanes", "2"]),
}


def outcome(text):
    """What must be the same."""
    result = json.loads(text)
    return {key: result[key] for key in ("makespan_ns", "noiseless_ns", "messages", "trials", "slowdown")}


def children_of(pid):
    """All descendants, youngest last."""
    found = []
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(word) for word in path.read_text(encoding="ascii").split()]
        except OSError:
            continue
    return found + [deeper for child in found for deeper in children_of(child)]


def is_idlewave(pid, idlewave):
    try:
        return pathlib.Path(f"/proc/{pid}/exe").resolve() == idlewave
    except OSError:
        return False


def kill_one(process, idlewave, generator):
    """Kills one of the simulation's processes; the launcher ends the others."""
    pids = [pid for pid in children_of(process.pid) if is_idlewave(pid, idlewave)]
    if pids:
        try:
            os.kill(generator.choice(pids), signal.SIGKILL)
        except ProcessLookupError:
            pass


def newest_ns(points):
    """When a restart point was last written."""
    try:
        return max((path.stat().st_mtime_ns for path in points.rglob("*")), default=0)
    except FileNotFoundError:  # replaced by the next one
        return newest_ns(points)


def wait_for_point(process, points):
    """Until it has gone on from where it was, or ends."""
    before_ns = newest_ns(points)
    while process.poll() is None and newest_ns(points) == before_ns:
        time.sleep(0.01)


def run_and_kill(mpi, processes, command, idlewave, generator, points):
    """True: it was killed before its end."""
    line = [run_mpi.launcher(mpi), "-n", str(processes), *command]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=run_mpi.environment(), text=True,
                          start_new_session=True) as process:
        wait_for_point(process, points)
        try:
            process.communicate(timeout=generator.uniform(0, 0.1))
            return False
        except subprocess.TimeoutExpired:
            kill_one(process, idlewave, generator)
        try:
            process.communicate(timeout=run_mpi.TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return process.returncode != 0


def check(arguments, name, folder, generator):
    idlewave = arguments.idlewave.resolve()
    wanted, options = CASES[name]
    if "often" not in arguments.only:
        wanted = 3  # with 1, 2 and 3 processes
    plain = [str(word) for word in (idlewave, "simulate", *options, *NOISE, "--seed", 5, "--threads", 1, "--format", "json")]
    expected = outcome(subprocess.run(plain, check=True, capture_output=True, text=True).stdout)
    command = [*plain, "--checkpoint", str(folder / "points"), "--checkpoint-every", "0s"]
    kills = 0
    for attempt in range(3 * wanted):
        kills += run_and_kill(arguments.mpi, 1 + attempt % 3, command, idlewave, generator, folder / "points")
        if kills >= wanted:
            break
    done = run_mpi.launch(arguments.mpi, 2, command)
    assert done.returncode == 0, done.stderr
    assert outcome(done.stdout) == expected, f"{name}: other times after {kills} kills"
    assert not (folder / "points").exists(), "the checkpoints are still there"
    print(f"{name}: the same after {kills} kills", flush=True)
    assert kills > 0, f"{name}: never killed in time"


def main():
    arguments = run_mpi.test_arguments(__doc__)
    seed = int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}")
    for name in CASES:
        with tempfile.TemporaryDirectory(prefix="iw_kill_") as folder:
            check(arguments, name, pathlib.Path(folder), random.Random(seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
