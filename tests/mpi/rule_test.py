"""The rule that simulations rest on: a detour costs its length in work, nothing while a rank waits, and the rest of it where a
message comes meanwhile (docs/validation/predictions.md, in short).

SPDX-License-Identifier: BSD-3-Clause
"""

import pathlib
import statistics
import sys
import tempfile

import net_support
import run_mpi

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import make_rule  # noqa: E402

TIMES = 500
MOST_US = 50  # detours last 150 us and more


def check(arguments, folder, wait):
    path = folder / wait
    done = run_mpi.launch(arguments.mpi, 2, [arguments.programs / "rule_pair", path, TIMES, wait], env={"OMPI_MCA_mpi_yield_when_idle": "0"})
    assert done.returncode == 0, done.stderr
    detours = make_rule.Run(path).detours
    for kind in make_rule.KINDS:
        left = make_rule.residuals(detours, kind)
        assert len(left) >= 20, f"{wait}: {len(left)} detours of kind {kind} of {TIMES} times were on time"
        assert abs(statistics.median(left)) < MOST_US, f"{wait}, {kind}: off by {statistics.median(left)} us"


def main():
    arguments = run_mpi.test_arguments(__doc__)
    if net_support.cores() < 2 or not net_support.may_use_fifo():
        run_mpi.skip("detours of a real-time thread on two CPUs", "there is one CPU, or no right to use SCHED_FIFO")
    with tempfile.TemporaryDirectory() as folder:
        for wait in make_rule.WAITS:
            check(arguments, pathlib.Path(folder), wait)
    return 0


if __name__ == "__main__":
    sys.exit(main())
