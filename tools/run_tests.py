#!/usr/bin/env python3
"""Runs the tests of a build by ctest and hides nothing: what was tried again, what was skipped, what took long.

SPDX-License-Identifier: BSD-3-Clause

Usage: run_tests.py BUILD [--labels REGEX] [--without REGEX] [--only REGEX] [--part I/N] [--skips FILE] [--tables FILE] [--jobs N]

Every test passes at once or fails, but those of TRIES: with the label `measures`, whose outcome depends on how quiet the machine
is, and with `mpi` or `live`, whose launchers and servers are not ours. Later tries have nothing of ours beside them. More than
RETRY_BUDGET tests of one build that needed another try fail the run; those that measure once more by themselves are told only. A test that skips, or skips a part of itself, fails the run too, unless FILE lists it with a
reason. What counts as a skip or as another try:
  * ctest's "Skipped" (exit code 77), cmocka's "[  SKIPPED ] name" and unittest's "(skipped=N)" inside a program that passes;
  * a line "SKIPPED: what: why" that a test prints of a part of itself;
  * a line "RETRIED: what: why" that a test prints when it measures once more.
FILE has a line "TEST | WHAT | REASON" for each skip that is known, TEST and WHAT as regular expressions; "#" begins a comment.

With --part the I-th of N parts of these tests runs; the parts do not overlap and are all of them together.
Tables of the slowest tests, of tries and of skips close the run; --tables FILE appends them to FILE too.
Exit code: 0 all passed, 1 not, or no test ran.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

TRIES = {"measures": 3, "mpi": 2, "live": 2}  # by label
RETRY_BUDGET = 12
SLOWEST = 20
JOBS_PER_CPU = 2  # half of the tests sleep most of their time: launchers that end, recordings, servers, killers
OUTPUT_BYTES = 4 << 20  # of a passing test that ctest keeps: we look for skips in it

CMOCKA_SKIP = re.compile(r"^\[  SKIPPED \] (\w+)$", re.MULTILINE)
UNITTEST_SKIP = re.compile(r"^OK \((skipped=\d+)\)$", re.MULTILINE)
PRINTED_SKIP = re.compile(r"^SKIPPED: (.*)$", re.MULTILINE)
PRINTED_RETRY = re.compile(r"^RETRIED: (.*)$", re.MULTILINE)

Outcome = collections.namedtuple("Outcome", "name status seconds output")  # status: passed, failed, skipped
Known = collections.namedtuple("Known", "test what reason")


def selection(options):
    arguments = ["--test-dir", str(options.build)]
    for flag, value in (("-L", options.labels), ("-LE", options.without), ("-R", options.only)):
        arguments += [flag, value] if value else []
    if options.part:
        index, count = options.part
        names = sorted(names_of(arguments))[index - 1::count]
        arguments = ["--test-dir", str(options.build), "-R", pattern_of(names)]
    return arguments


def part(text):
    """I/N as two numbers."""
    index, count = (int(word) for word in text.split("/"))
    if not 1 <= index <= count:
        raise ValueError(text)
    return index, count


def pattern_of(names):
    return "^(" + "|".join(re.escape(name) for name in names) + ")$"


def names_of(arguments):
    text = subprocess.run(["ctest", *arguments, "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout
    return {test["name"] for test in json.loads(text)["tests"]}


def names_with(label, options):
    return names_of(["--test-dir", str(options.build), "-L", f"^{label}$"])


def tries_allowed(options):
    """How many tries a test has, for those with more than one."""
    allowed = {}
    for label, tries in TRIES.items():
        for name in names_with(label, options):
            allowed[name] = max(tries, allowed.get(name, 0))
    return allowed


def read_outcomes(path):
    """The outcomes in ctest's JUnit file."""
    outcomes = []
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        failed = case.find("failure") is not None
        skipped = case.find("skipped") is not None
        status = "failed" if failed else "skipped" if skipped else "passed"
        if case.get("status") not in ("run", "fail") and not skipped:
            status = "failed"  # could not be started, or is switched off
        outcomes.append(Outcome(case.get("name"), status, float(case.get("time") or 0),
                                case.findtext("system-out") or ""))
    return outcomes


def run_ctest(arguments, jobs):
    with tempfile.TemporaryDirectory(prefix="iw_ctest_") as folder:
        report = os.path.join(folder, "tests.xml")
        subprocess.run(["ctest", *arguments, "-j", str(jobs), "--output-on-failure", "--output-junit", report,
                        "--test-output-size-passed", str(OUTPUT_BYTES), "--test-output-size-failed", str(OUTPUT_BYTES)],
                       check=False)
        return read_outcomes(report) if os.path.exists(report) else []


@contextlib.contextmanager
def sessions_held():
    """Open MPI's launchers share a folder among the temporary files. Who ends last removes it, maybe under one that begins, which
    then fails. It is not removed while there is a folder in it; files in it are."""
    folder = pathlib.Path(tempfile.gettempdir()) / f"ompi.{socket.gethostname().split('.')[0]}.{os.geteuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="held_", dir=folder, ignore_cleanup_errors=True):
        yield


def run(options):
    """(the last outcome of each test, how often those were tried that were tried again, names that several tests have)."""
    first = run_ctest(selection(options), options.jobs)
    last = {outcome.name: outcome for outcome in first}
    shared = [name for name, count in collections.Counter(outcome.name for outcome in first).items() if count > 1]
    tries = {}
    allowed = tries_allowed(options)
    for number in range(2, max(TRIES.values()) + 1):
        failed = [name for name, outcome in last.items()
                  if outcome.status == "failed" and allowed.get(name, 1) >= number]
        if not failed:
            break
        print(f"\n== try {number} of {', '.join(sorted(failed))}", flush=True)
        for outcome in run_ctest(["--test-dir", str(options.build), "-R", pattern_of(failed)], 1):
            last[outcome.name] = outcome
            tries[outcome.name] = number
    return last, tries, shared


def read_known(path):
    known = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path else [], 1):
        if line.strip() and not line.startswith("#"):
            fields = [field.strip() for field in line.split(" | ", 2)]
            if len(fields) != 3 or not fields[2]:
                raise SystemExit(f"{path}:{number}: expected 'TEST | WHAT | REASON'")
            known.append(Known(*fields))
    return known


def skips_of(outcome):
    """What one test skipped, as texts."""
    if outcome.status == "skipped":
        said = PRINTED_SKIP.findall(outcome.output)
        return ["the whole test" + (f": {said[0]}" if said else "")]
    inside = sorted(set(CMOCKA_SKIP.findall(outcome.output))) + PRINTED_SKIP.findall(outcome.output)
    return inside or UNITTEST_SKIP.findall(outcome.output)


def judge_skips(outcomes, known):
    """Rows (test, what, reason or None) of all skips."""
    rows = []
    for outcome in outcomes:
        for what in skips_of(outcome):
            reasons = [entry.reason for entry in known
                       if re.search(entry.test, outcome.name) and re.search(entry.what, what)]
            rows.append((outcome.name, what, reasons[0] if reasons else None))
    return rows


def table(title, rows):
    return [f"{title}: {'none' if not rows else ''}".rstrip()] + ["  " + row for row in rows]


def tables(options, outcomes, tries, skips):
    slowest = sorted(outcomes, key=lambda outcome: -outcome.seconds)[:SLOWEST]
    total = sum(outcome.seconds for outcome in outcomes)
    lines = [f"-- {options.build}: {len(outcomes)} tests, {total:.0f} s of tests, {len(tries)} tried again, {len(skips)} skips"]
    lines += table(f"slowest {SLOWEST}", [f"{outcome.seconds:7.1f} s  {outcome.name}" for outcome in slowest])
    inside = [(outcome.name, text) for outcome in outcomes for text in PRINTED_RETRY.findall(outcome.output)]
    lines += table(f"tried again (budget {RETRY_BUDGET} tests)",
                   [f"{name}: {number} tries" for name, number in sorted(tries.items())] +
                   [f"{name}: measured once more: {text}" for name, text in inside])
    lines += table("skipped", [f"{name}: {what}: {reason or 'NOT ON THE LIST'}" for name, what, reason in skips])
    return lines


def main(arguments):
    parser = argparse.ArgumentParser(description="Runs tests and hides nothing.")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--labels")
    parser.add_argument("--without")
    parser.add_argument("--only")
    parser.add_argument("--part", type=part)
    parser.add_argument("--skips", type=pathlib.Path)
    parser.add_argument("--tables", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=JOBS_PER_CPU * (os.cpu_count() or 1))
    options = parser.parse_args(arguments)
    known = read_known(options.skips)

    with sessions_held():
        last, tries, shared = run(options)
    outcomes = list(last.values())
    skips = judge_skips(outcomes, known)
    lines = tables(options, outcomes, tries, skips)
    faults = [f"{outcome.name} failed" for outcome in outcomes if outcome.status == "failed"]
    faults += [f"{name} skips {what}, which is not on the list" for name, what, reason in skips if reason is None]
    faults += [f"several tests are called {name}: one hides the others" for name in shared]
    if len(tries) > RETRY_BUDGET:
        faults.append(f"{len(tries)} tests needed another try, more than {RETRY_BUDGET}")
    if not outcomes:
        faults.append("no test ran")
    lines += [f"error: {fault}" for fault in faults]
    print("\n" + "\n".join(lines), flush=True)
    if options.tables:
        with options.tables.open("a", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
