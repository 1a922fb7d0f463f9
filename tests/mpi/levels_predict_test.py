"""A simulation with the levels that `net` found on two hosts predicts small messages between them, alone and in collectives
that also use the inside, where the cable between the hosts is slow beside all else (docs/validation/predictions.md).

SPDX-License-Identifier: BSD-3-Clause
"""

import sys

import net_support
import run_mpi
import validate_levels


def check(arguments):
    options = validate_levels.parse(["--idlewave", str(arguments.idlewave), "--programs", str(arguments.programs.parent), "--mpi",
                                     arguments.mpi, "--rounds", "1", "--duration", "6s", "--delay-us", "20000"])
    rows = validate_levels.measure(options, arguments.mpi)
    validate_levels.print_table(rows)
    off = [(row["case"], row["bytes"], round(row["ratio"], 2)) for row in rows
           if row["case"] != "inside" and row["bytes"] <= 128 and not validate_levels.is_within(row)]
    assert not off, f"ratios of prediction to measurement: {off}"
    inside, outside = (next(row for row in rows if row["case"] == case) for case in ("inside", "outside"))
    assert outside["predicted_ns"]["median"] > 5 * inside["predicted_ns"]["median"], (inside, outside)


def main():
    arguments = run_mpi.test_arguments(__doc__)
    if not net_support.can_have_hosts():
        run_mpi.skip("two hosts", "network namespaces need root and iproute2")
    net_support.attempts(3, lambda: check(arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
