"""`idlewave bench` on one host: phases, files, baselines, errors. What holds whatever else runs on the machine.

SPDX-License-Identifier: BSD-3-Clause
"""

import csv
import io
import json
import pathlib
import shutil
import sys
import tempfile

import net_support
import run_mpi

TIMEOUT_SECONDS = 240


def bench(arguments, ranks, options, env=None):
    """Runs it; the launcher's end, with both outputs. `env`: net_support.QUIET where times count; otherwise ranks that wait
    leave the cores to others."""
    line = [run_mpi.launcher(arguments.mpi), *net_support.BINDING[arguments.mpi], "-n", str(ranks),
            *net_support.before_others([str(arguments.idlewave), "bench", *options])]
    return run_mpi.run(line, env, timeout=TIMEOUT_SECONDS)


def result_of(arguments, options, env=None):
    done = bench(arguments, 2, [*options, "--format", "json"], env)
    assert done.returncode == 0, f"{options}: {done.returncode}: {done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


def check_phases(result, phases):
    """What holds whatever else runs on the machine."""
    assert result["schema"] == "idlewave.bench/2" and result["ranks"] == 2, result
    assert result["phases"] == phases == result["kept"], result["phases"]
    assert [rank["phases"] for rank in result["per_rank"]] == [phases, phases], "all ranks stop at the same phase"
    for kind in ("quiet", "noisy"):
        times = result[kind]
        if times is not None:
            assert times["qtbt_ns"]["value"] >= max(times["qt_ns"]["value"], times["bt_ns"]["value"]), times
            assert times["operation_ns"]["value"] <= times["bt_ns"]["value"], times
            assert times["phase_ns"]["value"] <= 1.0001 * times["qtbt_ns"]["value"], "a delay counts once"
            assert times["phase_ns"]["value"] >= 0.9999 * max(rank["qt_ns"][kind] + rank["bt_ns"][kind]
                                                              for rank in result["per_rank"]), times["phase_ns"]
            assert sum(times["bins"]) == times["phases"], times["bins"]
    for rank in result["per_rank"]:
        assert rank["iterations"] > 1000, rank


def check_operations(arguments, folder):
    for operation in ("barrier", "allreduce", "halo"):
        path = folder / f"{operation}.json"
        result = result_of(arguments, [operation, "--phases", "300", "--bytes", "1KiB", "-o", str(path)])
        check_phases(result, 300)
        assert result["operation"] == operation and result["noisy"] is None and result["simulated"] is None, result
        assert result["bytes"] == (0 if operation == "barrier" else 1024), result["bytes"]
        assert json.loads(path.read_text(encoding="utf-8"))["quiet"] == result["quiet"], "the file has the same"


def check_duration(arguments):
    result = result_of(arguments, ["barrier", "--duration", "500ms"])
    phases = {rank["phases"] for rank in result["per_rank"]}
    assert len(phases) == 1 and result["phases"] in phases and 1 <= result["phases"] <= 600, (phases, result["phases"])


def check_csv(arguments):
    done = bench(arguments, 2, ["halo", "--phases", "50", "--format", "csv"])
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [int(row["phase"]) for row in rows] == list(range(50)), done.stdout
    assert all(row["noise"] == "0" and float(row["qtbt_ns"]) >= float(row["qt_ns"]) for row in rows), done.stdout


def check_baseline(arguments, folder):
    path = folder / "barrier.json"
    quiet_ns = json.loads(path.read_text(encoding="utf-8"))["quiet"]["qtbt_ns"]
    result = result_of(arguments, ["barrier", "--phases", "400", "--baseline", path])
    baseline = result["baseline"]
    assert baseline["path"] == str(path) and baseline["ranks"] == 2, baseline
    assert all(baseline["qtbt_ns"][key] == quiet_ns[key] for key in ("value", "low", "high")), (baseline, quiet_ns)
    assert baseline["slowdown"]["low"] < baseline["slowdown"]["value"] < baseline["slowdown"]["high"], baseline
    assert abs(baseline["slowdown"]["value"] - (result["quiet"]["qtbt_ns"]["value"] / quiet_ns["value"] - 1)) < 1e-9, baseline
    done = bench(arguments, 2, ["halo", "--baseline", str(path)])
    assert done.returncode != 0 and "cannot be the baseline" in done.stderr and not done.stdout, done.stderr
    done = bench(arguments, 2, ["barrier", "--baseline", "/nowhere.json"])
    assert done.returncode != 0 and done.stderr.count("cannot read '/nowhere.json'") == 1, done.stderr


def check_errors(arguments):
    for option, words in ((["--noise", "periodic:100Hz"], "periodic"), (["--noise", "nowhere.h5"], "nowhere.h5"),
                          (["--noise", "periodic:100Hz,1ms", "--net", "nonet"], "'nonet' is neither a file nor one of")):
        done = bench(arguments, 2, ["barrier", *option])
        assert done.returncode != 0 and words in done.stderr and "phase of" not in done.stdout, (option, done.stderr)


def check_shared_cpu(arguments, folder):
    if shutil.which("taskset") is None:
        run_mpi.leave_out("ranks that share a CPU", "there is no taskset")
        return
    line = ["taskset", "-c", "0", run_mpi.launcher(arguments.mpi), "-n", "2", str(arguments.idlewave), "bench", "barrier",
            "--phases", "20", "-o", str(folder / "shared.json")]
    done = run_mpi.run(line, timeout=TIMEOUT_SECONDS)
    assert done.returncode == 0, f"{done.returncode}: {done.stdout}\n{done.stderr}"
    assert done.stdout.startswith("NOT VALID: 2 ranks share 1 CPU on host"), done.stdout
    assert "the numbers are not valid" in done.stderr, done.stderr
    assert "share 1 CPU" in json.loads((folder / "shared.json").read_text(encoding="utf-8"))["warning"]


def main():
    arguments = run_mpi.test_arguments(__doc__)
    with tempfile.TemporaryDirectory(prefix="iw_bench_") as name:
        folder = pathlib.Path(name)
        if not arguments.only:
            check_errors(arguments)
            check_operations(arguments, folder)
            check_baseline(arguments, folder)
            check_duration(arguments)
            check_shared_cpu(arguments, folder)
        check_csv(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
