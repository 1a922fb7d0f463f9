"""`idlewave bench` on a machine that is quiet for some minutes: the work takes what was asked for, and injected noise slows
it down as the simulation says. Long.

SPDX-License-Identifier: BSD-3-Clause
"""

import pathlib
import subprocess
import sys
import tempfile

import bench_times_test
import run_mpi


def check_quantum(arguments):
    result = bench_times_test.result_of(arguments, ["barrier", "--compute", "500us", "--duration", "1s"])
    for rank in result["per_rank"]:
        assert 0.9 * 5e5 <= rank["undisturbed_ns"] <= 1.15 * 5e5, rank


def check_unsynchronised(arguments):
    """1 ms in 10 taken away: on two ranks with places of their own a fifth."""
    result = bench_times_test.result_of(arguments, ["barrier", "--duration", "3s", "--noise", "periodic:100Hz,1ms"])
    assert 0.08 < result["noise"]["injected_share"] < 0.12, result["noise"]
    low = result["slowdown"]["low"] or 0
    assert result["slowdown"]["value"] > 0.08 and low > 0, result["slowdown"]
    assert 0.5 < result["simulated"]["ratio"] < 2, (result["slowdown"], result["simulated"])


def check_synchronised(arguments):
    """Together, the detours of both ranks cost little more than those of one: 1/9 of the work."""
    result = bench_times_test.result_of(arguments, ["barrier", "--duration", "3s", "--noise", "periodic:100Hz,1ms", "--sync", "start"])
    assert 0.10 < result["simulated"]["slowdown"]["value"] < 0.13, result["simulated"]
    assert 0.03 < result["slowdown"]["value"] < 0.22, result["slowdown"]


def check_phase(arguments):
    """One place for all ranks in each phase: both meet what a single one would. A detour is under way at the beginning of one
    phase in ten, with half of it left, and another one begins in a tenth of the others."""
    result = bench_times_test.result_of(arguments, ["barrier", "--duration", "3s", "--noise", "periodic:100Hz,1ms", "--sync", "phase"])
    assert 0.13 < result["simulated"]["slowdown"]["value"] < 0.17, result["simulated"]
    assert 0.07 < result["slowdown"]["value"] < 0.25, result["slowdown"]


def check_file(arguments, folder):
    """Two ranks of a host share a recording of one CPU, but not the place in it: it costs them as much as two nodes."""
    path = folder / "one.h5"
    subprocess.run([arguments.idlewave, "noise", "synth", "periodic:100Hz,1ms", "--duration", "5s", "-o", path],
                   check=True, capture_output=True)
    result = bench_times_test.result_of(arguments, ["barrier", "--duration", "3s", "--noise", str(path)])
    assert abs(result["noise"]["planned_share"] - 0.1) < 0.002 and result["noise"]["as_recorded_share"] > 0.99, result["noise"]
    floors = {rank["injected"]["floor_ns"] for rank in result["per_rank"]}
    assert floors == {result["noise"]["floor_ns"]}, "all ranks plan with one floor"
    assert 0.2 < result["simulated"]["slowdown"]["value"] < 0.24, result["simulated"]
    assert 0.15 < (result["pair_slowdown"] or 0) < 0.4, (result["slowdown"], result["pair_slowdown"])


def main():
    arguments = run_mpi.test_arguments(__doc__)
    with tempfile.TemporaryDirectory(prefix="iw_bench_") as name:
        for check in (check_quantum, check_unsynchronised, check_synchronised, check_phase):
            bench_times_test.attempts(5, lambda check=check: check(arguments))
        bench_times_test.attempts(5, lambda: check_file(arguments, pathlib.Path(name)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
