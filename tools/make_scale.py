#!/usr/bin/env python3
"""Remakes the measured tables of docs/explanation/scale.md, which are in docs/validation/data: what an exchange costs, by 1 and 2
threads and processes.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_scale.py BUILD_DIR [--data DIR] [--only NAME]
    BUILD_DIR is a release build without sanitizers. Needs Open MPI and MPICH, two cores that nobody else uses, and
    root for the two network namespaces (that row is left out otherwise). Takes about 10 minutes.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

import data_page

sys.path.insert(0, str(data_page.ROOT / "tests" / "mpi"))
import net_support  # noqa: E402

NOISE = ("--noise", "periodic:0.5Hz,220us", "--net", "altix")
COLLECTIVE = ("--pattern", "barrier:dissemination", *NOISE)
APPLICATION = ("--pattern", "halo2d+allreduce", "--ranks", "32768", "--bytes", "8", "--net", "chic", "--compute", "100us",
               "--repeat", "200", "--noise", "periodic:1000Hz,16us")
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
REPEATS = 5


def simulate(arguments, *words, before=()):
    """The JSON of a simulation, without the end times of its ranks."""
    line = [*before, str(arguments.idlewave), "simulate", "--format", "json", *words]
    done = subprocess.run(line, capture_output=True, text=True, timeout=3600, check=False, env=ENVIRONMENT)
    print(" ".join(line), done.returncode, done.stderr[-300:], flush=True)
    if done.returncode != 0:
        raise SystemExit(f"failed: {' '.join(line)}")
    return json.loads(done.stdout)


def best(arguments, *words, before=(), repeats=REPEATS):
    """Engine seconds of the fastest of some runs: whatever else goes on only adds."""
    return min((simulate(arguments, *words, before=before) for _ in range(repeats)), key=lambda result: result["engine_seconds"])


WORK = {
    "dissemination, 2^22 ranks, 12 trials": (*COLLECTIVE, "--ranks", "4Mi", "--trials", "12", "--lanes", "1"),
    "halo2d+allreduce, 32,768 ranks, 124.5 M messages": APPLICATION,
}
ALONE = ("--threads", "1", "--parallel", "trials")
TOGETHER = ("--threads", "1", "--parallel", "ranks")


def side_by_side(arguments, words):
    """Seconds of two runs at once that share nothing but the machine: the slower one."""
    line = [str(arguments.idlewave), "simulate", "--format", "json", *words, *ALONE]
    runs = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True) for _ in range(2)]  # pylint: disable=consider-using-with
    return max(json.loads(run.communicate(timeout=3600)[0])["engine_seconds"] for run in runs)


def process_rows(arguments, words):
    """Rounds of all ways one after the other, so that those of a round meet the same weather; medians of the seconds, and of
    the ratios inside a round."""
    ways = {
        "1 process, 1 thread": lambda: simulate(arguments, *words, *ALONE)["engine_seconds"],
        "1 process, 2 threads": lambda: simulate(arguments, *words, "--threads", "2", "--parallel", "ranks")["engine_seconds"],
        "Open MPI, 2 processes": lambda: simulate(arguments, *words, *TOGETHER, before=("mpirun.openmpi", "-n", "2"))["engine_seconds"],
        "MPICH, 2 processes": lambda: simulate(arguments, *words, *TOGETHER, before=("mpirun.mpich", "-n", "2"))["engine_seconds"],
        "two separate runs at once, half: what 2 cores can give": lambda: side_by_side(arguments, words) / 2,
    }
    rounds = []
    for _ in range(REPEATS):
        seconds = {way: run() for way, run in ways.items()}
        again = ways["1 process, 1 thread"]()
        seconds["1 process, 1 thread"] = (seconds["1 process, 1 thread"] + again) / 2
        rounds.append(seconds)
    return [(way, f"{statistics.median(one[way] for one in rounds):.3g}",
             f"{statistics.median(one['1 process, 1 thread'] / one[way] for one in rounds):.2f}") for way in ways]


def process_table(arguments):
    rows = [(name, *row) for name, words in WORK.items() for row in process_rows(arguments, words)]
    return data_page.table(("what", "by", "engine, s (median)", "times faster (median of ratios)"), rows)


def host_seconds(arguments, hosts, mpi, words):
    line = hosts.line(mpi, 1, [arguments.idlewave.resolve(), "simulate", "--format", "json", *words, *TOGETHER])
    code, out, err = net_support.run_until(line, net_support.HOSTS_ENVIRONMENT[mpi], net_support.is_json, 300)
    if code != 0:
        raise SystemExit(f"failed between hosts: {err}")
    return json.loads(out)["engine_seconds"]


def host_table(arguments):
    """Through TCP between two network namespaces."""
    if not net_support.can_have_hosts():
        return "(network namespaces need root)"
    rows = []
    with net_support.Hosts() as hosts:
        for name, words in WORK.items():
            alone = best(arguments, *words, *ALONE)["engine_seconds"]
            for mpi in ("openmpi", "mpich"):
                seconds = min(host_seconds(arguments, hosts, mpi, words) for _ in range(3))
                rows.append((name, mpi, f"{seconds:.3g}", f"{alone / seconds:.2f}"))
    return data_page.table(("what", "MPI", "engine, s", "times as fast as one process"), rows)


TABLES = {
    "processes": ("Cost of simulations by threads and processes", process_table),
    "hosts": ("Cost of simulations between two hosts", host_table),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", choices=TABLES)
    data_page.add_option(parser)
    arguments = parser.parse_args()
    arguments.idlewave = arguments.build / "cli" / "idlewave"
    for name, (title, make) in TABLES.items():
        if arguments.only in (None, name):
            data_page.write(arguments.data, f"scale-{name}", title, "make_scale.py", "explanation/scale.md", make(arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
