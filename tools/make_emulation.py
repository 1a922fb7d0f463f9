#!/usr/bin/env python3
"""Remakes the measured tables of docs/validation/emulation.md, which are in docs/validation/data: detours made against detours
asked for, and the slowdown of a real benchmark on 2 ranks against the simulated one.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_emulation.py BUILD_DIR [--duration 10s] [--data DIR]
    BUILD_DIR is a release build without sanitizers. Needs Open MPI, two cores that nobody else uses, and for the back end
    fifo the right to use SCHED_FIFO. Takes about 10 minutes.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import data_page

sys.path.insert(0, str(data_page.ROOT / "tests" / "mpi"))
import net_support  # noqa: E402
import run_mpi  # noqa: E402

NOISES = ("periodic:100Hz,1ms", "periodic:250Hz,400us", "periodic:1kHz,50us", "poisson:200Hz,exp:300us", "node.h5")
SYNCS = ("none", "start", "phase")
CHECKS = ("periodic:500Hz,60us", "poisson:500Hz,lognormal:50us,0.7")
SUB_FLOOR = ("poisson:600Hz,lognormal:4us,0.5", "9")  # mostly below the floor, and the time scale that lifts it


def percent(share):
    return f"{100 * share:.2f}"


def interval(estimate):
    return f" ({percent(estimate['low'])} to {percent(estimate['high'])})" if estimate["low"] is not None else ""


def self_check(arguments, noise, back_end, *more):
    """The JSON of a self-check, or None: the back end is not allowed here. Verdicts are exit codes too (2: not right)."""
    line = [arguments.idlewave, "replay", "--self-check", "--noise", noise, "--back-end", back_end, "--duration",
            arguments.duration, "--format", "json", *more]
    done = subprocess.run(net_support.before_others([str(word) for word in line]), capture_output=True, text=True,
                          timeout=600, check=False)
    print(" ".join(map(str, line[1:])), done.returncode, done.stderr[-200:], flush=True)
    return json.loads(done.stdout) if done.stdout.startswith("{") else None


QUANTILES = (10, 25, 50, 75, 90, 99)  # of durations, as the JSON has them


def verdict(fidelity):
    return "yes" if fidelity["right"] else "**no**" if fidelity["can_tell"] else "cannot tell"


def fidelity_row(noise, back_end, result):
    fidelity, costs = result["fidelity"], result["costs"]
    power, count = fidelity["power"], fidelity["count"]
    durations = fidelity["durations"]
    q, expected, observed = max(zip(QUANTILES, durations["quantile_expected_ns"], durations["quantile_observed_ns"]),
                                key=lambda row: abs(row[2] / row[1] - 1))
    return (f"`{noise}`", back_end, f"{costs['floor_ns'] / 1e3:.1f}", f"{costs['late_p50_ns'] / 1e3:.1f}, {costs['late_p99_ns'] / 1e3:.1f}",
            f"{100 * (power['observed'] / power['expected'] - 1):+.1f}", f"{count['observed']} of {count['expected']}",
            f"p{q}: {observed / 1e3:.1f} for {expected / 1e3:.1f} us", verdict(fidelity))


def fidelity_table(arguments):
    rows = []
    for noise in CHECKS:
        for back_end in ("timer", "fifo"):
            result = self_check(arguments, noise, back_end)
            if result is not None:
                rows.append(fidelity_row(noise, back_end, result))
    return data_page.table(("noise", "back end", "floor, us", "late, us (p50, p99)", "power, %", "detours", "duration that is off most",
                  "as requested"), rows)


def scaling_table(arguments):
    rows = []
    for _ in range(3):
        result = self_check(arguments, SUB_FLOOR[0], "timer", "--naive", "--time-scale", SUB_FLOOR[1])
        if result is not None and result["naive"] is not None:
            naive, ratio = result["naive"], result["kl_ratio"]
            rows.append((f"{naive['kl']:.3g}" if isinstance(naive, dict) and "kl" in naive else f"{naive['durations']['kl']:.3g}",
                         f"{result['fidelity']['durations']['kl']:.3g}", f"{ratio:.0f}" if ratio else "cannot tell"))
    return data_page.table(("KL, as a naive injector makes it", f"KL, compensated and scaled by {SUB_FLOOR[1]}", "ratio"), rows)


def bench(arguments, noise, sync, back_end):
    line = [run_mpi.launcher("openmpi"), "-n", "2", *net_support.before_others(
        [str(arguments.idlewave), "bench", "barrier", "--noise", str(noise), "--sync", sync, "--back-end", back_end,
         "--duration", arguments.duration, "--format", "json"])]
    done = subprocess.run(line, env=run_mpi.environment(net_support.QUIET), capture_output=True, text=True, timeout=600,
                          check=False)
    print("bench", noise, sync, back_end, done.returncode, done.stderr[-200:], flush=True)
    return json.loads(done.stdout) if done.stdout.startswith("{") else None


def residual(simulated):
    """Measured minus simulated in points, with a star where both 95 % intervals together do not explain it."""
    return f"{100 * simulated['difference']:+.2f}" + (" *" if simulated["beyond_chance"] else "")


def bench_row(noise, sync, back_end, result):
    simulated = result["simulated"]
    return (f"`{noise}`", sync, back_end, percent(result["noise"]["injected_share"]), percent(result["own_noise_share"]),
            percent(result["slowdown"]["value"]) + interval(result["slowdown"]),
            percent(simulated["slowdown"]["value"]) + interval(simulated["slowdown"]),
            residual(simulated), {"agrees": "yes", "differs": "**no**", "unclear": "cannot tell"}[simulated["agreement"]])


def bench_summary(rows):
    """How many agree, and which signs the residuals have: the tolerance alone would hide a bias."""
    agreed = [row for row in rows if row[-1] == "yes"]
    starred = sum(row[-2].endswith("*") for row in agreed)
    signs = []
    for sync in SYNCS:
        residuals = [row[-2] for row in rows if row[1] == sync]
        signs.append(f"{sum(text.startswith('+') for text in residuals)} of {len(residuals)} ({sync})")
    return (f"{len(agreed)} of {len(rows)} agree within 20 % or 2 points; {starred} of these {len(agreed)} are further apart than both "
            f"95 % intervals together explain, marked *. Measured is above simulated in {', '.join(signs)}.")


def bench_table(arguments, folder):
    node = folder / "node.h5"
    subprocess.run([arguments.idlewave, "record", "-o", node, "--duration", "60s"], check=True, capture_output=True)
    rows = []
    for noise in NOISES:
        for sync in SYNCS:
            for back_end in ("timer", "fifo") if noise == NOISES[0] else ("timer",):
                result = bench(arguments, node if noise == "node.h5" else noise, sync, back_end)
                if result is not None:
                    rows.append(bench_row(noise, sync, back_end, result))
    return rows


def write(arguments, name, title, text):
    data_page.write(arguments.data, f"emulation-{name}", title, "make_emulation.py", "validation/emulation.md", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--duration", default="10s")
    data_page.add_option(parser)
    arguments = parser.parse_args()
    arguments.idlewave = arguments.build.resolve() / "cli" / "idlewave"
    with tempfile.TemporaryDirectory(prefix="iw_emulation_") as name:
        rows = bench_table(arguments, pathlib.Path(name))
    write(arguments, "bench", "Slowdown of a benchmark on two ranks, measured and simulated",
          bench_summary(rows) + "\n\n" + data_page.table(
              ("noise", "sync", "back end", "injected, %", "host's own, %", "SD measured, %", "SD simulated, %",
               "measured - simulated", "agree"), rows))
    write(arguments, "fidelity", "Injected noise against the requested noise", fidelity_table(arguments))
    write(arguments, "scaling", "Compensated and naive injection of detours below the floor", scaling_table(arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
