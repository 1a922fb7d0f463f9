#!/usr/bin/env python3
"""Remakes the tables and the picture of docs/validation/predictions.md: what a detour costs by its place, beside the rule that all
simulations rest on.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_rule.py BUILD_DIR [--keep DIR] [--runs N] [--data DIR] [--pictures DIR]
    BUILD_DIR is a release build with the programs of tests/mpi (target rule_pair_openmpi, rule_pair_mpich). Needs two CPUs, the
    right to use SCHED_FIFO, and gnuplot. A run takes half a minute; there are --runs for each MPI and way to wait. Runs whose files are in
    DIR are not repeated, so that a series can be done in parts.
"""

import argparse
import bisect
import csv
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import data_page

sys.path.insert(0, str(data_page.ROOT / "tests" / "mpi"))
import run_mpi  # noqa: E402

TIMES = 5000  # messages of a run
WAITS = ("polling", "blocking")
KINDS = {"work": "in the sender's work", "slack": "in the receiver's work, which has slack", "wait": "while the receiver waits",
         "straddle": "while it waits, until after the message"}
START_MOST_NS = 2000  # a rank that begins later was kept from it
KEPT_MOST_NS = 30000  # by others, in a time that counts as undisturbed
NEAR = 15             # times without a detour on either side that say when the receiver would have been done
MARGIN_NS = 10000     # a detour that straddles begins so long before the message would have come
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def measure(arguments, mpi, wait, number):
    path = arguments.keep / f"{mpi}-{wait}-{number}"
    if path.with_name(path.name + ".1").exists():
        return
    done = run_mpi.launch(mpi, 2, [arguments.programs / mpi / "rule_pair", path, TIMES, wait, "fifo", number],
                          env={"OMPI_MCA_mpi_yield_when_idle": "0"}, timeout=170)
    print(path.name, done.returncode, f"load {os.getloadavg()[0]:.0f}", done.stderr.strip().replace("\n", "; "), flush=True)
    path.with_name(path.name + ".load").write_text(f"{os.getloadavg()[0]:.1f}\n", encoding="utf-8")


def read(path):
    with open(path, encoding="utf-8") as file:
        return [{key: value if key == "kind" else int(value) for key, value in line.items()} for line in csv.DictReader(file)]


class Run:
    """One run: for each detour that was made on time the loss of the receiver, the loss by the rule, whether others kept a rank waiting."""

    def __init__(self, prefix):
        pairs = list(zip(read(f"{prefix}.0"), read(f"{prefix}.1")))
        self.times = len(pairs)
        self.prefix = prefix
        usable = [(number, *pair) for number, pair in enumerate(pairs) if self.is_on_time(*pair)]
        quiet = [(number, receiver["done_ns"]) for number, sender, receiver in usable
                 if receiver["kind"] == "none" and self.is_undisturbed(sender, receiver)]
        self.numbers, self.done_ns = [number for number, _ in quiet], [done for _, done in quiet]
        self.quiet_ns = [done - self.usual_ns(number) for number, done in quiet]
        self.detours = [detour for time in usable if (detour := self.judge(*time))]

    def load(self):
        """Of the machine when the run ended."""
        return float(pathlib.Path(f"{self.prefix}.load").read_text(encoding="utf-8"))

    @staticmethod
    def met_by(sender, receiver):
        return sender if sender["kind"] == "work" else receiver

    def is_on_time(self, sender, receiver):
        """Both began together, and the detour was made."""
        return (max(sender["start_ns"], receiver["start_ns"]) < START_MOST_NS
                and (receiver["kind"] == "none" or self.met_by(sender, receiver)["entry_ns"] >= 0))

    @staticmethod
    def is_undisturbed(sender, receiver):
        """No rank waited for its CPU but while the detour had it. The kernel counts that, not the clock."""
        return all(rank["kept_ns"] <= rank["duration_ns"] + KEPT_MOST_NS for rank in (sender, receiver))

    def usual_ns(self, number):
        """When the receiver is done without a detour, about then."""
        place = bisect.bisect(self.numbers, number)
        return statistics.median(self.done_ns[max(0, place - NEAR):place + NEAR])

    def judge(self, number, sender, receiver):
        met, usual_ns = self.met_by(sender, receiver), self.usual_ns(number)
        kind, duration_ns = met["kind"], met["duration_ns"]
        if kind == "none" or (kind == "straddle" and met["aim_ns"] > usual_ns - MARGIN_NS):
            return None
        rule_ns = duration_ns if kind == "work" else 0
        if kind == "straddle":
            rule_ns = max(met["aim_ns"] + duration_ns - usual_ns, 0)
        return {"kind": kind, "duration_us": duration_ns / 1e3, "rule_us": rule_ns / 1e3, "late_us": (met["entry_ns"] - met["aim_ns"]) / 1e3,
                "loss_us": (receiver["done_ns"] - usual_ns) / 1e3, "is_undisturbed": self.is_undisturbed(sender, receiver)}


def quantiles(values):
    values = sorted(values)
    return [values[min(int(share * len(values)), len(values) - 1)] for share in QUANTILES]


def residuals(detours, kind):
    return [detour["loss_us"] - detour["rule_us"] for detour in detours if detour["kind"] == kind]


def median_between(values):
    """The median with its 95 % interval, by order statistics."""
    values = sorted(values)
    half = 0.98 * len(values) ** 0.5
    low, high = (values[max(0, min(len(values) - 1, round(len(values) / 2 + sign * half)))] for sign in (-1, 1))
    return f"{statistics.median(values):+.1f} ({low:+.1f} to {high:+.1f})"


def result_rows(runs):
    rows = []
    for (mpi, wait), those in runs.items():
        detours = [detour for run in those for detour in run.detours if detour["is_undisturbed"]]
        for kind, name in KINDS.items():
            mine = [detour for detour in detours if detour["kind"] == kind]
            left = residuals(detours, kind)
            rows.append((mpi, wait, name, len(left), f"{statistics.mean(d['rule_us'] for d in mine):.0f}", f"{statistics.mean(d['loss_us'] for d in mine):.0f}",
                         median_between(left), *(f"{value:+.1f}" for value in quantiles(left))))
        left = [value / 1e3 for run in those for value in run.quiet_ns]
        rows.append((mpi, wait, "no detour", len(left), "0", f"{statistics.mean(left):.0f}", median_between(left),
                     *(f"{value:+.1f}" for value in quantiles(left))))
    return rows


def host_rows(runs):
    """What was left out, and what it does to the medians."""
    rows = []
    for (mpi, wait), those in runs.items():
        detours = [detour for run in those for detour in run.detours]
        loads = [run.load() for run in those]
        share = sum(detour["is_undisturbed"] for detour in detours) / len(detours)
        medians = ", ".join(f"{statistics.median(residuals(detours, kind)):+.1f}" for kind in KINDS)
        late = quantiles([detour["late_us"] for detour in detours])
        rows.append((mpi, wait, f"{min(loads):.0f} to {max(loads):.0f}", sum(run.times for run in those), len(detours), f"{100 * share:.0f} %", medians,
                     f"{late[2]:.1f} ({late[0]:.1f} to {late[-1]:.1f})"))
    return rows


def write(arguments, runs):
    count = sum(detour["is_undisturbed"] for those in runs.values() for run in those for detour in run.detours)
    text = [f"{count} detours of 150, 250 and 350 us. Loss: how much later than usual the receiver has the message; residual: loss less "
            "what the rule says; the last columns are its quantiles. All in us.",
            data_page.table(("MPI", "waiting", "detour", "detours", "loss by the rule, mean", "loss measured, mean", "residual, median (95 %)",
                             *(f"{100 * share:.0f} %" for share in QUANTILES)), result_rows(runs)),
            "Only times in which both ranks began together and the detour was made count; the first table has those in which nobody else kept a rank from its CPU "
            f"for {KEPT_MOST_NS / 1e3:.0f} us or more. With the others, medians are:",
            data_page.table(("MPI", "waiting", "load of the machine", "messages", "detours on time", "undisturbed", "medians of all: work, slack, wait, straddle",
                             "detour later than planned, median (5 to 95 %)"), host_rows(runs))]
    data_page.write(arguments.data, "rule", "What a detour costs by its place", "make_rule.py", "validation/predictions.md", "\n\n".join(text))


def draw(runs, path):
    """Left: distributions of residuals. Right: each detour, measured over the rule."""
    colours = {"work": "#0072b2", "slack": "#009e73", "wait": "#e69f00", "straddle": "#cc3311"}
    with tempfile.TemporaryDirectory() as scratch:
        folder, curves, points = pathlib.Path(scratch), [], []
        for wait in WAITS:
            detours = [d for (_, how), those in runs.items() if how == wait for run in those for d in run.detours if d["is_undisturbed"]]
            for kind, colour in colours.items():
                left = sorted(residuals(detours, kind))
                (folder / f"{wait}-{kind}").write_text("".join(f"{value} {100 * (i + 1) / len(left)}\n" for i, value in enumerate(left)), encoding="utf-8")
                curves.append(f"'{folder}/{wait}-{kind}' with lines lw 2 lc rgb '{colour}' dt {1 + WAITS.index(wait)} title '{kind}, {wait}'")
                some = [d for d in detours if d["kind"] == kind][:600]
                (folder / f"{wait}-{kind}-points").write_text("".join(f"{d['rule_us']} {d['loss_us']}\n" for d in some), encoding="utf-8")
                title = f"title '{kind}'" if wait == "polling" else "notitle"
                points.append(f"'{folder}/{wait}-{kind}-points' with points pt 7 ps 0.4 lc rgb '{colour}' {title}")
        script = f"""set terminal pngcairo size 1200,460 font 'sans,11'
set output '{path}'
set multiplot layout 1,2
set grid lc rgb '#dddddd'
set key right bottom samplen 2
set xlabel 'loss measured less loss by the rule, us'
set ylabel 'share of detours, %'
set xrange [-40:60]
set yrange [0:100]
plot {', '.join(curves)}
set key left top
set xlabel 'loss by the rule, us'
set ylabel 'loss measured, us'
set xrange [-10:370]
set yrange [-40:420]
plot x with lines lc rgb '#999999' title 'the rule', {', '.join(points)}
"""
        subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--pictures", type=pathlib.Path, default=data_page.ROOT / "docs" / "pictures")
    data_page.add_option(parser)
    arguments = parser.parse_args()
    arguments.programs = arguments.build.resolve() / "tests" / "mpi" / "bin"
    with tempfile.TemporaryDirectory(prefix="iw_rule_") as scratch:
        arguments.keep = arguments.keep or pathlib.Path(scratch)
        arguments.keep.mkdir(parents=True, exist_ok=True)
        runs = {}
        for number in range(1, arguments.runs + 1):  # in turn: the machine changes
            for mpi in run_mpi.MPIS:
                for wait in WAITS:
                    measure(arguments, mpi, wait, number)
                    if (arguments.keep / f"{mpi}-{wait}-{number}.1").exists():
                        runs.setdefault((mpi, wait), []).append(Run(arguments.keep / f"{mpi}-{wait}-{number}"))
        write(arguments, runs)
        draw(runs, arguments.pictures / "the-rule.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
