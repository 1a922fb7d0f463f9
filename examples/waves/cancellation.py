#!/usr/bin/env python3
"""Waves that meet: delays on ten sockets of ten ranks, equal, half on odd sockets, random (figure 6).

SPDX-License-Identifier: BSD-3-Clause
"""

import random

import lab

SOCKETS, PER_SOCKET, LOCAL, STEPS, FULL_MS = 10, 10, 5, 20, 13.5


def delays(lengths_ms):
    options = []
    for socket, length in enumerate(lengths_ms):
        options += lab.delay(socket * PER_SOCKET + LOCAL, f"{length:.3f}ms")
    return options


def main():
    bench = lab.parse(__doc__.splitlines()[0])
    dice = random.Random(1)
    cases = {"equal": [FULL_MS] * SOCKETS,
             "half on odd sockets": [FULL_MS / (1 + socket % 2) for socket in range(SOCKETS)],
             "random": [round(dice.uniform(0.2, 1.0) * FULL_MS, 3) for _ in range(SOCKETS)]}
    rows = []
    for what, lengths in cases.items():
        options = lab.chain(SOCKETS * PER_SOCKET, STEPS, lab.EAGER, periodic=True, split=False)
        found = bench.waves("cancel-" + what.split()[0], [*options, *delays(lengths)], has_picture=True)
        waves = found["waves"]
        met = [wave for wave in waves if wave["end"] == "met"]
        rows.append([what, len(waves), len(met), sum(wave["end"] == "runs" for wave in waves),
                     f"{min(len(wave['fronts']) for wave in waves)} to {max(len(wave['fronts']) for wave in waves)}",
                     f"{found['desync'][-1]['spread_ns'] / 1e6:.2f}"])
    lab.print_table(["delays", "waves", "cancel", "still there at the end", "ranks reached", "spread at the end, ms"], rows)


if __name__ == "__main__":
    main()
