#!/usr/bin/env python3
"""simulate under MPI gives the bytes of the run without it: makespans, all numbers of the result, when each rank ends.

SPDX-License-Identifier: BSD-3-Clause

Seven programs with two sources of noise and two delays, ranks split: 2 and 3 processes with {1, 2} threads x {1, 8} lanes;
1, 4 and 7 processes with (1 thread, 8 lanes) and (2 threads, 1 lane). Trials split: 2 and 3 processes. 9 trials: 8 lanes
and a rest. Without --only full each program is run in a few of these ways only: each program with 2, 3 and another number
of processes, and each way with one of them. simulate_matrix_long_test.py has all combinations, at 2^20 ranks.
"""

import sys

import run_mpi
import simulate_matrix
from simulate_matrix import GRAPH, TRACE, Case, Way, pattern

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
    Case("graph", 9, (GRAPH, "--engine", "window"), is_graph=True),  # three CPUs a rank, any source
]


def all_ways(case):
    ways = [Way(processes, threads, lanes) for processes in (2, 3) for threads in (1, 2) for lanes in (1, 8)]
    ways += [Way(processes, threads, lanes) for processes in (1, 4, 7) for threads, lanes in ((1, 8), (2, 1))]
    if case.name in ("allreduces", "extrapolated trace"):
        ways += [Way(processes, 2, 2, "trials") for processes in (2, 3)]
    return [way for way in ways if way.lanes == 1] if case.is_graph else ways


SOME_WAYS = {
    "dissemination": (Way(2, 1, 1), Way(3, 2, 8), Way(7, 1, 8)),
    "allreduces": (Way(2, 1, 8), Way(3, 2, 1), Way(7, 2, 1), Way(3, 2, 2, "trials")),
    "collectives": (Way(2, 2, 1), Way(3, 1, 8), Way(1, 1, 8)),
    "halo and allreduce": (Way(2, 2, 8), Way(3, 1, 1), Way(1, 2, 1)),
    "sweep": (Way(2, 1, 8), Way(3, 2, 1), Way(4, 1, 8)),
    "extrapolated trace": (Way(2, 2, 1), Way(3, 1, 8), Way(4, 2, 1), Way(2, 2, 2, "trials")),
    "graph": (Way(2, 1, 1), Way(3, 2, 1), Way(4, 2, 1)),
}


def some_ways(case):
    return SOME_WAYS[case.name]


if __name__ == "__main__":
    ARGUMENTS = run_mpi.test_arguments(__doc__)
    simulate_matrix.compare(ARGUMENTS, CASES, all_ways if "full" in ARGUMENTS.only else some_ways, 9)
    sys.exit(0)
