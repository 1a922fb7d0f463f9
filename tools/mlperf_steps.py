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
LEAST_STEPS = 40


def entries(path):
    """What was logged, in order; other output of the job is left out."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if MARK not in line:
                continue
            try:
                entry = json.loads(line[line.index(MARK) + len(MARK):])
                yield entry["key"], entry["value"]
            except (ValueError, KeyError, TypeError):
                raise SystemExit(f"'{path}:{number}': not a line of MLPerf's logging, which has a JSON object with 'key' and 'value'") from None


def step_times(path):
    """Seconds of each step, in order."""
    times, is_first = [], True
    for key, value in entries(path):
        is_first |= key == "block_start"
        if key == "tracked_stats" and isinstance(value, dict) and "train_step_time" in value:
            if not is_first:
                times.append(value["train_step_time"])
            is_first = False
    if len(times) < LEAST_STEPS:
        raise SystemExit(f"'{path}': {len(times)} step times, at least {LEAST_STEPS} are needed")
    return times


def tenth_percentile(times):
    """Interpolated."""
    return statistics.quantiles(times, n=10, method="inclusive")[0]


def above(times, base):
    """The mean over `base`, in per cent."""
    return 100 * (statistics.fmean(times) / base - 1)


def excesses(half):
    """What the steps of the second half of a run have over their 10th percentile in per cent: all, those but the longest 5 %, those longest."""
    base, ordered = tenth_percentile(half), sorted(half)
    kept = int(len(half) * (1 - LONGEST_SHARE))
    return above(half, base), above(ordered[:kept], base), above(ordered[kept:], base)


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
        of_all, of_most, of_longest = excesses(half)
        pauses = sum(time > statistics.median(half) + PAUSE_S for time in half)
        print(f"{path[-60:]:<60} {base:8.3f} {above(times, base):5.2f} % {above(times[:len(times) // 8], base):6.2f} % "
              f"{of_all:7.2f} % {of_most:7.2f} % {of_longest:8.1f} % "
              f"{pauses:4d}/{len(half)} {correlation(half):6.2f}")


if __name__ == "__main__":
    main()
