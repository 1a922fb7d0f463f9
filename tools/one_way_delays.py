#!/usr/bin/env python3
"""Fits the noise of a network (docs/explanation/semantics.md, rule 16) to measured round trips.

SPDX-License-Identifier: BSD-3-Clause

Usage: one_way_delays.py FILE [--size BYTES] [--skip N] [--system FILE] [--series]

FILE is what netgauge writes with -x one_one -f (ng_netnoise_mpi_lat.out): a line a message with its size in bytes and half of its
round trip in us; a line that begins with # begins another run. The first messages of each run set up connections: --skip N of
them are left out (10). Prints `noise` of a network file, and above it what o_s + L + o_r has to be: half of the shortest round trip.

Quantiles of the delays of single messages: two of them, and what the system takes of a round trip, exceed the floor as often as was
measured. --system: a file with one number a line, the us that the system's noise adds to a round trip in a simulation of it
(0 mostly). Without it the noise of the CPUs that timed the round trips counts as the network's. The delays are those of largest
likelihood, on a grid of times that grow by 8 %, found by expectation and maximisation: of each measured excess, every pair of
delays (and every part of the system) that sums to it gets its share.

--series: the delays in the order of time instead, so that bursts stay. Both ways of a round trip are delayed by half of its excess.
Round trips follow each other without a pause, also from run to run, and are sampled each time the shortest of them would end.
With --system each excess is replaced by that of the same rank in the distribution without the system.
"""

import argparse
import bisect
import itertools
import sys

STEP, ROUNDS, POINTS, MOST_SAMPLES = 1.08, 120, 64, 1 << 20


def grid_of(resolution_us, longest_us):
    """0, then times that grow by STEP, but by no less than the resolution of the clock."""
    grid = [0.0]
    while grid[-1] < longest_us:
        grid.append(max(grid[-1] * STEP, grid[-1] + resolution_us))
    return grid


def middles_of(grid):
    return [(low + high) / 2 for low, high in zip(grid, grid[1:])]


def histogram(values, grid):
    """How many values are nearest to each time of the grid."""
    middles, counts = middles_of(grid), [0.0] * len(grid)
    for value in values:
        counts[bisect.bisect_right(middles, value)] += 1
    return counts


def sums_of(grid, system, is_shared):
    """What may make an excess: both delays, the part of the system, the place of their sum, in how many ways."""
    middles, count = middles_of(grid), len(grid)
    pairs = ((a, b) for a in range(count) for b in ([a] if is_shared else range(a, count)))
    return [(a, b, chance, bisect.bisect_right(middles, grid[a] + grid[b] + grid[part]), 1 + (a != b))
            for a, b in pairs for part, chance in system.items() if grid[a] + grid[b] + grid[part] <= 1.05 * grid[-1]]


def fit(excesses_us, system_us=(), resolution_us=0.02, is_shared=False):
    """The shares of the one-way delays on a grid: (grid, shares). is_shared: both ways of a round trip have the same delay."""
    grid = grid_of(resolution_us, max(max(excesses_us), 2 * resolution_us))
    measured = histogram(excesses_us, grid)
    parts = histogram(system_us, grid) if system_us else [1.0]
    system = {place: count / sum(parts) for place, count in enumerate(parts) if count}
    count, total = len(grid), sum(measured)
    sums = sums_of(grid, system, is_shared)
    shares = [(m + 1e-3 * total / count) / total / (1 + 1e-3) for m in measured]  # the excess itself, to begin with
    for _ in range(ROUNDS):
        expected = [0.0] * count
        for a, b, chance, place, times in sums:
            expected[place] += times * shares[a] * (1 if is_shared else shares[b]) * chance
        weight = [m / e if m else 0.0 for m, e in zip(measured, (e or 1e-300 for e in expected))]
        taken = [0.0] * count
        for a, b, chance, place, times in sums:
            got = times * shares[a] * (1 if is_shared else shares[b]) * chance * weight[place]
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


def without_system(excesses_us, system_us, resolution_us):
    """One-way delays in the order of their trips: that of the same rank in the distribution that the system is taken out of."""
    grid, shares = fit(excesses_us, system_us, resolution_us, is_shared=True)
    below, order = list(itertools.accumulate(shares)), sorted(range(len(excesses_us)), key=excesses_us.__getitem__)
    delays = [0.0] * len(excesses_us)
    for rank, trip in enumerate(order):
        place = bisect.bisect_left(below, (rank + 0.5) / len(order) * below[-1])
        delays[trip] = min(grid[place], excesses_us[trip] / 2)
    return delays


def resampled(trips_us, delays_us, every_us):
    """The delay of the trip that is under way in the middle of each stretch of time."""
    samples, end = [], 0.0
    for trip, delay in zip(trips_us, delays_us):
        end += trip
        samples += [delay] * max(round(end / every_us) - len(samples), 0)
    return samples


def as_yaml(pairs):
    return "noise: [" + ", ".join(f"[{share:.9g}, {1000 * time:.9g}ns]" for share, time in pairs) + "]"


def series_yaml(samples_us, every_us):
    runs = ((text, sum(1 for _ in run)) for text, run in itertools.groupby(f"{1000 * sample:.6g}ns" for sample in samples_us))
    items = [text + (f"*{count}" if count > 1 else "") for text, count in runs]
    lines = [", ".join(items[i:i + 16]) for i in range(0, len(items), 16)]
    return f"noise:\n  every: {1000 * every_us:.9g}ns\n  series: [" + ",\n    ".join(lines) + "]"


def read(path, size, skip=0):
    """Half round trips of one size (None: the first one), in the order of the file, without the first of each run."""
    halves, runs = [], [[]]
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if line.startswith("#"):
                runs.append([])
            elif len(words) >= 2:
                size = size or int(words[0])
                runs[-1] += [float(words[1])] if int(words[0]) == size else []
    for run in runs:
        halves += run[skip:]
    return halves


def resolution_of(values):
    """The step of the clock: what most neighbouring values differ by."""
    values = sorted(set(values))
    steps = sorted(b - a for a, b in zip(values, values[1:]))
    return max(steps[len(steps) // 2], 0.001) if steps else 0.001


def series_of(trips, system, resolution):
    """(samples, every) of round trips."""
    floor = min(trips)
    excesses = [trip - floor for trip in trips]
    delays = without_system(excesses, system, resolution) if system else [excess / 2 for excess in excesses]
    samples = resampled(trips, delays, floor)
    if len(samples) > MOST_SAMPLES:
        print(f"one_way_delays.py: the first {MOST_SAMPLES} of {len(samples)} samples are written", file=sys.stderr)
    return samples[:MOST_SAMPLES], floor


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--size", type=int)
    parser.add_argument("--skip", type=int, default=10)
    parser.add_argument("--system")
    parser.add_argument("--series", action="store_true")
    args = parser.parse_args()
    trips = [2 * half for half in read(args.file, args.size, args.skip)]
    if not trips:
        parser.error(f"'{args.file}' has no messages of that size")
    system = [float(line) for line in open(args.system, encoding="utf-8")] if args.system else []
    floor, resolution = min(trips), resolution_of(trips)
    print(f"# o_s + L + o_r: {500 * floor:.9g}ns, half of the shortest of {len(trips)} round trips")
    if args.series:
        print(series_yaml(*series_of(trips, system, resolution)))
    else:
        print(as_yaml(quantiles(*fit([trip - floor for trip in trips], system, resolution))))


if __name__ == "__main__":
    main()
