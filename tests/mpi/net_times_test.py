"""`idlewave net` on one host: what it writes, and that a simulation with it takes what was measured.

SPDX-License-Identifier: BSD-3-Clause
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import net_support
import run_mpi


def check_result(arguments, folder):
    yaml = folder / "my.yaml"
    result = net_support.measure(arguments.mpi, 2, arguments.idlewave, yaml, "1500ms", extra=["--max-size", "64KiB"])
    assert result["ranks"] == 2 and result["hosts"] == 1, result
    assert ("MPICH" if arguments.mpi == "mpich" else "Open MPI") in result["mpi_version"], result["mpi_version"]
    level = net_support.level_of(result, "node")
    sizes = [point["bytes"] for point in level["points"]]
    assert sizes == sorted(set(sizes)) and {1, 1024, 65536} <= set(sizes), sizes
    eager = level["S"]["bytes"]
    assert level["S"]["votes"] >= 5 and eager <= level["S_receiver_in_mpi"]["bytes"] * 1.01 + 1, level["S"]
    if level["S"]["is_at_most"]:
        assert {eager, eager + 1} <= set(sizes), f"both sides of the eager limit {eager} are measured: {sizes}"
    for name in ("L_ns", "half_round_trip_ns", "o_send_ns", "o_recv_ns", "g_ns"):
        if level[name]["value"] is not None:
            assert 0 <= level[name]["low"] <= level[name]["value"] <= level[name]["high"], (name, level[name])
    text = yaml.read_text(encoding="utf-8")
    for part in ("origin:", "command:", "date:", "clock:", "samples:", "L_half_round_trip:", "mpi:"):
        assert part in text, f"{part} is not in {text}"
    check_simulation(arguments, yaml, level)


def check_simulation(arguments, yaml, level):
    """A simulated ping-pong takes what was measured, as far as the lines fit."""
    for point in (level["points"][0], level["points"][-1]):
        line = [arguments.idlewave, "simulate", "--pattern", "pingpong", "--ranks", "2", "--net", yaml, "--format", "json",
                "--bytes", str(point["bytes"])]
        done = subprocess.run(line, check=True, capture_output=True, text=True)
        predicted = json.loads(done.stdout)["makespan_ns"]["median"] / 2
        measured = point["half_round_trip_ns"]["value"]
        assert abs(predicted / measured - 1) <= level["fit_error"] + 1e-3, (point, predicted, level["fit_error"])


def main():
    arguments = run_mpi.test_arguments(__doc__)
    with tempfile.TemporaryDirectory(prefix="iw_net_") as name:
        net_support.attempts(2, lambda: check_result(arguments, pathlib.Path(name)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
