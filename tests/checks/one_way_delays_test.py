#!/usr/bin/env python3
"""Delays of single messages are found again from round trips that were made of them.

SPDX-License-Identifier: BSD-3-Clause
"""

import bisect
import math
import pathlib
import random
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
import one_way_delays as delays  # noqa: E402

COUNT = 60000


def delay(draw):
    """Us: most of it short; one message in a hundred meets something long."""
    return draw.expovariate(1 / 0.05) + (draw.expovariate(1 / 5) if draw.random() < 0.01 else 0.0)


def system(draw):
    return draw.uniform(1, 4) if draw.random() < 0.003 else 0.0


def quantile(pairs, share):
    place = bisect.bisect_left([below for below, _ in pairs], share)
    (low, before), (high, after) = pairs[place - 1], pairs[place]
    return before + (after - before) * (share - low) / (high - low)


class OneWayDelays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        draw = random.Random(3)
        cls.true = sorted(delay(draw) for _ in range(COUNT))
        cls.trips = [delay(draw) + delay(draw) + system(draw) for _ in range(COUNT)]
        cls.pairs = delays.quantiles(*delays.fit(cls.trips, [system(draw) for _ in range(COUNT)]))
        cls.blind = delays.quantiles(*delays.fit(cls.trips))

    def test_two_delays_and_the_system_make_a_round_trip(self):
        for share in 0.5, 0.9, 0.98, 0.995, 0.999:
            ratio = quantile(self.pairs, share) / self.true[int(share * COUNT)]
            self.assertLess(abs(math.log(ratio)), 0.15, share)

    def test_what_the_system_takes_is_the_networks_if_nobody_says_so(self):
        self.assertGreater(quantile(self.blind, 0.99), 1.5 * quantile(self.pairs, 0.99))

    def test_pairs_are_what_a_network_file_has(self):
        self.assertLessEqual(len(self.pairs), delays.POINTS)
        self.assertEqual((self.pairs[0], self.pairs[-1][0]), ((0.0, 0.0), 1.0))
        self.assertTrue(all(a[0] < b[0] and a[1] <= b[1] for a, b in zip(self.pairs, self.pairs[1:])))
        self.assertEqual(delays.as_yaml([(0.0, 0.0), (1.0, 0.25)]), "noise: [[0, 0ns], [1, 250ns]]")

    def test_a_file_has_sizes_and_round_trips(self):
        with tempfile.NamedTemporaryFile("w", suffix=".out") as file:
            file.write("#size\trtt\n1\t2.98\n1\t1.78\n2\t9.0\n1\t1.90\n")
            file.flush()
            self.assertEqual(delays.read(file.name, None), [2.98, 1.78, 1.90])
            self.assertEqual(delays.read(file.name, 2), [9.0])


if __name__ == "__main__":
    unittest.main()
