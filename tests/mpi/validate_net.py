#!/usr/bin/env python3
"""Compares what `simulate` predicts from what `net` measured with what real programs take.

SPDX-License-Identifier: BSD-3-Clause

Usage: validate_net.py --idlewave PATH --programs FOLDER [--mpi openmpi|mpich ...] [--network shm|tcp ...]
                       [--ranks 2 ...] [--rounds 1] [--duration 6s]
    FOLDER has <mpi>/pingpong and <mpi>/halo_allreduce (tests/mpi/bin of a build folder). Programs and `net` run in turn,
    programs first and last. Prints for each size medians of the programs' runs and of the predictions, the median ratio and
    a verdict. Runs of a program before and after a run of `net` that differ by over 15 % do not count; where most do so
    the verdict is "noisy": the machine was not quiet, and nothing is judged.

Exit code: 0 all within 15 % or noisy, 2 some not.
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
STEPS = 20
SIZES = {"pingpong": 23, "halo_allreduce": 5}  # lines of output
CALLS = {"pingpong": "blocking", "halo_allreduce": "exchange"}  # that the programs use
LARGEST = {"pingpong": 1 << 20, "halo_allreduce": 1 << 17}
RUNS_AT_ONCE = 3  # of a program; their median counts: some processes are slower than others from begin to end
ROUNDS_OF_PROGRAM = {True: 20, False: 5}  # with a core for each rank; without, steps take milliseconds


# ---- prediction ----

def simulated_ns(idlewave, yaml, pattern, ranks, size):
    """Of STEPS repetitions."""
    line = [idlewave, "simulate", "--pattern", pattern, "--ranks", str(ranks), "--bytes", str(size), "--repeat", str(STEPS),
            "--net", yaml, "--format", "json"]
    return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)["makespan_ns"]["median"]


def predict(idlewave, yaml, program, ranks, size):
    if program == "pingpong":
        return simulated_ns(idlewave, yaml, "pingpong", 2, size) / (2 * STEPS)
    return (simulated_ns(idlewave, yaml, "halo1d", ranks, size) +
            simulated_ns(idlewave, yaml, "allreduce:recursive-doubling", ranks, 8)) / STEPS


# ---- measurement ----

def run_program(mpi, network, programs, program, ranks):
    """Median times by size."""
    options, env = net_support.NETWORKS[network][mpi]
    has_cores = ranks <= net_support.cores()
    binding = net_support.BINDING[mpi] if has_cores else []
    quiet = net_support.QUIET if has_cores else {}
    line = [run_mpi.launcher(mpi), *binding, *options, "-n", str(ranks),
            *net_support.before_others([str(programs / mpi / program), str(ROUNDS_OF_PROGRAM[has_cores]),
                                        str(LARGEST[program])])]
    net_support.wait_until_quiet()
    code, out, err = net_support.run_until(line, dict(quiet, **env),
                                           lambda text: net_support.has_rows(text, SIZES[program]), 120)
    assert code == 0, f"{' '.join(line)} ended with {code}: {err}"
    return {int(row.split()[0]): float(row.split()[1]) for row in out.splitlines()}


class Case:
    """One MPI on one network: so many rounds of programs and `net`, and the programs once more."""

    def __init__(self, arguments, mpi, network, rounds, duration, all_ranks=(2,), programs=tuple(SIZES)):
        self.mpi, self.network, self.arguments = mpi, network, arguments
        self.runs = [(program, ranks) for program in programs for ranks in (all_ranks if program != "pingpong" else [2])]
        self.times = {run: [] for run in self.runs}  # of each run the medians by size
        self.nets = {program: [] for program in programs}  # the results of `net`
        self.folder = tempfile.TemporaryDirectory(prefix="iw_validate_")
        for number in range(rounds):
            self.run_programs(is_end=number == 0)
            for program in programs:
                net_support.wait_until_quiet()
                self.nets[program].append(net_support.measure(
                    mpi, 2, arguments.idlewave, self.yaml(program, number), duration, network, ["--calls", CALLS[program]]))
        self.run_programs(is_end=True)

    def yaml(self, program, number):
        return pathlib.Path(self.folder.name) / f"{program}-{number}.yaml"

    def run_programs(self, is_end):
        """Programs with more ranks than cores take long, and run first and last only."""
        for program, ranks in self.runs if is_end else [run for run in self.runs if run[1] <= net_support.cores()]:
            runs = [run_program(self.mpi, self.network, self.arguments.programs, program, ranks)
                    for _ in range(RUNS_AT_ONCE if ranks <= net_support.cores() else 1)]
            self.times[program, ranks].append({size: statistics.median(run[size] for run in runs) for size in runs[0]})

    def rows(self):
        return [self.judge(program, ranks, size) for program, ranks in self.runs for size in self.times[program, ranks][0]]

    def judge(self, program, ranks, size):
        """Each run of `net` is compared with the runs of the program before and after it: the machine's speed changes. Where
        these two differ the pair says nothing; with less than half of the pairs left nothing is judged."""
        runs = [times[size] for times in self.times[program, ranks]]
        predicted = [predict(self.arguments.idlewave, self.yaml(program, number), program, ranks, size)
                     for number in range(len(self.nets[program]))]
        if ranks > net_support.cores():
            pairs = [(statistics.mean(runs), statistics.median(predicted))]
        else:
            pairs = [((before + after) / 2, guess) for before, after, guess in zip(runs, runs[1:], predicted)
                     if max(before, after) <= (1 + WITHIN) * min(before, after)]
        is_judged = 2 * len(pairs) >= len(predicted) or ranks > net_support.cores()
        measured, guess = ([pair[i] for pair in pairs] for i in (0, 1)) if is_judged else (runs, predicted)
        ratio = statistics.median(b / a for a, b in pairs) if is_judged else statistics.median(guess) / statistics.median(measured)
        return {"mpi": self.mpi, "network": self.network, "program": program, "ranks": ranks, "bytes": size,
                "measured_ns": statistics.median(measured), "least_ns": min(runs), "most_ns": max(runs),
                "predicted_ns": statistics.median(guess), "ratio": ratio,
                "verdict": "noisy" if not is_judged else "ok" if abs(ratio - 1) <= WITHIN else "off"}


# ---- output ----

def print_table(rows):
    print(f"{'MPI':8} {'network':8} {'program':15} {'ranks':>5} {'bytes':>8} {'measured':>12} {'from':>9} {'to':>9} "
          f"{'predicted':>12} {'ratio':>6}  verdict")
    for row in rows:
        print(f"{row['mpi']:8} {row['network']:8} {row['program']:15} {row['ranks']:5} {row['bytes']:8} "
              f"{row['measured_ns'] / 1e3:9.2f} us {row['least_ns'] / 1e3:9.2f} {row['most_ns'] / 1e3:9.2f} "
              f"{row['predicted_ns'] / 1e3:9.2f} us {row['ratio']:6.2f}  {row['verdict']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--idlewave", required=True, type=pathlib.Path)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--mpi", nargs="+", default=run_mpi.MPIS, choices=run_mpi.MPIS)
    parser.add_argument("--network", nargs="+", default=list(net_support.NETWORKS), choices=net_support.NETWORKS)
    parser.add_argument("--program", nargs="+", default=list(SIZES), choices=SIZES)
    parser.add_argument("--ranks", nargs="+", type=int, default=[2])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--duration", default="6s")
    arguments = parser.parse_args()
    rows = []
    for mpi in arguments.mpi:
        for network in arguments.network:
            rows += Case(arguments, mpi, network, arguments.rounds, arguments.duration, arguments.ranks,
                         arguments.program).rows()
    print_table(rows)
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in ("ok", "off", "noisy")}
    print(f"{counts['ok']} within 15 %, {counts['off']} not, {counts['noisy']} not judged")
    return 2 if counts["off"] else 0


if __name__ == "__main__":
    sys.exit(main())
