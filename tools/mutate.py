#!/usr/bin/env python3
"""Changes one place of the sources at a time and sees whether the tests notice: a mutant that no test kills shows a test that is
missing. Resumable: what was tried is kept, a line a mutant.

SPDX-License-Identifier: BSD-3-Clause

Usage: mutate.py WORK [--count N] [--seed N] [--folders A,B] [--keep FILE] [--again] [--commit COMMIT] [--equivalent FILE]
       mutate.py --table [--keep FILE] [--equivalent FILE]
    WORK is made and holds a clone of COMMIT (HEAD) and its build; the checkout that the tool lies in is only read. The COUNT mutants
    (300) are spread over the folders by their lines. Each runs against the unit tests of its folder and its command-line cases,
    the quickest first, up to the first that fails; a test that takes ten times as long as without the change fails too.
    --again tries the survivors of FILE anew, on the present commit: have the tests that were written killed them?
    The file of equivalent mutants has lines "FILE | LINE'S TEXT | CHANGED TO | WHY NOTHING CAN NOTICE"; with --table they count apart.
"""

import argparse
import collections
import hashlib
import json
import pathlib
import random
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SKIPPED_LABELS = {"long", "measures", "live", "mpi"}
# command-line cases that lean on what has none of its own
CASES = {
    "src/core": ["cli/simulate"], "src/kit": ["cli/report", "cli/simulate", "cli/general"],
    "src/kit/files": ["cli/report", "cli/noise"], "src/kit/machine": ["cli/verify"], "cli": ["cli/general", "cli/simulate", "cli/noise"],
}
PATIENCE, LEAST_PATIENCE_S = 10, 20
WHOLE_FOLDERS = ["cli", "mpi", "nccl"]

# ---- places that can change ----

Mutant = collections.namedtuple("Mutant", "file line column kind old new text")

SWAPS = {
    "comparison": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    "sign": {"+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+="},
    "logic": {"&&": "||", "||": "&&"},
}
OPERATOR = re.compile(r"(?<=[\w)\]] )(<=|>=|==|!=|<|>|\+=|-=|\+|-|\*|/|&&|\|\|)(?= [\w(\-!*&])")
NUMBER = re.compile(r"(?<![\w.])(\d+)(\.\d+)?(?![\w.])")
CALL = re.compile(r"^\s+(?!return\b|if\b|for\b|while\b|switch\b|assert)[a-z]\w*\(.*\);$")
# what frees is watched over by the sanitizers of the dev build, what logs or draws progress by people
QUIET_CALL = re.compile(r"^\s+\w*(free|close|destroy|unmap|log|progress|print|note|prefetch)\w*\(")


def blanked(text):
    """The text with comments, strings and characters as blanks, so that columns stay."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def places_of(name, text):
    lines, mutants = text.splitlines(), []
    for number, line in enumerate(blanked(text).splitlines()):
        if line.startswith("#") or line.rstrip().endswith("\\") or "assert(" in line or not line.startswith("    "):
            continue

        def add(column, kind, old, new, number=number):
            mutants.append(Mutant(name, number + 1, column, kind, old, new, lines[number]))

        for found in OPERATOR.finditer(line):
            kind = next(kind for kind, swaps in SWAPS.items() if found.group() in swaps)
            add(found.start(), kind, found.group(), SWAPS[kind][found.group()])
        for found in NUMBER.finditer(line):
            old = found.group()
            add(found.start(), "constant", old, str(float(old) * 2) if found.group(2) else str(int(old) + 1))
        if CALL.match(line) and not QUIET_CALL.match(line) and line.count("(") == line.count(")"):
            indent = len(line) - len(line.lstrip())
            add(indent, "dropped call", lines[number][indent:], ";")
    return mutants


def changed_line(mutant):
    return mutant.text[:mutant.column] + mutant.new + mutant.text[mutant.column + len(mutant.old):]


def changed(text, mutant):
    lines = text.splitlines(keepends=True)
    lines[mutant.line - 1] = changed_line(mutant) + "\n"
    return "".join(lines)


# ---- folders ----

def folders_of(root):
    found = [path for part in ("core", "kit", "features") for path in sorted((root / "src" / part).iterdir()) if path.is_dir()]
    return [str(path.relative_to(root)) for path in found] + WHOLE_FOLDERS


def sources_of(root, folder):
    return sorted(path for path in (root / folder).rglob("*.c") if "tests" not in path.relative_to(root).parts)


def choose(root, folder, seed):
    """Endlessly, in a random order that only seed and sources decide; kinds take turns, so that constants do not outnumber all."""
    rng = random.Random(f"{seed} {folder}")
    by_kind = collections.defaultdict(list)
    for path in sources_of(root, folder):
        for mutant in places_of(str(path.relative_to(root)), path.read_text()):
            by_kind[mutant.kind].append(mutant)
    for mutants in by_kind.values():
        rng.shuffle(mutants)
    while any(by_kind.values()):
        for kind in sorted(kind for kind, mutants in by_kind.items() if mutants):
            yield by_kind[kind].pop()


def shares(root, folders, count):
    lines = {folder: sum(path.read_text().count("\n") for path in sources_of(root, folder)) for folder in folders}
    return {folder: max(2, round(count * lines[folder] / sum(lines.values()))) for folder in folders}


# ---- building and testing a clone ----

class Bench:
    """A clone with a build of its own, with sanitizers as in the dev preset, whose tests are known, and how long they take."""

    def __init__(self, work, commit):
        self.tree, self.build, self.quiet_s = work / "tree", work / "build", {}
        if not self.tree.exists():
            subprocess.run(["git", "clone", "-q", "--shared", ROOT, self.tree], check=True)
        self.commit = output_of("git", "-C", ROOT, "rev-parse", commit).strip()
        subprocess.run(["git", "-C", self.tree, "fetch", "-q", "origin", self.commit], check=True)
        subprocess.run(["git", "-C", self.tree, "checkout", "-q", "-f", self.commit], check=True)
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.tree, "-B", self.build, "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O1 -g0",
                        "-DIW_SANITIZE=address,undefined"], check=True, stdout=subprocess.DEVNULL)
        if not self.make():
            sys.exit("error: the sources do not build without a change")
        listed = json.loads(output_of("ctest", "--test-dir", self.build, "--show-only=json-v1"))
        self.tests = [one for one in listed["tests"] if "command" in one and not SKIPPED_LABELS & set(property_of(one, "LABELS", []))]

    def make(self, *targets):
        return subprocess.run(["ninja", "-C", self.build, *targets], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False).returncode == 0

    def tests_of(self, folder):
        """Unit tests by where their program lies; cases by the verbs that the folder holds cases of."""
        here = f"{self.build / folder}/tests/"
        verbs = {f"cli/{path.name}" for path in (self.tree / folder / "tests/cli").glob("*")}
        verbs |= set(CASES.get(folder) or CASES.get(str(pathlib.Path(folder).parent), []))
        unit = {"cli": f"{self.build}/tests/cli/unit/"}.get(folder, here)
        return [one for one in self.tests if one["command"][0].startswith(unit) or one["name"] in verbs]

    def programs_of(self, tests):
        words = {word for one in tests for word in one["command"] if word.startswith(f"{self.build}/")}
        return sorted(str(pathlib.Path(word).relative_to(self.build)) for word in words if pathlib.Path(word).is_file())

    def seconds(self, test, limit_s):
        """How long the test took, or None where it failed."""
        start = time.monotonic()
        try:
            done = subprocess.run(test["command"], cwd=property_of(test, "WORKING_DIRECTORY", self.build), timeout=limit_s, check=False,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return None
        return time.monotonic() - start if done.returncode in (0, 77) else None

    def prepare(self, folder):
        """The folder's tests that pass without a change, the quickest first."""
        tests = self.tests_of(folder)
        for one in tests:
            if one["name"] not in self.quiet_s:
                self.quiet_s[one["name"]] = self.seconds(one, 900)
                if self.quiet_s[one["name"]] is None:
                    print(f"{one['name']} fails without a change, and is left out", file=sys.stderr)
        passing = [one for one in tests if self.quiet_s[one["name"]] is not None]
        return sorted(passing, key=lambda one: self.quiet_s[one["name"]])

    def code(self, programs):
        return [hashlib.sha256((self.build / one).read_bytes()).hexdigest() for one in programs]

    def outcome(self, mutant, tests):
        """What became of it, and the test that killed it."""
        path, programs = self.tree / mutant.file, self.programs_of(tests)
        text, before = path.read_text(), self.code(programs)
        try:
            path.write_text(changed(text, mutant))
            if not self.make(*programs):
                return "invalid", None
            if self.code(programs) == before:
                return "same code", None
            for one in tests:
                if self.seconds(one, PATIENCE * self.quiet_s[one["name"]] + LEAST_PATIENCE_S) is None:
                    return "killed", one["name"]
            return "survived", None
        finally:
            path.write_text(text)
            self.make(*programs)


def output_of(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def property_of(test, name, default):
    return next((one["value"] for one in test.get("properties", []) if one["name"] == name), default)


# ---- what is kept ----

def load(path):
    """The last outcome of each mutant, by file, text and change, which outlive commits that move lines."""
    rows = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        row = json.loads(line)
        rows[(row["file"], row["text"], row["column"], row["new"])] = row
    return rows


def key_of(mutant):
    return mutant.file, mutant.text, mutant.column, mutant.new


def found_again(root, row):
    """The kept mutant in today's sources, if its line is still there."""
    path = root / row["file"]
    mutants = places_of(row["file"], path.read_text()) if path.exists() else []
    near = [one for one in mutants if key_of(one) == (row["file"], row["text"], row["column"], row["new"])]
    return min(near, key=lambda one: abs(one.line - row["line"]), default=None)


def arguments_of(path):
    """Why mutants are equivalent, by file, line and changed line."""
    rows = [line.split(" | ") for line in path.read_text().splitlines() if line.count(" | ") >= 3 and not line.startswith("#")]
    return {(row[0], row[1], row[2]): row[3] for row in rows}


def try_folder(bench, folder, mutants, out):
    """Mutants until as many as wanted compiled to something else."""
    tests = bench.prepare(folder)
    for mutant in mutants:
        outcome, test = bench.outcome(mutant, tests)
        print(json.dumps({**mutant._asdict(), "folder": folder, "outcome": outcome, "test": test, "commit": bench.commit}), file=out, flush=True)
        print(f"{mutant.file}:{mutant.line}: {outcome} {test or ''}: {changed_line(mutant).strip()}", file=sys.stderr, flush=True)
        yield outcome


def run(arguments):
    arguments.work.mkdir(parents=True, exist_ok=True)
    bench, kept = Bench(arguments.work.resolve(), arguments.commit), load(arguments.keep)
    wanted = shares(bench.tree, folders_of(bench.tree), arguments.count)
    with arguments.keep.open("a") as out:
        for folder in arguments.folders or wanted:
            if arguments.again:
                left = [found_again(bench.tree, row) for row in kept.values() if row["folder"] == folder and row["outcome"] == "survived"]
                list(try_folder(bench, folder, [one for one in left if one], out))
                continue
            missing = wanted[folder] - sum(row["folder"] == folder and row["outcome"] in ("killed", "survived") for row in kept.values())
            new = (one for one in choose(bench.tree, folder, arguments.seed) if key_of(one) not in kept)
            outcomes = try_folder(bench, folder, new, out) if missing > 0 else []
            for outcome in outcomes:
                missing -= outcome in ("killed", "survived")
                if missing == 0:
                    break


# ---- the table ----

def table(rows, equivalent):
    counts, survivors = collections.defaultdict(collections.Counter), []
    for row in rows:
        change = changed_line(Mutant(*(row[name] for name in Mutant._fields))).strip()
        outcome = row["outcome"]
        if outcome == "survived" and (row["file"], row["text"].strip(), change) in equivalent:
            outcome = "equivalent"
        if outcome == "survived":
            survivors.append(f"{row['file']}:{row['line']}: {row['text'].strip()}  ->  {change}")
        counts[row["folder"]][outcome] += 1
        counts["all"][outcome] += 1
    lines = ["| folder | mutants | killed | survived | equivalent | score |", "|---|--:|--:|--:|--:|--:|"]
    for folder in sorted(set(counts) - {"all"}) + ["all"]:
        killed, survived, same = (counts[folder][name] for name in ("killed", "survived", "equivalent"))
        score = f"{100 * killed / (killed + survived):.0f} %" if killed + survived else "-"
        lines.append(f"| {folder} | {killed + survived + same} | {killed} | {survived} | {same} | {score} |")
    return "\n".join(lines), survivors


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=pathlib.Path, nargs="?")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", type=lambda text: text.split(","))
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("mutants.jsonl"))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--equivalent", type=pathlib.Path, default=ROOT / "tests/data/equivalent-mutants.txt")
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    if arguments.table:
        text, survivors = table(load(arguments.keep).values(), arguments_of(arguments.equivalent) if arguments.equivalent.exists() else {})
        print(text, *survivors, sep="\n")
    elif arguments.work is None:
        parser.error("where? name a folder for the clone and its build")
    else:
        run(arguments)


if __name__ == "__main__":
    main()
