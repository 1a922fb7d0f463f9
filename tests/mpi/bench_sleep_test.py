"""`idlewave bench --work sleep`: more ranks than CPUs, which sleep while they work, wait and are held up.

SPDX-License-Identifier: BSD-3-Clause
"""

import json
import resource
import sys

import run_mpi

TIMEOUT_SECONDS = 240


def bench(arguments, ranks, *options):
    """The result, and the CPU seconds that all of it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run_mpi.launch(arguments.mpi, ranks, [arguments.idlewave, "bench", *options, "--work", "sleep", "--format", "json"],
                          timeout=TIMEOUT_SECONDS)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, f"{options}: {done.returncode}: {done.stdout}\n{done.stderr}"
    return json.loads(done.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check_quiet(arguments):
    """Ranks that share CPUs are valid here, take their quantum and hardly any CPU."""
    result, cpu_seconds = bench(arguments, 8, "barrier", "--compute", "100ms", "--phases", "15")
    assert result["work"] == "sleep" and result["warning"] == "" and result["ranks"] == 8, result
    assert result["phases"] == 15 and result["quiet"]["phase_ns"]["value"] >= 100e6, result["quiet"]["phase_ns"]
    assert all(rank["qt_ns"]["quiet"] >= 100e6 for rank in result["per_rank"]), result["per_rank"]
    assert cpu_seconds < 0.25 * 8 * result["seconds"], f"{cpu_seconds} s of CPU in {result['seconds']} s: ranks that wait poll"


def check_noisy(arguments):
    """A detour of 30 ms in each 100 ms of work: no rank is quicker than quantum and detours, in any operation."""
    for operation in ("barrier", "allreduce", "halo"):
        result, _ = bench(arguments, 4, operation, "--compute", "70ms", "--phases", "10", "--noise", "periodic:10Hz,30ms",
                          "--trials", "20")
        assert result["noise"]["back_end"] == "sleep" and result["noisy"]["phases"] == 10, result["noise"]
        assert all(rank["injected"]["made"] > 0 for rank in result["per_rank"]), result["per_rank"]
        # 70 ms of work with 30 % of the time in detours take 100 ms on average, wherever they begin; no noise is lost
        mean_ns = sum(rank["qt_ns"]["noisy"] for rank in result["per_rank"]) / 4
        assert mean_ns >= 85e6, f"{operation}: work takes {mean_ns / 1e6} ms"
        assert result["noisy"]["phase_ns"]["value"] > result["per_rank"][0]["qt_ns"]["quiet"], result["noisy"]["phase_ns"]
        expected = result["simulated"]["expected"]
        assert expected["value"] == result["simulated"]["slowdown"]["value"], expected


def check_whole(arguments):
    """A detour as long as the work moves its end by all of its length, also if it ends after the work would have. One phase
    of nine meets one; were only what lies behind the old end lost, the longest twentieth would begin near 62 ms."""
    result, _ = bench(arguments, 2, "barrier", "--compute", "40ms", "--phases", "60", "--noise", "periodic:2.5Hz,40ms", "--sync",
                      "start", "--trials", "20")
    longest_ns = result["noisy"]["qt_ns"]["quantile_ns"]["p95"]
    assert longest_ns >= 79e6, f"work of 40 ms and a detour of 40 ms take {longest_ns / 1e6} ms"


def main():
    arguments = run_mpi.test_arguments(__doc__)
    check_quiet(arguments)
    check_noisy(arguments)
    check_whole(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
