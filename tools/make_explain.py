#!/usr/bin/env python3
"""Remakes the tables of docs/validation/explain.md, which are in docs/validation/data: what `explain` says of runs with a daemon, beside the same runs without it.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_explain.py BUILD_DIR [--runs 40] [--seconds 100000] [--results FILE] [--priority N] [--data DIR]
    BUILD_DIR is a release build. Needs root, Open MPI, LAMMPS (lmp), HPC Challenge (hpcc) and two cores. Each case is three runs on 2 ranks,
    traced alike: without, with, without the daemon, a process of known bursts at real-time priority 50. Results are kept in FILE, a line of
    JSON a case, and added to until there are so many of each program; --seconds ends earlier, to be continued. --priority: the ranks run at
    this real-time priority, where other work on the machine cannot be stopped. Takes about 15 minutes.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

import data_page

LAMMPS = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 12 0 12 0 12
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 50
run 150
"""
HPCC = """HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out output file name (if any)
8 device out
1 # of problems sizes (N)
400 Ns
1 # of NBs
40 NBs
0 PMAP process mapping
1 # of process grids (P x Q)
1 Ps
2 Qs
16.0 threshold
1 # of panel fact
2 PFACTs
1 # of recursive stopping criterium
4 NBMINs
1 # of panels in recursion
2 NDIVs
1 # of recursive panel fact.
1 RFACTs
1 # of broadcast
1 BCASTs
1 # of lookahead depth
1 DEPTHs
2 SWAP
64 swapping threshold
0 L1
0 U
1 Equilibration
8 memory alignment in double
##### This line (no. 32) is ignored (it serves as a separator). ######
0 Number of additional problem sizes for PTRANS
1200 values of N
0 number of additional blocking sizes for PTRANS
40 values of NB
"""
PROGRAMS = {"LAMMPS": ["lmp", "-in", "in.lj", "-log", "none", "-screen", "none"], "hpcc": ["hpcc"]}
NAME = "monitord"
BURSTS_MS, SHARES = (1, 2, 5, 10), (0.05, 0.1, 0.2)


class Bench:
    def __init__(self, build, priority, folder):
        self.idlewave, self.bursts = build / "cli" / "idlewave", build / "tests" / "system" / "iw_bursts"
        self.prefix = ["chrt", "-f", str(priority)] if priority else []
        self.folder = folder
        (folder / "in.lj").write_text(LAMMPS)
        (folder / "hpccinf.txt").write_text(HPCC)

    def explain(self, program):
        """A traced run, explained."""
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        line = ["mpirun", "-n", "2", "--bind-to", "core", str(self.idlewave), "trace", "-q", "--kernel", "-o", "run", "--", *self.prefix, *PROGRAMS[program]]
        subprocess.run(line, cwd=self.folder, env=environment, check=True, timeout=120, stdout=subprocess.DEVNULL)
        (self.folder / "hpccoutf.txt").unlink(missing_ok=True)
        return json.loads(subprocess.run([str(self.idlewave), "explain", "--only", "system", "--format", "json", "run"], cwd=self.folder, check=True,
                                         capture_output=True, text=True).stdout)

    def explain_disturbed(self, program, cpus, burst_ms, share):
        gap_us = round(1000 * burst_ms * (1 / share - 1))
        daemons = [subprocess.Popen([str(self.bursts), str(cpu), "1000000", str(1000 * burst_ms), str(1000 * burst_ms), str(gap_us), str(gap_us),
                                     "1", NAME, "/dev/null"]) for cpu in cpus]
        try:
            time.sleep(0.1)
            return self.explain(program)
        finally:
            for daemon in daemons:
                daemon.terminate()
                daemon.wait()


def case(bench, program, dice):
    cpus, burst_ms, share = dice.choice(([0], [1], [0, 1])), dice.choice(BURSTS_MS), dice.choice(SHARES)
    before = bench.explain(program)["run_ns"]
    found = bench.explain_disturbed(program, cpus, burst_ms, share)
    after = bench.explain(program)["run_ns"]
    first = found["sources"][0]
    daemon = next((source for source in found["sources"] if source["name"] == f"thread/{NAME}"), None)
    return {"program": program, "cpus": cpus, "burst_ms": burst_ms, "share": share, "before_ns": before, "after_ns": after, "run_ns": found["run_ns"],
            "first": first["name"], "path_ns": daemon and daemon["path_ns"], "saving_ns": daemon and daemon["saving_ns"],
            "unexplained_share": found["unexplained_share"], "events_lost": found["events_lost"]}


def measured_ns(result):
    return result["run_ns"] - (result["before_ns"] + result["after_ns"]) / 2


def is_inside(result):
    saving = result["saving_ns"]
    return saving is not None and saving["low"] <= measured_ns(result) <= saving["high"]


def ms(ns):
    return f"{ns / 1e6:.0f}"


def write_pages(results, data):
    rows, sums = [], []
    for result in results:
        saving = result["saving_ns"] or {"value": float("nan"), "low": float("nan"), "high": float("nan")}
        rows.append([result["program"], ", ".join(map(str, result["cpus"])), result["burst_ms"], f"{100 * result['share']:.0f} %", ms(result["run_ns"]),
                     result["first"], ms(saving["value"]), f"{ms(saving['low'])} to {ms(saving['high'])}", ms(measured_ns(result)),
                     "yes" if is_inside(result) else "**no**"])
    for program in PROGRAMS:
        of = [result for result in results if result["program"] == program]
        if of:
            widths = sorted((r["saving_ns"]["high"] - r["saving_ns"]["low"]) / r["run_ns"] for r in of if r["saving_ns"])
            errors = sorted(abs(r["saving_ns"]["value"] - measured_ns(r)) / r["run_ns"] for r in of if r["saving_ns"])
            sums.append([program, len(of), sum(r["first"] == f"thread/{NAME}" for r in of), sum(map(is_inside, of)),
                         f"{100 * errors[len(errors) // 2]:.1f} %", f"{100 * widths[len(widths) // 2]:.1f} %"])
    data_page.write(data, "explain-summary", "Daemons named and savings met, by program", "make_explain.py", "validation/explain.md",
                    data_page.table(["program", "runs", "daemon named first", "saving inside its interval", "median error, of the run",
                                     "median width of the interval, of the run"], sums))
    data_page.write(data, "explain-runs", "Runs with a daemon, explained and run again without", "make_explain.py", "validation/explain.md",
                    data_page.table(["program", "on CPUs", "burst, ms", "of a CPU", "run, ms", "first source", "saving, ms", "95 %", "measured, ms",
                                     "inside"], rows))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=1e5)
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("explain-results.jsonl"))
    parser.add_argument("--priority", type=int, default=0)
    data_page.add_option(parser)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    results = [json.loads(line) for line in options.results.read_text().splitlines()] if options.results.exists() else []
    with tempfile.TemporaryDirectory() as folder, options.results.open("a") as out:
        bench = Bench(options.build.resolve(), options.priority, pathlib.Path(folder))
        while time.monotonic() < end:
            counts = {program: sum(result["program"] == program for result in results) for program in PROGRAMS}
            program = min(counts, key=counts.get)
            if counts[program] >= options.runs:
                break
            results.append(case(bench, program, random.Random(1000 + len(results))))
            print(json.dumps(results[-1]), file=out, flush=True)
    write_pages(results, options.data)


if __name__ == "__main__":
    main()
