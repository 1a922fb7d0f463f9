#!/usr/bin/env python3
"""Tries `simulate` on recordings of laws that are hard on them: rare, long, coming and going over minutes, hitting nodes
as a whole, fewer CPUs recorded than ranks on a node. Three questions: does the interval cover, is a sensitivity shown where it does
not, and is that sensitivity above the truth? Remakes docs/validation/data/reach.md.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_reach.py BUILD_DIR [--keep FILE] [--repetitions N] [--laws A,B] [--lengths 10,60] [--ranks 64,1024] [--jobs N]
                     [--data DIR] [--check] [--table]
    As make_coverage.py, whose recordings and answers it uses. --check fails if less than 90 % of the intervals cover and the
    sensitivity is shown in less than 98 % of the others, or if less than 95 % of the bounds hold, by more than chance.
"""

import argparse
import concurrent.futures
import json
import pathlib
import statistics
import sys
import tempfile

import data_page
import make_coverage

TITLE = "What recordings say under laws that are hard on them"


def with_lengths(gaps, length):
    def law(rng, seconds):
        now = rng.random() * gaps(rng)
        while now < seconds * 1e9:
            yield now, length(rng)
            now += gaps(rng)
    return law


def poisson(hz):
    return lambda rng: rng.expovariate(hz / 1e9)


def trains(rng, seconds):
    """5 trains a second; each detour is followed by another one after a millisecond in half of the cases."""
    now = 0.0
    while now < seconds * 1e9:
        now += rng.expovariate(5 / 1e9)
        yield now, 8e4
        while rng.random() < 0.5:
            now += 1e6
            yield now, 8e4


# Of laws that no SPEC has. The first ten were tried in version 0.2; the last six were chosen when the code was finished.
MADE = {
    "weibull": with_lengths(poisson(30), lambda rng: rng.weibullvariate(3e4, 0.6)),
    "renewal": with_lengths(lambda rng: sum(rng.expovariate(4 / 4e7) for _ in range(4)), lambda rng: rng.expovariate(1e-5)),
    "uniform": with_lengths(poisson(25), lambda rng: 2e4 + 2e5 * rng.random()),
    "minutes": lambda rng, seconds: make_coverage.bursting(rng, seconds, 18e10, 12e10, 2e7, lambda: rng.expovariate(5e-6) + 1),
    "node-wide": lambda rng, seconds: make_coverage.bursting(rng, seconds, 2e9, 1e8, 1e6, lambda: rng.expovariate(1 / 5e4) + 1),
    "gamma": with_lengths(poisson(40), lambda rng: rng.gammavariate(0.5, 1.2e5)),
    "trains": trains,
    "late": with_lengths(lambda rng: 9e9 + 2e9 * rng.random(), lambda rng: 5e6),
    "lomax": with_lengths(poisson(15), lambda rng: 6e4 * (rng.random() ** (-1 / 2.2) - 1) + 1),
    "storms": lambda rng, seconds: make_coverage.bursting(rng, seconds, 27e10, 3e10, 5e6, lambda: rng.expovariate(1e-5) + 1),
}
LAWS = {
    "Weibull 0.6": "weibull",
    "tick with a long beat": "beats",
    "hyperexponential": ["irq/short=poisson:57Hz,exp:20us", "thread/long=poisson:3Hz,exp:500us"],
    "renewal": "renewal",
    "uniform lengths": "uniform",
    "one in 10^4 is long": ["irq/tick=poisson:50Hz,fixed:20us", "thread/rare=poisson:0.005Hz,fixed:20ms"],
    "one in 10^6 is long": ["irq/tick=poisson:1kHz,fixed:5us", "thread/rare=poisson:0.001Hz,fixed:50ms"],
    "cron": ["irq/tick=periodic:100Hz,10us", "thread/cron=periodic:0.016666667Hz,30ms"],
    "minutes on and off": "minutes",
    "bursts that hit all CPUs": "node-wide",
    "16 ranks on 2 recorded CPUs": ["thread/a=poisson:20Hz,exp:300us"],
    "gamma 0.5": "gamma",
    "two ticks out of step": ["irq/a=periodic:250Hz,4us", "irq/b=periodic:249Hz,6us"],
    "trains": "trains",
    "every 9 to 11 s": "late",
    "Lomax 2.2": "lomax",
    "half a minute in five": "storms",
}
SHARED = {"bursts that hit all CPUs"}
RANKS_PER_NODE = {"16 ranks on 2 recorded CPUs": 16}
TRIALS = 12
TRUTH_TRIALS = {64: 4000, 1024: 800, 8192: 150}
TRUTH_SECONDS = 20000


def record(tool, law, seconds, cpus, seed):
    """As make_coverage's, with the same detours on all CPUs where the law says so."""
    kind = LAWS[law]
    if isinstance(kind, list) or law not in SHARED:
        return tool.record(law, seconds, cpus, seed)
    path = tool.folder / f"{abs(hash((law, seconds, cpus, seed)))}.h5"
    rows = [f"# cpu {cpu}: length_ns {int(seconds * 1e9)}, t_min_ns 20, threshold_ns 180, dropped 0" for cpu in range(cpus)]
    rows.append("cpu,start_ns,duration_ns,class,source")
    rows += [f"{cpu},{start},{duration},unknown," for cpu in range(cpus)
             for start, duration in make_coverage.made_detours(kind, seconds, seed)]
    text = path.with_suffix(".csv")
    text.write_text("\n".join(rows) + "\n")
    tool.must("noise", "convert", text, path)
    text.unlink()
    return path


def truth_of(tool, law, ranks):
    """Mean slowdown of the law itself; specs are drawn for each rank."""
    specs = [make_coverage.plain(spec) for spec in LAWS[law]] if isinstance(LAWS[law], list) else None
    shared = law in SHARED
    noise = specs or [record(tool, law, TRUTH_SECONDS, make_coverage.CPUS if shared else 1, 4711)]
    words = [word for one in noise for word in ("--noise", one)]
    return tool.ask("simulate", *make_coverage.job(ranks), *words, "--ranks-per-node", make_coverage.CPUS if shared else 1,
                    "--trials", TRUTH_TRIALS[ranks], "--seed", 4711)["slowdown"]["mean"]


def one(tool, law, seconds, ranks, repetition):
    seed = 1000 * repetition + 17
    path = record(tool, law, seconds, make_coverage.CPUS, seed)
    words = ["--ranks-per-node", RANKS_PER_NODE[law]] if law in RANKS_PER_NODE else []
    answer = tool.ask("simulate", *make_coverage.job(ranks), "--noise", path, "--trials", TRIALS, "--seed", seed, *words)["recording"]
    path.unlink()
    return {"law": law, "seconds": seconds, "ranks": ranks, "repetition": repetition, "estimate": answer["slowdown"],
            "sensitivity": (answer.get("sensitivity") or {}).get("slowdown")}


# ---- the table ----

HEAD = ["answers", "interval covers", "half width", "bounds", "hold", "neither", "sensitivity shown", "above the truth"]


class Tally:
    """Of intervals and bounds; `missed` are intervals that do not cover, and bounds, which cover nothing."""

    def __init__(self):
        self.intervals = self.covered = self.bounds = self.held = self.missed = self.shown = self.above = 0
        self.widths = []

    def add(self, row, truth):
        estimate, sensitivity = row["estimate"], row["sensitivity"]
        is_bound = estimate["high"] is None
        covers = not is_bound and estimate["low"] <= truth <= estimate["high"]
        self.bounds += is_bound
        self.held += is_bound and estimate["low"] <= truth
        self.intervals += not is_bound
        self.covered += covers
        if not is_bound:
            self.widths.append((estimate["high"] - estimate["low"]) / 2 / truth)
        if not covers:
            self.missed += 1
            self.shown += sensitivity is not None
            self.above += sensitivity is not None and sensitivity >= truth

    def cells(self):
        def share(part, whole):
            return f"{100 * part / whole:.0f} %" if whole else "-"
        width = f"+-{100 * statistics.median(self.widths):.0f} %" if self.widths else "-"
        return [str(self.intervals + self.bounds), share(self.covered, self.intervals), width, str(self.bounds),
                share(self.held, self.bounds), str(self.missed), share(self.shown, self.missed), share(self.above, self.shown)]


def tallies_by(rows, truths, key):
    tallies = {}
    for row in rows:
        tallies.setdefault(key(row), Tally()).add(row, truths[(row["law"], row["ranks"])])
    return tallies


def text_of(rows, truths):
    def table(name, keys, key):
        tallies = tallies_by(rows, truths, key)
        return data_page.table([name, *HEAD], [[str(k), *tallies[k].cells()] for k in keys if k in tallies])
    return "\n\n".join([
        "By law; the last six were chosen when the code was finished:", table("law", list(LAWS), lambda r: r["law"]),
        "By length of the recording, by ranks, and all of them:",
        table("recorded", sorted({r["seconds"] for r in rows}), lambda r: r["seconds"]),
        table("ranks", sorted({r["ranks"] for r in rows}), lambda r: r["ranks"]), table("", ["all"], lambda _: "all")])


def check(rows, truths):
    tally, bad = tallies_by(rows, truths, lambda _: "all")["all"], []
    if tally.covered < make_coverage.least(tally.intervals, 0.90) and tally.shown < make_coverage.least(tally.missed, 0.98):
        bad.append(f"{tally.covered} of {tally.intervals} intervals cover; the sensitivity is shown in {tally.shown} of {tally.missed}")
    if tally.held < make_coverage.least(tally.bounds, 0.95):
        bad.append(f"{tally.held} of {tally.bounds} bounds hold")
    return bad


# ---- running ----

def load(path):
    truths, rows = {}, []
    for line in path.read_text().splitlines() if path.exists() else []:
        row = json.loads(line)
        if "truth" in row:
            truths[(row["law"], row["ranks"])] = row["truth"]
        else:
            rows.append(row)
    return truths, rows


def run_all(arguments, truths, rows):
    done = {(r["law"], r["seconds"], r["ranks"], r["repetition"]) for r in rows}
    with tempfile.TemporaryDirectory() as folder, arguments.keep.open("a") as out, \
            concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        tool = make_coverage.Tool(arguments.build, folder)
        for ranks in arguments.ranks:
            for law in arguments.laws:
                if (law, ranks) not in truths:
                    truths[(law, ranks)] = truth_of(tool, law, ranks)
                    print(json.dumps({"law": law, "ranks": ranks, "truth": truths[(law, ranks)]}), file=out, flush=True)
                jobs = [pool.submit(one, tool, law, seconds, ranks, repetition)
                        for seconds in arguments.lengths for repetition in range(arguments.repetitions)
                        if (law, seconds, ranks, repetition) not in done]
                for found in jobs:
                    rows.append(found.result())
                    print(json.dumps(rows[-1]), file=out, flush=True)
                print(f"{law}, {ranks} ranks: truth {truths[(law, ranks)]:.4g}", file=sys.stderr, flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("reach.jsonl"))
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--laws", type=lambda text: text.split(","), default=list(LAWS))
    parser.add_argument("--lengths", type=make_coverage.numbers, default=[10, 60, 600])
    parser.add_argument("--ranks", type=make_coverage.numbers, default=[64, 1024, 8192])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", action="store_true")
    return parser.parse_args()


def main():
    arguments = parse()
    make_coverage.LAWS.update(LAWS)
    make_coverage.MADE.update(MADE)
    truths, rows = load(arguments.keep)
    if not arguments.table:
        run_all(arguments, truths, rows)
    text = text_of(rows, truths)
    print(text)
    if arguments.data:
        data_page.write(arguments.data, "reach", TITLE, "make_reach.py", "validation/coverage.md", text)
    bad = check(rows, truths) if arguments.check else []
    print("\n".join(bad), file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
