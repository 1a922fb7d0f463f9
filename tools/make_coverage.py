#!/usr/bin/env python3
"""Measures how often printed intervals and bounds hold out of sample: recordings of known laws, asked by simulate and whatif,
against what the laws themselves cost. Remakes the tables of docs/validation/coverage.md, which
are in docs/validation/data.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_coverage.py BUILD_DIR [--keep FILE] [--repetitions N] [--laws A,B] [--lengths 10,60] [--ranks 100,1000]
                        [--verbs simulate,whatif,extrapolate] [--jobs N] [--data DIR] [--check] [--table] [--anew]
    BUILD_DIR is a release build. Each answer is a line of --keep (default coverage.jsonl), and those that are there are not
    asked for again: a long run may be interrupted, and the table is made of all lines. --table only makes it; --anew forgets
    them first. --check
    fails if intervals that should cover in 95 % cover in less than 90 % by more than chance, or bounds of 95 % hold less
    often. --data writes the page coverage.md into DIR.
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

import data_page

TITLE = "How often intervals and bounds hold, out of sample"

# The first twelve were in view while the method was made; the last six were chosen when it was finished.
LAWS = {
    "exponential": ["poisson:50Hz,exp:50us"],
    "lognormal 1.0": ["poisson:20Hz,lognormal:50us,1"],
    "lognormal 1.5": ["poisson:2Hz,lognormal:100us,1.5"],
    "Pareto 2.5": ["poisson:20Hz,pareto:2.5,30us"],
    "Pareto 1.5": ["poisson:5Hz,pareto:1.5,30us"],
    "tick and a rare daemon": ["irq/tick=periodic:250Hz,3us", "thread/daemon=poisson:0.5Hz,fixed:2ms"],
    "periodic with jitter": "jitter",
    "two-state bursts": "bursts",
    "exponential and a rare one": ["irq/a=poisson:30Hz,exp:20us", "thread/b=poisson:0.2Hz,exp:1ms"],
    "frequent lognormal 0.7": ["poisson:200Hz,lognormal:10us,0.7"],
    "rare Pareto 2.0": ["poisson:1Hz,pareto:2,100us"],
    "three sources": ["irq/tick=periodic:1kHz,1us", "irq/net=poisson:10Hz,lognormal:30us,0.8",
                      "thread/cron=poisson:0.05Hz,fixed:500us"],
    "lognormal 1.2": ["poisson:8Hz,lognormal:80us,1.2"],
    "Pareto 3": ["poisson:100Hz,pareto:3,20us"],
    "two exponentials": ["irq/short=poisson:90Hz,exp:20us", "thread/long=poisson:5Hz,exp:400us"],
    "tick with a long beat": "beats",
    "long bursts of lognormal 1": "storms",
    "regular gaps and uniform lengths": "regular",
}
CPUS = 2
STEP_US, STEPS = 1000, 5
TRIALS = {"simulate": 24, "extrapolate": 24, "whatif": 12}
TRUTH_TRIALS = {100: 20000, 1000: 4000, 10000: 600, 100000: 60}
# by ranks: every how many-th repetition is asked, because it takes so long
EVERY = {"simulate": {100: 1, 1000: 1, 10000: 2, 100000: 10},
         "whatif": {100: 1, 1000: 2, 10000: 20, 100000: 100},
         "extrapolate": {100: 5, 1000: 10, 10000: 50, 100000: 200}}
TRUTH_SECONDS = 20000  # of recordings in place of specs, on one CPU


def jitter(rng, seconds):
    """100 Hz, each beat up to 2 ms late; lognormal lengths about 20 us."""
    phase = rng.random() * 1e7
    for beat in range(int(seconds * 100)):
        yield phase + beat * 1e7 + rng.random() * 2e6, rng.lognormvariate(math.log(2e4), 0.3)


def beats(rng, seconds):
    """50 Hz of 10 us; one beat in 500 takes an exponential time of 1 ms."""
    phase = rng.random() * 2e7
    for beat in range(int(seconds * 50)):
        yield phase + beat * 2e7, rng.expovariate(1e-6) if rng.random() < 0.002 else 1e4


def bursting(rng, seconds, quiet_ns, busy_ns, gap_ns, length_ns):
    """Quiet and busy times are exponential, and so are the gaps in busy ones."""
    now = -rng.random() * quiet_ns
    while now < seconds * 1e9:
        now += rng.expovariate(1 / quiet_ns)
        stop = now + rng.expovariate(1 / busy_ns)
        while now < stop:
            now += rng.expovariate(1 / gap_ns)
            yield now, length_ns()


def regular(rng, seconds):
    """Gaps of four exponential times, 40 ms together; lengths evenly from 20 to 220 us."""
    now = rng.random() * 4e7
    while now < seconds * 1e9:
        yield now, 2e4 + rng.random() * 2e5
        now += sum(rng.expovariate(1e-7) for _ in range(4))


MADE = {
    "jitter": jitter,
    "beats": beats,
    "bursts": lambda rng, seconds: bursting(rng, seconds, 2e9, 1e8, 1e6, lambda: rng.expovariate(1 / 5e4) + 1),
    "storms": lambda rng, seconds: bursting(rng, seconds, 1e9, 5e8, 1e7, lambda: rng.lognormvariate(math.log(4e4), 1)),
    "regular": regular,
}


def made_detours(kind, seconds, seed):
    """(start, duration) in ns of laws that no SPEC has; what begins within another detour is left out."""
    at, kept, end = 0, [], int(seconds * 1e9)
    for start, duration in MADE[kind](random.Random(f"{kind} {seed}"), seconds):
        start, duration = int(start), int(duration)
        if start > at and start + duration < end:
            kept.append((start, duration))
            at = start + duration
    return kept


class Tool:
    def __init__(self, build, folder):
        self.program = build / "cli" / "idlewave"
        self.folder = pathlib.Path(folder)

    def run(self, *words):
        return subprocess.run([str(self.program), *map(str, words)], capture_output=True, text=True, check=False)

    def ask(self, *words):
        done = self.run(*words, "--format", "json")
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr}")
        return json.loads(done.stdout)

    def record(self, law, seconds, cpus, seed):
        path = self.folder / f"{abs(hash((law, seconds, cpus, seed)))}.h5"
        specs = LAWS[law]
        if isinstance(specs, list):
            self.must("noise", "synth", *specs, "--duration", f"{seconds}s", "--cpus", cpus, "--seed", seed, "-o", path)
            return path
        rows = [f"# cpu {cpu}: length_ns {int(seconds * 1e9)}, t_min_ns 20, threshold_ns 180, dropped 0" for cpu in range(cpus)]
        rows.append("cpu,start_ns,duration_ns,class,source")
        for cpu in range(cpus):
            rows += [f"{cpu},{start},{duration},unknown," for start, duration in made_detours(specs, seconds, f"{seed}/{cpu}")]
        text = path.with_suffix(".csv")
        text.write_text("\n".join(rows) + "\n")
        self.must("noise", "convert", text, path)
        text.unlink()
        return path

    def must(self, *words):
        done = self.run(*words)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr}")


def job(ranks):
    return ("--pattern", "allreduce", "--bytes", 8, "--ranks", ranks, "--compute", f"{STEP_US}us", "--repeat", STEPS,
            "--net", "chic", "--threads", 1)


def plain(spec):
    return spec.split("=", 1)[-1]


def mean_of(tool, ranks, noise):
    words = [word for spec in noise for word in ("--noise", spec)]
    return tool.ask("simulate", *job(ranks), *words, "--ranks-per-node", 1, "--trials", TRUTH_TRIALS[ranks],
                    "--seed", 4711)["slowdown"]["mean"]


def truth_of(tool, law, ranks):
    """Mean slowdown of the law itself, and what each of its sources is worth: without it all others stay where they were."""
    if not isinstance(LAWS[law], list):
        return {"slowdown": mean_of(tool, ranks, [tool.record(law, TRUTH_SECONDS, 1, 4711)]), "savings": {}}
    specs = [plain(spec) for spec in LAWS[law]]
    now = mean_of(tool, ranks, specs)
    savings = {}
    for index, named in enumerate(LAWS[law]):
        if len(specs) > 1:
            rest = ["none" if i == index else spec for i, spec in enumerate(specs)]
            savings[named.split("=")[0]] = now - mean_of(tool, ranks, rest)
    return {"slowdown": now, "savings": savings}


def answers_of(tool, verb, path, ranks, seed):
    """What was asked for (None: the slowdown; else the source whose saving it is) and its estimate; None: refused."""
    words = [*job(ranks), "--noise", path, "--trials", TRIALS[verb], "--seed", seed]
    if verb == "whatif":
        answer = tool.ask("whatif", "--quiet", "--redraws", 12, *words)
        return [(None, answer["now"])] + [(change["name"], change["saving"]) for change in answer["changes"]
                                          if change["kind"] == "source" and len(answer["sources"]) > 1]
    if verb == "extrapolate":
        words.append("--extrapolate")
    done = tool.run("simulate", *words, "--format", "json")
    if done.returncode != 0 and verb == "extrapolate":
        return [(None, None)]
    return [(None, json.loads(done.stdout)["recording"]["slowdown"])]


def one(tool, verbs, law, seconds, ranks, repetition):
    seed = 1000 * repetition + 17
    path = tool.record(law, seconds, CPUS, seed)
    rows = []
    for verb in verbs:
        for source, estimate in answers_of(tool, verb, path, ranks, seed):
            rows.append({"law": law, "seconds": seconds, "ranks": ranks, "repetition": repetition,
                         "verb": verb if source is None else "saving", "source": source, "estimate": estimate})
    path.unlink()
    return rows


# ---- the table ----

class Tally:
    def __init__(self):
        self.estimates = self.covered = self.below = self.bounds = self.held = self.refused = 0
        self.width = self.tightness = 0.0

    def add(self, row, truth):
        estimate = row["estimate"]
        if estimate is None:
            self.refused += 1
        elif estimate["high"] is None:
            self.bounds += 1
            self.held += estimate["low"] <= truth
            self.tightness += estimate["low"] / truth
        else:
            self.estimates += 1
            self.covered += estimate["low"] <= truth <= estimate["high"]
            self.below += estimate["high"] < truth
            self.width += (estimate["high"] - estimate["low"]) / 2 / truth

    def cells(self):
        def share(part, whole):
            return f"{100 * part / whole:.0f} %" if whole else "-"
        width = f"+-{100 * self.width / self.estimates:.0f} %" if self.estimates else "-"
        tight = f"{100 * self.tightness / self.bounds:.0f} %" if self.bounds else "-"
        return [str(self.estimates), share(self.covered, self.estimates), width, str(self.bounds),
                share(self.held, self.bounds), tight, str(self.refused)]


HEAD = ["estimates", "covered", "half width", "bounds", "hold", "of the truth", "refused"]


def table(title, names, tallies):
    return data_page.table([*title, *HEAD], [[*name, *tallies[name].cells()] for name in names if name in tallies])


def tallies_by(rows, truths, key):
    tallies = {}
    for row in rows:
        truth = truths[(row["law"], row["ranks"])]
        truth = truth["slowdown"] if row["source"] is None else truth["savings"][row["source"]]
        tallies.setdefault(key(row), Tally()).add(row, truth)
    return tallies


def text_of(rows, truths):
    parts = []
    for verb, name in (("simulate", "`simulate`"), ("whatif", "`whatif`, the slowdown as it is"),
                       ("saving", "`whatif`, savings of single sources"),
                       ("extrapolate", "`simulate --extrapolate`")):
        own = [row for row in rows if row["verb"] == verb]
        if own:
            laws = [(law,) for law in LAWS]
            lengths = sorted({(f'{row["seconds"]} s',) for row in own}, key=lambda n: float(n[0][:-2]))
            ranks = sorted({(row["ranks"],) for row in own})
            parts += [f"{name}, by law:", table(["law"], laws, tallies_by(own, truths, lambda r: (r["law"],))),
                      f"{name}, by length of the recording and by ranks:",
                      table(["recorded"], lengths, tallies_by(own, truths, lambda r: (f'{r["seconds"]} s',))),
                      table(["ranks"], ranks, tallies_by(own, truths, lambda r: (r["ranks"],)))]
    return "\n\n".join(parts)


def least(count, share):
    """The lowest count of successes that chance leaves in 99 of 100 cases if each has that probability."""
    return count * share - 2.33 * math.sqrt(count * share * (1 - share)) - 0.5


def check(rows, truths):
    bad = []
    for (verb,), tally in tallies_by([r for r in rows if r["verb"] in ("simulate", "whatif")], truths, lambda r: (r["verb"],)).items():
        if tally.covered < least(tally.estimates, 0.90):
            bad.append(f"{verb}: {tally.covered} of {tally.estimates} intervals cover")
        if tally.held < least(tally.bounds, 0.95):
            bad.append(f"{verb}: {tally.held} of {tally.bounds} bounds hold")
        if tally.estimates == 0 or tally.bounds == 0:
            bad.append(f"{verb}: {tally.estimates} estimates and {tally.bounds} bounds: nothing was tested")
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
    done = {(r["law"], r["seconds"], r["ranks"], r["repetition"], r["verb"]) for r in rows}
    with tempfile.TemporaryDirectory() as folder, arguments.keep.open("a") as out, \
            concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        tool = Tool(arguments.build, folder)
        for law in arguments.laws:
            for ranks in arguments.ranks:
                if (law, ranks) not in truths:
                    truths[(law, ranks)] = truth_of(tool, law, ranks)
                    print(json.dumps({"law": law, "ranks": ranks, "truth": truths[(law, ranks)]}), file=out, flush=True)
                for seconds in arguments.lengths:
                    jobs = []
                    for repetition in range(arguments.repetitions):
                        verbs = [v for v in arguments.verbs
                                 if repetition % EVERY[v][ranks] == 0 and (law, seconds, ranks, repetition, v) not in done]
                        if verbs:
                            jobs.append(pool.submit(one, tool, verbs, law, seconds, ranks, repetition))
                    for found in jobs:
                        for row in found.result():
                            rows.append(row)
                            print(json.dumps(row), file=out, flush=True)
                    print(f"{law}, {seconds} s, {ranks} ranks: truth {truths[(law, ranks)]}", file=sys.stderr, flush=True)


def numbers(text):
    return [int(word) for word in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("coverage.jsonl"))
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--laws", type=lambda text: text.split(","), default=list(LAWS))
    parser.add_argument("--lengths", type=numbers, default=[10, 60, 600])
    parser.add_argument("--ranks", type=numbers, default=[100, 1000, 10000, 100000])
    parser.add_argument("--verbs", type=lambda text: text.split(","), default=["simulate", "whatif", "extrapolate"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--anew", action="store_true")
    return parser.parse_args()


def main():
    arguments = parse()
    if arguments.anew:
        arguments.keep.unlink(missing_ok=True)
    truths, rows = load(arguments.keep)
    if not arguments.table:
        run_all(arguments, truths, rows)
    text = text_of(rows, truths)
    print(text)
    if arguments.data:
        data_page.write(arguments.data, "coverage", TITLE, "make_coverage.py", "validation/coverage.md", text)
    if arguments.check:
        bad = check(rows, truths)
        print("\n".join(bad), file=sys.stderr)
        return 1 if bad else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
