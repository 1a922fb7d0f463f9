#!/usr/bin/env python3
"""Runs command-line cases and compares exit code, stdout and stderr with what the case says.

SPDX-License-Identifier: BSD-3-Clause

Usage: run_case.py --idlewave PATH [--bless] [--parts NAME=ON,NAME=OFF,...] CASE.test...
    --bless    write the stdout that came instead of complaining about it; read the diff before committing
    --parts    all that a build can have, and whether this one has it; without it all is taken to be there

A case is text before the first section (what it is for), then sections that begin with "--- NAME":
  --- needs         optional: programs, paths, or parts of the build, which begin with part- or feature- and are of --parts;
                    one a line; the case is skipped if one is missing
  --- measures      optional: why the outcome depends on how quiet the machine is; such a case is a test of its own
  --- large         optional: why it takes long; such a case is a test of its own, without sanitizers
  --- file NAME     optional: an input file, made in the empty folder where the command runs
  --- command       for sh; `idlewave` is the command under test, $IW_TEST_DATA the folder tests/data; it reads
                    no configuration file of its own accord
  --- exit          the exit code
  --- stdout        exact, after hiding what differs from run to run; a line "<...>" stands for any lines;
                    without this section stdout is not looked at
  --- stderr        each line must occur in stderr; without this section stderr must be empty. Lines "RETRIED: what: why" are
                    passed on to whoever runs the tests

Exit code: 0 all as expected, 1 some not, 77 skipped.
"""

import argparse
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
OF_BUILD = ("part-", "feature-")
TIMEOUT_SECONDS = 240
TEST_DATA = pathlib.Path(__file__).resolve().parent.parent / "data"

# what differs from run to run or from machine to machine
VOLATILE = [
    (re.compile(r'("(?:engine_seconds|messages_per_second|peak_rss_bytes|threads|lanes)": )[^,\n]+'), r"\1<volatile>"),
    (re.compile(r"^(engine +\w+), .*(\n {9,}[^ (].*)*$", re.MULTILINE), r"\1, <volatile>"),
    (re.compile(r"^(took {2,})\d.*$", re.MULTILINE), r"\1<volatile>"),
    (re.compile(r"\b(Done: \d+ cells?(?: of shard \d+ of \d+)? in )[0-9.]+ (?:ns|us|ms|s|min|h)\b"), r"\1<volatile>"),
    (re.compile(r"\bidlewave \d+\.\d+\.\d+"), "idlewave <version>"),
    (re.compile(r'("version": )"[^"]+"'), r"\1<volatile>"),
]

# what a verb tells on stderr of long work, and of how long it will be: only slow machines get it
PROGRESS = re.compile(r"^idlewave: [a-z ]+: (?:\d+ % done, \d+:\d\d left|note: that will take about .*)\n", re.MULTILINE)

# what a case did once more because the machine was busy
RETRIED = re.compile(r"^RETRIED: .*\n", re.MULTILINE)


# verbs that come with a feature; what a case calls it needs. `report` and `schedule` show and write whatever there is
FEATURES = {
    "bench": "bench", "check": "check", "explain": "explain", "model": "model", "net": "network", "noise": "recordings",
    "fleet": "fleet", "record": "record", "replay": "replay",
    "simulate": "simulate", "study": "study", "trace": "trace", "training": "training",
    "iw_make_digests": "fleet", "iw_make_fleet": "fleet", "iw_make_kineto": "explain", "verify": "settings", "watch": "watch", "wave": "wave", "whatif": "whatif",
}
CALLED = re.compile(r"\bidlewave\s+(?:help\s+)?(\w+)(?:\s+(\w+))?|\b(iw_make_\w+)")


class Case:
    def __init__(self, path):
        self.path = path
        self.sections = {}
        self.files = {}
        name = "purpose"
        lines = []
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True) + ["--- end\n"]:
            if not line.startswith("--- "):
                lines.append(line)
                continue
            if name.startswith("file "):
                self.files[name.removeprefix("file ")] = "".join(lines)
            else:
                self.sections[name] = "".join(lines)
            name, lines = line[4:].strip(), []

    def needs(self):
        """What the case names, and the features whose verbs it calls."""
        called = [(f"{verb} {subverb}", verb or maker) for verb, subverb, maker in CALLED.findall(self.sections["command"])]
        features = {FEATURES.get(both, FEATURES.get(name)) for both, name in called} - {None}
        return self.sections.get("needs", "").split() + [f"feature-{feature}" for feature in sorted(features)]

    def missing_need(self, parts):
        """What keeps the case from being run, or None. A part that no build can have keeps none: check() complains."""
        for need in self.needs():
            if need.startswith(OF_BUILD):
                if not parts.get(need, True):
                    return f"this build has no {need}"
            elif not (os.path.exists(need) if "/" in need else shutil.which(need)):
                return f"there is no {need}"
        return None

    def unknown_needs(self, parts):
        return [need for need in self.needs() if parts and need.startswith(OF_BUILD) and need not in parts]

    def run(self, idlewave):
        with tempfile.TemporaryDirectory(prefix="iw_cli_") as folder:
            for name, text in self.files.items():
                pathlib.Path(folder, name).write_text(text, encoding="utf-8")
            environment = dict(os.environ, PATH=f"{idlewave.parent}:{os.environ['PATH']}", LC_ALL="C.UTF-8",
                               MANWIDTH="80", IW_TEST_DATA=str(TEST_DATA), IDLEWAVE_CONFIG="")
            done = subprocess.run(["sh", "-c", self.sections["command"]], cwd=folder, env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=TIMEOUT_SECONDS, check=False)
        for line in RETRIED.findall(done.stderr):
            print(line, end="")
        return done.returncode, hide_volatile(done.stdout), RETRIED.sub("", PROGRESS.sub("", done.stderr))

    def bless(self, stdout):
        text = self.path.read_text(encoding="utf-8")
        head, mark, rest = text.partition("--- stdout\n")
        following = rest.find("\n--- ") if not rest.startswith("--- ") else -1
        tail = rest if rest.startswith("--- ") else rest[following + 1:] if following >= 0 else ""
        self.path.write_text(head + mark + stdout + tail, encoding="utf-8")


def hide_volatile(text):
    for pattern, replacement in VOLATILE:
        text = pattern.sub(replacement, text)
    return text


def matches(expected, actual):
    """Exact, but a line "<...>" stands for any lines."""
    pieces = [re.escape(piece) for piece in re.split(r"^<\.\.\.>\n", expected, flags=re.MULTILINE)]
    return re.fullmatch(r"(?:.*\n)*?".join(pieces), actual) is not None


def stderr_faults(expected, actual):
    if expected is None:
        return [f"stderr should be empty, but is:\n{actual}"] if actual else []
    wanted = [line for line in expected.splitlines() if line]
    if not wanted and actual:
        return [f"stderr should be empty, but is:\n{actual}"]
    return [f"stderr lacks '{line}'; it is:\n{actual}" for line in wanted if line not in actual]


def parts_of(text):
    """{"part-otf2": True} of "part-otf2=ON"."""
    pairs = [item.split("=") for item in text.split(",") if item]
    return {name: value == "ON" for name, value in pairs}


def check(case, idlewave, parts, is_blessing):
    """The faults of one case, as texts."""
    code, stdout, stderr = case.run(idlewave)
    faults = [f"needs '{need}', which no build has" for need in case.unknown_needs(parts)]
    faults += stderr_faults(case.sections.get("stderr"), stderr)
    expected_code = int(case.sections["exit"])
    if code != expected_code:
        faults.append(f"exit code {code} instead of {expected_code}; stderr:\n{stderr}")
    expected = case.sections.get("stdout")
    if expected is not None and not matches(expected, stdout):
        if is_blessing and "<...>\n" not in expected:
            case.bless(stdout)
            print(f"{case.path}: blessed")
        else:
            faults += ["stdout differs:\n" + "".join(difflib.unified_diff(
                expected.splitlines(keepends=True), stdout.splitlines(keepends=True), "expected", "actual"))]
    return faults


def main():
    parser = argparse.ArgumentParser(description="Runs command-line cases.")
    parser.add_argument("--idlewave", required=True, type=pathlib.Path)
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--parts", type=parts_of, default={})
    parser.add_argument("cases", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    failed, skipped = [], 0
    for path in arguments.cases:
        case = Case(path)
        lack = case.missing_need(arguments.parts)
        if lack:
            print(f"SKIPPED: {path}: {lack}")
            skipped += 1
            continue
        faults = check(case, arguments.idlewave.resolve(), arguments.parts, arguments.bless)
        for fault in faults:
            print(f"{path}: {fault}")
        failed += [str(path)] if faults else []
    print(f"{len(arguments.cases)} cases, {len(failed)} failed, {skipped} skipped", *failed)
    if failed:
        return 1
    return SKIPPED if skipped == len(arguments.cases) else 0


if __name__ == "__main__":
    sys.exit(main())
