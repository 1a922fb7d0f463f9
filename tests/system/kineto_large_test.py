#!/usr/bin/env python3
"""A profile of PyTorch of 2 GB is read in less than 500 MiB, at 100 MB/s of CPU time or more.

SPDX-License-Identifier: BSD-3-Clause

Usage: kineto_large_test.py KINETO_BENCH [MIB]
"""

import re
import subprocess
import sys

MIB = sys.argv[2] if len(sys.argv) > 2 else "2000"
MOST_MIB = 500
LEAST_MB_S = 100


def main():
    """Exit code."""
    out = subprocess.run([sys.argv[1], MIB], check=True, stdout=subprocess.PIPE, text=True).stdout
    print(out, end="")
    size = float(re.search(r"^([\d.]+) MB$", out, re.M).group(1))
    rate = float(re.search(r"^read +([\d.]+) MB/s", out, re.M).group(1))
    peak = int(re.search(r"peak of memory (\d+) MiB", out).group(1))
    is_ok = size > 0.95 * 1.048576 * float(MIB) and peak < MOST_MIB and rate >= LEAST_MB_S
    if not is_ok:
        print(f"FAILED: {size} MB at {rate} MB/s (at least {LEAST_MB_S}), {peak} MiB (below {MOST_MIB})")
    return 0 if is_ok else 1


if __name__ == "__main__":
    sys.exit(main())
