#!/usr/bin/env python3
"""PETSc's driven cavity (snes/ex19) with multigrid on 4 ranks: persistent requests, started all at once.

SPDX-License-Identifier: BSD-3-Clause

Usage: see app_run.py.
"""

import subprocess

import app_run

SOURCE = app_run.need("/usr/share/petsc/3.18/share/petsc/examples/src/snes/tutorials/ex19.c", "libpetsc3.18-dev-examples")
PETSC = app_run.need("/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real/lib/libpetsc_real.so", "libpetsc-real3.18-dev")
MPICC = app_run.need(f"mpicc.{app_run.MPI}", "libopenmpi-dev")


class Cavity(app_run.Case):
    def prepare(self):
        includes = [f"-I{PETSC.parents[1] / 'include'}", f"-I{app_run.ROOT / 'usr/include'}"]
        # libraries that PETSc needs are found when it runs
        libraries = [f"-L{PETSC.parent}", "-lpetsc_real", "-lm", "-Wl,--allow-shlib-undefined"]
        line = [MPICC, "-w", *includes, SOURCE, "-o", self.folder / "ex19", *libraries]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_all_calls_are_traced_and_simulated(self):
        command = [self.folder / "ex19", "-da_refine", "2", "-pc_type", "mg"]
        counted = self.run_counted(command)
        traced = self.run_traced(command)
        self.assertGreater(counted[0]["MPI_Startall"], 100)
        self.assert_all_calls_are_traced(traced, counted)
        self.assert_simulates(traced)


if __name__ == "__main__":
    app_run.main()
