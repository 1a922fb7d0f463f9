#!/usr/bin/env python3
"""What a delay costs in the end, with noise that eats it on its way (figure 9).

SPDX-License-Identifier: BSD-3-Clause
"""

import csv
import io

import lab

RANKS, STEPS, DELAY_MS = 36, 30, 6
CASES = (("eager, joint", lab.EAGER, False), ("rendezvous, joint", lab.RENDEZVOUS, False),
         ("rendezvous, split", lab.RENDEZVOUS, True))


def makespans_ms(bench, options, trials):
    rows = csv.DictReader(io.StringIO(bench.call("simulate", *lab.SYSTEM, *options, "--trials", trials, "--format", "csv")))
    return [float(row["makespan_ns"]) / 1e6 for row in rows]


def excess_ms(bench, options, trials):
    """With the delay minus without it, under the same noise, one value a trial."""
    with_delay = makespans_ms(bench, [*options, *lab.delay(1, f"{DELAY_MS}ms")], trials)
    return [late - early for late, early in zip(with_delay, makespans_ms(bench, options, trials))]


def main():
    bench = lab.parse(__doc__.splitlines()[0])
    trials = 15 if bench.is_quick else 101
    rows = []
    for what, size, split in CASES:
        for level in (0, 20, 25, 35, 50):
            noise = ["--noise", f"phase-exp:{level}%"] if level > 0 else []
            options = [*lab.chain(RANKS, STEPS, size, work="1.5ms", split=split), *noise]
            excess = excess_ms(bench, options, trials)
            none = sum(value < 0.05 * DELAY_MS for value in excess) / trials
            rows.append([what, level, lab.three(excess), f"{100 * none:.0f}"])
    lab.print_table(["exchange", "E, %", "excess, ms: median (least to largest)", "runs without, %"], rows)


if __name__ == "__main__":
    main()
