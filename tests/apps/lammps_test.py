#!/usr/bin/env python3
"""LAMMPS, a melting crystal on 4 ranks: thousands of Send, Irecv and Wait on a Cartesian communicator.

SPDX-License-Identifier: BSD-3-Clause

Usage: see app_run.py.
"""

import app_run

LMP = app_run.need("lmp", "lammps")
INPUT = app_run.need("/usr/share/lammps/examples/melt/in.melt", "lammps-examples")


class Melt(app_run.Case):
    def test_all_calls_are_traced_and_simulated(self):
        command = [LMP, "-in", INPUT, "-log", "none"]
        counted = self.run_counted(command)
        traced = self.run_traced(command)
        self.assertGreater(counted[0]["MPI_Send"], 1000)
        self.assert_all_calls_are_traced(traced, counted)
        self.assert_simulates(traced)


if __name__ == "__main__":
    app_run.main()
