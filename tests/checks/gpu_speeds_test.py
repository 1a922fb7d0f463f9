#!/usr/bin/env python3
"""The slowest of N GPUs: what is predicted from some GPUs of a made law is what others take, and is not where nodes share what is slow.

SPDX-License-Identifier: BSD-3-Clause
"""

import itertools
import math
import pathlib
import random
import statistics
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import gpu_speeds as speeds  # noqa: E402


def made(seed, count, law):
    """{node: [factor, ...]} of nodes with four GPUs."""
    draw = random.Random(seed)
    return {f"node{at}": law(draw) for at in range(count)}


def alike(draw):
    return [math.exp(draw.gauss(0, 0.02)) for _ in range(4)]


def shared(draw):
    """One node in twenty is slow as a whole."""
    slow = 1.5 if draw.random() < 0.05 else 1
    return [slow * factor for factor in alike(draw)]


@mock.patch.object(speeds, "RESAMPLES", 120)
class GpuSpeeds(unittest.TestCase):
    def test_the_slowest_is_the_mean_over_all_choices(self):
        factors = [1, 1.5, 0.9, 1.2, 1.1, 3]
        for count in range(1, 7):
            self.assertAlmostEqual(speeds.slowest_of(factors, count), statistics.fmean(map(max, itertools.combinations(factors, count))))
        self.assertEqual(speeds.slowest_of([1, 2], 5), 2)

    def test_a_made_law_is_predicted(self):
        fitted, held = (speeds.over_median(made(seed, 300, alike)) for seed in (1, 2))
        expected = 1 + 0.02 * 1.0294  # mean of the largest of 4 normals
        self.assertAlmostEqual(speeds.slowest_of(speeds.flat(fitted), 4), expected, delta=0.002)
        self.assertTrue(speeds.is_inside(fitted, held, 4))
        self.assertFalse(speeds.is_inside(fitted, {node: [1.1 * factor for factor in factors] for node, factors in held.items()}, 4))
        self.assertLess(speeds.whole_nodes(held, 4) - speeds.slowest_of(speeds.flat(held), 4), 0.002)

    def test_intervals_hold_as_often_as_they_say_also_where_nodes_share_a_fault(self):
        nodes = made(3, 120, shared)
        inside = sum(speeds.is_inside(*speeds.halves(nodes, str(salt)), 4) for salt in range(20))
        self.assertGreaterEqual(inside, 16)
        one_by_one = {f"{node}-{at}": [factor] for node, factors in nodes.items() for at, factor in enumerate(factors)}

        def width(of):
            fitted, held = speeds.halves(of)
            low, high = speeds.interval(fitted, len(held), 4)
            return high - low

        self.assertGreater(width(nodes), 1.4 * width(one_by_one))

    def test_a_file_has_runs_of_each_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "runs.csv"
            path.write_text("uuid,cabinet,node,perf\nb,c1,2,3.0\na,c1,2,1.0\na,c1,2,5.0\na,c1,2,2.0\nx,-1,-1,4\n")
            self.assertEqual(speeds.read(path), {"c1-2": [2.0, 3.0], "x": [4.0]})
        self.assertEqual(speeds.over_median({"c1-2": [2.0, 3.0], "x": [4.0]}), {"c1-2": [2 / 3, 1], "x": [4 / 3]})


if __name__ == "__main__":
    unittest.main()
