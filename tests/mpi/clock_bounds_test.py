"""Clock synchronisation on a machine with a core for each rank: the bound that it states is of use.

SPDX-License-Identifier: BSD-3-Clause
"""

import sys

import clock_sync_test
import net_support
import run_mpi


def check_bounds(arguments):
    """Below 20 us, some round trips over shared memory."""
    rows = clock_sync_test.check(arguments, 2, "skewed", "0")
    bound = max(float(row[3]) for row in rows if row[0] == "begin")
    assert bound < 20000, f"the bound is {bound} ns"


def main():
    arguments = run_mpi.test_arguments(__doc__)
    if net_support.cores() < 2:
        run_mpi.skip("bounds of clocks", "two ranks need two cores")
    net_support.attempts(10, lambda: check_bounds(arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
