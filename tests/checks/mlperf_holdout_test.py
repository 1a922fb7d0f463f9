#!/usr/bin/env python3
"""Predictions of MLPerf's steps: on made logs, a known law is found again, and nothing is opened before it is registered.

SPDX-License-Identifier: BSD-3-Clause

Usage: mlperf_holdout_test.py [BUILD_DIR]    with it, idlewave itself is asked once
"""

import json
import math
import pathlib
import random
import shutil
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import make_coverage  # noqa: E402
import mlperf_holdout as holdout  # noqa: E402
import mlperf_steps  # noqa: E402

LAW = (0.04, 3.2e-6, 4e-6, 0.2)  # what made logs follow: as in candidates()
FITTED = ((64, 4, 30.0), (128, 4, 20.0), (512, 4, 15.0), (640, 4, 3.0))  # nodes, GPUs of each, seconds of a step
HELD = ((32, 8, 20.0), (384, 8, 4.0))
BUILD = None


def made_log(one, step_s, law, steps, seed):
    """Text of a log: the first step after each block_start is long, and the first half of a run slower."""
    draw, lines = random.Random(seed), []
    with mock.patch.object(holdout, "EMULATED_STEPS", steps), mock.patch.object(holdout.random, "Random", lambda _: draw):
        late = holdout.lateness({**one, "step_s": step_s}, holdout.pauses(*law[:3]))
    for at in range(steps):
        slow = 1.05 if at < steps // 2 else 1 + law[3] / 50 * (at % 10 > 4)
        time = step_s * slow + late[at] + (9 if at == 0 else 0)
        lines += [{"key": "block_start", "value": None}] if at == 0 else []
        lines.append({"key": "tracked_stats", "value": {"train_step_time": time, "reduced_train_loss": 6}})
        lines.append({"key": "tracked_stats", "value": {"throughput": 1}})
    return "".join(f":::MLLOG {json.dumps(line)}\n" for line in lines) + "other output\n"


def make_folder(folder, shapes, law=LAW, steps=800, device="GB200", runs=2):
    """A copy of such a repository. The systems have a sibling that only ran another benchmark, and configurations of other devices."""
    for at, (nodes, per_node, step_s) in enumerate(shapes):
        submitter, name = folder / "Lab", f"made_{device}_{at}"
        for part in ("systems", f"benchmarks/llama31_405b/implementations/{name}", f"results/{name}/llama31_405b"):
            (submitter / part).mkdir(parents=True, exist_ok=True)
        text = json.dumps({"number_of_nodes": str(nodes), "accelerators_per_node": str(per_node), "accelerator_model_name": f"NVIDIA GPU ({device})"})
        for stem in (name, f"{name}_other"):
            (submitter / "systems" / f"{stem}.json").write_text(text)
        for config in (f"GB300_{nodes}x{per_node}x72xtp2pp8cp2_cg", f"{device}_{nodes}x{per_node}x24xtp4pp8cp2_cg"):
            (submitter / f"benchmarks/llama31_405b/implementations/{name}/config_{config}.sh").write_text("export MINIBS=24\n")
        one = holdout.settings_of(submitter / "systems" / f"{name}.json")
        for run in range(runs):
            log = made_log(one, step_s, law, steps, 100 * at + run)
            (submitter / f"results/{name}/llama31_405b/result_{run}.txt").write_text(log)
    return folder


class Emulator:
    """In place of idlewave: the law of the slowest replica, all of every pause reaches the step."""

    def __init__(self, step_s=5.0):
        self.folder, self.step_s = None, step_s
        self.asked = []

    def simulated(self, one, step_s, law):
        late = holdout.lateness({**one, "step_s": step_s}, holdout.pauses(*law[:3]))
        self.asked.append(one["name"])
        return {"loss": sum(late) / len(late) / step_s, "noiseless_ns": step_s * 1e9,
                "scatter": (mlperf_steps.excesses([step_s + each for each in late])[0] + law[3]) / 100}

    def __call__(self, _tool, one, _rate, law):
        return self.simulated(one, one.get("step_s", self.step_s), law)


class Holdout(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.made = make_folder(pathlib.Path(holder.name) / "v5.1", FITTED), make_folder(pathlib.Path(holder.name) / "v5.0", HELD, device="H100")

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        for name, value in (("SHORT_S", (0.01, 0.04)), ("SHORT_SHARES", (8e-7, 3.2e-6, 1.28e-5)), ("LONG_HZ", (4e-6, 1.6e-5)),
                            ("DRIFTS", (0, 0.1, 0.2, 0.4)), ("EMULATED_STEPS", 300), ("simulated", Emulator()), ("ALIKE", {"H100": "GB200"})):
            patch = mock.patch.object(holdout, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.v51, self.v50 = self.made[0], pathlib.Path(shutil.copytree(self.made[1], self.folder / "v5.0"))
        self.registered = self.folder / "registered.json"

    def errors(self):
        """Of registered predictions, logarithms of measured over predicted."""
        answer = holdout.predictions(None, self.v51, self.v50)
        return [math.log(holdout.measured(log)[0] / one["excess"]) for one in answer["predicted"] for log in holdout.logs_of(self.v50, one)]

    def test_settings_are_those_of_the_system_and_not_of_its_neighbours(self):
        found = holdout.submissions(self.v51)
        self.assertEqual([(one["gpus"], one["device"], one["tp"], one["dp"], one["microbatches"]) for one in found],
                         [(256, "GB200", 4, 4, 24), (512, "GB200", 4, 8, 24), (2048, "GB200", 4, 32, 24), (2560, "GB200", 4, 40, 24)])

    def test_pauses_add_up_in_a_replica_and_the_slowest_replica_counts(self):
        with mock.patch.object(holdout, "EMULATED_STEPS", 4000):
            alone, many = (sum(holdout.lateness({"gpus": 100, "dp": dp, "step_s": 10}, ((0.002, 0.5),))) / 4000 for dp in (1, 100))
        self.assertAlmostEqual(alone, 0.002 * 100 * 10 * 0.5, delta=0.05)
        self.assertAlmostEqual(many, 0.66, delta=0.05)  # 0.5 times the sum over n of (1 + 1/2 + ... + 1/n) of a Poisson law of mean 2

    def test_the_law_that_logs_were_made_of_is_found(self):
        short_s, share, long_hz, drift = holdout.best(holdout.candidates(holdout.read_fitted(self.v51)))
        self.assertAlmostEqual(math.log((share + long_hz * holdout.LONG_S) / (LAW[1] + LAW[2] * holdout.LONG_S)), 0, delta=0.5)
        self.assertEqual((short_s, drift), (LAW[0], LAW[3]))

    def test_other_systems_are_predicted_and_a_broken_fit_does_not(self):
        self.assertLess(max(map(abs, self.errors())), 0.3)
        with mock.patch.object(holdout, "best", lambda laws, without=None: (0.04, 8e-7, 4e-6, 0.4)):
            self.assertGreater(max(map(abs, self.errors())), 0.3)

    def test_registering_needs_no_log_of_the_other_round(self):
        answer = holdout.predictions(None, self.v51, self.v50)
        for log in self.v50.glob("*/results/*/*/result_*.txt"):
            log.unlink()
        self.assertEqual(holdout.predictions(None, self.v51, self.v50), answer)

    def run_main(self, *words):
        opened = []

        def step_times(path, of=mlperf_steps.step_times):
            opened.append((self.registered.exists(), "v5.0" in str(path)))
            return of(path)

        arguments = ["", "nowhere", self.v51, self.v50, "--registered", self.registered, "--data", self.folder / "data", *words]
        with mock.patch.object(sys, "argv", list(map(str, arguments))), mock.patch.object(mlperf_steps, "step_times", step_times), \
                mock.patch("builtins.print"):
            holdout.main()
        return opened

    def test_logs_are_opened_when_predictions_are_written(self):
        opened = self.run_main()
        self.assertEqual({is_there for is_there, is_held_out in opened if is_held_out}, {True})
        self.assertEqual({is_there for is_there, is_held_out in opened if not is_held_out}, {False})
        page = (self.folder / "data" / "mlperf-v5.0.md").read_text()
        self.assertIn(holdout.register(self.registered, json.loads(self.registered.read_text())), page)

    def test_other_predictions_than_those_registered_are_an_error(self):
        self.run_main("--register-only")
        self.registered.write_text(self.registered.read_text().replace('"excess": ', '"excess": 1', 1))
        with self.assertRaises(SystemExit):
            self.run_main()

    def test_logs_of_the_fitted_round_and_what_was_in_view_do_not_count(self):
        answer = holdout.predictions(None, self.v51, self.v50)
        first, second = answer["predicted"]
        source, target = (holdout.logs_of(folder, one) for folder, one in ((self.v51, holdout.submissions(self.v51)[0]), (self.v50, first)))
        for old, new in zip(source, target):
            new.write_text(old.read_text())
        rows, tallies, left_out = holdout.compare(answer, self.v51, self.v50)
        self.assertEqual(left_out, [first["name"]])
        self.assertEqual((len(rows), len(tallies[0].errors)), (1, 2))
        with mock.patch.object(holdout, "IN_VIEW", (second["name"],)):
            rows, tallies, _ = holdout.compare(answer, self.v51, self.v50)
        self.assertEqual((len(rows), len(tallies[0].errors)), (1, 0))


class Steps(unittest.TestCase):
    def times_of(self, lines):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("".join(lines))
            file.flush()
            return mlperf_steps.step_times(file.name)

    @staticmethod
    def steps(count):
        return [f':::MLLOG {{"key": "tracked_stats", "value": {{"train_step_time": {at}.5}}}}\n' for at in range(count)]

    def test_the_first_step_of_each_block_and_other_output_are_left_out(self):
        block, loss = ':::MLLOG {"key": "block_start", "value": null}\n', '3: :::MLLOG {"key": "tracked_stats", "value": {"loss": 5}}\n'
        self.assertEqual(self.times_of(["warning\n", block, *self.steps(50), loss, block, loss, *self.steps(3)]),
                         [at + 0.5 for at in [*range(1, 50), 1, 2]])

    def test_damaged_and_short_logs_are_refused_with_the_place(self):
        for line in ':::MLLOG {"key": "tracked_st', ":::MLLOG 7", ":::MLLOG []", ':::MLLOG {"key": 1}', ":::MLLOG \ufffd":
            with self.assertRaisesRegex(SystemExit, r"\.txt:51': not a line"):
                self.times_of([*self.steps(50), line])
        with self.assertRaisesRegex(SystemExit, "39 step times"):
            self.times_of(self.steps(40))


class Program(unittest.TestCase):
    def test_idlewave_reads_what_is_made_for_it(self):
        if not BUILD:
            self.skipTest("no build was given")
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(holdout, "SIMULATED", {"steps": 2, "trials": 6}):
            one = {"tp": 8, "cp": 1, "pp": 8, "dp": 2, "microbatches": 8, "node_gpus": 8}
            quiet = holdout.simulated(make_coverage.Tool(BUILD, folder), one, 9e14, (0.01, 2e-8, 2e-6, 0))
            late = holdout.simulated(make_coverage.Tool(BUILD, folder), one, 9e14, (0.01, 1e-2, 1e-3, 0.5))
        self.assertLess(quiet["loss"], 0.001)
        self.assertGreater(late["loss"], 0.001)
        self.assertGreater(late["scatter"], 0)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        BUILD = pathlib.Path(sys.argv.pop(1))
    unittest.main()
