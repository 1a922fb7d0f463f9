#!/usr/bin/env python3
"""Recordings of made dates: of steady noise intervals cover each other, a louder date is missed, and what several dates cover is counted right.

SPDX-License-Identifier: BSD-3-Clause

Usage: real_dates_test.py IDLEWAVE
"""

import datetime
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
import dates_pages as pages  # noqa: E402
import real_dates as tool  # noqa: E402
import real_inputs as inputs  # noqa: E402

IDLEWAVE = pathlib.Path("idlewave")
RATE, DETOUR_US, SECONDS = 400.0, 20.0, 20.0
LOUD = "2022_05_13_12_00_00"
DATES = ["2022_05_05_12_00_00", "2022_05_05_18_00_00", "2022_05_07_12_00_00", LOUD, "2022_06_13_12_00_00"]


def run(draw, node, factor=1.0, seconds=SECONDS):
    """One start of netgauge, its detours at random times."""
    lines = ["# Benchmark Method: selfish", f"# Nodename: {node}", "# Release : 5.3", "# Minimal cycle length [ns]: 30.0",
             "# Threshold: [% minimal cycle length]: 900"]
    now_us = 0.0
    while now_us < 1e6 * seconds:
        length_us = 0.3 + factor * DETOUR_US * draw.expovariate(1)
        lines.append(f"{now_us * 1000:.2f}\t{length_us * 1000:.2f}")
        now_us += length_us + draw.expovariate(RATE) * 1e6
    return "\n".join(lines) + "\n"


def make(root):
    draw = random.Random(3)
    for date in DATES:
        path = root / "alps" / date / date
        path.mkdir(parents=True)
        runs = [run(draw, "a", 3.0 if date == LOUD else 1.0)]
        if date == DATES[0]:
            runs += [run(draw, "a"), run(draw, "b", 3.0)]
        (path / "ng_osnoise.out").write_text("".join(runs))
    path = root / "gcp" / DATES[0] / DATES[0]
    path.mkdir(parents=True)
    (path / "ng_osnoise.out").write_text(run(draw, "c"))


def answer(value, low, high):
    return {"value": value, "low": low, "high": high, "is_bound": high is None}


def recording(day, name="r"):
    return tool.Recording("Alps", datetime.datetime(2022, 5, day), "a", "5.3", 270.0, pathlib.Path(f"{name}{day}.h5"))


class Counting(unittest.TestCase):
    """By hand, without idlewave."""

    def pair(self, first, second):
        return tool.Pair(recording(1), recording(2), tool.PROGRAMS[0], first, second)

    def test_inside_is_a_question_to_the_first_interval_alone(self):
        wide, narrow = answer(0.10, 0.05, 0.20), answer(0.15, 0.14, 0.16)
        self.assertTrue(self.pair(wide, narrow).is_inside)
        self.assertFalse(self.pair(narrow, wide).is_inside)

    def test_means_agree_if_the_sides_towards_each_other_allow_it(self):
        first = answer(0.10, 0.09, 0.13)  # 0.03 upwards, 0.01 downwards
        for value, agrees in (0.149, True), (0.151, False):  # 0.03 and 0.04 in quadrature are 0.05
            self.assertEqual(self.pair(first, answer(value, value - 0.04, value + 9)).agrees, agrees, value)
            self.assertEqual(self.pair(answer(value, value - 0.04, value + 9), first).agrees, agrees, value)

    def test_bounds_are_counted_apart(self):
        bound, estimate = answer(0.10, 0.08, None), answer(0.09, 0.05, 0.2)
        cells = pages.cells([self.pair(bound, estimate), self.pair(bound, answer(0.07, 0.05, 0.2)), self.pair(estimate, bound)])
        self.assertEqual(cells[0], 0)
        self.assertEqual(cells[-1], "1 of 2")

    def test_differences_matter_from_one_percent_of_the_time_on(self):
        self.assertFalse(self.pair(answer(0.001, 0, 1), answer(0.009, 0, 1)).matters)
        self.assertTrue(self.pair(answer(1.0, 0, 9), answer(1.03, 0, 9)).matters)

    def test_several_recordings_cover_as_by_hand(self):
        answers = [answer(1.0, 0.5, 1.1), answer(2.0, 1.9, 2.2), answer(4.0, 3.0, 5.0)]
        self.assertEqual(tool.range_of(answers), (1.0, 4.0))
        self.assertEqual(tool.hull(answers), (0.5, 5.0))
        low, high = tool.further_value(answers)  # 2 times or by e^(4.303 ln2 sqrt(4/3))
        self.assertAlmostEqual(high, 2 * 2 ** (4.303 * (4 / 3) ** 0.5), 6)
        self.assertAlmostEqual(low * high, 4.0, 6)
        self.assertIsNone(tool.further_value(answers[:2]))

    def test_the_one_left_out_is_not_among_the_others(self):
        recordings = [recording(day) for day in (1, 2, 3, 4)]
        known = {(r.path, program): answer(0.1 * r.when.day, 0, 1) for r in recordings for program in tool.PROGRAMS}
        rows = [row for row in tool.pooled(recordings, known) if row.program == tool.PROGRAMS[0] and row.way == "range" and row.k == 3]
        self.assertEqual([row.is_inside for row in rows], [False, True, True, False])
        self.assertEqual([row.is_later for row in rows], [False, False, False, True])
        self.assertEqual({row.span_s for row in rows}, {3 * 86400.0, 2 * 86400.0})

    def test_shares_and_widths_of_several_recordings(self):
        rows = [tool.Pooled("Alps", 3, "range", tool.PROGRAMS[0], 0.0, is_later, 1.0, high, is_inside)
                for high, is_inside, is_later in ((2.0, True, True), (3.0, True, False), (4.0, False, False), (5.0, True, False))]
        self.assertIn("| Alps | 3 | 75 % (3.50) | - | - | - | 100 % (2.00) | - | - | - |", pages.several(rows))
        self.assertEqual(pages.width([rows[0]._replace(low=0.0)]), "no lower end")

    def test_distances(self):
        for hours, name in (0.5, "under an hour"), (2, "hours"), (30, "days"), (200, "weeks"):
            later = recording(1)._replace(when=recording(1).when + datetime.timedelta(hours=hours))
            pair = tool.Pair(later, recording(1), tool.PROGRAMS[0], answer(1, 0, 2), answer(1, 0, 2))
            self.assertEqual(pages.distance_of(pair), name)


class MadeDates(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="idlewave-dates-test-")
        root = pathlib.Path(cls.scratch.name)
        make(root / "data")
        own = root / "own"
        own.mkdir()
        for minute in 0, 4:
            subprocess.run([IDLEWAVE, "noise", "synth", "poisson:400Hz,exp:20us", "--duration", "10s", "--cpus", "2", "--seed", str(minute + 1), "-o",
                            own / f"2022_05_05_12_0{minute}_00.h5"], check=True, stdout=subprocess.DEVNULL)
        tool.PROGRAMS = [tool.Program("barrier:dissemination", work, 16, 200) for work in ("100us", "1ms")]
        tool.POOLS = (3,)
        (root / "keep").mkdir()
        lab = tool.Lab(IDLEWAVE, root / "keep")
        dates, cls.files = tool.netgauge_recordings(inputs.Folder(root / "data"), lab)
        dates[tool.OWN] = tool.own_recordings(own)
        cls.found = tool.results(lab, dates, cls.files, 2)
        pages.write(root / "pages", cls.found, tool.REPEAT, tool.NETWORK)
        cls.page = (root / "pages" / "real-dates.md").read_text(encoding="utf-8")
        cls.root, cls.lab, cls.dates = root, lab, dates

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_machines_with_one_date_are_left_out(self):
        self.assertEqual(list(self.dates), ["Alps", tool.OWN])

    def test_a_recording_has_the_first_node_only(self):
        first = self.lab.shown(self.dates["Alps"][0])
        self.assertAlmostEqual(first["watched_ns"] / 1e9, 2 * SECONDS, 0)
        self.assertLess(first["share"], 0.012)  # 0.8 %; b has 2.4 %
        self.assertEqual([[r.node for r in group] for group in self.files], [["a", "a", "b"]])

    def test_steady_dates_agree_and_a_louder_one_does_not(self):
        loud = datetime.datetime.strptime(LOUD, "%Y_%m_%d_%H_%M_%S")
        steady = [pair for pair in self.found["pairs"]["Alps"] if loud not in (pair.i.when, pair.j.when)]
        other = [pair for pair in self.found["pairs"]["Alps"] if loud in (pair.i.when, pair.j.when)]
        self.assertEqual((len(steady), len(other)), (4 * 3 * 2, 2 * 4 * 2))
        self.assertGreaterEqual(sum(pair.agrees for pair in steady), 18)
        self.assertFalse(any(pair.agrees or pair.is_inside for pair in other))

    def test_runs_of_one_file_are_compared(self):
        one, two = ([pair for pair in self.found["files"] if pair.is_one_node == is_one] for is_one in (True, False))
        self.assertEqual((len(one), len(two)), (2 * 2, 4 * 2))
        self.assertTrue(all(pair.agrees for pair in one))
        self.assertFalse(any(pair.agrees for pair in two))

    def test_what_is_shorter_than_the_coarsest_threshold_is_left_out(self):
        whole = self.dates["Alps"][0]
        cut = self.lab.shown(self.lab.without_short(whole, 20300.0))
        self.assertAlmostEqual(cut["count"] / self.lab.shown(whole)["count"], math.exp(-1), 1)

    def test_folders_hold_the_chosen_recordings(self):
        _, chosen, path = next(tool.folders(self.dates["Alps"], self.lab))
        self.assertEqual(sorted(p.read_bytes() for p in path.iterdir()), sorted(r.path.read_bytes() for r in chosen))
        self.assertTrue(any(row.way == "folder" for row in self.found["pooled"]))

    def test_the_page_has_every_pair_and_every_table(self):
        self.assertIn("| Alps | 5 | 40 |", self.page)
        self.assertIn("## Dates i and j: Alps", self.page)
        self.assertIn("| i \\ j | 05-05 12:00 | 05-05 18:00 | 05-07 12:00 | 05-13 12:00 | 06-13 12:00 |", self.page)
        long = "".join(path.read_text(encoding="utf-8") for path in (self.root / "pages").glob("real-dates-*.csv"))
        self.assertIn('\n"runs of one file, two nodes",8,0 %,0 %,', long)
        self.assertIn(f"| {tool.OWN}: under an hour |" if len(self.dates[tool.OWN]) > 2 else f"| {tool.OWN} | 2 |", self.page)

    def test_answers_are_kept(self):
        lab = tool.Lab(pathlib.Path("/nonexistent"), self.root / "keep")
        known = lab.answer(self.dates["Alps"][0].path, tool.PROGRAMS[0])
        self.assertLess(known["low"], known["value"])

    def test_one_noise_file_is_too_few(self):
        with self.assertRaisesRegex(inputs.Error, "fewer than two"):
            tool.own_recordings(self.root / "pages")


if __name__ == "__main__":
    IDLEWAVE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
