#!/usr/bin/env python3
"""Changes one place of the sources at a time and sees whether the tests notice: a mutant that no test kills shows a test that is
missing. Resumable: what was tried is kept, a line a mutant.

SPDX-License-Identifier: BSD-3-Clause

Usage: mutate.py WORK [--count N] [--seed N] [--folders A,B] [--keep FILE] [--again] [--commit COMMIT] [--equivalent FILE]
       mutate.py --table [--keep FILE] [--equivalent FILE]
    WORK is made and holds a clone of COMMIT (HEAD) and its build; the checkout that the tool lies in is only read. The COUNT mutants
    (300) are spread over the folders by their lines. Each runs against the unit tests of its folder and its command-line cases,
    those named after the changed file and the quickest first, up to the first that fails, or till ENOUGH_S have passed; a test that
    takes several times as long as without the change fails too. FILE (.ci/mutants.jsonl) has what was tried: a run continues it.
    --again tries the survivors of FILE that are not argued, on the present commit: have the tests that were written killed them?
    The file of equivalent mutants has lines "FILE | LINE'S TEXT | CHANGED TO | WHY NOTHING CAN NOTICE"; with --table they count apart.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SKIPPED_LABELS = {"long", "measures", "live", "mpi"}
# command-line cases that lean on what has none of its own; those that take longer are left to their own folder
CASES = {
    "src/core": ["cli/simulate"], "src/kit": ["cli/report"],
    "src/kit/files": ["cli/report", "cli/noise"], "src/kit/machine": ["cli/verify"], "cli": ["cli/general", "cli/simulate", "cli/noise"],
}
# where unit tests lie that are not in the folder's own tests/
UNIT_TESTS = {"cli": "tests/cli/unit", "src/kit/html": "src/kit/doc/tests", "src/core/net": "src/core/sim/tests"}
# what has no unit tests that reach it: real launchers, which get in each other's way, so that only two failures are one. Programs with
# sanitizers need parts that have them too: of what is loaded into programs only these tests pass here
OF_LAUNCHERS = {"mpi": [f"mpi/{name}_test_openmpi" for name in (
    "sanitized_link", "sanitized_trace", "sanitized_trace_failures", "sanitized_replay", "sanitized_bench", "sanitized_parts", "sanitized_simulate",
    "refuse", "net_measure", "clock_sync", "simulate_matrix")]}
TESTED = re.compile(r"(src|mpi|nccl|tests/cli)/.*_tests$|cli/(idlewave|iw_make_\w+|iw_plugin_start)$|lib/(idlewave|sanitized)/.*\.so$|lib/(idlewave|sanitized)/.*-finish$|tests/mpi/bin/openmpi/")
BORROWED_S, UNKNOWN_S, ENOUGH_S = 0.4, 120, 75
PATIENCE, LEAST_PATIENCE_S = 5, 8
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
        self.tree, self.build, self.quiet = work / "tree", work / "build", work / "quiet.json"
        self.quiet_s = json.loads(self.quiet.read_text()) if self.quiet.exists() else {}
        if not self.tree.exists():
            subprocess.run(["git", "clone", "-q", "--shared", ROOT, self.tree], check=True)
        self.commit = output_of("git", "-C", ROOT, "rev-parse", commit).strip()
        subprocess.run(["git", "-C", self.tree, "fetch", "-q", "origin", self.commit], check=True)
        subprocess.run(["git", "-C", self.tree, "checkout", "-q", "-f", self.commit], check=True)
        # a mutant that takes memory without end must not take the machine's
        self.environment = {**os.environ, "CCACHE_BASEDIR": str(work), "CCACHE_NOHASHDIR": "1", "ASAN_OPTIONS": "hard_rss_limit_mb=6000",
                            "IDLEWAVE_CONFIG": "/dev/null"}
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.tree, "-B", self.build, "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O1 -g0",
                        "-DIW_SANITIZE=address,undefined", "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON", *quick_tools()], check=True,
                       stdout=subprocess.DEVNULL, env=self.environment)
        self.compilations = collections.defaultdict(list)
        for one in json.loads(output_of("ninja", "-C", self.build, "-t", "compdb")):
            if one.get("output", "").endswith(".o"):
                self.compilations[(self.build / one["file"]).resolve()].append(one)
        self.targets = {line.split(": ")[0] for line in output_of("ninja", "-C", self.build, "-t", "targets", "all").splitlines()}
        if not self.make(*(one for one in self.targets if TESTED.match(one))): # ctest has no command of what is not built
            sys.exit("error: the sources do not build without a change")
        listed = json.loads(output_of("ctest", "--test-dir", self.build, "--show-only=json-v1"))
        known = {name for names in OF_LAUNCHERS.values() for name in names}
        self.tests = [part for one in listed["tests"] if "command" in one for part in parts_of(one)
                      if one["name"] in known or not SKIPPED_LABELS & set(property_of(one, "LABELS", []))]

    def make(self, *targets):
        return subprocess.run(["ninja", "-C", self.build, *targets], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False, env=self.environment).returncode == 0

    def tests_of(self, folder):
        """Unit tests by where their program lies; the cases that lie in the folder, or those of verbs that lean on it."""
        unit = (f"{self.build}/{UNIT_TESTS.get(folder, f'{folder}/tests')}/", f"{self.build}/{UNIT_TESTS['cli']}/") # some test verbs
        borrowed = CASES.get(folder) or CASES.get(str(pathlib.Path(folder).parent), [])
        return [one for one in self.tests if one["command"][0].startswith(unit) or one["command"][-1].startswith(f"{folder}/tests/cli/") or
                one["of"] in borrowed or one["name"] in OF_LAUNCHERS.get(folder, [])]

    def programs_of(self, tests):
        words = {word.removeprefix(f"{self.build}/") for one in tests for word in one["command"]}
        beside = ["cli/iw_make_"] if "cli/idlewave" in words else []
        if any(one["name"] in names for one in tests for names in OF_LAUNCHERS.values()):
            beside += ["cli/iw_plugin_start", "lib/idlewave/openmpi/", "lib/sanitized/openmpi/", "lib/idlewave/plain/", "tests/mpi/bin/openmpi/"]
        return sorted(one for one in self.targets if TESTED.match(one) and (one in words or one.startswith(tuple(beside))))

    def seconds(self, test, limit_s):
        """How long the test took, or None where it failed. Nothing that it started outlives it."""
        start = time.monotonic()
        own = dict(one.split("=", 1) for one in property_of(test, "ENVIRONMENT", []))
        running = subprocess.Popen(test["command"], cwd=property_of(test, "WORKING_DIRECTORY", self.build), env={**self.environment, **own},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            code = running.wait(limit_s)
        except subprocess.TimeoutExpired:
            code = 1
        try:
            os.killpg(running.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        running.wait()
        return time.monotonic() - start if code in (0, 77) else None

    def prepare(self, folder):
        """The folder's tests. How long they take, and that they pass without a change, is found out when it matters."""
        tests = self.tests_of(folder)
        if not self.make(*self.programs_of(tests)):
            sys.exit("error: the sources do not build without a change")
        is_borrowing = not (self.tree / folder / "tests/cli").is_dir()
        return [one for one in tests if not (is_borrowing and one["of"].startswith("cli/") and self.usual_s(one) > BORROWED_S)]

    def usual_s(self, test):
        return self.quiet_s.get(test["name"]) or 0.0

    def in_order(self, path, tests):
        words = {word for word in re.split(r"\W|_", path.stem) if len(word) > 3}
        return sorted(tests, key=lambda one: (not words & set(re.split(r"\W|_", one["name"])), one["of"].startswith("cli/"), self.usual_s(one)))

    def fails(self, test):
        limit_s = PATIENCE * self.quiet_s[test["name"]] + LEAST_PATIENCE_S if self.usual_s(test) > 0.0 else UNKNOWN_S
        # launchers get in each other's way: only two failures are one
        for _ in range(2 if test["name"].startswith("mpi/") else 1):
            took_s = self.seconds(test, limit_s)
            if took_s is not None:
                self.quiet_s.setdefault(test["name"], took_s)
                return False
        return True

    def fails_anyway(self, test, programs):
        """Of unchanged sources, for a test that has not been seen to pass."""
        if test["name"] not in self.quiet_s:
            self.make(*programs)
            self.quiet_s[test["name"]] = self.seconds(test, 900)
            if self.quiet_s[test["name"]] is None:
                print(f"{test['name']} fails without a change, and is left out", file=sys.stderr)
        return self.quiet_s[test["name"]] is None

    def code(self, path):
        """What the compiler makes of a source: without sanitizers, whose code has the columns of operators in it, and as users get it."""
        made = []
        for one in self.compilations[path]:
            words = [word for word in shlex.split(one["command"]) if not word.startswith("-fsanitize")]
            words[words.index("-o") + 1] = str(self.build / "plain.o")
            done = subprocess.run([*words, "-O2"], cwd=self.build, env=self.environment, check=False, stderr=subprocess.DEVNULL)
            made.append(hashlib.sha256((self.build / "plain.o").read_bytes()).hexdigest() if done.returncode == 0 else None)
        return made

    def outcome(self, mutant, tests):
        """What became of it, and the test that killed it. What it leaves built, the next one's build puts right."""
        path, programs = self.tree / mutant.file, self.programs_of(tests)
        text = path.read_text()
        is_made, start = False, time.monotonic()
        try:
            for one in self.in_order(path, tests):
                if self.quiet_s.get(one["name"], 0.0) is None:
                    continue
                if time.monotonic() - start > ENOUGH_S:
                    break
                if not is_made:
                    path.write_text(changed(text, mutant))
                    if not self.make(*programs):
                        return "invalid", None
                    is_made = True
                if self.fails(one):
                    path.write_text(text)
                    if not self.fails_anyway(one, programs):
                        return "killed", one["name"]
                    is_made = False
            path.write_text(changed(text, mutant))
            after = self.code(path)
            path.write_text(text)
            return ("same code" if after == self.code(path) else "survived"), None
        finally:
            path.write_text(text)
            self.quiet.write_text(json.dumps(self.quiet_s))


def quick_tools():
    """Options of cmake for what makes a build quick, where it is there."""
    options = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    linker = next((name for name, program in (("mold", "mold"), ("lld", "ld.lld")) if shutil.which(program)), None)
    return options + [f"-DCMAKE_{kind}_LINKER_FLAGS=-fuse-ld={linker}" for kind in ("EXE", "SHARED", "MODULE") if linker]


def parts_of(test):
    """The test, or the command-line cases that it goes through, each as one: a mutant that fails the first need not see the others."""
    cases = [word for word in test["command"] if word.endswith(".test")]
    words = [word for word in test["command"] if not word.endswith(".test")]
    if not cases:
        return [{**test, "of": test["name"]}]
    verb = "/".join(test["name"].split("/")[:2])
    return [{**test, "name": f"{verb}/{pathlib.Path(one).stem}", "of": test["name"], "command": [*words, one]} for one in cases]


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


def argument_key(row):
    return row["file"], row["text"].strip(), changed_line(Mutant(*(row[name] for name in Mutant._fields))).strip()


def try_folder(bench, folder, mutants, out):
    """Mutants until as many as wanted compiled to something else."""
    tests = bench.prepare(folder)
    for mutant in mutants:
        outcome, test = bench.outcome(mutant, tests)
        print(json.dumps({**mutant._asdict(), "folder": folder, "outcome": outcome, "test": test, "commit": bench.commit}), file=out, flush=True)
        print(f"{mutant.file}:{mutant.line}: {outcome} {test or ''}: {changed_line(mutant).strip()}", file=sys.stderr, flush=True)
        yield outcome


def run(arguments):
    for number in (signal.SIGINT, signal.SIGQUIT): # ignored in the background of a shell, which tests would inherit
        signal.signal(number, signal.default_int_handler)
    arguments.work.mkdir(parents=True, exist_ok=True)
    bench, kept = Bench(arguments.work.resolve(), arguments.commit), load(arguments.keep)
    argued = arguments_of(arguments.equivalent) if arguments.equivalent.exists() else {}
    wanted = shares(bench.tree, folders_of(bench.tree), arguments.count)
    with arguments.keep.open("a") as out:
        for folder in arguments.folders or wanted:
            if arguments.again:
                left = [found_again(bench.tree, row) for row in kept.values() if row["folder"] == folder and row["outcome"] == "survived"
                        and argument_key(row) not in argued]
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
        outcome = row["outcome"]
        if outcome == "survived" and argument_key(row) in equivalent:
            outcome = "equivalent"
        if outcome == "survived":
            survivors.append(f"{row['file']}:{row['line']}: {row['text'].strip()}  ->  {argument_key(row)[2]}")
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
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / ".ci/mutants.jsonl")
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
