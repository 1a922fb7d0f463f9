#!/usr/bin/env python3
"""Remakes the tables and the picture of docs/explanation/waves.md about idle waves in real runs: how many ranks a wave passes in a step, by MPI,
transport, protocol and kind of wait; how fast, and how it decays in noise, on as many ranks as this machine can have.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_real_waves.py BUILD_DIR [--keep DIR] [--seconds N] [--ranks N] [--data DIR] [--pictures DIR]
    BUILD_DIR is a release build with the programs of tests/mpi (targets wave_ring_asleep_*, wave_ring_patient_*). Takes about a
    quarter of an hour. Results are kept in DIR (default: a temporary one): runs whose result is there are not repeated, so that a series can be done
    in parts of --seconds.
"""

import argparse
import csv
import io
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

import data_page

sys.path.insert(0, str(data_page.ROOT / "tests" / "mpi"))
import run_mpi  # noqa: E402

RANKS, STEPS, WORK_US, DELAY_US, ORIGIN, DELAY_STEP = 16, 26, 20000, 120000, 5, 6
RUNS = 1  # of each case; it has a wave up and one down
SIZES = (64, 1024, 248640, 4000000)
WAITS = {"joint": "one for all", "split": "one for each direction"}
TCP = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp", "UCX_TLS": "tcp,self", "MPIR_CVAR_NOLOCAL": "1"}
# how messages travel: MPI, name, environment
TRANSPORTS = (
    ("openmpi", "shared memory", {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader"}),
    ("openmpi", "shared memory, copied twice", {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}),
    ("openmpi", "TCP", TCP),
    ("mpich", "shared memory", {}),
    ("mpich", "TCP", TCP),
    ("mpich", "shared memory, progress thread", {"MPIR_CVAR_ASYNC_PROGRESS": "1"}),
)


def program_of(arguments, mpi, name):
    return arguments.build.resolve() / "tests" / "mpi" / "bin" / mpi / name


def trace_and_find(arguments, mpi, name, ranks, env, ring, path, picture=None):
    """The waves of one run of the ring, as JSON in `path`."""
    with tempfile.TemporaryDirectory(prefix="iw_ring_") as scratch:
        trace = pathlib.Path(scratch) / "ring"
        # MPICH over TCP does not come back from MPI_Finalize (decision 0047); the trace is complete then
        done = run_mpi.launch(mpi, ranks, [arguments.idlewave, "trace", "-o", trace, "--", program_of(arguments, mpi, name), *ring], env=env,
                              timeout=60 if mpi != "mpich" or "UCX_TLS" not in env else 7 if ranks <= RANKS else 12)
        if done.returncode == 0 or "calls traced in" in done.stderr:
            done = run_mpi.run([str(arguments.idlewave), "wave", str(trace), "--periodic", "--distance", "1", "--format", "json"])
        if done.returncode != 0:
            print(path.stem, done.returncode, done.stderr[-300:], flush=True)
            return
        found = json.loads(done.stdout)
        found["load"] = os.getloadavg()[0]
        path.write_text(json.dumps(found), encoding="utf-8")
        if picture is not None:
            run_mpi.run([str(arguments.idlewave), "wave", "ring", "--periodic", "--distance", "1", "--plot", str(picture.resolve())], cwd=scratch)


def own_waves(found, delay_us, origin):
    """Those that began at the rank that was late."""
    return [wave for wave in found["waves"] if wave["origin_rank"] == origin and wave["delay_ns"] > 800 * delay_us]


def ranks_per_step(wave):
    """Ranks passed in all steps but the last one, in which the wave may have met the other on its way. The first is that of the delay."""
    steps = [front["step"] - wave["origin_step"] for front in wave["fronts"]]
    whole = [front["distance"] for front, step in zip(wave["fronts"], steps) if step < steps[-1]]
    return max(whole) / steps[-1] if whole else None


def cases():
    for mpi, name, env in TRANSPORTS:
        for size in SIZES:
            for wait in WAITS:
                yield mpi, name, env, size, wait


def file_of(arguments, mpi, name, size, wait, run):
    return arguments.keep / f"{mpi}-{name.replace(' ', '-').replace(',', '')}-{size}-{wait}-{run}.json"


def measure(arguments):
    for run in range(RUNS):
        for mpi, name, env, size, wait in cases():
            path = file_of(arguments, mpi, name, size, wait, run)
            if not path.exists() and time.monotonic() < arguments.end:
                trace_and_find(arguments, mpi, "wave_ring_asleep", RANKS, env, [STEPS, WORK_US, DELAY_US, ORIGIN, DELAY_STEP, size, wait], path)


def cell(arguments, mpi, name, size, wait):
    waves = []
    for run in range(RUNS):
        path = file_of(arguments, mpi, name, size, wait, run)
        if path.exists():
            waves += own_waves(json.loads(path.read_text(encoding="utf-8")), DELAY_US, ORIGIN)
    speeds = [speed for wave in waves if len(wave["fronts"]) >= 3 and (speed := ranks_per_step(wave)) is not None]
    if not speeds:
        return "-"
    low, high = min(speeds), max(speeds)
    return f"{statistics.median(speeds):.2g}" + (f" ({low:.2g} to {high:.2g})" if high - low > 0.1 else "")


def write_table(arguments):
    rows = []
    for size in SIZES:
        for wait, name in WAITS.items():
            rows.append((f"{size:,} B", name, *(cell(arguments, mpi, transport, size, wait) for mpi, transport, _ in TRANSPORTS)))
    loads = [json.loads(path.read_text(encoding="utf-8"))["load"] for path in arguments.keep.glob("*-[01].json")]
    text = [f"Ranks that a wave passes in a step: rings of {RANKS} ranks that sleep {WORK_US / 1e3:.0f} ms for work, rank {ORIGIN} is late by {DELAY_US / 1e3:.0f} ms once; median of the waves up and down of "
            f"{RUNS} run (smallest to largest where they differ); \"-\": no wave was followed over three ranks. Load of the machine: {min(loads):.0f} to {max(loads):.0f}.",
            data_page.table(("messages", "waits", *(f"{mpi}, {transport}" for mpi, transport, _ in TRANSPORTS)), rows)]
    data_page.write(arguments.data, "waves-real", "Idle waves in real runs", "make_real_waves.py", "explanation/waves.md", "\n\n".join(text))


# ---- many ranks, and noise ----

MANY_STEPS, MANY_WORK_US, MANY_DELAY_US, MANY_STEP, LEVELS, SEEDS = 46, 40000, 800000, 20, (0, 2.5, 5, 10), 3
GROWTH = 2.384  # exponential noise, both ways: examples/waves/decay.py


def many_file(arguments, mpi, level, seed):
    return arguments.keep / f"many-{mpi}-{arguments.ranks}-{level}-{seed}.json"


def measure_many(arguments):
    for seed in range(1, SEEDS + 1):
        for mpi in run_mpi.MPIS:
            for level in LEVELS:
                path = many_file(arguments, mpi, level, seed)
                picture = arguments.pictures / "real-wave-many.png" if (mpi, level, seed) == ("openmpi", 0, 1) else None
                if not path.exists() and time.monotonic() < arguments.end:
                    ring = [MANY_STEPS, MANY_WORK_US, MANY_DELAY_US, arguments.ranks // 2, MANY_STEP, 1024, "joint", level, seed]
                    trace_and_find(arguments, mpi, "wave_ring_patient", arguments.ranks, TCP, ring, path, picture)


def many_row(arguments, mpi, level):
    """Speed and decay of all waves that were followed over a quarter of the ring."""
    waves, loads = [], []
    for seed in range(1, SEEDS + 1):
        path = many_file(arguments, mpi, level, seed)
        if path.exists():
            found = json.loads(path.read_text(encoding="utf-8"))
            loads.append(found["load"])
            waves += own_waves(found, MANY_DELAY_US, arguments.ranks // 2)
    far = [wave for wave in waves if len(wave["fronts"]) >= arguments.ranks // 4]
    if not far:
        return (mpi, level, f"0 of {2 * len(loads)}", "-", "-", "-", "-")
    speeds = [wave["speed_ranks_per_s"]["value"] for wave in far]
    decays = [wave["decay_s_per_rank"]["value"] * 1e6 for wave in far]
    steps = [ranks_per_step(wave) for wave in far]
    return (mpi, level, f"{len(far)} of {2 * len(loads)}", f"{statistics.median(steps):.2f}", f"{statistics.median(speeds):.1f} ({min(speeds):.1f} to {max(speeds):.1f})",
            f"{statistics.median(decays):.0f} ({min(decays):.0f} to {max(decays):.0f})", f"{(GROWTH - 1) * level / 100 * MANY_WORK_US:.0f}", f"{min(loads):.0f} to {max(loads):.0f}")


def write_many(arguments):
    text = [f"Rings of {arguments.ranks} ranks that sleep {MANY_WORK_US / 1e3:.0f} ms for work and exchange 1 KiB with both neighbours; rank {arguments.ranks // 2} is late by {MANY_DELAY_US / 1e3:.0f} ms in step {MANY_STEP}. "
            "Noise makes each work longer by an exponential time, whose mean is given in per cent of the work. Medians of the waves (smallest to largest) that were followed over a quarter of the ring.",
            data_page.table(("MPI", "noise, %", "waves followed", "ranks per step", "ranks/s", "decay, us per rank", "(growth - 1) E T, us per rank", "load"),
                            [many_row(arguments, mpi, level) for mpi in run_mpi.MPIS for level in LEVELS])]
    data_page.write(arguments.data, "waves-many", "Idle waves on many real ranks", "make_real_waves.py", "explanation/waves.md", "\n\n".join(text))


# ---- what a delay costs in the end ----

END_RANKS, END_STEPS, END_WORK_US, END_DELAY_US, END_LEVELS, END_SEEDS, END_TRIALS = 36, 30, 15000, 60000, (0, 20, 25, 50), 6, 201
END_MPI = "openmpi"  # MPICH over TCP does not end by itself


def end_file(arguments, level, seed):
    return arguments.keep / f"end-{level}-{seed}.json"


def measure_ends(arguments):
    """Each seed with and without the delay, one after the other."""
    for seed in range(1, END_SEEDS + 1):
        for level in END_LEVELS:
            path = end_file(arguments, level, seed)
            if path.exists() or time.monotonic() > arguments.end:
                continue
            program = program_of(arguments, END_MPI, "wave_ring_patient")
            took = [run_mpi.launch(END_MPI, END_RANKS, [program, END_STEPS, END_WORK_US, delay_us, 1, 0, 1024, "joint", level, seed]) for delay_us in (END_DELAY_US, 0)]
            if all(done.returncode == 0 for done in took):
                path.write_text(json.dumps({"us": [float(done.stdout) for done in took], "load": os.getloadavg()[0]}), encoding="utf-8")


def simulated_ms(arguments, level, options):
    noise = ["--noise", f"phase-exp:{level}%"] if level > 0 else []
    done = run_mpi.run([str(arguments.idlewave), "simulate", "--pattern", "halo1d", "--ranks", str(END_RANKS), "--repeat", str(END_STEPS), "--compute", f"{END_WORK_US}us", "--boundary", "periodic",
                        "--exchange", "joint", "--bytes", "1KiB", "--net", "chic", *noise, *options, "--trials", str(END_TRIALS), "--format", "csv"])
    return [float(row["makespan_ns"]) / 1e6 for row in csv.DictReader(io.StringIO(done.stdout))]


def three(values):
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def write_ends(arguments):
    rows, loads = [], []
    for level in END_LEVELS:
        delay = ["--delay", f"rank=1,step=1,time={END_DELAY_US}us"]
        excess = [late - early for late, early in zip(simulated_ms(arguments, level, delay), simulated_ms(arguments, level, []))]
        found = [json.loads(path.read_text(encoding="utf-8")) for seed in range(1, END_SEEDS + 1) if (path := end_file(arguments, level, seed)).exists()]
        loads += [one["load"] for one in found]
        real = [(one["us"][0] - one["us"][1]) / 1e3 for one in found]
        rows.append((level, len(real), three(real) if real else "-", three(excess), f"{100 * sum(value < 0.05 * END_DELAY_US / 1e3 for value in excess) / len(excess):.0f}"))
    if not loads:
        return
    text = [f"Rings of {END_RANKS} ranks of Open MPI, {END_STEPS} steps of {END_WORK_US / 1e3:.0f} ms of sleep; rank 1 is late by {END_DELAY_US / 1e3:.0f} ms, four steps, at first. The run with the delay less the run without it, with the same noise, in ms: median "
            f"(smallest to largest) of pairs of runs, and of {END_TRIALS} simulated ones. Load of the machine: {min(loads):.0f} to {max(loads):.0f}.",
            data_page.table(("noise, %", "pairs", "measured", "simulated", "simulated runs with nothing left, %"), rows)]
    data_page.write(arguments.data, "waves-ends", "What a delay costs real ranks in the end", "make_real_waves.py", "explanation/waves.md", "\n\n".join(text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no run after that")
    parser.add_argument("--ranks", type=int, default=48, help="of the large wave")
    parser.add_argument("--pictures", type=pathlib.Path, default=data_page.ROOT / "docs" / "pictures")
    data_page.add_option(parser)
    arguments = parser.parse_args()
    arguments.idlewave = arguments.build.resolve() / "cli" / "idlewave"
    arguments.end = time.monotonic() + arguments.seconds
    with tempfile.TemporaryDirectory(prefix="iw_real_waves_") as scratch:
        arguments.keep = arguments.keep or pathlib.Path(scratch)
        arguments.keep.mkdir(parents=True, exist_ok=True)
        measure_many(arguments)
        measure_ends(arguments)
        measure(arguments)
        write_many(arguments)
        write_ends(arguments)
        write_table(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
