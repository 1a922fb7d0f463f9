"""Writes the two reconstructed noise traces of docs/validation/emulation.md: off-the-shelf.txt and optimised.txt.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_traces.py DIR

120 s each. Short detours come in bursts, long ones alone, in an order and at distances drawn at random; nothing overlaps,
so that the counts are exact: 600 detours a second of which 98 % are shorter than 14 us, and 1,040 of which 99.5 % are
shorter than 5 us. The same script writes the same bytes.
"""

import math
import pathlib
import random
import sys

LENGTH_NS = 120_000_000_000
GAP_NS = 4_000  # between the detours of a burst


def short_off_the_shelf(draw):
    """Three of four are 5 us or longer, as in the paper."""
    return 4_000 if draw() < 0.23 else round(6_000 + 5_000 * draw())


def long_off_the_shelf(draw):
    return round(30_000 - 200_000 * math.log(1.0 - draw()))


def short_optimised(draw):
    return round(4_850 + 140 * draw())


def long_optimised(draw):
    return round(130_000 + 80_000 * draw())


TRACES = {
    "off-the-shelf": {"count": 72_000, "long": 1_440, "burst": 24, "durations": (short_off_the_shelf, long_off_the_shelf)},
    "optimised": {"count": 124_800, "long": 624, "burst": 16, "durations": (short_optimised, long_optimised)},
}


def shuffled(items, draw):
    """By random() alone: Python promises its values, not those of shuffle()."""
    return [item for _, item in sorted((draw(), item) for item in items)]


def detours(trace):
    draw = random.Random(7).random
    short, long_ = trace["durations"]
    bursts, rest = divmod(trace["count"] - trace["long"], trace["burst"])
    sizes = shuffled([0] * trace["long"] + [trace["burst"]] * bursts + [rest] * (rest > 0), draw)
    groups = [[short(draw) for _ in range(size)] or [long_(draw)] for size in sizes]
    taken_ns = sum(sum(group) + GAP_NS * len(group) for group in groups)
    gaps = [-math.log(1.0 - draw()) for _ in groups]
    scale = (LENGTH_NS - taken_ns) / sum(gaps)
    now = 0.0
    for gap, group in zip(gaps, groups):
        now += gap * scale
        for duration_ns in group:
            yield int(now), duration_ns
            now += duration_ns + GAP_NS


def write(name, path):
    with open(path, "w", encoding="ascii") as out:
        out.write(f"# Reconstructed: {name}. Columns: start and duration in ns.\n# length_ns: {LENGTH_NS}\n")
        out.writelines(f"{start} {duration}\n" for start, duration in detours(TRACES[name]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: make_traces.py DIR")
    for trace_name in TRACES:
        write(trace_name, pathlib.Path(sys.argv[1], f"{trace_name}.txt"))
