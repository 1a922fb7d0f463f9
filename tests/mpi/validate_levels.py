#!/usr/bin/env python3
"""Compares what `simulate` predicts from one run of `net` on two hosts, with the levels that it found, with what real messages
inside a host, between hosts, and both at once take.

SPDX-License-Identifier: BSD-3-Clause

Usage: validate_levels.py --idlewave PATH --programs FOLDER [--mpi openmpi|mpich ...] [--rounds 3] [--duration 8s]
                          [--delay-us 2000] [--mbit 200]
    As root: the hosts are network namespaces with two ranks each; a cable (cable.c) delays packets between them and limits
    their rate. FOLDER has cable and <mpi>/level_mix (tests/mpi/bin of a build folder). `net` and the program run in turn.
    A case is judged by the median of all runs; its intervals are the least and the most of them.

Exit code: 0 all within 15 %, 2 some not.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import net_support
import run_mpi

WITHIN = 0.15
STEPS = 4
ROUNDS_OF_PROGRAM = 9
LARGEST = 1 << 15
ROWS = 20  # of the program's output
CASES = {  # what is simulated, and of how many messages in a row one counts
    "inside": (["--pattern", "pingpong", "--ranks", "2"], 2),
    "outside": (["--pattern", "pingpong", "--ranks", "2", "--net-level", "network"], 2),
    "halo": (["--pattern", "halo1d", "--ranks", "4"], 1),
    "allreduce": (["--pattern", "allreduce:recursive-doubling", "--ranks", "4"], 1),
    "alltoall": (["--pattern", "alltoall:linear", "--ranks", "4"], 1),
}


def predict_ns(idlewave, yaml, case, size):
    options, messages = CASES[case]
    line = [idlewave, "simulate", *options, "--bytes", str(size), "--repeat", str(STEPS), "--net", yaml, "--format", "json"]
    done = subprocess.run(line, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["makespan_ns"]["median"] / STEPS / messages


def before_others(command):
    """net_support.before_others() in words that no shell on the way to a host takes apart."""
    return ["nice", "-n", "-20", *command]


def run_hosts(hosts, mpi, command, is_complete):
    net_support.wait_until_quiet()
    code, out, err = net_support.run_until(hosts.line(mpi, 2, command), net_support.HOSTS_ENVIRONMENT[mpi], is_complete, 200)
    assert code == 0, f"{' '.join(map(str, command))} ended with {code}: {err}"
    return out


def run_program(hosts, arguments, mpi):
    """Median times in ns by (case, size)."""
    command = before_others([str(arguments.programs / mpi / "level_mix"), str(ROUNDS_OF_PROGRAM), str(LARGEST)])
    out = run_hosts(hosts, mpi, command, lambda text: net_support.has_rows(text, ROWS))
    rows = [line.split() for line in out.splitlines()]
    return {(row[0], int(row[1])): float(row[2]) for row in rows}


def run_net(hosts, arguments, mpi, yaml):
    command = before_others([str(arguments.idlewave), "net", "-o", str(yaml), "--duration", arguments.duration,
                             "--max-size", "64KiB", "--calls", arguments.calls, "--format", "json"])
    run_hosts(hosts, mpi, command, net_support.is_json)


def spread(values):
    return {"median": statistics.median(values), "low": min(values), "high": max(values)}


def measure(arguments, mpi):
    """Rows of one MPI: measured and predicted, each with its interval, and their ratio."""
    measured, predicted = [], []
    with net_support.Hosts((arguments.programs / "cable", arguments.delay_us, arguments.mbit)) as hosts, \
            tempfile.TemporaryDirectory(prefix="iw_levels_") as folder:
        for number in range(arguments.rounds):
            yaml = pathlib.Path(folder) / f"{number}.yaml"
            run_net(hosts, arguments, mpi, yaml)
            measured.append(run_program(hosts, arguments, mpi))
            predicted.append({key: predict_ns(arguments.idlewave, yaml, *key) for key in measured[0]})
    rows = []
    for case, size in measured[0]:
        real, guess = (spread([run[case, size] for run in runs]) for runs in (measured, predicted))
        rows.append({"mpi": mpi, "case": case, "bytes": size, "measured_ns": real, "predicted_ns": guess,
                     "ratio": guess["median"] / real["median"]})
    return rows


def is_within(row):
    return abs(row["ratio"] - 1) <= WITHIN


def print_table(rows):
    print(f"{'MPI':8} {'case':10} {'bytes':>6} {'measured':>28} {'predicted':>28} {'ratio':>6}")
    for row in rows:
        times = [f"{time['median'] / 1e3:9.1f} us [{time['low'] / 1e3:.1f}, {time['high'] / 1e3:.1f}]"
                 for time in (row["measured_ns"], row["predicted_ns"])]
        print(f"{row['mpi']:8} {row['case']:10} {row['bytes']:6} {times[0]:>28} {times[1]:>28} {row['ratio']:6.2f}")


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--idlewave", required=True, type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--programs", required=True, type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--mpi", nargs="+", default=run_mpi.MPIS, choices=run_mpi.MPIS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--duration", default="8s")
    parser.add_argument("--calls", default="exchange")
    parser.add_argument("--delay-us", type=float, default=2000)
    parser.add_argument("--mbit", type=float, default=200)
    return parser.parse_args(arguments)


def main():
    arguments = parse()
    rows = [row for mpi in arguments.mpi for row in measure(arguments, mpi)]
    print_table(rows)
    count = sum(map(is_within, rows))
    print(f"{count} of {len(rows)} within 15 %")
    return 0 if count == len(rows) else 2


if __name__ == "__main__":
    sys.exit(main())
