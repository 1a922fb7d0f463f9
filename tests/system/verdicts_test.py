"""What the command says of random noise and random jobs holds together: parts make up their whole, verdicts say what their tables and
their JSON say, and one question has one answer through all doors.

SPDX-License-Identifier: BSD-3-Clause

Usage: verdicts_test.py IDLEWAVE [--cases N] [--seed N]
"""

import csv
import io
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

IDLEWAVE, CASES, SEED = "", 10, 1
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
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


NONSENSE = re.compile(r"\b(?:nan|inf)\b|(?<![\d.])-0\.0+(?![\d.])|at least 0(?:\.0+)?(?![\d.])|\(null\)")


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


def report_of(folder, answer):
    """A result that was made: `report` shows its own verdict and table of the numbers, as text and as JSON. Both are returned."""
    path = folder / "made.json"
    path.write_text(json.dumps(answer))
    text = run("report", path, "--format", "text", codes=(0, 2)).stdout
    again = json.loads(run("report", path, "--format", "json", codes=(0, 2)).stdout)
    if not masked(text).startswith(masked(again["verdict"])) or NONSENSE.search(text):
        raise AssertionError(f"the verdict is '{again['verdict']}', the text\n{text}")
    return again, flowed(text)


def sample(kind):
    return json.loads((DATA / "results" / f"{kind}.json").read_text())


def make(tool, *words):
    """Makers of inputs stand beside the command. None: this build has no such maker."""
    path = pathlib.Path(IDLEWAVE).parent / tool
    return subprocess.run([path, *map(str, words)], capture_output=True, text=True, check=True).stdout if os.access(path, os.X_OK) else None


def spread_of(rng, value, width=0.3):
    return {"value": value, "low": value * (1 - width * rng.random()), "high": value * (1 + width * rng.random())}


def each_case(count=None, every=1):
    """A test of one case becomes one of all, of the first COUNT, or of one in EVERY."""
    def wrap(method):
        def of_all(self):
            for case in self.cases[:count:every]:
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
        found = re.search(rf"(?:is|takes) (?:at least )?{NUMBER}( % slower|x as long)", verdict)
        if found is None:
            self.assertRegex(verdict, "is not (known to be )?slower than")
            self.assertLess(value, 1e-4)
            return
        unit = 0.01 if found.group(2) == " % slower" else 1.0
        said = float(found.group(1).replace(",", "")) * unit - (0 if unit < 1 else 1)
        self.assertLessEqual(abs(said - value), 0.51 * unit * 10.0 ** -len(found.group(1).partition(".")[2]), verdict)

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
            out.unlink()
            run("noise", "cut", case.path, "--keep", f"{source['class']}/{source['name']}", "-o", out)
            self.same(case.answer("noise", "show", out)["share"], source["share"], 1e-6)

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
        self.assertIsNone(NONSENSE.search(text), text)
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
            self.assertRegex(text, "at least|is not known to be slower")
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
            most = high if high is not None else job["most_slowdown"] or 1e9
            self.assertEqual(state, "missed" if low > 0.1 else "unknown" if high is None and most > 0.1 else "met", job)
            self.assertLessEqual(low, most)
        if answer["outcome"].upper() == "UNKNOWN":
            self.assertNotIn("missed", states, done.stdout)

    @each_case()
    def test_the_line_of_a_spectrum_is_a_beat_that_is_there(self, case):
        answer = say(self.folder, "noise", "spectrum", case.path)
        beats = [float(re.search(r"periodic:([\d.]+)Hz", spec).group(1)) for spec in case.specs if "periodic" in spec]
        said = re.search(rf"strongest periodic noise of \S+ is at {NUMBER} Hz", answer["verdict"])
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
            answer = say(self.folder, "fleet", folder, codes=(0, 2))
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
        named = re.search(r'Largest saving(| at the same batch size): "([^"]+)" saves', answer["verdict"])
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
    def test_verify_counts_what_it_lists(self, case):
        nodes = sorted(path for path in (DATA / "nodes").iterdir() if (path / "proc").is_dir())
        node = nodes[case.seed % len(nodes)]
        answer = say(self.folder, "verify", "--sysroot", node, case.path, codes=(0, 2, 3))
        states = [one["state"] for one in answer["mitigations"]]
        self.assertEqual({state: count for state, count in answer["counts"].items() if count}, {state: states.count(state) for state in states})
        contradicted = [one["name"] for one in answer["mitigations"] if one["state"] == "contradicted"]
        said = re.search(rf"^{NUMBER} of {NUMBER} configured mitigations (?:is|are) contradicted on \S+: ([^.]*)\.", answer["verdict"])
        self.assertEqual(said is not None, bool(contradicted), answer["verdict"])
        if said:
            self.assertEqual(int(said.group(1)), len(contradicted))
            self.assertEqual(said.group(3).split(", "), contradicted)

    @each_case(every=5)
    def test_history_names_what_changed(self, case):
        rng, path = random.Random(case.seed), self.folder / "weeks.digest"
        path.unlink(missing_ok=True)
        bad, factor = rng.choice([0, 0, 1, 2]), rng.choice([1, 1, rng.uniform(2.5, 6), 1 / rng.uniform(2.5, 6)])
        if make("iw_make_digests", path, rng.randint(12, 40), 2, bad, case.seed % 997, rng.randint(3, 7), factor) is None:
            self.skipTest("no digests: the build has no fleet")
        answer = say(self.folder, "fleet", "history", path, codes=(0, 2))
        changes, nodes = answer["changes"], answer["changed_nodes"]
        self.assertEqual(answer["outcome"] == "changed", bool(changes or nodes))
        if changes:
            source = changes[0]["source"]
            self.assertIn("all sources together went from" if source is None else f"{source['class']}/{source['name']} went from", answer["verdict"])
        elif nodes:
            self.assertIn(f"but {nodes[0]['name']}{'' if len(nodes) == 1 else ' and others'} did", answer["verdict"])
        else:
            self.assertRegex(answer["verdict"], rf"^No change beyond chance of at least {NUMBER} % of the time")
        for change in changes:
            self.assertEqual(change["after"] > change["before"], change["factor"]["value"] > 1)
            self.assertFalse(change["factor"]["low"] <= 1 <= change["factor"]["high"], change)
            self.assertLessEqual(change["nodes"], answer["nodes_compared"])
            self.assertGreaterEqual(abs(change["after"] - change["before"]), answer["matters"])
        kworkers = 1.6e-4  # of the time
        if factor > 1.5 * answer["least_factor"] and (factor - 1) * kworkers > 2 * answer["matters"]:
            self.assertIn("kworker", [change["source"]["name"] for change in changes if not change["is_all"]])

    @each_case(every=5)
    def test_waits_names_the_rank_of_its_table(self, case):
        rng, folder = random.Random(case.seed), self.folder / f"waits{case.seed}"
        folder.mkdir()
        tp, dp, pp = rng.choice([(1, 8, 1), (2, 4, 1), (1, 2, 4), (2, 2, 2)])
        slow, steps = rng.randrange(8), rng.randint(6, 12)
        pauses = [f"pause={slow}:{step}:{rng.choice(['slow', 'gc'])}:{rng.choice([0, 1, 4])}" for step in range(steps)]
        if make("iw_make_kineto", folder, f"tp={tp}", f"dp={dp}", f"pp={pp}", f"steps={steps}", f"seed={case.seed}", *pauses) is None:
            self.skipTest("no profiles: the build has no explain")
        (folder / "truth.json").unlink()
        answer = say(self.folder, "explain", "--only", "waits", folder, codes=(0, 2))
        whole = answer["run_ns"] * answer["traced_ranks"]
        parts = [answer[name] for name in ("computing_ns", "waiting_ns", "transfer_ns", "other_ns")]
        self.same(sum(parts), whole, 1e-3)  # ranks begin and end by their own clocks
        for rank in answer["ranks"]:
            self.same(sum(rank[name] for name in ("computing_ns", "waiting_ns", "transfer_ns", "other_ns")), answer["run_ns"], 1e-3)
            self.assertLessEqual(rank["last"], rank["met"])
        self.same(sum(part["waiting_ns"] for part in answer["groups"]), answer["waiting_ns"], 1e-6)
        self.same(sum(part["waiting_ns"] for part in answer["operations"]), answer["waiting_ns"], 1e-6)
        self.assertLessEqual(sum(rank["caused_ns"] for rank in answer["ranks"]), answer["waiting_ns"] * (1 + 1e-9) + 1)
        named = [rank["rank"] for rank in answer["ranks"] if rank["pattern"] != "ordinary"]
        self.assertEqual(answer["named"], len(named))
        said = re.search(r"[Rr]ank (\d+)(?: on \S+)? makes the others wait: ", answer["verdict"])
        self.assertEqual([int(said.group(1))] if said else [], named if len(named) == 1 else [], answer["verdict"])

    @each_case()
    def test_explain_says_what_its_table_says(self, case):
        rng, answer = random.Random(case.seed), sample("explain")
        answer["run_ns"] = run_ns = 10 ** rng.uniform(6, 12)
        for source in answer["sources"]:
            value = run_ns * rng.choice([0, rng.random() * 0.3, rng.random() * 1e-4])
            source["saving_ns"] = {"value": value, "low": value - run_ns * rng.random() * 0.1, "high": value + run_ns * rng.random() * 0.1}
        answer["sources"].sort(key=lambda source: -source["saving_ns"]["value"])
        again, text = report_of(self.folder, answer)
        verdict = again["verdict"]
        first = answer["sources"][0]
        if first["saving_ns"]["value"] <= 0:
            self.assertIn("no kernel event delayed it", verdict)
            return
        self.assertIn(f"without {first['name']} it would have taken", verdict)
        self.assertEqual("runs differ by more than that" in verdict, first["saving_ns"]["low"] <= 0, verdict)
        self.assertEqual(f"Remedy against {first['name']}:" in text, first["saving_ns"]["low"] > 0, text)

    @each_case()
    def test_watch_says_what_its_table_says(self, case):
        rng, answer = random.Random(case.seed), sample("watch")
        totals = answer["watch"]["totals"]
        totals["wanted_ns"] = int(10 ** rng.uniform(7, 13))
        totals["lost_ns"] = int(totals["wanted_ns"] * rng.choice([0, 10 ** rng.uniform(-7, 0)]))
        totals["detours"] = rng.choice([0, 1, rng.randint(2, 10 ** 7)]) if totals["lost_ns"] else 0
        answer["max_ns"] = rng.random() * totals["lost_ns"]
        verdict = report_of(self.folder, answer)[0]["verdict"]
        said = re.search(rf" lost {NUMBER} % of the CPU time that it wanted, in {NUMBER} detour(s?)", verdict)
        self.assertEqual(said is None, totals["detours"] == 0, verdict)
        if said:
            self.assertEqual(said.group(3) == "", totals["detours"] == 1)
            share = 100 * totals["lost_ns"] / totals["wanted_ns"]
            self.assertLessEqual(abs(float(said.group(1)) - share), 0.51 * 10.0 ** -len(said.group(1).partition(".")[2]))

    @each_case()
    def test_bench_says_what_its_numbers_say(self, case):
        rng, answer = random.Random(case.seed), sample("bench")
        answer["quiet"]["phase_ns"] = spread_of(rng, answer["quantum_ns"] * (1 + 10 ** rng.uniform(-6, 1)))
        answer["slowdown"] = spread_of(rng, rng.choice([0, 10 ** rng.uniform(-6, 1.5)]))
        answer["simulated"]["slowdown"] = spread_of(rng, rng.choice([0, 10 ** rng.uniform(-6, 1.5)]), 0.01)
        difference = answer["slowdown"]["value"] - answer["simulated"]["slowdown"]["value"]
        answer["simulated"]["difference"] = difference
        answer["simulated"]["agreement"] = rng.choice(["unclear", "agrees", "differs"])
        again, _ = report_of(self.folder, answer)
        verdict, agreement = again["verdict"], again["simulated"]["agreement"]
        self.assertEqual("; they agree (" in verdict, agreement == "agrees", verdict)
        self.assertEqual("; they do not agree" in verdict, agreement == "differs", verdict)
        for what, value in ((r"sync \w+\) it", answer["slowdown"]["value"]), (r"the same noise, it", answer["simulated"]["slowdown"]["value"])):
            said = re.search(rf"{what} (?:is (not slower)|is {NUMBER} % slower|takes {NUMBER}(?: times|x) as long)", verdict)
            self.assertIsNotNone(said, verdict)
            number = 0 if said.group(1) else float(said.group(2)) / 100 if said.group(2) else float(said.group(3)) - 1
            self.assertLessEqual(abs(number - value), max(1e-4, 6e-3 * value), verdict)
        notes = " ".join(again["notes"])
        points = float(re.search(rf"measured slowdown is {NUMBER} points", notes).group(1))
        self.assertLessEqual(abs(points - abs(100 * difference)), 0.0051, notes)
        self.assertEqual("points below the simulated" in notes, difference < 0, notes)

    @each_case(every=5)
    def test_net_says_what_its_launches_measured(self, case):
        rng, folder = random.Random(case.seed), self.folder / f"net{case.seed}"
        folder.mkdir()
        L_ns, per_byte, gap_ns = 10 ** rng.uniform(2.5, 4.5), 10 ** rng.uniform(-2, 0.5), 10 ** rng.uniform(1.5, 3)
        unknown, sizes = {"value": None, "low": None, "high": None}, [1, 1024, 65536]
        for launch in (0, 1):
            answer, near = sample("net"), rng.uniform(0.98, 1.02)
            level = answer["levels"][0]
            answer.update(launches=1, ranks=2, host_names=["a", "a"], hosts=1, pairs=1, links_looked_at=0, levels=[level], slow=[])
            level["net"].update(L_ns=None, o_send_ns=None, o_recv_ns=None, g_ns=None, G_fs_per_byte=0)
            level.update(L_ns=unknown, g_ns=unknown, half_round_trip_ns=spread_of(rng, (L_ns + 100) * near, 0.01))
            level["points"] = [{"bytes": size, "samples": 100, "half_round_trip_ns": spread_of(rng, (L_ns + 100 + per_byte * size) * near, 0.01),
                                "gap_ns": spread_of(rng, gap_ns + per_byte * size, 0.01), "o_send_ns": spread_of(rng, 100, 0.01),
                                "o_recv_ns": unknown, "exchange_ns": unknown} for size in sizes]
            (folder / f"launch{launch}.json").write_text(json.dumps(answer, indent=1) + "\n")
        launcher = f"echo 1 >> '{folder}/count'; cat '{folder}'/launch$(($(wc -l < '{folder}/count') % 2)).json"
        answer = json.loads(run("net", "--launches", 4, "--format", "json", "-o", folder / "out.yaml", "--", "sh", "-c", launcher).stdout)
        assert_sane(answer, case.name)
        level = answer["levels"][0]
        self.same(level["half_round_trip_ns"]["value"], level["points"][0]["half_round_trip_ns"]["value"])
        whole = level["L_ns"]["value"] + level["o_send_ns"]["value"] + (level["o_recv_ns"]["value"] or 0)
        self.same(whole, level["half_round_trip_ns"]["value"], 1e-6)
        self.assertLessEqual(level["g_ns"]["value"], level["half_round_trip_ns"]["value"] * (1 + 1e-9))
        said = re.search(rf"a small message takes {NUMBER} (ns|us|ms)", answer["verdict"])
        said_ns = float(said.group(1)) * {"ns": 1, "us": 1e3, "ms": 1e6}[said.group(2)]
        self.assertLessEqual(abs(said_ns - level["half_round_trip_ns"]["value"]), 6e-3 * said_ns, answer["verdict"])
        again = report_of(self.folder, answer)[0]
        self.assertEqual(again["verdict"], answer["verdict"])

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
