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
    "dissemination": (10, ["--pattern", "barrier:dissemination", "--ranks", "128Ki", "--repeat", "30", "--compute", "10us"]),
    "halo and allreduce": (5, ["--pattern", "halo2d+allreduce", "--ranks", "4096", "--bytes", "20KiB", "--repeat", "300", "--compute",
                           "10us", "--trials", "2", "--lanes", "2"]),
    "extrapolated trace": (5, [TRACE, "--ranks", "64Ki", "--trials", "4", "--lanes", "2"]),
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


def run_and_kill(mpi, processes, command, idlewave, generator, seconds):
    """True: it was killed before its end."""
    line = [run_mpi.launcher(mpi), "-n", str(processes), *command]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=run_mpi.environment(), text=True,
                          start_new_session=True) as process:
        try:
            process.communicate(timeout=generator.uniform(0.2, seconds))
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
        wanted = 2
    plain = [str(word) for word in (idlewave, "simulate", *options, *NOISE, "--seed", 5, "--threads", 1, "--format", "json")]
    begin = time.monotonic()
    expected = outcome(subprocess.run(plain, check=True, capture_output=True, text=True).stdout)
    seconds = 1.0 + time.monotonic() - begin
    command = [*plain, "--checkpoint", str(folder / "points"), "--checkpoint-every", "0s"]
    kills = 0
    for attempt in range(3 * wanted):
        kills += run_and_kill(arguments.mpi, 1 + attempt % 3, command, idlewave, generator, seconds)
        if kills >= wanted:
            break
    done = run_mpi.launch(arguments.mpi, 2, command)
    assert done.returncode == 0, done.stderr
    assert outcome(done.stdout) == expected, f"{name}: other times after {kills} kills"
    assert not (folder / "points").exists(), "the restart points are still there"
    print(f"{name}: the same after {kills} kills; {seconds - 1:.2f} s without", flush=True)
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
