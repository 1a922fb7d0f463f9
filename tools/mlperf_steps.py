#!/usr/bin/env python3
"""How step times of MLPerf training logs scatter: all of a run, its second half, and that without its longest steps.

SPDX-License-Identifier: BSD-3-Clause

Usage: mlperf_steps.py result_0.txt...
Logs: github.com/mlcommons/training_results_v5.1, for example NVIDIA/results/hsg_ngpu5120_ngc25.09_nemo/llama31_405b.
The first step after each block_start is left out: evaluation and compilation count there.
"""

import json
import statistics
import sys

MARK = ":::MLLOG "
LONGEST_SHARE = 0.05
PAUSE_S = 0.1


def step_times(path):
    """Seconds of each step, in order."""
    times, is_first = [], True
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if MARK not in line:
                continue
            entry = json.loads(line[line.index(MARK) + len(MARK):])
            is_first |= entry["key"] == "block_start"
            if entry["key"] == "tracked_stats" and "train_step_time" in entry["value"]:
                if not is_first:
                    times.append(entry["value"]["train_step_time"])
                is_first = False
    return times


def tenth_percentile(times):
    """Interpolated."""
    return statistics.quantiles(times, n=10, method="inclusive")[0]


def above(times, base):
    """The mean over `base`, in per cent."""
    return 100 * (statistics.fmean(times) / base - 1)


def correlation(times):
    """Of neighbouring steps, by their ranks: a few long ones do not decide it."""
    order = sorted(range(len(times)), key=times.__getitem__)
    ranks = [0] * len(times)
    for rank, index in enumerate(order):
        ranks[index] = rank
    return statistics.correlation(ranks[:-1], ranks[1:])


def main():
    """One line for each log."""
    print(f"{'log':<60} {'10th, s':>8} {'all':>7} {'1st 8th':>8} {'2nd half':>9} {'less 5 %':>9} {'those 5 %':>10} {'> 0.1 s':>8} {'lag 1':>6}")
    for path in sys.argv[1:]:
        times = step_times(path)
        base = tenth_percentile(times)
        half = times[len(times) // 2:]
        half_base = tenth_percentile(half)
        kept = int(len(half) * (1 - LONGEST_SHARE))
        ordered = sorted(half)
        pauses = sum(time > statistics.median(half) + PAUSE_S for time in half)
        print(f"{path[-60:]:<60} {base:8.3f} {above(times, base):5.2f} % {above(times[:len(times) // 8], base):6.2f} % "
              f"{above(half, half_base):7.2f} % {above(ordered[:kept], half_base):7.2f} % {above(ordered[kept:], half_base):8.1f} % "
              f"{pauses:4d}/{len(half)} {correlation(half):6.2f}")


if __name__ == "__main__":
    main()
