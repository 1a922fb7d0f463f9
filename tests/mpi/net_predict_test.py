"""A simulation with the network that `net` measured predicts a ping-pong within 15 %, and steps of a halo exchange and an
allreduce nearly so (docs/validation/predictions.md), on shared memory and over TCP.

SPDX-License-Identifier: BSD-3-Clause
"""

import sys

import net_support
import run_mpi
import validate_net


WITHIN = {"pingpong": 0.15, "halo_allreduce": 0.25}


def check(arguments, network):
    rows = validate_net.Case(arguments, arguments.mpi, network, 1, "5s").rows()
    validate_net.print_table(rows)
    judged = [row for row in rows if row["verdict"] != "noisy"]
    assert len(judged) >= len(rows) / 2, f"{network}: the machine is too noisy: {len(judged)} of {len(rows)} sizes judged"
    off = [(row["program"], row["bytes"], round(row["ratio"], 2)) for row in judged
           if abs(row["ratio"] - 1) > WITHIN[row["program"]]]
    assert not off, f"{network}: ratios of prediction to measurement: {off}"


def main():
    arguments = run_mpi.test_arguments(__doc__)
    arguments.programs = arguments.programs.parent
    if net_support.cores() < 2:
        run_mpi.skip("predictions of programs", "two ranks need two cores")
    for network in net_support.NETWORKS:
        net_support.attempts(5, lambda name=network: check(arguments, name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
