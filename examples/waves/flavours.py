#!/usr/bin/env python3
"""Eight ways in which a delay travels: eager or rendezvous, one way or both, open or periodic (figure 5 of the paper).

SPDX-License-Identifier: BSD-3-Clause
"""

import itertools

import lab

RANKS, STEPS, ORIGIN, DELAY = 18, 24, 5, "13.5ms"  # 4.5 phases of 3 ms
ENDS = {"border": "at the open end", "origin": "where it began", "met": "cancels with the other one",
        "runs": "still there", "decayed": "too weak", "window": "leaves the window", "synced": "all in step"}


def told(wave):
    way = "up" if wave["direction"] > 0 else "down"
    return f"{way} to rank {wave['end_rank']}, {ENDS[wave['end']]}"


def run(bench, size, uni, periodic, split, **others):
    """The name of the case and its waves."""
    name = "-".join(["eager" if size == lab.EAGER else "rendezvous", "uni" if uni else "bi",
                     "periodic" if periodic else "open", "split" if split else "joint"])
    options = lab.chain(RANKS, STEPS, size, uni=uni, periodic=periodic, split=split, **others)
    return name, bench.waves(name, [*options, *lab.delay(ORIGIN, DELAY)], has_picture=True)


def main():
    bench = lab.parse(__doc__.splitlines()[0])
    rows = []
    for split, size, uni, periodic in itertools.product((True, False), (lab.EAGER, lab.RENDEZVOUS), (True, False),
                                                        (False, True)):
        name, found = run(bench, size, uni, periodic, split)
        speeds = [wave["speed_ranks_per_s"]["value"] for wave in found["waves"]]
        steps = [wave["ranks_per_step"]["value"] for wave in found["waves"]]
        rows.append([name, ", ".join(f"{speed:.2f}" for speed in speeds),
                     f"{found['expected_speed_ranks_per_s']:.2f}", ", ".join(f"{step:.3f}" for step in steps),
                     "; ".join(map(told, found["waves"]))])
    lab.print_table(["flavour", "speed, ranks/s", "sigma d / T", "ranks per step", "travels"], rows)


if __name__ == "__main__":
    main()
