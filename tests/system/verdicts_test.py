"""What the command says of random noise and random jobs holds together: parts make up their whole, verdicts say what their tables and
their JSON say, and one question has one answer through all doors.

SPDX-License-Identifier: BSD-3-Clause

Usage: verdicts_test.py IDLEWAVE [--cases N] [--seed N]
"""

import csv
import io
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

IDLEWAVE, CASES, SEED = "", 10, 1
EXIT_OF = {"GOOD": 0, "UNKNOWN": 3, "NOISY": 4, "BUSY": 5}
NUMBER = r"([\d.,]+)"


def run(*words, codes=(0,)):
    done = subprocess.run([IDLEWAVE, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        raise AssertionError(f"{words}: exit {done.returncode}: {done.stderr}")
    return done


def flowed(text):
    return " ".join(text.split())


def masked(text):
    return re.sub(r"[\d.,]+", "#", flowed(text))


class Case:
    """Noise of one to four sources, and a job."""

    def __init__(self, seed, folder):
        rng = random.Random(seed)
        self.name, self.seed, self.path = f"case {seed}", seed, folder / f"{seed}.h5"
        specs = []
        for index in range(rng.randint(1, 4)):
            length_us = 10 ** rng.uniform(0, 3.3)
            hz = min(10 ** rng.uniform(-0.5, 2.7), 5e4 / length_us)  # at most 5 % of the time each
            law = rng.choice(["poisson", "periodic"])
            shape = rng.choice(["fixed", "exp"]) + ":" if law == "poisson" else ""
            specs.append(f"{rng.choice(['irq', 'thread', 'softirq'])}/s{index}={law}:{hz:.3f}Hz,{shape}{length_us:.3f}us")
        self.specs, self.rng = specs, rng
        run("noise", "synth", *specs, "--duration", f"{rng.choice([3, 20, 60])}s", "--cpus", rng.randint(1, 4), "--seed", seed, "-o", self.path)
        self.job = ["--pattern", rng.choice(["barrier", "allreduce", "alltoall", "halo3d"]), "--ranks", rng.choice([8, 64, 216]), "--bytes",
                    rng.choice([8, 4096]), "--compute", rng.choice(["100us", "1ms", "10ms"]), "--repeat", rng.choice([1, 5, 20]),
                    "--trials", rng.choice([6, 20]), "--seed", seed]

    def answer(self, *words, codes=(0,)):
        answer = json.loads(run(*words, "--format", "json", codes=codes).stdout)
        assert_sane(answer, words)
        return answer


def assert_sane(part, words):
    """What holds for every kind of result: intervals hold their value, shares of time are shares."""
    if isinstance(part, list):
        for one in part:
            assert_sane(one, words)
    if not isinstance(part, dict):
        return
    if {"value", "low", "high"} <= set(part) and None not in (part["value"], part["low"]):
        high = part["value"] if part["high"] is None else part["high"]
        slack = 1e-9 * abs(part["value"]) + 1e-12
        if not part["low"] - slack <= part["value"] <= high + slack:
            raise AssertionError(f"{words}: an interval does not hold its value: {part}")
    for name, one in part.items():
        if name == "share" and isinstance(one, (int, float)) and not 0 <= one <= 1:
            raise AssertionError(f"{words}: a share of {one}")
        assert_sane(one, words)


NONSENSE = re.compile(r"\b(?:nan|inf)\b|-0\.0+(?![\d.])|at least 0(?:\.0+)?(?![\d.])|\(null\)")


def say(folder, *words, codes=(0,)):
    """A result as JSON and as text. The text begins with the verdict; `report` says the same of the file, up to its last digits."""
    path = folder / "result.json"
    path.write_text(run(*words, "--format", "json", codes=codes).stdout)
    answer = json.loads(path.read_text())
    assert_sane(answer, words)
    verdict = masked(answer["verdict"])
    for text in (run(*words, codes=codes).stdout, run("report", path, "--format", "text", codes=(0, 2)).stdout):
        if not masked(text).startswith(verdict):
            raise AssertionError(f"{words}: the verdict is '{verdict}', the text\n{text}")
        if NONSENSE.search(text):
            raise AssertionError(f"{words}: '{NONSENSE.search(text).group()}' in\n{text}")
    return answer


def each_case(count=None):
    """A test of one case becomes one of all, or of the first COUNT."""
    def wrap(method):
        def of_all(self):
            for case in self.cases[:count]:
                with self.subTest(case.name):
                    method(self, case)
        return of_all
    return wrap


class Verdicts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="iw_verdicts_")
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        cls.cases = [Case(SEED * 1000 + number, cls.folder) for number in range(CASES)]

    def same(self, a, b, tolerance=1e-9):
        self.assertLessEqual(abs(a - b), tolerance * max(abs(a), abs(b)) + 1e-12, (a, b))

    def says(self, verdict, value):
        """The first sentence says this slowdown, in percent or as a factor, as exactly as its digits are."""
        sentence = verdict.split(" With an interruption")[0]
        found = re.search(rf"(?:is|takes) (?:at least )?{NUMBER} (% slower|times as long)", sentence)
        if found is None:
            self.assertRegex(sentence, "is not (known to be )?slower than")
            self.assertLess(value, 1e-4)
            return
        unit = 0.01 if found.group(2) == "% slower" else 1.0
        said = float(found.group(1).replace(",", "")) * unit - (0 if unit < 1 else 1)
        self.assertLessEqual(abs(said - value), 0.51 * unit * 10.0 ** -len(found.group(1).partition(".")[2]), sentence)

    @each_case()
    def test_parts_make_up_their_whole(self, case):
        noise = case.answer("noise", "show", case.path)
        self.same(sum(source["share"] for source in noise["sources"]), noise["share"])
        self.same(sum(cpu["share"] * cpu["length_ns"] for cpu in noise["cpus"]), noise["share"] * noise["watched_ns"])
        self.assertEqual(sum(cpu["count"] for cpu in noise["cpus"]), noise["count"])
        self.assertEqual(sum(cpu["length_ns"] for cpu in noise["cpus"]), noise["watched_ns"])
        self.assertEqual(max(cpu["max_ns"] for cpu in noise["cpus"]), noise["max_ns"])
        for part in noise["sources"] + noise["cpus"]:
            self.assertLessEqual(part["count"], noise["count"])
            self.assertLessEqual(part["max_ns"], noise["max_ns"])
        self.assertIn("synthetic", noise["verdict"])

    @each_case()
    def test_a_cut_keeps_no_more_than_was_there(self, case):
        whole = case.answer("noise", "show", case.path)
        for source in whole["sources"] if len(whole["sources"]) > 1 else []:
            out = self.folder / "cut.h5"
            out.unlink(missing_ok=True)
            said = flowed(run("noise", "cut", case.path, "--drop", f"{source['class']}/{source['name']}", "-o", out).stdout)
            left = case.answer("noise", "show", out)
            self.assertLessEqual(left["count"], whole["count"])
            self.same(left["share"], whole["share"] - source["share"], 1e-6)
            found = re.search(rf"{NUMBER} of {NUMBER} detours", said)
            self.assertIsNotNone(found, said)
            kept, there = (int(number.replace(",", "")) for number in found.groups())
            self.assertLessEqual(kept, there)

    @each_case()
    def test_simulate_says_what_its_numbers_say(self, case):
        words = ["simulate", *case.job, "--noise", case.path]
        answer, text = case.answer(*words), flowed(run(*words).stdout)
        slowdown, shown = answer["slowdown"], answer["recording"]["slowdown"]
        self.assertTrue(text.startswith(flowed(answer["verdict"])), text)
        self.says(text, shown["low"] if shown["high"] is None else shown["value"])
        for name in ("min", "q1", "median", "q3"):
            self.assertLessEqual(slowdown[name], slowdown["max"])
            self.assertGreaterEqual(slowdown[name], slowdown["min"])
        self.assertLessEqual(slowdown["mean_low"], slowdown["mean"])
        self.assertLessEqual(slowdown["mean"], slowdown["mean_high"])
        rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").stdout)))
        self.same(sum(float(row["slowdown"]) for row in rows) / len(rows), slowdown["mean"])

    @each_case()
    def test_whatif_says_what_its_table_says(self, case):
        words = ["whatif", *case.job, "--noise", case.path]
        answer, text = case.answer(*words), flowed(run(*words).stdout)
        simulated = case.answer("simulate", *case.job, "--noise", case.path)["recording"]["slowdown"]
        self.same(answer["now"]["value"], simulated["value"])
        changes = answer["changes"]
        everything = next(change for change in changes if change["kind"] == "all")["saving"]
        sources = [change for change in changes if change["kind"] == "source"]
        for change in sources:
            self.assertLessEqual(change["saving"]["low"], change["saving"]["value"])
            if answer["is_monotone"]:
                self.assertLessEqual(change["saving"]["value"], everything["value"] + 1e-12)
        is_bound = answer["now"]["high"] is None
        named = re.search(r"without (\S+) its slowdown would be", text)
        if named:
            largest = max(sources, key=lambda change: change["saving"]["low" if is_bound else "value"])
            self.assertEqual(named.group(1), largest["name"], text)
        if is_bound:
            self.assertIn("at least", text)
            self.assertNotIn("points in sum", text)

    @each_case(3)
    def test_check_agrees_with_its_requirements(self, case):
        path = self.folder / "check.json"
        done = run("check", case.path, "--ranks", 64, "--json", path, codes=range(6))
        answer = json.loads(path.read_text())
        self.assertEqual(done.returncode, EXIT_OF.get(answer["outcome"].upper(), 2), done.stdout)
        states = [one["state"] for one in answer["requirements"] if not one["is_setting"]]
        self.assertEqual(answer["outcome"].upper() == "GOOD", all(state == "met" for state in states), done.stdout)
        for job in answer["jobs"]:
            state = next(one["state"] for one in answer["requirements"] if one["name"] == job["name"])
            low, high = job["slowdown"]["low"], job["slowdown"]["high"]
            self.assertEqual(state, "missed" if low > 0.1 else "unknown" if high is None else "met", job)

    @each_case()
    def test_the_line_of_a_spectrum_is_a_beat_that_is_there(self, case):
        answer = say(self.folder, "noise", "spectrum", case.path)
        beats = [float(re.search(r"periodic:([\d.]+)Hz", spec).group(1)) for spec in case.specs if "periodic" in spec]
        said = re.search(rf" beats at {NUMBER} Hz", answer["verdict"])
        self.assertEqual(said is None, not answer["lines"], answer["verdict"])
        if said:
            line_hz = answer["lines"][0]["frequency_hz"]
            self.assertLessEqual(abs(float(said.group(1)) - line_hz), answer["resolution_hz"])
            self.assertTrue(any(abs(line_hz - hz) <= max(0.01 * hz, answer["resolution_hz"]) for hz in beats), (line_hz, case.specs))
        for source in answer["sources"]:
            if source["line"]:
                away_hz = abs(answer["lines"][source["line"] - 1]["frequency_hz"] - 1e9 / source["period_ns"])
                self.assertLessEqual(away_hz, max(0.05e9 / source["period_ns"], answer["resolution_hz"]), (source, answer["lines"]))

    @each_case()
    def test_compare_says_what_its_table_says(self, case):
        other = self.cases[(self.cases.index(case) + 1) % len(self.cases)]
        answer = say(self.folder, "noise", "compare", case.path, other.path, codes=(0, 2))
        total = answer["share"]["difference"]
        self.same(answer["share"]["b"] - answer["share"]["a"], total["value"])
        self.same(sum(one["share"]["difference"]["value"] for one in answer["sources"]), total["value"], 1e-6)
        outcome = "worse" if total["low"] > 0 else "better" if total["high"] < 0 else "same"
        self.assertEqual(answer["outcome"], outcome)
        self.assertIn({"worse": "is noisier than", "better": "is quieter than", "same": "does not differ"}[outcome], answer["verdict"])

    @each_case()
    def test_fit_accounts_for_what_was_recorded(self, case):
        answer = say(self.folder, "noise", "fit", case.path)
        whole, *sources = answer["groups"]
        self.assertTrue(all(group["share"] <= whole["share"] + 1e-12 for group in sources))
        of_sources = [group["share"] for group in sources if group["kind"] == "source"]
        self.same(sum(of_sources) if of_sources else whole["share"], whole["share"], 1e-6)

    def test_fleet_says_what_its_table_says(self):
        for outlier in (None, 20):
            folder = self.folder / f"fleet{outlier}"
            folder.mkdir()
            for node in range(6):
                hz = 2000 if node == 3 and outlier else 100
                run("noise", "synth", f"thread/d=poisson:{hz}Hz,exp:20us", "irq/t=periodic:100Hz,5us", "--duration", "20s", "--cpus", 2,
                    "--seed", SEED * 100 + node, "-o", folder / f"n{node}.h5")
            answer = say(self.folder, "noise", "fleet", folder, codes=(0, 2))
            named = {finding["node"] for finding in answer["findings"]}
            self.assertEqual(named, {"n3"} if outlier else set())
            self.assertEqual(answer["nodes_outstanding"], len(named))
            self.assertTrue(all(finding["value"] > finding["limit"] > finding["others_max"] for finding in answer["findings"]))

    @each_case(4)
    def test_a_study_and_simulate_answer_alike(self, case):
        job = dict(zip(case.job[::2], case.job[1::2]))
        text = {"trials": job["--trials"], "seed": job["--seed"], "ranks": job["--ranks"],
                "systems": [{"name": "node", "net": "hdr-fat-tree", "noise": str(case.path)}],
                "patterns": [{"name": "job", "pattern": job["--pattern"], "bytes": job["--bytes"], "compute": job["--compute"],
                              "repeat": job["--repeat"]}]}
        path = self.folder / f"study{case.seed}.yaml"
        path.write_text(json.dumps(text))
        run("study", path, "-q", "-o", self.folder / f"study{case.seed}")
        cell = json.loads((self.folder / f"study{case.seed}/results.jsonl").read_text().splitlines()[0])
        simulated = case.answer("simulate", *case.job, "--noise", case.path)
        for key, value in simulated["makespan_ns"].items():
            self.same(cell["makespan_ns"][key], value)

    @each_case()
    def test_model_brackets_its_estimates(self, case):
        answer = say(self.folder, "model", "--noise", case.path, "--compute", "1ms", "--barrier", "dissemination", "--ranks", 8, "--ranks", 64)
        for row in answer["rows"]:
            least, most = row["at_least_ns"]["value"], row["at_most_ns"]["value"]
            self.assertTrue(least is None or row["noiseless_ns"] <= least <= most, row)
            self.assertEqual(least is None, row["rests_on"] == "refused", row)

    @each_case()
    def test_training_names_the_change_that_saves_most(self, case):
        rng = random.Random(case.seed)
        answer = say(self.folder, "training", "--model", "llama3-8b", "--tp", rng.choice([1, 2, 4]), "--pp", rng.choice([1, 2, 4]), "--dp", 2,
                     "--microbatches", rng.choice([4, 8]), "--rate", f"{rng.randint(200, 600)}TFLOP/s", "--steps", 4, "--trials", 6, "-q",
                     "--set", f"slow=slow:1,{rng.uniform(1.02, 1.5):.2f}", "--seed", case.seed)
        sure = [change for change in answer["changes"] if change["batch"] == 1 and change["saved_ns"]["low"] > 0]
        named = re.search(r'saves most(| and keeps the batch) is "([^"]+)"', answer["verdict"])
        self.assertEqual(named is None, not sure, answer["verdict"])
        if named:
            best = max(sure, key=lambda change: change["saved_ns"]["value"])
            self.assertEqual(named.group(2), best["what"])
            is_beaten = any(change["saved_ns"]["value"] > best["saved_ns"]["value"] for change in answer["changes"] if change["batch"] != 1)
            self.assertEqual(named.group(1) != "", is_beaten, answer["verdict"])
        self.same(answer["step_ns"]["value"] / answer["noiseless_ns"] - 1, answer["loss"])

    @each_case()
    def test_waves_start_where_the_delay_was(self, case):
        rng, path = random.Random(case.seed), self.folder / f"wave{case.seed}.h5"
        rank, ranks = rng.randint(0, 15), rng.randint(16, 40)
        run("simulate", "--pattern", "halo1d", "--ranks", ranks, "--repeat", 20, "--compute", "3ms", "--delay", f"rank={rank},time=14ms",
            "--timeline", path)
        answer = say(self.folder, "wave", path)
        self.assertEqual({wave["origin_rank"] for wave in answer["waves"]}, {rank})
        self.assertIn(f"on rank {rank}", answer["verdict"])

    @each_case()
    def test_a_recording_does_not_differ_from_itself(self, case):
        answer = case.answer("noise", "compare", case.path, case.path)
        self.assertIn("not differ", answer["verdict"])


def main():
    global IDLEWAVE, CASES, SEED
    IDLEWAVE = sys.argv.pop(1)
    while len(sys.argv) > 2 and sys.argv[1] in ("--cases", "--seed"):
        option, value = sys.argv.pop(1), int(sys.argv.pop(1))
        CASES, SEED = (value, SEED) if option == "--cases" else (CASES, value)
    unittest.main()


if __name__ == "__main__":
    main()
