#!/usr/bin/env python3
"""Delays of single messages are found again from round trips that were made of them, one by one and in the order of time.

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

    def test_a_file_has_sizes_and_half_round_trips_of_runs(self):
        with tempfile.NamedTemporaryFile("w", suffix=".out") as file:
            file.write("#size\trtt\n1\t2.98\n1\t1.78\n2\t9.0\n1\t1.90\n#size\trtt\n1\t7.0\n1\t1.81\n")
            file.flush()
            self.assertEqual(delays.read(file.name, None), [2.98, 1.78, 1.90, 7.0, 1.81])
            self.assertEqual(delays.read(file.name, None, skip=1), [1.78, 1.90, 1.81])
            self.assertEqual(delays.read(file.name, 2), [9.0])


def correlated_trips(draw, count, floor_us=4.0, kept=0.98):
    """Round trips whose excess changes slowly."""
    level, trips = 0.0, []
    for _ in range(count):
        level = kept * level + (1 - kept) * draw.expovariate(1 / 30)
        trips.append(floor_us + level)
    return trips


def ping_pong(samples, every, floor, count, begin):
    """Rule 16 for two ranks that have nothing else to do: round trips in the order of time."""
    def delay(time):
        return samples[int(time / every) % len(samples)]
    trips, now = [], begin
    for _ in range(count):
        there = now + floor / 2 + delay(now)
        back = there + floor / 2 + delay(there)
        trips.append(back - now)
        now = back
    return trips


def lag1(values):
    middle = sum(values) / len(values)
    square = sum((value - middle) ** 2 for value in values)
    return sum((a - middle) * (b - middle) for a, b in zip(values, values[1:])) / square


class Series(unittest.TestCase):
    def test_a_series_gives_the_round_trips_and_their_correlation_again(self):
        draw = random.Random(5)
        trips = correlated_trips(draw, 20000)
        samples, every = delays.series_of(trips, (), 0.02)
        self.assertAlmostEqual(len(samples) * every / sum(trips), 1, places=3)
        again = ping_pong(samples, every, min(trips), len(trips), draw.uniform(0, sum(trips)))
        self.assertLess(abs(lag1(again) - lag1(trips)), 0.02)
        for share in 0.1, 0.5, 0.9, 0.99:
            ratio = sorted(again)[int(share * len(again))] / sorted(trips)[int(share * len(trips))]
            self.assertLess(abs(math.log(ratio)), 0.03, share)
        draw.shuffle(samples)
        self.assertLess(lag1(ping_pong(samples, every, min(trips), len(trips), 0)), 0.5)

    def test_the_system_is_taken_out_of_a_series(self):
        draw = random.Random(7)
        trips = correlated_trips(draw, 20000)
        noisy = [trip + system(draw) * 10 for trip in trips]
        samples, every = delays.series_of(noisy, [system(draw) * 10 for _ in trips], 0.02)
        ways = sorted((trip - min(trips)) / 2 for trip in trips)
        self.assertLess(sorted(samples)[int(0.999 * len(samples))], 1.15 * ways[int(0.999 * len(ways))])

    def test_equal_samples_in_a_row_are_counted(self):
        self.assertEqual(delays.series_yaml([0.0, 0.0, 1.5, 0.0], 4.0),
                         "noise:\n  every: 4000ns\n  series: [0ns*2, 1500ns, 0ns]")


if __name__ == "__main__":
    unittest.main()
