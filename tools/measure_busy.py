#!/usr/bin/env python3
"""Measures what splitting ranks over threads costs beside other programs: seconds of one and of two threads, quiet and beside
busy loops.

SPDX-License-Identifier: BSD-3-Clause

Usage: measure_busy.py BUILD_DIR [--loops N] [--repeats N] [--threads N] [--before FILE] [--only NAME] [--most RATIO]
    BUILD_DIR is a release build. Ways are run in turns; medians and their ratios to one thread are printed.
    --before FILE    another idlewave to compare with, say of an earlier commit
    --only NAME      one of the programs
    --most RATIO     exit with 1 if more threads take longer than so many times one thread
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

NOISE = ("--noise", "periodic:1kHz,10us", "--net", "chic")
PROGRAMS = {
    "ring": ("--pattern", "allreduce:ring", "--ranks", "4096", *NOISE),
    "small ring": ("--pattern", "allreduce:ring", "--ranks", "1024", *NOISE),
    "dissemination": ("--pattern", "barrier:dissemination", "--ranks", "1Mi", *NOISE),
    "halo": ("--pattern", "halo2d+allreduce", "--ranks", "4096", "--bytes", "8", "--compute", "100us", "--repeat", "50", *NOISE),
    "bcast": ("--pattern", "bcast", "--ranks", "64Ki", "--repeat", "100", *NOISE),
}


LOOP = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"


class Loops:
    """Programs that do nothing but use the CPU, and end with whoever started them."""

    def __init__(self, count):
        self.count = count
        self.running = []

    def __enter__(self):
        self.running = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(self.count)]
        return self

    def __exit__(self, *_):
        for loop in self.running:
            loop.kill()
            loop.wait()


def run(command, words):
    """Seconds of a run, and its times."""
    begin = time.monotonic()
    done = subprocess.run([str(command), "simulate", "--format", "json", *words], capture_output=True, text=True, check=True,
                          timeout=600)
    seconds = time.monotonic() - begin
    result = json.loads(done.stdout)
    return seconds, (result["noiseless_ns"], result["makespan_ns"])


def measure(ways, program, loops, repeats):
    """The median seconds of each way; all must give the same times."""
    seconds = {name: [] for name in ways}
    times = []
    with Loops(loops):
        for _ in range(repeats):
            for name, (command, words) in ways.items():
                took, result = run(command, (*PROGRAMS[program], *words))
                seconds[name].append(took)
                times.append(result)
    assert all(result == times[0] for result in times), f"{program}: times differ"
    return {name: statistics.median(took) for name, took in seconds.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--loops", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--only", choices=PROGRAMS)
    parser.add_argument("--most", type=float)
    arguments = parser.parse_args()
    command = arguments.build / "cli" / "idlewave"
    many = ("--threads", str(arguments.threads))
    ways = {"1 thread": (command, ("--threads", "1")), f"{arguments.threads} threads": (command, many),
            f"{arguments.threads} threads, ranks": (command, (*many, "--parallel", "ranks"))}
    if arguments.before:
        ways["before, 1 thread"] = (arguments.before, ("--threads", "1"))
        ways[f"before, {arguments.threads} threads"] = (arguments.before, many)
    worst = 0.0
    for program in [arguments.only] if arguments.only else PROGRAMS:
        for loops in dict.fromkeys((0, arguments.loops)):
            medians = measure(ways, program, loops, arguments.repeats)
            one = medians["1 thread"]
            print(f"{program}, {loops} busy loops:", flush=True)
            for name, seconds in medians.items():
                print(f"  {name:24} {seconds:8.3f} s {seconds / one:6.2f} times 1 thread", flush=True)
            worst = max(worst, medians[f"{arguments.threads} threads"] / one)
    return 1 if arguments.most is not None and worst > arguments.most else 0


if __name__ == "__main__":
    sys.exit(main())
