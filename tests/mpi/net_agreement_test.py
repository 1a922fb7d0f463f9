"""Two runs of `idlewave net` on one host agree within their intervals. Long: it needs a machine that is quiet for a minute.

SPDX-License-Identifier: BSD-3-Clause
"""

import pathlib
import sys
import tempfile

import net_support
import run_mpi

SHARE_OF_SIZES = 0.75  # whose intervals of two runs meet; chance alone leaves some apart


def check_agreement(arguments, folder):
    first, second = (net_support.level_of(net_support.measure(arguments.mpi, 2, arguments.idlewave, folder / name, "4s",
                                                              extra=["--max-size", "64KiB"]), "node")
                     for name in ("first.yaml", "second.yaml"))
    apart = [name for name in ("L", "half_round_trip", "o_send", "o_recv", "g")
             if not net_support.overlap(first[name], second[name])]
    assert not apart, f"intervals do not meet: {[(name, first[name], second[name]) for name in apart]}"
    points = {point["bytes"]: point["half_round_trip"] for point in second["points"]}
    both = [(point["half_round_trip"], points[point["bytes"]]) for point in first["points"] if point["bytes"] in points]
    met = sum(net_support.overlap(a, b) for a, b in both)
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
