#!/usr/bin/env python3
"""Quantum ESPRESSO's pw.x on 4 ranks, silicon: a Fortran program, with ScaLAPACK and FFTs below it.

SPDX-License-Identifier: BSD-3-Clause

Usage: see app_run.py.
"""

import app_run

PW = app_run.need("pw.x", "quantum-espresso")
PSEUDO = app_run.need("/usr/share/espresso/pseudo/Si.pz-vbc.UPF", "quantum-espresso-data")

INPUT = f"""&control
  calculation = 'scf', prefix = 'si', outdir = '.', pseudo_dir = '{PSEUDO.parent}'
/
&system
  ibrav = 2, celldm(1) = 10.2, nat = 2, ntyp = 1, ecutwfc = 12
/
&electrons
/
ATOMIC_SPECIES
 Si 28.086 {PSEUDO.name}
ATOMIC_POSITIONS alat
 Si 0.00 0.00 0.00
 Si 0.25 0.25 0.25
K_POINTS automatic
 2 2 2 0 0 0
"""


class Silicon(app_run.Case):
    def prepare(self):
        (self.folder / "si.in").write_text(INPUT)

    def test_all_calls_are_traced_and_simulated(self):
        command = [PW, "-in", "si.in"]
        counted = self.run_counted(command)
        traced = self.run_traced(command)
        self.assertGreater(counted[0]["MPI_Bcast"], 1000)
        self.assert_all_calls_are_traced(traced, counted)
        self.assert_simulates(traced)


if __name__ == "__main__":
    app_run.main()
