"""`idlewave net` on one host: it knows when there is nothing to measure, and when its numbers are not valid; and it starts
launches by itself.

SPDX-License-Identifier: BSD-3-Clause
"""

import json
import pathlib
import shutil
import sys
import tempfile

import net_support
import run_mpi


def check_shared_core(arguments, folder):
    if shutil.which("taskset") is None:
        run_mpi.leave_out("ranks that share a CPU", "there is no taskset")
        return
    line = ["taskset", "-c", "0", run_mpi.launcher(arguments.mpi), "-n", "2", str(arguments.idlewave), "net", "--duration",
            "100ms", "--max-size", "64", "-o", str(folder / "shared.yaml")]
    done = run_mpi.run(line, timeout=200)
    assert done.returncode == 0, f"{done.returncode}: {done.stdout}\n{done.stderr}"
    assert done.stdout.startswith("NOT VALID: 2 ranks share 1 CPU on host"), done.stdout
    assert "the numbers are not valid" in done.stderr, done.stderr
    assert "not_valid:" in (folder / "shared.yaml").read_text(encoding="utf-8")


def check_slices(arguments, folder):
    """Where each message waits for a time slice, what --duration asks for is over before the first size: then a little of all
    sizes is measured, not the usual number of samples."""
    if shutil.which("taskset") is None:
        run_mpi.leave_out("messages that wait for time slices", "there is no taskset")
        return
    done = run_mpi.run(["taskset", "-c", "0", run_mpi.launcher(arguments.mpi), "-n", "2", str(arguments.idlewave), "net",
                        "--duration", "100ms", "--max-size", "64KiB", "--format", "json", "-o", str(folder / "slices.yaml")],
                       timeout=300)
    assert done.returncode == 0, f"{done.returncode}: {done.stdout}\n{done.stderr}"
    points = net_support.level_of(json.loads(done.stdout), "node")["points"]
    if points[0]["half_round_trip_ns"]["value"] < 1e6:
        run_mpi.leave_out("messages that wait for time slices", "those of one CPU do not wait here")
        return
    assert 1 < len(points) and all(point["samples"] > 0 for point in points), points
    assert sum(point["samples"] for point in points) < 500, points


def check_one_rank(arguments):
    done = run_mpi.launch(arguments.mpi, 1, [arguments.idlewave, "net"])
    assert done.returncode != 0 and "needs at least 2 ranks" in done.stderr, (done.returncode, done.stderr)


def check_launches(arguments, folder):
    """Each launch measures the sizes of the first; what comes of them is a network for simulate."""
    if net_support.cores() < 2:
        run_mpi.leave_out("several launches", "two ranks need two cores")
        return
    yaml = folder / "launches.yaml"
    line, env = net_support.launches_line(arguments.mpi, 2, arguments.idlewave, yaml, "100ms", extra=["--max-size", "1KiB"],
                                          launches=3)
    code, out, err = net_support.run_until(line, env, net_support.is_json, 200)
    assert code == 0, f"{' '.join(line)} ended with {code}:\n{out}\n{err}"
    result = json.loads(out)
    level = net_support.level_of(result, "node")
    assert result["launches"] == 3, result
    assert {2 ** i for i in range(11)} <= {point["bytes"] for point in level["points"]}, level["points"]
    for point in level["points"]:
        half = point["half_round_trip_ns"]
        assert half["low"] <= half["value"] <= half["high"], point
    assert level["g_ns"]["value"] is None or level["g_ns"]["value"] <= level["half_round_trip_ns"]["value"], level
    assert "launches: 3" in yaml.read_text(encoding="utf-8")
    done = run_mpi.run([str(arguments.idlewave), "simulate", "--pattern", "pingpong", "--ranks", "2", "--net", str(yaml)])
    assert done.returncode == 0, done.stderr


def check_refusals(arguments):
    """Launches are not started from within one, and one that fails is told."""
    done = run_mpi.launch(arguments.mpi, 2, [arguments.idlewave, "net", "--launches", "3"])
    assert done.returncode != 0 and "does not apply under a launcher" in done.stderr, (done.returncode, done.stderr)
    done = run_mpi.run([str(arguments.idlewave), "net", "--", run_mpi.launcher(arguments.mpi), "-n", "1"])
    assert done.returncode == 1 and "launch 1 of 5" in done.stderr and "needs at least 2 ranks" in done.stderr, done.stderr


def main():
    arguments = run_mpi.test_arguments(__doc__)
    with tempfile.TemporaryDirectory(prefix="iw_net_") as name:
        folder = pathlib.Path(name)
        check_one_rank(arguments)
        check_refusals(arguments)
        check_launches(arguments, folder)
        if arguments.mpi == "openmpi" or "shared" in arguments.only:  # MPICH's ranks spin: each message takes a time slice
            check_shared_core(arguments, folder)
        if arguments.mpi == "mpich" and "shared" in arguments.only:
            check_slices(arguments, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
