#!/usr/bin/env python3
"""Collectives of idlewave and of SimGrid's SMPI must send the same messages: who, to whom, how long, in which order.

SPDX-License-Identifier: BSD-3-Clause

Usage: simgrid_test.py --idlewave COMMAND --program collectives [--smpirun COMMAND] [--only TEXT] [--full]

PAIRS says which of SimGrid's algorithms stands for which of idlewave's. Equal is what has the same messages without
further ado. Where SimGrid's variant differs by intent, an Explanation tells how, and makes from idlewave's schedules
exactly the messages that SimGrid must have then: nothing is excused without a check.
"""

import argparse
import collections
import dataclasses
import sys
import tempfile
import typing

import messages
from messages import Case, Schedule

RANKS = (2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 32)
EVERYDAY_RANKS = (2, 3, 5, 6, 7, 8, 17)  # without --full
POWERS = tuple(ranks for ranks in RANKS if ranks & (ranks - 1) == 0)
OTHERS = tuple(ranks for ranks in RANKS if ranks not in POWERS)
SIZES = (1, 8, 1000, 64 << 10)
SIZES_CUT = SIZES + (40000,)  # the last segment is shorter
ROOTED = ("bcast", "reduce", "gather", "scatter")
HALO_AND_SUCH = ("pingpong", "ring", "halo1d", "halo2d", "halo3d", "sweep2d")  # not MPI's collectives


@dataclasses.dataclass(frozen=True)
class Explanation:
    letter: str
    reason: str
    schedules: typing.Callable  # (pair, case) -> the schedules to look at
    expected: typing.Callable  # (case, messages of each schedule) -> SimGrid's messages


@dataclasses.dataclass(frozen=True)
class Pair:
    operation: str
    algorithm: str  # idlewave's
    simgrid: str
    ranks: tuple = RANKS
    sizes: tuple = SIZES
    has_last_root: bool = True  # also runs with the last rank as root
    holds: typing.Callable = lambda case: True  # cases that SimGrid's variant can do
    segment: typing.Callable = lambda case: 0
    settings: tuple = ()  # algorithms of what SimGrid's variant is made of
    is_order_of_receivers_free: bool = False  # only the order to each receiver is compared
    explanation: typing.Optional[Explanation] = None

    @property
    def pattern(self):
        return f"{self.operation}:{self.algorithm}"

    def cases(self):
        for ranks in self.ranks:
            for size in self.sizes:
                for root in (0, ranks - 1) if self.operation in ROOTED and self.has_last_root else (0,):
                    case = Case(ranks, size, root)
                    if self.holds(case):
                        yield case

    def schedule(self, case, size=None, pattern=None):
        """idlewave's schedule of a case; another size or pattern if given."""
        size = case.bytes if size is None else size
        segment = self.segment(case)
        return Schedule(pattern or self.pattern, case.ranks, size, case.root, segment if segment < size else 0)

    def explaining(self, case):
        return self.explanation.schedules(self, case) if self.explanation else []


# ---- where SimGrid differs ----


def change_bytes(sent, change):
    return {rank: [(receiver, change(size)) for receiver, size in list_] for rank, list_ in sent.items()}


EMPTY_BARRIERS = Explanation(
    "a", "barrier messages are empty in SimGrid (as in MPI), 1 byte in idlewave",
    lambda pair, case: [pair.schedule(case)],
    lambda case, parts: change_bytes(parts[0], lambda size: 0))


def core(ranks):
    return 1 << (ranks.bit_length() - 1)


def with_rest_in_last_block(case, parts):
    """One part has blocks of 1 byte: how many blocks a message has. In the other all have 2 but the last one."""
    blocks = core(case.ranks)
    block_bytes, rest = divmod(case.bytes, blocks)
    expected = {}
    for rank, counts in parts[0].items():
        expected[rank] = [(receiver, count * block_bytes + (2 * count - size) * rest)
                          for (receiver, count), (_, size) in zip(counts, parts[1][rank])]
    return expected


REST_IN_LAST_BLOCK = Explanation(
    "b", "what is left when the vector is cut into 2^k blocks is in SimGrid all in the last block; in idlewave, as in\n"
    "    MPICH, the first blocks have a byte more each",
    lambda pair, case: [pair.schedule(case, size) for size in (core(case.ranks), 2 * core(case.ranks) - 1)],
    with_rest_in_last_block)


def one_after_the_other(_, parts):
    expected = collections.defaultdict(list)
    for part in parts:
        for rank, sent in part.items():
            expected[rank] += sent
    return dict(expected)


def ring_and_rest(pair, case):
    rest = case.bytes % case.ranks
    parts = [pair.schedule(case, case.bytes - rest)] if case.bytes > rest else []
    return parts + ([pair.schedule(case, rest, "allreduce:reduce-bcast")] if rest > 0 else [])


REST_APART = Explanation(
    "c", "what is left when the vector is cut into P blocks is in SimGrid reduced and broadcast afterwards; in\n"
    "    idlewave the first blocks have a byte more each",
    ring_and_rest, one_after_the_other)


def heap_numbers(ranks):
    """Places of a full binary tree: number by Open MPI and idlewave -> number by SimGrid, children 2v+1 and 2v+2."""
    numbers = {0: 0}
    for depth in range(ranks.bit_length() - 1):
        for rank in range((1 << depth) - 1, (2 << depth) - 1):
            for side in (0, 1):
                numbers[rank + ((1 + side) << depth)] = 2 * numbers[rank] + 1 + side
    return numbers


def as_heap(case, parts):
    numbers = heap_numbers(case.ranks)
    return {numbers[rank]: [(numbers[receiver], size) for receiver, size in sent] for rank, sent in parts[0].items()}


HEAP = Explanation(
    "d", "SimGrid numbers the ranks of the same binary tree in another way (idlewave as Open MPI does; see reduce)",
    lambda pair, case: [pair.schedule(case)], as_heap)


# ---- what corresponds ----


def segment_of_bcast_pipeline(case):
    return 16 << 10 if 3 <= case.ranks <= 8 else 128 << 10


def segment_of_reduce_pipeline(case):
    return 1 << 10 if case.ranks > 0.041 * case.bytes / 1024 + 9.7128 else 32 << 10


TREES = (("smpi/reduce", "binomial"), ("smpi/bcast", "binomial_tree"))

PAIRS = (
    Pair("barrier", "dissemination", "ompi_bruck", sizes=(1,), explanation=EMPTY_BARRIERS),
    Pair("barrier", "recursive-doubling", "ompi_recursivedoubling", sizes=(1,), explanation=EMPTY_BARRIERS),
    Pair("barrier", "tree", "ompi_tree", sizes=(1,), explanation=EMPTY_BARRIERS),
    Pair("barrier", "linear", "ompi_basic_linear", sizes=(1,), explanation=EMPTY_BARRIERS),
    Pair("bcast", "binomial", "binomial_tree"),
    # numbers differ unless the tree is full, and SimGrid sends to rank 0 first if the root is another one
    Pair("bcast", "binary", "NTSB", ranks=(2, 3, 7, 31), sizes=SIZES_CUT, segment=lambda case: 8 << 10,
         has_last_root=False, explanation=HEAP),
    Pair("bcast", "chain", "ompi_pipeline", sizes=SIZES_CUT, segment=segment_of_bcast_pipeline),
    Pair("bcast", "scatter-allgather", "scatter_rdb_allgather", ranks=POWERS),
    Pair("bcast", "scatter-allgather", "scatter_LR_allgather", ranks=OTHERS),
    Pair("bcast", "linear", "flattree"),
    Pair("reduce", "binomial", "ompi_binomial"),
    Pair("reduce", "binary", "ompi_binary", sizes=SIZES_CUT, segment=lambda case: 32 << 10),
    Pair("reduce", "chain", "ompi_pipeline", sizes=SIZES_CUT, segment=segment_of_reduce_pipeline),
    # with fewer bytes than ranks SimGrid 3.32 ends with MPI_ERR_TRUNCATE; with other roots idlewave counts from the
    # root on, while SimGrid's pairs stay and only the gather goes elsewhere
    Pair("reduce", "rabenseifner", "scatter_gather", holds=lambda case: case.bytes >= case.ranks, has_last_root=False,
         explanation=REST_IN_LAST_BLOCK),
    Pair("reduce", "linear", "ompi_basic_linear"),
    Pair("allreduce", "recursive-doubling", "rdb"),
    Pair("allreduce", "ring", "lr", settings=TREES, explanation=REST_APART),
    # from 1 MiB a rank on SimGrid has Open MPI's ring, whose first blocks have a byte more
    Pair("allreduce", "ring", "ompi_ring_segmented", ranks=(5, 6, 7), sizes=((7 << 20) + 2, (7 << 20) + 5)),
    Pair("allreduce", "rabenseifner", "rab_rdb", explanation=REST_IN_LAST_BLOCK),
    Pair("allreduce", "reduce-bcast", "redbcast", settings=TREES),
    Pair("gather", "binomial", "ompi_binomial"),
    Pair("gather", "linear", "ompi_basic_linear"),
    Pair("scatter", "binomial", "ompi_binomial", is_order_of_receivers_free=True),
    Pair("scatter", "linear", "ompi_basic_linear"),
    Pair("allgather", "bruck", "bruck"),
    Pair("allgather", "recursive-doubling", "rdb", ranks=POWERS),
    Pair("allgather", "recursive-doubling", "bruck", ranks=OTHERS),
    Pair("allgather", "ring", "NTSLR"),
    Pair("alltoall", "linear", "basic_linear", is_order_of_receivers_free=True),
    Pair("alltoall", "pairwise", "ring"),
    Pair("alltoall", "bruck", "bruck"),
    Pair("reduce_scatter", "recursive-halving", "ompi_basic_recursivehalving"),
    Pair("reduce_scatter", "ring", "ompi_ring"),
    Pair("reduce_scatter", "pairwise", "mpich_pair"),
)

# SimGrid 3.32 has nothing of the kind; its only scans send from each rank to all higher ones.
NOT_IN_SIMGRID = ("allreduce:dissemination", "allreduce:double-tree", "scan:recursive-doubling", "scan:linear",
                  "exscan:recursive-doubling", "exscan:linear",
                  # SMPI's algorithms for nodes have other shapes; nodes_test.c proves these
                  "barrier:two-level", "bcast:two-level", "bcast:han", "reduce:two-level", "reduce:han", "allreduce:two-level",
                  "allreduce:han", "allreduce:node-rings", "allreduce:node-double-tree", "allreduce:nvls", "allgather:two-level",
                  "alltoall:two-level")


# ---- the comparison ----


def sorted_by_receiver(sent):
    """Keeps the order to each receiver only."""
    return {rank: sorted(list_, key=lambda message: message[0]) for rank, list_ in sent.items()}


class Tally:
    def __init__(self):
        self.equal = self.explained = 0
        self.faults = []

    def compare(self, pair, case, ours, theirs):
        parts = [ours[schedule] for schedule in pair.explaining(case)]
        mine = ours[pair.schedule(case)]
        if pair.is_order_of_receivers_free:
            mine, theirs = sorted_by_receiver(mine), sorted_by_receiver(theirs)
        if mine == theirs:
            self.equal += 1
        elif pair.explanation and pair.explanation.expected(case, parts) == theirs:
            self.explained += 1
        else:
            self.faults.append(describe(pair, case, mine, theirs))


def describe(pair, case, mine, theirs):
    rank = next(rank for rank in range(case.ranks) if mine.get(rank) != theirs.get(rank))
    return (f"{pair.pattern} and SimGrid's {pair.simgrid} differ: {case.ranks} ranks, {case.bytes} bytes, root "
            f"{case.root}\n  rank {rank} sends (receiver, bytes)\n  idlewave: {mine.get(rank, [])[:12]}\n"
            f"  SimGrid:  {theirs.get(rank, [])[:12]}")


def print_pair(pair, tally):
    letter = f" ({pair.explanation.letter})" if tally.explained > 0 else ""
    print(f"{pair.pattern:33}{pair.simgrid:28}{tally.equal:5} equal {tally.explained:4} explained{letter}"
          f"{f' {len(tally.faults):4} DIFFERENT' if tally.faults else ''}")


def compare_all(pairs, ours, theirs):
    faults, equal, explained = [], 0, 0
    for pair, of_simgrid in zip(pairs, theirs):
        tally = Tally()
        for case in pair.cases():
            tally.compare(pair, case, ours, of_simgrid[case])
        print_pair(pair, tally)
        faults += tally.faults
        equal, explained = equal + tally.equal, explained + tally.explained
    for explanation in (EMPTY_BARRIERS, REST_IN_LAST_BLOCK, REST_APART, HEAP):
        print(f"({explanation.letter}) {explanation.reason}")
    print(f"{equal + explained + len(faults)} cases: {equal} equal, {explained} explained, {len(faults)} different")
    return faults


def what_is_missing(idlewave):
    known = {pair.pattern for pair in PAIRS} | set(NOT_IN_SIMGRID)
    return [f"{name} is neither in PAIRS nor in NOT_IN_SIMGRID" for name in messages.algorithms(idlewave)
            if name not in known and name.split(":")[0] not in HALO_AND_SUCH]


def what_looks_equal_but_is_not(pairs, ours, theirs):
    """A comparison that finds everything equal would be of no use: a chain is not SimGrid's binomial tree."""
    chain, tree = (next(pair for pair in pairs if pair.pattern == name) for name in ("bcast:chain", "bcast:binomial"))
    tally = Tally()
    for case in tree.cases():
        if case.ranks > 3:
            tally.compare(chain, case, ours, theirs[pairs.index(tree)][case])
    return [f"{tally.equal} chains were taken for trees"] if tally.equal > 0 else []


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--idlewave", required=True)
    parser.add_argument("--program", required=True, help="built from collectives.c with smpicc")
    parser.add_argument("--smpirun", default="smpirun")
    parser.add_argument("--only", default="", help="only pairs with this text in idlewave's or SimGrid's name")
    parser.add_argument("--full", action="store_true", help="all numbers of ranks")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    pairs = [pair for pair in PAIRS if arguments.only in f"{pair.pattern} {pair.simgrid}"]
    if not arguments.full:
        pairs = [dataclasses.replace(pair, ranks=tuple(ranks for ranks in pair.ranks if ranks in EVERYDAY_RANKS))
                 for pair in pairs]
    wanted = {schedule for pair in pairs for case in pair.cases()
              for schedule in [pair.schedule(case), *pair.explaining(case)]}
    ours = messages.of_schedules(arguments.idlewave, wanted)
    with tempfile.TemporaryDirectory(prefix="iw_oracle_") as folder:
        simgrid = messages.SimGrid(arguments.smpirun, arguments.program, folder, max(max(pair.ranks) for pair in pairs))

        def run_pair(pair):
            settings = {f"smpi/{pair.operation}": pair.simgrid, **dict(pair.settings)}
            return simgrid.messages(pair.operation, settings, list(pair.cases()))

        theirs = messages.in_parallel(run_pair, pairs)
    faults = compare_all(pairs, ours, theirs)
    if not arguments.only:
        faults += what_is_missing(arguments.idlewave) + what_looks_equal_but_is_not(pairs, ours, theirs)
    for fault in faults[:10]:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
