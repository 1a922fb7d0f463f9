"""Shows that bench/watcher.py finds a small difference between blocks of a program on a machine whose speed changes.

SPDX-License-Identifier: BSD-3-Clause
"""

import pathlib
import random
import statistics
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import watcher  # noqa: E402


def series(cost, pairs, seed):
    """Blocks without, with, without, ... that vary by 1 %, on a host that takes another speed every ten blocks or so."""
    draw, speed, times = random.Random(seed), 1.0, []
    for number in range(2 * pairs + 1):
        speed = draw.uniform(0.7, 1.0) if draw.random() < 0.1 else speed
        times.append(0.1 / speed * (1 + cost * (number % 2)) * draw.gauss(1, 0.01))
    return times


class Blocks(unittest.TestCase):
    def test_a_block_is_compared_with_those_before_and_after(self):
        first, second = watcher.changes([1.0, 1.1, 1.02, 1.0, 1.0])
        self.assertAlmostEqual(first, 100 * (1.1 / 1.01 - 1))
        self.assertAlmostEqual(second, 100 * (1 / 1.01 - 1))

    def test_a_block_does_not_count_where_the_speed_changes(self):
        self.assertEqual(watcher.changes([1.0, 1.1, 1.2]), [])
        self.assertEqual(watcher.changes([1.2, 1.1, 1.0]), [])

    def test_a_cost_is_inside_its_interval(self):
        inside = 0
        for seed in range(10):
            _, low, high = watcher.bounds(watcher.changes(series(0.005, 200, seed)), watcher.RUN)
            self.assertLess(high - low, 0.8)
            inside += low <= 0.5 <= high
        self.assertGreaterEqual(inside, 9)

    def test_what_costs_nothing_is_not_found(self):
        found = watcher.changes(series(0.0, 400, 1))
        median, low, high = watcher.bounds(found, watcher.RUN)
        self.assertLessEqual(low, 0)
        self.assertGreaterEqual(high, 0)
        self.assertEqual(median, statistics.median(found))

    def test_of_few_blocks_nothing_is_said(self):
        self.assertEqual(watcher.told([0.1] * (watcher.LEAST - 1), 2), "too few to say how much")
        self.assertEqual(watcher.told([0.1] * watcher.LEAST, 2), "+0.10 % (+0.10 .. +0.10)")

    def test_blocks_alternate_and_what_is_beside_them_ends(self):
        log = []

        class Beside:
            def __enter__(self):
                log.append("on")

            def __exit__(self, *_):
                log.append("off")

        blocks = watcher.alternating(lambda: log.append("block"), Beside, 0.01)
        self.assertEqual(len(blocks), 3)
        self.assertEqual(log, ["block", "on", "block", "off", "block"])


if __name__ == "__main__":
    unittest.main()
