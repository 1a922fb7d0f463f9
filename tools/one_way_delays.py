#!/usr/bin/env python3
"""Fits the noise of a network (docs/explanation/semantics.md, rule 16) to measured round trips.

SPDX-License-Identifier: BSD-3-Clause

Usage: one_way_delays.py FILE [--size BYTES] [--system FILE]

FILE has a size in bytes and a round trip in us a line, as ng_netnoise_mpi_lat.out of netgauge. Prints the `noise` of a network file:
delays of single messages, such that two of them, and what the system takes of a round trip, exceed the floor (the shortest round
trip) as often as was measured. --system: a file with one number a line, the us that the system's noise adds to a round trip in a
simulation of it (0 mostly). Without it the noise of the CPUs that timed the round trips counts as the network's.

The delays are those of largest likelihood, on a grid of times that grow by 8 %, found by expectation and maximisation: of each
measured excess, every pair of delays (and every part of the system) that sums to it gets its share.
"""

import argparse
import bisect
import collections

STEP, ROUNDS, POINTS = 1.08, 120, 64


def grid_of(resolution_us, longest_us):
    """0, then times that grow by STEP, but by no less than the resolution of the clock."""
    grid = [0.0]
    while grid[-1] < longest_us:
        grid.append(max(grid[-1] * STEP, grid[-1] + resolution_us))
    return grid


def histogram(values, grid):
    """How many values are nearest to each time of the grid."""
    middles = [(low + high) / 2 for low, high in zip(grid, grid[1:])]
    counts = [0.0] * len(grid)
    for value in values:
        counts[bisect.bisect_right(middles, value)] += 1
    return counts


def fit(excesses_us, system_us=(), resolution_us=0.02):
    """The shares of the one-way delays on a grid: (grid, shares)."""
    grid = grid_of(resolution_us, max(max(excesses_us), 2 * resolution_us))
    measured = histogram(excesses_us, grid)
    system = collections.Counter()
    for place, count in enumerate(histogram(system_us, grid) if system_us else [1.0]):
        if count:
            system[place] += count / max(len(system_us), 1)
    middles = [(low + high) / 2 for low, high in zip(grid, grid[1:])]
    count, total = len(grid), sum(measured)
    triples = [(a, b, part, bisect.bisect_right(middles, grid[a] + grid[b] + grid[part]), 1 + (a != b))
               for a in range(count) for b in range(a, count) for part in system
               if grid[a] + grid[b] + grid[part] <= 1.05 * grid[-1]]
    shares = [(m + 1e-3 * total / count) / total / (1 + 1e-3) for m in measured]  # the excess itself, to begin with
    for _ in range(ROUNDS):
        expected = [0.0] * count
        for a, b, part, place, times in triples:
            expected[place] += times * shares[a] * shares[b] * system[part]
        weight = [m / e if m else 0.0 for m, e in zip(measured, (e or 1e-300 for e in expected))]
        taken = [0.0] * count
        for a, b, part, place, times in triples:
            got = times * shares[a] * shares[b] * system[part] * weight[place]
            taken[a] += got
            taken[b] += got
        whole = sum(taken)
        shares = [t / whole for t in taken]
    return grid, shares


def quantiles(grid, shares, points=POINTS):
    """The pairs of a network file. A share of the grid lies around its time, up to the middle to the next one."""
    below, table = 0.0, [(0.0, 0.0)]
    for time, following, share in zip(grid, grid[1:] + grid[-1:], shares):
        below += share
        if share > 1e-8:  # as_yaml() prints nine digits
            table.append((min(below, 1.0), (time + following) / 2))
    table[-1] = (1.0, table[-1][1])
    while len(table) > points:  # leave out the point whose absence moves the mean least
        cost = [abs((table[i + 1][0] - table[i - 1][0]) * (table[i][1] + 0.0)
                    - (table[i][0] - table[i - 1][0]) * table[i - 1][1] - (table[i + 1][0] - table[i][0]) * table[i + 1][1])
                for i in range(1, len(table) - 1)]
        del table[1 + cost.index(min(cost))]
    return [pair for i, pair in enumerate(table) if i == 0 or pair[0] > table[i - 1][0]]


def as_yaml(pairs):
    return "noise: [" + ", ".join(f"[{share:.9g}, {1000 * time:.9g}ns]" for share, time in pairs) + "]"


def read(path, size):
    """Of one size (None: the first one), in the order of the file."""
    trips = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if len(words) >= 2:
                size = size or int(words[0])
                trips += [float(words[1])] if int(words[0]) == size else []
    return trips


def resolution_of(trips):
    """The step of the clock: what most neighbouring values differ by."""
    values = sorted(set(trips))
    steps = [b - a for a, b in zip(values, values[1:])]
    return max(sorted(steps)[len(steps) // 2], 0.001) if steps else 0.001


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--size", type=int)
    parser.add_argument("--system")
    args = parser.parse_args()
    trips = read(args.file, args.size)
    system = [float(line) for line in open(args.system, encoding="utf-8")] if args.system else []
    floor = min(trips)
    print(as_yaml(quantiles(*fit([trip - floor for trip in trips], system, resolution_of(trips)))))


if __name__ == "__main__":
    main()
