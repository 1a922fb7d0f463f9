#!/usr/bin/env python3
"""Runs a command under the launcher of one MPI; for tests, also as a module.

SPDX-License-Identifier: BSD-3-Clause

Usage: run_mpi.py --mpi openmpi|mpich [-n RANKS] [--] COMMAND...
    ends with the launcher's exit code; 77 ("skipped"), with a word why, if that MPI's launcher is missing.

As a module:
    run_mpi.require("mpich")                            ends the test with 77 if it is missing
    done = run_mpi.launch("mpich", 4, [program, "x"])   done.returncode, done.stdout, done.stderr
    arguments = run_mpi.test_arguments(__doc__)         what iw_mpi_test() of tests/mpi/CMakeLists.txt hands over
    run_mpi.skip("what", "why")                         ends the test with 77; run_mpi.leave_out() goes on without that part
    run_mpi.run_tests(arguments)                        runs the unittest classes of the main file

Works for any user, with more ranks than cores, with the loopback device only, and under sanitizers. IW_MPIRUN_<mpi> names
the launcher if it is not mpirun.<mpi>, IDLEWAVE_PARTS the folder of other parts than those beside the command.
"""

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

SKIPPED = 77
MPIS = ("openmpi", "mpich")
TIMEOUT_SECONDS = 180  # a busy machine, or one whose host takes it away, may need minutes for what takes a second

SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",  # ranks that wait leave the cores to those that work
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    # all ranks are on this machine, which may have no other network; tests with several hosts give options, which count more
    "OMPI_MCA_btl_tcp_if_include": "lo",
    "OMPI_MCA_oob_tcp_if_include": "lo",
}


def launcher(mpi):
    """The path of the MPI's mpirun, or None."""
    return shutil.which(os.environ.get(f"IW_MPIRUN_{mpi}") or f"mpirun.{mpi}")


def leave_out(what, why):
    """Tells of a part that is not tested here. CI looks for lines that begin so."""
    print(f"SKIPPED: {what}: {why}", flush=True)


def measured_again(what, why):
    """Tells of what is done once more. CI looks for lines that begin so; the line before may have dots of other tests."""
    print(f"\nRETRIED: {what}: {why}", flush=True)


def skip(what, why):
    """Ends the whole test."""
    leave_out(what, why)
    sys.exit(SKIPPED)


def require(mpi):
    if launcher(mpi) is None:
        skip(f"tests of {mpi}", f"there is no launcher of it (mpirun.{mpi})")


def only_if(applies):
    """Decorates a test that exists only if so: where it makes no sense, which is no matter of what is installed."""
    return (lambda test: test) if applies else (lambda test: None)


def environment(extra=None):
    """Ours, fit for MPI. MPIs leave memory behind when they end: that is not ours to find."""
    result = dict(os.environ, **SETTINGS)
    options = result.get("ASAN_OPTIONS", "")
    result["ASAN_OPTIONS"] = f"{options}:detect_leaks=0".lstrip(":")
    result.update(extra or {})
    return result


def launch(mpi, ranks, command, env=None, cwd=None, timeout=TIMEOUT_SECONDS, options=()):
    """Runs `command` on so many ranks. `options` go to the launcher, `env` is added to the environment."""
    line = [launcher(mpi), *options, "-n", str(ranks), *map(str, command)]
    return run(line, env, cwd, timeout)


def launch_for_one_telling(mpi, ranks, command, text, tries=5, **settings):
    """As launch(), for what all processes meet and one tells. One that comes half a second after the others on a busy
    machine tells it again: then it is run again, and only who does so every time is wrong."""
    for _ in range(tries):
        done = launch(mpi, ranks, command, **settings)
        if done.stderr.count(text) < 2:
            break
        measured_again("one telling", f"'{text}' was told {done.stderr.count(text)} times")
    return done


def run(line, env=None, cwd=None, timeout=TIMEOUT_SECONDS):
    """Runs a command line; when its time is over, all of its processes end."""
    with subprocess.Popen(line, env=environment(env), cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
            stderr += f"\nrun_mpi: killed after {timeout} s: {' '.join(line)}\n"
    return subprocess.CompletedProcess(line, process.returncode, stdout, stderr)


def test_arguments(description):
    """Options of a test: --mpi, --idlewave (the command), --programs (the folder of iw_mpi_program()), --only (names of
    checks: those of run_tests() are of the form Class or Class.test)."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--mpi", required=True, choices=MPIS)
    parser.add_argument("--idlewave", required=True, type=pathlib.Path)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    require(arguments.mpi)
    return arguments


def parts_beside(idlewave):
    """The folder of the parts that a command loads."""
    return pathlib.Path(os.environ.get("IDLEWAVE_PARTS") or idlewave.resolve().parent.parent / "lib/idlewave")


class Result(unittest.TextTestResult):
    """Tells what is skipped."""

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print()  # the line before has dots of other tests
        leave_out(test.id().removeprefix("__main__."), reason)


def run_tests(arguments):
    """Runs the tests of the main file, or those of --only; 77 if all of them are skipped."""
    runner = unittest.TextTestRunner(resultclass=Result, verbosity=2 if os.environ.get("VERBOSE") else 1)
    result = unittest.main(argv=[sys.argv[0], *arguments.only], testRunner=runner, exit=False).result
    if result.wasSuccessful() and 0 < result.testsRun <= len(result.skipped):
        sys.exit(SKIPPED)
    sys.exit(0 if result.wasSuccessful() else 1)


def main():
    parser = argparse.ArgumentParser(description="Runs a command under the launcher of one MPI.")
    parser.add_argument("--mpi", required=True, choices=MPIS)
    parser.add_argument("-n", type=int, default=2, dest="ranks")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    require(arguments.mpi)
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    done = launch(arguments.mpi, arguments.ranks, command)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
