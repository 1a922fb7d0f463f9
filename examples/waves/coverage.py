#!/usr/bin/env python3
"""How often the intervals of single waves hold the law of such waves, and what is said of their speed.

SPDX-License-Identifier: BSD-3-Clause
"""

import math
import statistics

import lab

RUNS, QUICK_RUNS = 40, 3
MARGIN = 0.1  # as `wave` has it


class Case:
    """A ring in noise since `warm_up` steps, in which one rank is late; with `law`, the law is that of this case."""

    def __init__(self, name, noise, *, ranks=101, warm_up=60, way=48, delay_ms=40, law=None, **chain):
        self.name, self.noise, self.ranks, self.warm_up, self.way = name, noise, ranks, warm_up, way
        self.delay_ms, self.law, self.chain = delay_ms, law, {"split": False, "periodic": True, "size": lab.EAGER, **chain}

    def runs(self, bench):
        chain = dict(self.chain)
        options = lab.chain(self.ranks, self.warm_up + self.way, chain.pop("size"), **chain)
        options += lab.delay(self.ranks // 2, f"{self.delay_ms}ms", self.warm_up)
        for seed in range(1, 1 + (QUICK_RUNS if bench.is_quick else RUNS)):
            yield bench.waves("coverage", [*options, "--noise", self.noise, "--seed", seed])


TRIED = [
    Case("one way, 5 %", "phase-exp:5%", ranks=401, warm_up=100, way=150, delay_ms=90, uni=True),
    Case("both ways, 5 %", "phase-exp:5%", ranks=401, warm_up=100, way=150, delay_ms=90),
    Case("both ways, 10 %", "phase-exp:10%"),
    Case("the same, delay 6 ms: lost soon", "phase-exp:10%", delay_ms=6, law="both ways, 10 %"),
    Case("one way, 5 %, noise for 600 steps", "phase-exp:5%", ranks=301, warm_up=600, way=20, uni=True),
    Case("a wait for each way, 5 %", "phase-exp:5%", split=True),
    Case("rare detours", "poisson:20Hz,exp:500us"),
]
CHOSEN_LATER = [
    Case("two partners each way, 5 %", "phase-exp:5%", ranks=201, way=40, distance=2),
    Case("rendezvous, a wait for each way, 5 %", "phase-exp:5%", ranks=201, way=40, size=lab.RENDEZVOUS, split=True),
    Case("open chain, one way, 10 %", "phase-exp:10%", periodic=False, uni=True),
    Case("10 ranks, 20 %", "phase-exp:20%", way=10),
    Case("beats of 1 kHz, 25 us", "periodic:1kHz,25us"),
]


class Tally:
    """The waves of a case that have intervals, by direction: which neighbour is served first makes laws differ."""

    def __init__(self, case, bench):
        self.waves = {1: [], -1: []}
        self.said = {"as expected": 0, "differs": 0, "cannot tell": 0}
        for found in case.runs(bench):
            for wave in found["waves"]:
                if wave["decay_s_per_rank"]["low"] is not None and wave["speed_ranks_per_s"]["low"] is not None:
                    self.add(wave, found["expected_speed_ranks_per_s"])

    def add(self, wave, expected):
        speed = wave["speed_ranks_per_s"]
        speed["high"] = math.inf if speed["high"] is None else speed["high"]
        self.waves[wave["direction"]].append(wave)
        if speed["low"] >= (1 - MARGIN) * expected and speed["high"] <= (1 + MARGIN) * expected:
            self.said["as expected"] += 1
        elif not speed["low"] <= expected <= speed["high"]:
            self.said["differs"] += 1
        else:
            self.said["cannot tell"] += 1

    def laws(self):
        """Of each direction: decay and speed over all ranks of all waves."""
        found = {}
        for direction, waves in self.waves.items():
            ways = [wave["decay_points"] - 1 for wave in waves]
            if waves:
                lost = sum(way * wave["decay_s_per_rank"]["value"] for way, wave in zip(ways, waves))
                time = sum(way / wave["speed_ranks_per_s"]["value"] for way, wave in zip(ways, waves))
                found[direction] = {"decay_s_per_rank": lost / sum(ways), "speed_ranks_per_s": sum(ways) / time}
        return found

    def shown(self, laws, key, scale):
        """Laws, median half of the intervals, how many hold the law."""
        pairs = [(wave[key], laws[direction][key]) for direction, waves in self.waves.items() for wave in waves]
        half = statistics.median((one["high"] - one["low"]) / 2 for one, _ in pairs)
        held = sum(one["low"] <= law <= one["high"] for one, law in pairs)
        return [" / ".join(f"{scale * law[key]:.1f}" for law in laws.values()), f"{scale * half:.1f}", f"{held} of {len(pairs)}"]

    def ranks(self):
        return statistics.median(wave["decay_points"] - 1 for waves in self.waves.values() for wave in waves)


def rows(bench, cases):
    laws = {}
    for case in cases:
        tally = Tally(case, bench)
        law = laws[case.name] = laws[case.law] if case.law else tally.laws()
        yield [case.name, f"{tally.ranks():.0f}", *tally.shown(law, "decay_s_per_rank", 1e6),
               *tally.shown(law, "speed_ranks_per_s", 1), " / ".join(map(str, tally.said.values()))]


def main():
    bench = lab.parse(__doc__.splitlines()[0])
    print("Laws are means over all waves of a case (up / down). \"+-\" is the median half of the 95 % intervals, "
          "\"held\" counts intervals with the law inside.\n")
    head = ["case", "ranks", "decay, us/rank", "decay +-", "decay held", "speed, ranks/s", "speed +-", "speed held",
            "as expected / differs / cannot tell"]
    lab.print_table(head, rows(bench, TRIED[2:] if bench.is_quick else TRIED))
    print("\nChosen after the estimator was finished:\n")
    lab.print_table(head, rows(bench, CHOSEN_LATER[:1] if bench.is_quick else CHOSEN_LATER))


if __name__ == "__main__":
    main()
