#!/usr/bin/env python3
"""How noise eats waves: decay over noise level, and over the delay's length (figure 8).

SPDX-License-Identifier: BSD-3-Clause
"""

import lab

RANKS, STEPS, SEEDS = 240, 150, 15


def decays(bench, level, delay_ms):
    """us per rank, of the waves up and down, one value a seed."""
    values = []
    for seed in range(1, (5 if bench.is_quick else SEEDS) + 1):
        noise = ["--noise", f"phase-exp:{level}%"] if level > 0 else []
        options = lab.chain(RANKS, STEPS, lab.EAGER, split=False)
        found = bench.waves("decay", [*options, *lab.delay(RANKS // 2, f"{delay_ms}ms", 3), *noise, "--seed", seed])
        slopes = [wave["decay_ns_per_rank"]["value"] for wave in found["waves"]]
        values.append(sum(slopes) / len(slopes) / 1e3)
    return values


def main():
    bench = lab.parse(__doc__.splitlines()[0])
    levels = (0, 2, 10) if bench.is_quick else (0, 1, 2, 4, 6, 8, 10)
    lengths = (90, 180) if bench.is_quick else (30, 60, 90, 120, 150, 180)
    lab.print_table(["E, %", "decay, us/rank: median (least to largest)"],
                    [[level, lab.three(decays(bench, level, 90))] for level in levels])
    print()
    lab.print_table(["delay, ms", "decay at E = 5 %, us/rank: median (least to largest)"],
                    [[length, lab.three(decays(bench, 5, length))] for length in lengths])


if __name__ == "__main__":
    main()
