#!/usr/bin/env python3
"""Remakes the tables of docs/validation/predictions.md: programs traced on n ranks, predicted on 2n and 4n ranks under noise, and only then run.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_holdouts.py BUILD_DIR [--keep DIR] [--seconds N] [--data DIR]
    BUILD_DIR is a release build. Takes about a quarter of an hour, with up to 48 processes that sleep. Three stages, each of which needs the one before:
    traces of n ranks without noise; predictions of all cases, in one file, which is never written again; runs. What is in DIR (default: a temporary
    one) is not repeated, so that a series can be done in parts of --seconds.
"""

import argparse
import datetime
import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import data_page

sys.path.insert(0, str(data_page.ROOT / "tests" / "mpi"))
import run_mpi  # noqa: E402

RANKS, FACTORS = 12, (2, 4)
PROGRAMS = ("barrier", "allreduce", "halo")
NOISES = {"fixed": "poisson:0.5Hz,fixed:50ms", "exponential": "poisson:1Hz,exp:20ms", "periodic": "periodic:2Hz,10ms"}
RULES = {"openmpi": "ompi-4.1", "mpich": "mpich"}
WORK, PHASES, BLOCK, TRIALS = "50ms", 80, 10, 400  # phases: without noise, and as many with it
NOISE_SECONDS = 600
FIRST_SEED = 2000


def bench(program, phases, *options):
    return ["bench", program, "--work", "sleep", "--compute", WORK, "--phases", str(phases), "--format", "json", *map(str, options)]


def cases():
    number = 0
    for factor in FACTORS:
        for mpi in run_mpi.MPIS:
            for program in PROGRAMS:
                for noise in NOISES:
                    number += 1
                    yield f"{mpi}-{program}-{noise}-{factor * RANKS}", mpi, program, noise, factor * RANKS, number


class Lab:
    def __init__(self, arguments):
        self.idlewave = arguments.build.resolve() / "cli" / "idlewave"
        self.parts = arguments.build.resolve() / "lib" / "idlewave"
        self.keep, self.end = arguments.keep, time.monotonic() + arguments.seconds

    def has_time(self, seconds):
        return time.monotonic() + seconds < self.end

    def call(self, *arguments):
        return subprocess.run([str(self.idlewave), *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    def noise_file(self, noise):
        path = self.keep / f"{noise}.h5"
        if not path.exists():
            self.call("noise", "synth", NOISES[noise], "--duration", f"{NOISE_SECONDS}s", "--seed", 12, "-o", path)
        return path

    # ---- stage 1: n ranks, without noise ----

    def measure_quiet(self, mpi, program):
        """Many blocks for what the operation takes and how much the machine varies; a trace of one, since ranks meet between blocks, unseen by the tracer."""
        folder = self.keep / f"trace-{mpi}-{program}"
        result = folder.with_suffix(".json")
        if result.exists() or not self.has_time(20):
            return
        done = run_mpi.launch(mpi, RANKS, [self.idlewave, *bench(program, PHASES)])
        traced = run_mpi.launch(mpi, RANKS, [self.idlewave, "trace", "-o", folder, "--", self.idlewave, *bench(program, BLOCK)])
        if "without MPI_Finalize" in traced.stderr:  # MPICH over TCP does not come back from it: decision 0047
            subprocess.run([str(self.parts / mpi / "idlewave-trace-finish"), str(folder)], check=True, capture_output=True)
        print("traced", folder.name, done.returncode, traced.returncode, flush=True)
        result.write_text(done.stdout, encoding="utf-8")

    # ---- stage 2: predictions ----

    def predict(self, mpi, program, noise, ranks, seed):
        """The slowdown, and where that of a run of PHASES phases with noise should lie in 95 of 100 cases."""
        quiet = json.loads((self.keep / f"trace-{mpi}-{program}.json").read_text(encoding="utf-8"))["quiet"]
        hops = 1 if program == "halo" else math.ceil(math.log2(RANKS))
        latency_us = quiet["operation_ns"]["quantile_ns"]["p50"] / 1e3 / hops
        found = json.loads(self.call("simulate", self.keep / f"trace-{mpi}-{program}", "--ranks", ranks, "--compute-clock", "wall", "--collectives", RULES[mpi],
                                     "--L", f"{latency_us:.3f}us", "--o", "1us", "--g", "0", "--G", "0", "--noise", self.noise_file(noise), "--trials", TRIALS,
                                     "--seed", seed, "--format", "json"))
        slowdown = found["slowdown"]
        of_mean = (slowdown["mean_high"] - slowdown["mean_low"]) / 2
        of_run = of_mean * math.sqrt(TRIALS * BLOCK / PHASES)  # a trial is a block
        phase = quiet["phase_ns"]
        of_host = math.sqrt(2) * (phase["high"] - phase["low"]) / 2 / phase["value"] * (1 + slowdown["mean"])
        half = math.hypot(of_mean, of_run, of_host)
        return {"slowdown": slowdown["mean"], "low": slowdown["mean"] - half, "high": slowdown["mean"] + half, "command": found["command"]}

    def predict_all(self):
        path = self.keep / "predictions.json"
        if not path.exists():
            if not all((self.keep / f"trace-{mpi}-{program}.json").exists() for mpi in run_mpi.MPIS for program in PROGRAMS):
                return None
            made = {name: self.predict(mpi, program, noise, ranks, number) for name, mpi, program, noise, ranks, number in cases()}
            at = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
            path.write_text(json.dumps({"at": at, "cases": made}, indent=1), encoding="utf-8")
        return json.loads(path.read_text(encoding="utf-8"))

    # ---- stage 3: the truth ----

    def run(self, name, mpi, program, noise, ranks, number):
        path = self.keep / f"run-{name}.json"
        if path.exists() or not self.has_time(25):
            return
        done = run_mpi.launch(mpi, ranks, [self.idlewave, *bench(program, PHASES, "--noise", self.noise_file(noise), "--seed", FIRST_SEED + number)], timeout=90)
        print("ran", name, done.returncode, done.stderr[-200:], flush=True)
        if "{" in done.stdout:
            result = json.loads(done.stdout[done.stdout.index("{"):])
            result["at"] = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
            result["load"] = os.getloadavg()[0]
            path.write_text(json.dumps(result), encoding="utf-8")


def percent(share):
    return f"{100 * share:.1f}"


def is_hit(prediction, result):
    return prediction["low"] <= result["slowdown"]["value"] <= prediction["high"]


def share_rows(judged, key):
    rows = []
    for value in sorted({key(case) for case, _, _ in judged}, key=str):
        those = [(p, r) for case, p, r in judged if key(case) == value]
        hits = sum(is_hit(p, r) for p, r in those)
        ratios = [(1 + r["slowdown"]["value"]) / (1 + p["slowdown"]) for p, r in those]
        rows.append((value, f"{hits} of {len(those)}", f"{sum(ratios) / len(ratios):.3f}"))
    return rows


def write(lab, predictions, data):
    judged = []
    for case in cases():
        path = lab.keep / f"run-{case[0]}.json"
        if path.exists():
            judged.append((case, predictions["cases"][case[0]], json.loads(path.read_text(encoding="utf-8"))))
    if not judged:
        return
    hits = sum(is_hit(p, r) for _, p, r in judged)
    digest = hashlib.sha256((lab.keep / "predictions.json").read_bytes()).hexdigest()[:16]
    loads = [r["load"] for _, _, r in judged]
    rows = [(mpi, program, f"`{NOISES[noise]}`", ranks, percent(p["slowdown"]), f"{percent(p['low'])} to {percent(p['high'])}", percent(r["slowdown"]["value"]),
             f"{percent(r['slowdown']['low'])} to {percent(r['slowdown']['high'])}", "yes" if is_hit(p, r) else "**no**")
            for (_, mpi, program, noise, ranks, _), p, r in judged]
    text = [f"**{hits} of {len(judged)}** measured slowdowns lie in the interval that was predicted for them ({100 * hits / len(judged):.0f} %; 95 were stated). The predictions were written at {predictions['at']} "
            f"(SHA-256 {digest}...), the first run ended at {min(r['at'] for _, _, r in judged)}. Load of the machine during the runs: {min(loads):.0f} to {max(loads):.0f}.",
            data_page.table(("MPI", "program", "noise", "ranks", "predicted, %", "a run should show", "measured, %", "its 95 % interval", "inside"), rows),
            "Hits, and the time with noise measured over predicted (both relative to the time without):",
            data_page.table(("", "inside", "measured / predicted"), share_rows(judged, lambda c: f"{c[4]} ranks") + share_rows(judged, lambda c: c[1])
                            + share_rows(judged, lambda c: c[2]) + share_rows(judged, lambda c: f"`{NOISES[c[3]]}`"))]
    data_page.write(data, "hold-outs", "Blind hold-outs", "make_holdouts.py", "validation/predictions.md", "\n\n".join(text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no run that does not end by then")
    data_page.add_option(parser)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="iw_holdouts_") as scratch:
        arguments.keep = arguments.keep or pathlib.Path(scratch)
        arguments.keep.mkdir(parents=True, exist_ok=True)
        lab = Lab(arguments)
        for mpi in run_mpi.MPIS:
            for program in PROGRAMS:
                lab.measure_quiet(mpi, program)
        predictions = lab.predict_all()
        if predictions is not None:
            for case in cases():
                lab.run(*case)
            write(lab, predictions, arguments.data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
