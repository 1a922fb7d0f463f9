#!/usr/bin/env python3
"""Asks what a recording says of other days: predicts the same jobs from recordings of several dates, and counts how often the interval from one date covers what another gives (docs/validation/predictions.md).

SPDX-License-Identifier: BSD-3-Clause

Usage: real_dates.py FOLDER --idlewave FILE --keep DIR [--own DIR] [--jobs N] [--data DIR]
    FOLDER is a copy of DanieleDeSensi/cloud_noise_data, with its archives or with MACHINE/DATE/DATE unpacked.
    DIR keeps recordings and answers: a stopped series goes on. --own adds a folder of noise files of one machine, each named DATE.h5.

Written down and committed before any of these recordings was simulated by it:
- A recording is all runs of netgauge in the file of one date that came from the node of its first run. Where a file has several
  runs, these are also compared with each other, as recordings of their own.
- Jobs: PROGRAMS on NETWORK, ten repetitions each. An answer is `recording.slowdown` of `idlewave simulate`: the mean over trials and the
  95 % interval that counts trials, recording and what may be unseen; or a lower bound where idlewave says "at least".
- Inside: the mean from date j lies in the interval from date i. Even if noise stayed the same this could not be 95 %: the answer of j has
  an error too. With two errors alike it would be 83 %.
- Agrees: both means differ by no more than both intervals allow, their sides in quadrature. This is 95 % if noise stays and intervals
  are right.
- Matters: the predicted times differ by more than 1 %.
- Answers that are bounds are counted apart: a bound of date i holds if the mean from date j is not below it.
- Several recordings predict one that was left out, in four ways: the range of their means; the hull of their intervals; the interval for a
  further value that follows from their means, if logarithms are normal (Student's t for k - 1 degrees of freedom); and as one noise folder
  (`--noise DIR`), whose interval redraws nodes. The first three need no further simulation: all choices of k others, or 200 of them. The
  folder is one choice a date and k, for at most 1,024 ranks.
- Equal resolution: detours shorter than the coarsest threshold of a machine are left out of all its recordings.
Changed when the pairs of dates were in view: choices are for k in POOLS only, what follows "later" in tables is new, and this machine (--own) has
at most 1,024 ranks and no folders.
"""

import argparse
import concurrent.futures
import hashlib
import itertools
import json
import math
import os
import pathlib
import re
import shutil
import sys
import tempfile
from collections import namedtuple

import data_page
import dates_pages
import real_inputs as inputs
import real_model

NETWORK = "hdr-fat-tree"
REPEAT = 10
POOLS = (2, 3, 5, 7, 10)

Program = namedtuple("Program", "pattern work ranks trials")
PROGRAMS = [Program(pattern, work, ranks, trials) for ranks, trials in ((64, 1000), (1024, 200), (16384, 20))
            for pattern in ("barrier:dissemination", "allreduce:recursive-doubling") for work in ("0s", "100us", "1ms")]

# All folders with recordings of one kind of machine. GCP's two are of two kinds of instance; they are kept, and shown apart.
MACHINES = [(machine.name, machine.recordings) for machine in inputs.MACHINES] + [
    ("AWS c5.18xlarge", ("aws-normal_c5.18xlarge_cluster",)), ("AWS c5n.metal", ("aws_c5n.metal_cluster", "aws_c5n.metal_spread")),
    ("AWS c5n.18xlarge", ("aws_c5n.x16large_cluster",)), ("Azure F72s v2", ("azure_F72s_",)), ("Azure HBv2", ("azure_hbv2_rush_hour",))]
OWN = "this machine"

Recording = namedtuple("Recording", "machine when node kernel limit_ns path")  # limit_ns: shorter detours are not seen
Run = namedtuple("Run", "node kernel limit_ns text")


# ---- recordings ----

def fact(text, name):
    match = re.search(rf"^# {re.escape(name)}\s*:\s*(\S+)", text, re.MULTILINE)
    return match[1] if match else ""


def runs_of(path):
    """Those of one file, in order."""
    text = path.read_text(encoding="utf-8", errors="replace")
    starts = [match.start() for match in re.finditer(r"^# Benchmark Method", text, re.MULTILINE)]
    runs = []
    for begin, end in zip(starts, [*starts[1:], len(text)]):
        part = text[begin:end]
        limit_ns = float(fact(part, "Minimal cycle length [ns]") or 0) * float(fact(part, "Threshold: [% minimal cycle length]") or 0) / 100
        runs.append(Run(fact(part, "Nodename"), fact(part, "Release"), limit_ns, part))
    return runs


class Lab(real_model.Lab):
    """Runs idlewave, and keeps its recordings and answers."""

    def _kept(self, key, ending, make):
        """A file that make(path) writes: whole or not there."""
        path = self.keep / (hashlib.sha1(key.encode()).hexdigest()[:16] + ending)
        if not path.exists():
            partial = path.with_name(f"{os.getpid()}-{path.name}")
            make(partial)
            partial.replace(path)
        return path

    def recording(self, machine, when, runs):
        """One recording of some runs of a node, one behind the other."""
        text = "".join(run.text for run in runs)

        def convert(path):
            source = path.with_suffix(".out")
            source.write_text(text, encoding="utf-8")
            self._ask("noise", "convert", source, path)
            source.unlink()

        return Recording(machine, when, runs[0].node, runs[0].kernel, max(run.limit_ns for run in runs), self._kept(text, ".h5", convert))

    def without_short(self, recording, limit_ns):
        limit = f"{math.ceil(limit_ns)}ns"
        path = self._kept(f"{recording.path} {limit}", ".h5", lambda to: self._ask("noise", "cut", recording.path, "--at-least", limit, "-o", to))
        return recording._replace(path=path)

    def folder(self, recordings):
        """A noise folder of copies."""
        paths = sorted(str(recording.path) for recording in recordings)
        path = self.keep / ("pool-" + hashlib.sha1(" ".join(paths).encode()).hexdigest()[:16])
        path.mkdir(exist_ok=True)
        for place, recording in enumerate(paths):
            if not (path / f"{place}.h5").exists():
                shutil.copyfile(recording, path / f"{place}.h5")
        return path

    def answer(self, noise, program):
        """What idlewave states to users, with value, low, high (None of a bound), is_bound."""
        words = ["simulate", "--pattern", program.pattern, "--bytes", 8, "--ranks", program.ranks, "--compute", program.work, "--repeat", REPEAT,
                 "--net", NETWORK, "--trials", program.trials, "--noise", noise]

        def ask(path):
            recorded = json.loads(self._ask(*words, "--threads", 1, "--quiet", "--format", "json"))["recording"]
            path.write_text(json.dumps(dict(recorded["slowdown"], is_bound=recorded["is_bound"])), encoding="utf-8")

        return json.loads(self._kept(" ".join(map(str, words)), ".answer", ask).read_text(encoding="utf-8"))

    def shown(self, recording):
        return json.loads(self._kept(f"show {recording.path}", ".shown", lambda to: to.write_text(
            self._ask("noise", "show", recording.path, "--format", "json"), encoding="utf-8")).read_text(encoding="utf-8"))


def netgauge_recordings(folder, lab):
    """(dates by machine, groups of runs of one file)."""
    dates, files = {}, []
    for machine, names in MACHINES:
        dates[machine] = []
        for session in folder.sessions(names):
            path = session / "ng_osnoise.out"
            runs = runs_of(path) if path.exists() else []
            if runs:
                dates[machine].append(lab.recording(machine, inputs.when(session), [run for run in runs if run.node == runs[0].node]))
            if len(runs) > 1:
                files.append([lab.recording(machine, inputs.when(session), [run]) for run in runs])
    return {machine: found for machine, found in dates.items() if len(found) > 1}, files


def own_recordings(folder):
    found = [Recording(OWN, inputs.when(path.with_suffix("")), OWN, "", 0.0, path.resolve()) for path in sorted(folder.glob("*.h5"))
             if inputs.DATE.match(path.stem)]
    if len(found) < 2:
        raise inputs.Error(f"'{folder}' has fewer than two noise files DATE.h5, as 2026_11_19_04_00_00.h5")
    return found


# ---- pairs of dates ----

class Pair:
    """What recording i says of a program, beside what recording j says of it."""

    def __init__(self, i, j, program, first, second):
        self.i, self.j, self.program, self.first, self.second = i, j, program, first, second
        self.is_estimate = not first["is_bound"] and not second["is_bound"]
        self.is_inside = covers(first["low"], first["high"], second["value"])
        self.matters = abs((1 + second["value"]) / (1 + first["value"]) - 1) > 0.01
        self.ratio = second["value"] / first["value"] if first["value"] > 0 and second["value"] > 0 else None

    @property
    def agrees(self):
        gap, (lower, upper) = self.second["value"] - self.first["value"], (self.first, self.second)
        if gap < 0:
            gap, lower, upper = -gap, upper, lower
        return gap <= math.hypot(lower["high"] - lower["value"], upper["value"] - upper["low"])

    @property
    def seconds(self):
        return abs((self.j.when - self.i.when).total_seconds())

    @property
    def is_one_node(self):
        return self.i.node == self.j.node


def covers(low, high, value):
    return low <= value and (high is None or value <= high)


def pairs(recordings, known):
    return [Pair(i, j, program, known[i.path, program], known[j.path, program]) for i, j in itertools.permutations(recordings, 2)
            for program in programs_of(i.machine)]


# ---- several recordings ----

T_975 = {2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}  # by degrees of freedom


def range_of(answers):
    values = [answer["value"] for answer in answers]
    return min(values), max(values)


def hull(answers):
    return min(answer["low"] for answer in answers), max(answer["high"] for answer in answers)


def further_value(answers):
    """None where it needs more recordings, or logarithms that there are not."""
    values, k = [answer["value"] for answer in answers], len(answers)
    if k - 1 not in T_975 or min(values) <= 0:
        return None
    logs = [math.log(value) for value in values]
    mean = sum(logs) / k
    half = T_975[k - 1] * math.sqrt(sum((log - mean) ** 2 for log in logs) / (k - 1) * (1 + 1 / k))
    return math.exp(mean - half), math.exp(mean + half)


WAYS = {"range": range_of, "hull": hull, "further value": further_value}
Pooled = namedtuple("Pooled", "machine k way program span_s is_later low high is_inside")  # is_later: the left-out date comes after all others


def choices(others, k, name):
    """Of k others: all, or 200 of them that a hash chooses."""
    found = list(itertools.combinations(others, k))
    if len(found) > 200:
        found.sort(key=lambda chosen: hashlib.sha1(f"{name} {[recording.when for recording in chosen]}".encode()).digest())
    return found[:200]


def pooled(recordings, known):
    """Single answers of k recordings beside that of one that is left out. Estimates only."""
    found = []
    for j in recordings:
        others = [recording for recording in recordings if recording is not j]
        for k in (k for k in POOLS if k <= len(others)):
            for chosen in choices(others, k, j.when):
                times = [recording.when for recording in chosen]
                for program in programs_of(j.machine):
                    answers, left_out = [known[recording.path, program] for recording in chosen], known[j.path, program]
                    if left_out["is_bound"] or any(answer["is_bound"] for answer in answers):
                        continue
                    for way, interval in WAYS.items():
                        ends = interval(answers)
                        if ends:
                            found.append(Pooled(j.machine, k, way, program, (max(times) - min(times)).total_seconds(), j.when > max(times), *ends,
                                                covers(*ends, left_out["value"])))
    return found


def folders(recordings, lab):
    """(left out, chosen, folder) of one choice a date and k."""
    for j in recordings:
        others = [recording for recording in recordings if recording is not j]
        for k in POOLS:
            if k <= len(others):
                chosen = choices(others, k, j.when)
                chosen = chosen[int(hashlib.sha1(f"{j.when} {k}".encode()).hexdigest(), 16) % len(chosen)]
                yield j, chosen, lab.folder(chosen)


def pooled_folders(machine, found, known):
    rows = []
    for j, chosen, path in found:
        times = [recording.when for recording in chosen]
        for program in small_programs():
            answer, left_out = known[path, program], known[j.path, program]
            if not answer["is_bound"] and not left_out["is_bound"]:
                rows.append(Pooled(machine, len(chosen), "folder", program, (max(times) - min(times)).total_seconds(), j.when > max(times),
                                   answer["low"], answer["high"], covers(answer["low"], answer["high"], left_out["value"])))
    return rows


def small_programs():
    return [program for program in PROGRAMS if program.ranks <= 1024]


def programs_of(machine):
    """What was recorded for seconds says little of many ranks."""
    return small_programs() if machine == OWN else PROGRAMS


# ---- all of it ----

def answered(lab, questions, jobs):
    """Answers by (noise, program)."""
    questions = sorted(dict.fromkeys(questions), key=lambda question: question[1].ranks)  # long ones last
    done = []

    def ask(question):
        answer = lab.answer(*question)
        done.append(question)
        if len(done) % 50 == 0:
            print(f"{len(done)} of {len(questions)} answers", file=sys.stderr, flush=True)
        return answer

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return dict(zip(questions, pool.map(ask, questions)))


def results(lab, dates, files, jobs):
    """All that the page tells."""
    equal = {machine: [lab.without_short(recording, max(r.limit_ns for r in found)) for recording in found]
             for machine, found in dates.items() if machine != OWN}
    pools = {machine: list(folders(found, lab)) for machine, found in dates.items() if len(found) > 2 and machine != OWN}
    single = [recording for group in (*dates.values(), *files, *equal.values()) for recording in group]
    known = answered(lab, [(recording.path, program) for recording in single for program in programs_of(recording.machine)]
                     + [(path, program) for found in pools.values() for _, _, path in found for program in small_programs()], jobs)
    return {
        "recordings": [(recording, lab.shown(recording)) for found in dates.values() for recording in found],
        "pairs": {machine: pairs(found, known) for machine, found in dates.items()},
        "equal": {machine: pairs(found, known) for machine, found in equal.items()},
        "files": [pair for group in files for pair in pairs(group, known)],
        "pooled": [row for machine, found in dates.items() if len(found) > 2 for row in pooled(found, known) + pooled_folders(machine, pools.get(machine, []), known)],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--idlewave", type=pathlib.Path, required=True)
    parser.add_argument("--keep", type=pathlib.Path, required=True)
    parser.add_argument("--own", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="simulations at the same time (default 1)")
    data_page.add_option(parser)
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    lab = Lab(options.idlewave.resolve(), options.keep.resolve())
    with tempfile.TemporaryDirectory(prefix="idlewave-dates-") as scratch:
        dates, files = netgauge_recordings(inputs.Folder(inputs.unpacked(options.folder, pathlib.Path(scratch))), lab)
    if options.own:
        dates[OWN] = own_recordings(options.own)
    dates_pages.write(options.data, results(lab, dates, files, options.jobs), REPEAT, NETWORK)


if __name__ == "__main__":
    try:
        main()
    except inputs.Error as error:
        sys.exit(f"real_dates: {error}")
