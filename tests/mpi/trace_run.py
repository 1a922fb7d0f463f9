"""Running programs under the tracer, for the tests of it.

SPDX-License-Identifier: BSD-3-Clause
"""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

import run_mpi

ARGUMENTS = run_mpi.test_arguments("Tests of the tracer.")
MPI = ARGUMENTS.mpi
PROGRAMS = ARGUMENTS.programs.resolve()
PARTS = run_mpi.parts_beside(ARGUMENTS.idlewave) / MPI
TRACER = PARTS / "libidlewave-trace.so"
FINISH = PARTS / "idlewave-trace-finish"


def require(*tools):
    """Ends the test as skipped without the tracer (built without OTF2) or one of the tools."""
    if not TRACER.exists():
        run_mpi.skip("tests of the tracer", f"there is no {TRACER}")
    for tool in tools:
        if shutil.which(tool) is None:
            run_mpi.skip("tests of the tracer", f"there is no {tool}")


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iw_trace_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.trace = self.folder / "trace"
        self.anchor = self.trace / "traces.otf2"

    def program(self, name):
        path = PROGRAMS / name
        if not path.exists():
            self.skipTest(f"there is no {path}")
        return path

    def run_traced(self, ranks, name, *arguments, settings=(), timeout=run_mpi.TIMEOUT_SECONDS):
        """By plain LD_PRELOAD; `settings` are of the form NAME=VALUE."""
        command = ["env", f"LD_PRELOAD={TRACER}", f"IDLEWAVE_TRACE_DIR={self.trace}", *settings, self.program(name),
                   *arguments]
        return run_mpi.launch(MPI, ranks, command, cwd=self.folder, timeout=timeout)

    def run_plain(self, ranks, name, *arguments):
        return run_mpi.launch(MPI, ranks, [self.program(name), *arguments], cwd=self.folder)

    def finish(self):
        return subprocess.run([FINISH, self.trace], capture_output=True, text=True, check=False)


def main():
    run_mpi.run_tests(ARGUMENTS)
