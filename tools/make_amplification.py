#!/usr/bin/env python3
"""Remakes the tables of docs/validation/predictions.md, which are in docs/validation/data: what noise costs many ranks
of real MPI libraries that work by sleeping, beside the simulation.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_amplification.py BUILD_DIR [--keep DIR] [--seconds N] [--only TEXT] [--data DIR]
    BUILD_DIR is a release build. Takes about 15 minutes, on cores that should do little else. Results are kept in DIR (default: a
    temporary one): runs whose result is there are not repeated, so that a series can be done in parts of --seconds.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile
import time

import data_page

sys.path.insert(0, str(data_page.ROOT / "tests" / "mpi"))
import run_mpi  # noqa: E402

OPERATIONS = ("barrier", "allreduce", "halo")
NOISES = ("poisson:0.2Hz,fixed:100ms", "poisson:0.5Hz,exp:40ms", "periodic:1Hz,20ms")
SYNCS = ("none", "start")
WORK = "100ms"  # of a phase
# ranks: how much longer all of it takes, so that what the machine does by itself is small; seconds to measure; synchronisations
SIZES = {("openmpi", 48): (1, 24, SYNCS), ("mpich", 48): (1, 24, SYNCS)}
FIRST_SEED = 101  # each case has its own: their detours have nothing to do with each other


def cases(only):
    seed = FIRST_SEED
    for (mpi, ranks), (scale, seconds, syncs) in SIZES.items():
        for sync in syncs:
            for noise in NOISES:
                for operation in OPERATIONS:
                    name = f"{mpi}-{ranks}-{operation}-{noise.split(',')[0].replace(':', '')}-{sync}"
                    if only in name:
                        yield name, mpi, ranks, scale, seconds, sync, noise, operation, seed
                    seed += 1


def measure(arguments, case):
    name, mpi, ranks, scale, seconds, sync, noise, operation, seed = case
    path = arguments.keep / f"{name}.json"
    if path.exists() or time.monotonic() + seconds + 3 > arguments.end:
        return
    line = [run_mpi.launcher(mpi), "-n", str(ranks), str(arguments.idlewave), "bench", operation, "--work", "sleep", "--compute", WORK, "--time-scale", str(scale),
         "--duration", f"{seconds}s", "--noise", noise, "--sync", sync, "--seed", str(seed), "--format", "json"]
    done = run_mpi.run(line, timeout=seconds + 60)
    print(name, done.returncode, done.stderr[-200:], flush=True)
    if done.stdout.startswith("{"):
        result = json.loads(done.stdout)
        result["load"] = os.getloadavg()[0]
        path.write_text(json.dumps(result), encoding="utf-8")


def percent(share):
    return f"{100 * share:.1f}"


def between(estimate):
    return f"{percent(estimate['low'])} to {percent(estimate['high'])}" if estimate["low"] is not None else "-"


def is_inside(result):
    expected = result["simulated"]["expected"]
    return expected["low"] <= result["slowdown"]["value"] <= expected["high"]


def can_tell(result):
    """Too few blocks have no interval."""
    return result["simulated"]["expected"]["low"] is not None


def verdict(result):
    return "cannot tell" if not can_tell(result) else "yes" if is_inside(result) else "**no**"


def row(result):
    simulated, noise = result["simulated"], result["noise"]
    return (result["mpi"], result["ranks"], result["operation"], f"`{noise['sources'][0]}`", noise["sync"],
            f"{result['quiet']['phase_ns']['value'] / 1e6:.1f}", percent(result["slowdown"]["value"]), between(result["slowdown"]),
            percent(simulated["slowdown"]["value"]), between(simulated["expected"]), verdict(result))


HEAD = ("MPI", "ranks", "operation", "noise", "sync", "phase without noise, ms", "SD measured, %", "its 95 % interval",
        "SD simulated, %", "a run should show", "inside")


def share(results, key):
    """A row for each value of key: how many are inside, and the mean ratio of measured to simulated."""
    rows = []
    for value in sorted({key(result) for result in results}):
        those = [result for result in results if key(result) == value]
        ratios = [result["simulated"]["ratio"] for result in those if result["simulated"]["slowdown"]["value"] > 0.05]
        rows.append((value, f"{sum(map(is_inside, filter(can_tell, those)))} of {sum(map(can_tell, those))}",
                     f"{sum(ratios) / len(ratios):.3f}" if ratios else "-"))
    return rows


def disturbance(results):
    """Phases without injected noise: how much longer than their work, by MPI and ranks."""
    rows = []
    for mpi, ranks in sorted({(result["mpi"], result["ranks"]) for result in results}):
        those = [result for result in results if (result["mpi"], result["ranks"]) == (mpi, ranks)]
        quiet = [result["quiet"]["phase_ns"]["value"] / 1e6 for result in those]
        work = those[0]["quantum_ns"] / 1e6
        late = [100 * result["own_noise_share"] for result in those]
        operation = [result["quiet"]["operation_ns"]["quantile_ns"]["p50"] / 1e6 for result in those]
        rows.append((mpi, ranks, f"{work:.0f}", f"{min(quiet):.1f} to {max(quiet):.1f}", f"{min(operation):.1f} to {max(operation):.1f}",
                     f"{min(late):.1f} to {max(late):.1f}"))
    return data_page.table(("MPI", "ranks", "work, ms", "phase without noise, ms", "operation of the last rank, ms",
                            "work longer than undisturbed, % (mean of ranks)"), rows)


def write(arguments):
    results = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(arguments.keep.glob("*.json"))]
    results.sort(key=lambda r: (r["mpi"], r["ranks"], r["noise"]["sync"], r["noise"]["sources"][0], r["operation"]))
    judged = list(filter(can_tell, results))
    loads = [result["load"] for result in results]
    text = [f"{sum(map(is_inside, judged))} of {len(judged)} measured slowdowns lie where the simulation says that a run of so many blocks should be "
            f"in 95 of 100 cases; {len(results) - len(judged)} further runs have too few blocks to tell. Load of the machine at the end of each run: {min(loads):.0f} to {max(loads):.0f}.", data_page.table(HEAD, map(row, results)),
            "By operation, synchronisation and MPI; the ratio of measured to simulated slowdowns is of those above 5 %:",
            data_page.table(("", "inside", "measured / simulated"), share(results, lambda r: r["operation"])
                            + share(results, lambda r: "sync " + r["noise"]["sync"])
                            + share(results, lambda r: f"{r['mpi']}, {r['ranks']} ranks")
                            + share(results, lambda r: f"`{r['noise']['sources'][0]}`")),
            "Without injected noise:", disturbance(results)]
    data_page.write(arguments.data, "amplification", "Slowdown of ranks that sleep, measured and simulated",
                    "make_amplification.py", "validation/predictions.md", "\n\n".join(text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no run that does not end by then")
    parser.add_argument("--only", default="", metavar="TEXT", help="runs whose names have it, openmpi-64-barrier say")
    data_page.add_option(parser)
    arguments = parser.parse_args()
    arguments.idlewave = arguments.build.resolve() / "cli" / "idlewave"
    arguments.end = time.monotonic() + arguments.seconds
    with tempfile.TemporaryDirectory(prefix="iw_amplification_") as scratch:
        arguments.keep = arguments.keep or pathlib.Path(scratch)
        arguments.keep.mkdir(parents=True, exist_ok=True)
        for case in cases(arguments.only):  # one after the other: ranks of two jobs would disturb each other
            measure(arguments, case)
        write(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
