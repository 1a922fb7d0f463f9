"""`idlewave bench` on one host: the work takes about what was asked for, noise is injected as planned and simulated.

SPDX-License-Identifier: BSD-3-Clause
"""

import pathlib
import subprocess
import sys
import tempfile

import bench_test
import net_support
import run_mpi


def result_of(arguments, options):
    return bench_test.result_of(arguments, options, net_support.QUIET)


def attempts(count, attempt):
    """Each when others leave the machine alone, if they ever do."""
    def quiet_attempt():
        net_support.wait_until_quiet(most_seconds=15)
        return attempt()
    net_support.attempts(count, quiet_attempt)


def check_quantum(arguments):
    """Roughly: the speed of shared machines changes. bench_accuracy_test asks for more."""
    result = result_of(arguments, ["barrier", "--compute", "500us", "--duration", "1s"])
    for rank in result["per_rank"]:
        assert 0.5 * 5e5 <= rank["undisturbed_ns"] <= 2 * 5e5, rank
    assert result["quiet"]["qtbt_ns"]["low"] is not None, "a second is enough for an interval"


def check_report(arguments, folder):
    page = folder / "noisy.html"
    subprocess.run([arguments.idlewave, "report", folder / "noisy.json", "-o", page], check=True, capture_output=True)
    assert "simulated with the same noise" in page.read_text(encoding="utf-8")
    done = subprocess.run([arguments.idlewave, "report", folder / "noisy.json"], check=True, capture_output=True, text=True)
    assert done.stdout.startswith("A phase of 1.000 ms and a barrier takes"), done.stdout


def check_replay(arguments, folder):
    """What holds whatever else runs on the machine."""
    path = folder / "noisy.json"
    result = result_of(arguments, ["barrier", "--duration", "2s", "--noise", "periodic:100Hz,1ms", "-o", str(path)])
    bench_test.check_phases(result, result["phases"])
    assert result["quiet"]["phases"] == result["noisy"]["phases"], "as many with noise as without"
    assert abs(result["noise"]["planned_share"] - 0.1) < 0.002, result["noise"]
    assert all(rank["injected"]["made"] > 10 for rank in result["per_rank"]), result["per_rank"]
    assert 0.2 < result["simulated"]["slowdown"]["value"] < 0.24, result["simulated"]


def check_time_scale(arguments):
    """Stretched and scaled back."""
    result = result_of(arguments, ["barrier", "--phases", "100", "--compute", "250us", "--time-scale", "4", "--noise",
                                   "periodic:400Hz,250us", "--sync", "phase"])
    assert result["quantum_ns"] == 2.5e5 and result["time_scale"] == 4, result["quantum_ns"]
    assert 0.5 * 2.5e5 <= result["quiet"]["qt_ns"]["quantile_ns"]["p0"] <= 2 * 2.5e5, result["quiet"]["qt_ns"]


def main():
    arguments = run_mpi.test_arguments(__doc__)
    with tempfile.TemporaryDirectory(prefix="iw_bench_") as name:
        folder = pathlib.Path(name)
        attempts(3, lambda: check_quantum(arguments))
        attempts(3, lambda: check_time_scale(arguments))
        attempts(3, lambda: check_replay(arguments, folder))
        check_report(arguments, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
