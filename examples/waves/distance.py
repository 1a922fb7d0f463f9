#!/usr/bin/env python3
"""The speed for partners further away, other phases and other messages (figure 7, equation 2).

SPDX-License-Identifier: BSD-3-Clause
"""

import itertools

import lab

RANKS, STEPS = 100, 30


def main():
    bench = lab.parse(__doc__.splitlines()[0])
    works = ("3ms",) if bench.is_quick else ("1ms", "3ms", "10ms")
    rows = []
    for uni, distance, work, size in itertools.product((True, False), (1, 2), works, ("1KiB", lab.EAGER, lab.RENDEZVOUS, "1MiB")):
        name = f"distance-{'uni' if uni else 'bi'}-{distance}-{work}-{size}"
        options = lab.chain(RANKS, STEPS, size, uni=uni, distance=distance, work=work)
        found = bench.waves(name, [*options, *lab.delay(50, "60ms")],
                            has_picture=distance == 2 and work == "3ms" and size == lab.RENDEZVOUS)
        expected = found["expected_speed_ranks_per_s"]
        speeds = [wave["speed_ranks_per_s"]["value"] for wave in found["waves"]]
        worst = max(abs(speed / expected - 1) for speed in speeds)
        rows.append([size, "one way" if uni else "both ways", distance, work, f"{found['comm_ns'] / 1e3:.1f}",
                     found["timeline"]["sigma"], f"{expected:.2f}", ", ".join(f"{speed:.2f}" for speed in speeds),
                     f"{100 * worst:.2f}"])
    lab.print_table(["bytes", "messages", "d", "T_exec", "T_comm, us", "sigma", "sigma d / T, ranks/s", "measured",
                     "off by, %"], rows)


if __name__ == "__main__":
    main()
