"""Two runs of `idlewave net`, of several launches each, agree within their intervals, which hold what differs between
launches. Long: it needs a machine that is quiet for a minute.

SPDX-License-Identifier: BSD-3-Clause
"""

import pathlib
import sys
import tempfile

import net_support
import run_mpi

# Whose intervals of two runs meet. Were all launches alike, 99.5 % would (src/features/network/tests/net_combine_test.c counts); here
# the runs are apart in time too, which no interval of one of them can hold.
SHARE_OF_SIZES = 0.9
LAUNCHES = 5


def check_agreement(arguments, folder):
    first, second = (net_support.level_of(net_support.measure(arguments.mpi, 2, arguments.idlewave, folder / name, "1s",
                                                              extra=["--max-size", "64KiB"], launches=LAUNCHES), "node")
                     for name in ("first.yaml", "second.yaml"))
    apart = [name for name in ("L_ns", "half_round_trip_ns", "o_send_ns", "o_recv_ns", "g_ns")
             if not net_support.overlap(first[name], second[name])]
    assert not apart, f"intervals do not meet: {[(name, first[name], second[name]) for name in apart]}"
    points = {point["bytes"]: point["half_round_trip_ns"] for point in second["points"]}
    both = [(point["half_round_trip_ns"], points[point["bytes"]]) for point in first["points"] if point["bytes"] in points]
    met = sum(net_support.overlap(a, b) for a, b in both)
    assert len(both) >= 17, f"only {len(both)} sizes were measured in both runs"
    assert met >= SHARE_OF_SIZES * len(both), f"the intervals of {met} of {len(both)} sizes meet"
    print(f"agreement: the intervals of {met} of {len(both)} sizes meet")


def main():
    arguments = run_mpi.test_arguments(__doc__)
    if net_support.cores() < 2:
        run_mpi.skip("agreement of two runs", "two ranks need two cores")
    with tempfile.TemporaryDirectory(prefix="iw_net_") as name:
        net_support.attempts(5, lambda: check_agreement(arguments, pathlib.Path(name)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
