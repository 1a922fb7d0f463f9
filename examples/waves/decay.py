#!/usr/bin/env python3
"""How noise eats and slows waves: decay and speed over noise level, decay over the delay's length (figure 8).

SPDX-License-Identifier: BSD-3-Clause
"""

import math
import statistics

import lab

RANKS, WARM_UP, WAY, SEEDS = 401, 100, 150, 40
QUICK_RANKS, QUICK_WARM_UP, QUICK_WAY, QUICK_WAVES = 281, 80, 100, 8  # growth needs time: on much shorter ways decay is lower
WORK_US = 3000
GROWTH = {"one way": 2.0, "both ways": 2.384}  # of exponential noise: last-passage percolation
FREE = ["--L", "0", "--o", "0", "--g", "0", "--G", "0", "--O", "0"]  # messages that take no time


def run(bench, ways, level, delay_ms, seed, net):
    ranks, warm_up, way = (QUICK_RANKS, QUICK_WARM_UP, QUICK_WAY) if bench.is_quick else (RANKS, WARM_UP, WAY)
    noise = ["--noise", f"phase-exp:{level}%"] if level > 0 else []
    options = lab.chain(ranks, warm_up + way, lab.EAGER, split=False, periodic=True, uni=ways == "one way")
    return bench.waves("decay", [*options, *net, *lab.delay(ranks // 2, f"{delay_ms}ms", warm_up), *noise, "--seed", seed])


def seeds_for(bench, ways, level):
    """How many runs: one has a wave for each way."""
    if level == 0:
        return 1
    return QUICK_WAVES // (1 if ways == "one way" else 2) if bench.is_quick else SEEDS


def measure(bench, ways, level, delay_ms, net=(), first_seed=1):
    """Decays in us a rank and speeds as shares of the silent one: one value a wave."""
    decays, speeds = [], []
    for seed in range(first_seed, first_seed + seeds_for(bench, ways, level)):
        found = run(bench, ways, level, delay_ms, seed, net)
        for wave in found["waves"]:
            decays.append(wave["decay_s_per_rank"]["value"] * 1e6)
            speeds.append(wave["speed_ranks_per_s"]["value"] / found["silent_speed_ranks_per_s"])
    return decays, speeds


def with_error(values):
    """Mean and its standard error."""
    if len(values) < 3:
        return f"{statistics.mean(values):.1f}"
    return f"{statistics.mean(values):.1f} +- {statistics.stdev(values) / math.sqrt(len(values)):.1f}"


def level_rows(bench, ways, levels, net):
    rows, silent = [], 0.0
    for level in levels:
        decays, speeds = measure(bench, ways, level, 90, net)
        if level == 0:
            silent = statistics.mean(decays)
        expected = (GROWTH[ways] - 1) * level / 100 * WORK_US
        rows.append([ways, level, with_error(decays), f"{expected + silent:.1f}",
                     f"{100 * (statistics.mean(speeds) - 1):.1f}", f"{100 * (1 / (1 + GROWTH[ways] * level / 100) - 1):.1f}"])
    return rows


def print_levels(bench, all_ways, levels, net):
    lab.print_table(["messages", "E, %", "decay, us/rank: mean and its error", "(growth - 1) E T + that of E = 0",
                     "speed against v_silent, %", "1/(1 + growth E) - 1, %"],
                    [row for ways in all_ways for row in level_rows(bench, ways, levels, net)])


def main():
    bench = lab.parse(__doc__.splitlines()[0])
    lengths = (90, 180) if bench.is_quick else (60, 90, 120, 150, 180)
    print_levels(bench, GROWTH, (10,) if bench.is_quick else (5, 10), FREE)
    print()
    print_levels(bench, ["both ways"] if bench.is_quick else GROWTH, (0, 10) if bench.is_quick else (0, 1, 2, 5, 10), [])
    print()
    lab.print_table(["delay, ms", "decay at E = 5 %, both ways, us/rank: mean and its error"],
                    [[length, with_error(measure(bench, "both ways", 5, length, first_seed=1000 * length)[0])]
                     for length in lengths])


if __name__ == "__main__":
    main()
