#!/usr/bin/env python3
"""What `cmake --install` puts somewhere works there: the command finds the parts beside it, not those of the build.

SPDX-License-Identifier: BSD-3-Clause

Usage: see run_mpi.test_arguments().
"""

import os
import pathlib
import subprocess
import tempfile

import run_mpi
import trace_run

BUILD = trace_run.ARGUMENTS.idlewave.resolve().parent.parent


class Installed(trace_run.Case):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="iw_install_")
        cls.addClassCleanup(scratch.cleanup)
        cls.root = pathlib.Path(scratch.name).resolve()
        subprocess.run(["cmake", "--install", BUILD, "--prefix", "/opt/iw"], env=dict(os.environ, DESTDIR=scratch.name),
                       check=True, capture_output=True)
        cls.idlewave = cls.root / "opt/iw/bin/idlewave"

    def run_idlewave(self, *arguments):
        done = run_mpi.run([str(self.idlewave), *map(str, arguments)], cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_tracer_is_the_installed_one(self):
        shown = self.run_idlewave("trace", "--show", "-o", self.trace, self.program("hello"))
        variables = dict(line.split("=", 1) for line in shown.splitlines())
        tracer = pathlib.Path(variables["LD_PRELOAD"])
        self.assertTrue(tracer.is_relative_to(self.root / "opt/iw"), tracer)
        self.assertTrue(os.access(tracer.parent / "idlewave-trace-finish", os.X_OK))

    def test_a_program_is_traced_and_simulated(self):
        done = run_mpi.launch(trace_run.MPI, 2, [self.idlewave, "trace", "-o", self.trace, "--", self.program("hello")],
                              cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, "ranks 2 sum 1\n"), done.stderr)
        self.assertIn("2 ranks and 8 calls traced", done.stderr)
        self.assertIn("(traced) on 2 ranks of", self.run_idlewave("simulate", self.trace))

    def test_the_network_is_measured(self):
        command = [self.idlewave, "net", "--duration", "0.3s", "--max-size", "4KiB", "-o", "net.yaml"]
        done = run_mpi.launch(trace_run.MPI, 2, command, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "net.yaml").exists())


if __name__ == "__main__":
    trace_run.require("cmake")
    trace_run.main()
