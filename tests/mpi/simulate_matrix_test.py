#!/usr/bin/env python3
"""simulate under MPI gives the bytes of the run without it: makespans, all numbers of the result, when each rank ends.

SPDX-License-Identifier: BSD-3-Clause

Six programs with two sources of noise and two delays, ranks split: 2 and 3 processes with {1, 2} threads x {1, 8} lanes;
1, 4 and 7 processes with (1 thread, 8 lanes) and (2 threads, 1 lane). Trials split: 2 and 3 processes. 9 trials: 8 lanes
and a rest. simulate_matrix_long_test.py has all combinations, at 2^20 ranks.
"""

import sys

import run_mpi
import simulate_matrix
from simulate_matrix import TRACE, Case, Way, pattern

CASES = [
    pattern("dissemination", 1000, ["barrier:dissemination"], "--repeat", 3),
    # flips, rings and trees; 100 KiB are sent by rendezvous, the ring's blocks are not
    pattern("allreduces", 77, ["allreduce:recursive-doubling", "allreduce:ring", "allreduce:rabenseifner",
                               "allreduce:double-tree", "allreduce:reduce-bcast"], "--bytes", "100KiB"),
    pattern("collectives", 48, ["bcast:chain", "reduce:binary", "gather:binomial", "scatter:linear", "allgather:bruck",
                                "alltoall:pairwise", "reduce_scatter:ring", "barrier:tree"], "--bytes", "70KiB",
            "--rendezvous", "rts-cts"),
    pattern("halo and allreduce", 600, ["halo2d", "allreduce"], "--bytes", "8KiB", "--repeat", 5),
    pattern("sweep", 360, ["sweep2d"], "--bytes", "80KiB", "--repeat", 2),
    Case("extrapolated trace", 64, (TRACE,)),
]


def ways_of(case):
    ways = [Way(processes, threads, lanes) for processes in (2, 3) for threads in (1, 2) for lanes in (1, 8)]
    ways += [Way(processes, threads, lanes) for processes in (1, 4, 7) for threads, lanes in ((1, 8), (2, 1))]
    if case.name in ("allreduces", "extrapolated trace"):
        ways += [Way(processes, 2, 2, "trials") for processes in (2, 3)]
    return ways


if __name__ == "__main__":
    simulate_matrix.compare(run_mpi.test_arguments(__doc__), CASES, ways_of, 9)
    sys.exit(0)
