#!/usr/bin/env python3
"""simulate under MPI at 2^20 ranks: {1, 2, 3, 4, 7} processes x {1, 2} threads x {1, 8} lanes, all bytes as without MPI.

SPDX-License-Identifier: BSD-3-Clause

Each of these 20 ways runs with one of the five programs, each program with four numbers of processes; with --only all,
every program in every way (an hour and more). simulate_matrix_test.py --only full has all combinations of fewer ranks.
"""

import itertools
import sys

import run_mpi
import simulate_matrix
from simulate_matrix import RARE_NOISE, TRACE, Case, Way, pattern

RANKS = 1 << 20
CASES = [
    pattern("dissemination", RANKS, ["barrier:dissemination"]),
    pattern("allreduces", RANKS, ["allreduce:recursive-doubling", "allreduce:reduce-bcast"], "--bytes", "100KiB",
            noise=RARE_NOISE),
    pattern("halo and allreduce", RANKS, ["halo2d", "allreduce"], "--bytes", "8KiB"),
    pattern("sweep", RANKS, ["sweep2d"], "--bytes", "80KiB", noise=RARE_NOISE),
    Case("extrapolated trace", RANKS, (TRACE,), RARE_NOISE),
]


WAYS = [Way(*way) for way in itertools.product((1, 2, 3, 4, 7), (1, 2), (1, 8))]


def all_ways(_case):
    return WAYS


def some_ways(case):
    return WAYS[CASES.index(case)::len(CASES)]


if __name__ == "__main__":
    ARGUMENTS = run_mpi.test_arguments(__doc__)
    simulate_matrix.compare(ARGUMENTS, CASES, all_ways if "all" in ARGUMENTS.only else some_ways, 2, timeout=300)
    sys.exit(0)
