"""One simulation on any number of processes gives the bytes of the run without MPI: what is run, and the comparison.

SPDX-License-Identifier: BSD-3-Clause
"""

import dataclasses
import hashlib
import json
import pathlib
import subprocess
import tempfile
import time

import run_mpi

GRAPH = pathlib.Path(__file__).resolve().parent.parent / "data/graphs/irregular.goal"
TRACE = pathlib.Path(__file__).resolve().parent.parent / "data/traces/liballprof-openmpi"
NOISE = ("--noise", "periodic:1kHz,20us", "--noise", "poisson:300Hz,exp:50us")
RARE_NOISE = ("--noise", "periodic:10Hz,500us", "--noise", "poisson:3Hz,exp:1ms")  # where simulated time is long
# What may differ: how it was run, and what that cost.
RUN_KEYS = ("lanes", "threads", "processes", "parallel", "engine_seconds", "messages_per_second", "peak_rss_bytes",
            "command")


@dataclasses.dataclass(frozen=True)
class Case:
    """What is simulated; the delay is in the middle."""
    name: str
    ranks: int
    options: tuple
    noise: tuple = NOISE
    is_graph: bool = False  # which says itself how many ranks it has

    def command(self, idlewave, trials):
        delays = ["--delay", f"rank={self.ranks // 2},time=3ms", "--delay", f"rank={self.ranks - 1},time=1ms"]
        ranks = [] if self.is_graph else ["--ranks", self.ranks]
        return [idlewave, "simulate", *self.options, *ranks, "--net", "chic", *self.noise, *delays, "--trials", trials, "--seed",
                7, "--format", "json"]


def pattern(name, ranks, operations, *options, noise=NOISE):
    return Case(name, ranks, ("--pattern", "+".join(operations), "--compute", "200us", *options), noise)


@dataclasses.dataclass(frozen=True)
class Way:
    """How it is run."""
    processes: int
    threads: int
    lanes: int
    parallel: str = "ranks"

    def options(self):
        return ["--threads", self.threads, "--lanes", self.lanes, "--parallel", self.parallel]


def read(out, ends):
    """(what must be the same, how it was run)"""
    result = json.loads(out)
    run = {key: result.pop(key, None) for key in RUN_KEYS}
    digest = hashlib.sha256()
    with open(ends, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return (result, digest.hexdigest()), run


def run_alone(command, ends):
    done = subprocess.run([str(word) for word in [*command, "--end-times", ends, "--threads", 1, "--lanes", 1, "--parallel",
                                                  "trials"]], check=True, capture_output=True, text=True)
    return read(done.stdout, ends)[0]


def run_together(mpi, command, way, ends, timeout):
    done = run_mpi.launch(mpi, way.processes, [*command, "--end-times", ends, *way.options()], timeout=timeout)
    assert done.returncode == 0, f"{way}: {' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr}"
    same, run = read(done.stdout, ends)
    assert (run["processes"], run["parallel"]) == (way.processes, way.parallel), f"{way}: {run}"
    if way.parallel == "ranks":
        assert (run["threads"], run["lanes"]) == (way.threads, way.lanes), f"{way}: {run}"
    return same


def compare(arguments, cases, ways_of, trials, timeout=run_mpi.TIMEOUT_SECONDS):
    """Each case in each of its ways; says what it did."""
    with tempfile.TemporaryDirectory(prefix="iw_matrix_") as folder:
        ends = pathlib.Path(folder) / "ends.csv"
        for case in cases:
            command = case.command(arguments.idlewave.resolve(), trials)
            expected = run_alone(command, ends)
            begin = time.monotonic()
            ways = ways_of(case)
            for way in ways:
                ends.unlink()
                same = run_together(arguments.mpi, command, way, ends, timeout)
                assert same == expected, f"{case.name}, {way}: other times than without MPI:\n{' '.join(map(str, command))}"
            print(f"{case.name} on {case.ranks} ranks: {len(ways)} ways alike, {time.monotonic() - begin:.1f} s", flush=True)
