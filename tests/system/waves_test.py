#!/usr/bin/env python3
"""The experiments of examples/waves, made small or in full: their tables against what the paper says.

SPDX-License-Identifier: BSD-3-Clause

Usage: waves_test.py IDLEWAVE [--full]
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "waves"


def tables(script):
    """The tables that one experiment prints, each as a list of rows by column name."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-B", str(EXAMPLES / script), "--idlewave", IDLEWAVE, *SIZE, "-o", folder],
                              capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{script}: {done.stderr}")
    found = []
    for block in done.stdout.strip().split("\n\n"):
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
        found.append([dict(zip(cells[0], row)) for row in cells[2:]])
    return found


def median(cell):
    """Of "median (least to largest)"."""
    return float(cell.split()[0])


class Flavours(unittest.TestCase):
    """Figure 5: directions, ends, meeting points, speeds."""

    BORDER, ORIGIN, MET = "at the open end", "where it began", "cancels with the other one"
    ENDS = {  # the ways, and for each on which rank it ends and how; None: one of two unequal ones meets the other
        "eager-uni-open": {"up": (17, BORDER)},
        "eager-uni-periodic": {"up": (4, ORIGIN)},
        "eager-bi-open": {"up": (17, BORDER), "down": (0, BORDER)},
        "eager-bi-periodic": {"up": (14, MET), "down": (14, MET)},
        "rendezvous-uni-open": {"up": (17, BORDER), "down": (0, BORDER)},
        "rendezvous-uni-periodic": None,  # the wave against the messages loses T_comm on each rank
        "rendezvous-bi-open": {"up": (17, BORDER), "down": (0, BORDER)},
        "rendezvous-bi-periodic": {"up": (14, MET), "down": (14, MET)}}

    @staticmethod
    def expected_speed(flavour):
        """sigma / (T_exec + T_comm), from the parameters of the network chic: a message takes o + L + (s - 1) G + o."""
        size, ways = 16384 if "eager" in flavour else 248640, 2 if "-bi-" in flavour else 1
        message_s = 2 * 0.77e-6 + 5.33e-6 + (size - 1) * 1.25e-9
        return (2 if ways == 2 and "rendezvous" in flavour else 1) / (3e-3 + ways * message_s)

    def test_travels_as_published(self):
        (rows,) = tables("flavours.py")
        self.assertEqual(len(rows), 16)
        for row in rows:
            flavour = row["flavour"].rsplit("-", 1)[0]
            with self.subTest(flavour=row["flavour"]):
                is_unequal = self.ENDS[flavour] is None or row["flavour"] == "rendezvous-bi-periodic-joint"
                self.check_ends(self.ways_of(row), None if is_unequal else self.ENDS[flavour])
                for speed in map(float, row["speed, ranks/s"].split(", ")):
                    self.assertAlmostEqual(speed / float(row["sigma d / T"]), 1.0, delta=0.01)
                    if row["flavour"].endswith("split"):
                        self.assertAlmostEqual(speed / self.expected_speed(flavour), 1.0, delta=0.01)

    @staticmethod
    def ways_of(row):
        travels = [re.fullmatch(r"(up|down) to rank (\d+), (.*)", told).groups() for told in row["travels"].split("; ")]
        return {way: (int(rank), end) for way, rank, end in travels}

    def check_ends(self, ways, wanted):
        if wanted is None:
            self.assertEqual(set(ways), {"up", "down"})
            met = [rank for rank, end in ways.values() if end == self.MET]
            self.assertTrue(met and all(13 <= rank <= 15 for rank in met), ways)
            return
        self.assertEqual(ways, wanted)


class Distance(unittest.TestCase):
    def test_speed_is_sigma_d_over_period(self):
        (rows,) = tables("distance.py")
        for row in rows:
            with self.subTest(**row):
                self.assertLess(float(row["off by, %"]), 1.0)


class Cancellation(unittest.TestCase):
    """Figure 6."""

    def test_equal_waves_cancel_and_longer_ones_go_on(self):
        (rows,) = tables("cancellation.py")
        equal, half, chance = rows
        self.assertEqual((equal["waves"], equal["cancel"]), ("20", "20"))
        self.assertEqual(equal["ranks reached"], "5 to 5")
        self.assertEqual((half["waves"], half["cancel"]), ("20", "20"))
        self.assertEqual(half["ranks reached"].split(" to ")[1], "10")
        self.assertGreater(int(chance["still there at the end"]), 0)


class Decay(unittest.TestCase):
    """Figure 8, against last-passage percolation: (2 - 1) E T one way, (2.384 - 1) E T both ways."""

    DECAY, EXPECTED = "decay, us/rank: mean and its error", "(growth - 1) E T + that of E = 0"
    SPEED, EXPECTED_SPEED = "speed against v_silent, %", "1/(1 + growth E) - 1, %"

    @classmethod
    def setUpClass(cls):
        cls.free, cls.by_level, cls.by_length = tables("decay.py")

    @staticmethod
    def mean_and_error(cell):
        mean, _, error = cell.partition(" +- ")
        return float(mean), float(error or 0)

    def test_is_that_of_last_passage_percolation(self):
        for row in self.free:
            with self.subTest(**row):
                mean, error = self.mean_and_error(row[self.DECAY])
                self.assertLess(abs(mean - float(row[self.EXPECTED])), 3.5 * error)
                self.assertLess(abs(float(row[self.SPEED]) - float(row[self.EXPECTED_SPEED])), 1.0)

    def test_is_lower_by_less_than_a_message_where_these_take_time(self):
        for row in self.by_level:
            with self.subTest(**row):
                mean, error = self.mean_and_error(row[self.DECAY])
                lower = float(row[self.EXPECTED]) - mean
                self.assertLessEqual(-3.5 * error, lower)
                self.assertLess(lower, 27.3 + 3.5 * error)
                if row["E, %"] == "0":
                    self.assertLess(mean, 15.0)  # the part of a message that hides behind waiting

    def test_does_not_depend_on_the_length(self):
        (short, short_error), *longer = (self.mean_and_error(list(row.values())[1]) for row in self.by_length)
        self.assertTrue(longer)
        for mean, error in longer:
            self.assertLess(abs(short - mean), 3.5 * (short_error ** 2 + error ** 2) ** 0.5)


class Coverage(unittest.TestCase):
    """Intervals of 95 % hold the law; of waves of a few ranks in nine of ten cases, which chance may lower to 0.85."""

    def test_intervals_hold_the_law(self):
        _, tried, _, later = tables("coverage.py")
        self.assertTrue(tried and later)
        for row in tried + later:
            for key in ("decay held", "speed held"):
                with self.subTest(case=row["case"], key=key):
                    held, _, waves = row[key].partition(" of ")
                    self.assertGreaterEqual(int(held), 0.85 * int(waves))


class Elimination(unittest.TestCase):
    """Figure 9: medians of 15 seeds, of 101 in full."""

    def test_noise_takes_the_cost_of_a_delay(self):
        (rows,) = tables("elimination.py")
        column = "excess, ms: median (least to largest)"
        for first in range(0, len(rows), 5):
            medians = [median(row[column]) for row in rows[first:first + 5]]
            self.assertAlmostEqual(medians[0], 6.0, delta=0.12)
            self.assertEqual(medians, sorted(medians, reverse=True))
            self.assertLess(medians[2], 0.5 * medians[0])  # E = 25 %
            self.assertLess(medians[4], 0.1 * medians[0])  # E = 50 %


class Beyond(unittest.TestCase):
    def test_grids_have_the_same_speed_along_each_axis(self):
        for what, axes in (("halo2d 24x24", 2), ("halo3d 10x10x10", 3)):
            speeds = re.findall(r"(up|down) ([\d.]+) a step", self.waves[what])
            self.assertEqual(len(speeds), 2 * axes)
            for _, speed in speeds:
                self.assertAlmostEqual(float(speed), 1.0, delta=0.01)

    def test_collectives_end_waves(self):
        for every in (5, 15):
            ends = re.findall(r"(up|down) [\d.]+ a step, (\d+) ranks, synced", self.waves[f"allreduce after each {every} steps"])
            self.assertEqual([(way, int(ranks)) for way, ranks in ends], [("up", every - 1), ("down", every - 1)])  # the delay is in the second step
        self.assertEqual(self.waves["allreduce after each 1 steps"].count("synced"), 2)

    @classmethod
    def setUpClass(cls):
        (rows,) = tables("beyond.py")
        cls.waves = {row["what"]: row["waves"] for row in rows}


if __name__ == "__main__":
    IDLEWAVE = sys.argv.pop(1)
    SIZE = [] if "--full" in sys.argv else ["--quick"]
    unittest.main(argv=[sys.argv[0]])
