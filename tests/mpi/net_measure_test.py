"""`idlewave net` on one host: it knows when there is nothing to measure, and when its numbers are not valid.

SPDX-License-Identifier: BSD-3-Clause
"""

import pathlib
import shutil
import sys
import tempfile

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


def check_one_rank(arguments):
    done = run_mpi.launch(arguments.mpi, 1, [arguments.idlewave, "net"])
    assert done.returncode != 0 and "needs at least 2 ranks" in done.stderr, (done.returncode, done.stderr)


def main():
    arguments = run_mpi.test_arguments(__doc__)
    with tempfile.TemporaryDirectory(prefix="iw_net_") as name:
        folder = pathlib.Path(name)
        check_one_rank(arguments)
        if arguments.mpi == "openmpi" or "shared" in arguments.only:  # MPICH's ranks spin: each message takes a time slice
            check_shared_core(arguments, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
