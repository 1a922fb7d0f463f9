#!/usr/bin/env python3
"""Two threads beside two busy loops are not much slower than one thread beside them.

SPDX-License-Identifier: BSD-3-Clause

Usage: busy_test.py IDLEWAVE
    The medians of five runs in turns; the limit is loose, since whoever else uses the machine counts too.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import measure_busy  # noqa: E402

MOST_RATIO = 2.0


def main():
    command = sys.argv[1]
    ways = {threads: (command, ("--threads", threads)) for threads in ("1", "2")}
    medians = measure_busy.measure(ways, "small ring", 2, 5)
    ratio = medians["2"] / medians["1"]
    print(f"1 thread {medians['1']:.3f} s, 2 threads {medians['2']:.3f} s: {ratio:.2f} times as long")
    return 0 if ratio <= MOST_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
