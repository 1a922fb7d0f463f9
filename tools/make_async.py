#!/usr/bin/env python3
"""Remakes docs/validation/data/applications-async.md: what nonblocking collectives save under noise, by how they go on.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_async.py IDLEWAVE [--data DIR]
    IDLEWAVE is the command. Takes a minute or two.

Each of 50 iterations works for 1 ms and reduces 8 bytes over all ranks: by MPI_Allreduce; by MPI_Iallreduce before the work and a
wait behind it; or by one that is waited for an iteration later. The traces are written here, in liballprof's format.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import data_page

BASE, RANKS, ITERATIONS, WORK_US = 8, 512, 50, 1000
NOISES = ("periodic:10Hz,500us", "periodic:1Hz,5ms", "phase-exp:1%")


def trace(rank, kind):
    """Calls take no time; there are WORK_US between them."""
    comm, now, lines = f"7,{rank},{BASE}", 100, ["# htor's PMPI Tracer 1 Output File", "", "MPI_Init:-:1:2:100", f"MPI_Comm_rank:100:7,{rank},{BASE}:9:100"]
    for i in range(ITERATIONS):
        if kind == "blocking":
            now += WORK_US
            lines.append(f"MPI_Allreduce:{now}:64:64:1:1,8,8:3:{comm}:{now}")
            continue
        lines.append(f"MPI_Iallreduce:{now}:64:64:1:1,8,8:3:{comm}:{1000 + i}:{now}")
        now += WORK_US
        waited = i if kind == "same" else i - 1
        if waited >= 0:
            lines.append(f"MPI_Wait:{now}:{1000 + waited}:0:{now}")
    if kind == "next":
        lines.append(f"MPI_Wait:{now}:{1000 + ITERATIONS - 1}:0:{now}")
    return "\n".join([*lines, f"MPI_Finalize:{now}:-", ""])


def run(idlewave, folder, noise, how):
    command = [str(idlewave), "simulate", str(folder / "pmpi-trace-rank-0.txt"), "--ranks", str(RANKS), "--net", "chic", "--noise", noise, "--trials", "10",
               "--async", how, "--format", "json"]
    result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    makespan = result["makespan_ns"]
    return result["noiseless_ns"] / 1e6, makespan["mean"] / 1e6, makespan["mean_low"] / 1e6, makespan["mean_high"] / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("idlewave", type=pathlib.Path)
    data_page.add_option(parser)
    args = parser.parse_args()
    programs = (("blocking", ("wait",), "blocking"), ("same", ("wait", "calls", "thread"), "waited for behind the work"),
                ("next", ("wait", "calls", "thread"), "waited for an iteration later"))
    rows = []
    for kind, ways, name in programs:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            for rank in range(BASE):
                (folder / f"pmpi-trace-rank-{rank}.txt").write_text(trace(rank, kind), encoding="utf-8")
            for how in ways:
                results = [run(args.idlewave.resolve(), folder, noise, how) for noise in NOISES]
                rows.append((name, "-" if kind == "blocking" else f"`{how}`", f"{results[0][0]:.2f} ms", *(f"{mean:.2f} ({low:.2f} to {high:.2f}) ms" for _, mean, low, high in results)))
    text = (f"{ITERATIONS} iterations of {WORK_US / 1000:g} ms and an allreduce of 8 bytes on {RANKS} ranks, network chic. Mean makespan of 10 trials, with its 95 % interval.\n\n"
            + data_page.table(("allreduce", "`--async`", "without noise", *(f"`{noise}`" for noise in NOISES)), rows))
    data_page.write(args.data, "applications-async", "Nonblocking collectives under noise", "make_async.py", "validation/paper-figures.md", text)


if __name__ == "__main__":
    main()
