#!/usr/bin/env python3
"""Applications under `idlewave replay` come to the results that they come to without.

SPDX-License-Identifier: BSD-3-Clause

Usage: see run_mpi.test_arguments(). HPC Challenge and LAMMPS as Debian builds them, with Open MPI; a solver of
ours with each MPI.
"""

import pathlib
import re
import shutil

import replay_run
import run_mpi

OF_DEBIAN = run_mpi.only_if(replay_run.MPI == "openmpi")
HPCC_INPUT = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
NOISE = "poisson:200Hz,exp:100us"
LAMMPS_INPUT = """units lj
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
thermo 50
run 100
"""


class Apps(replay_run.Case):
    def need(self, program):
        if shutil.which(program) is None:
            self.skipTest(f"there is no {program}; on Debian: apt-get install hpcc lammps")

    def run_app(self, command, *options):
        done = self.replay(2, command, *options, noise=NOISE, timeout=400)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        self.assert_noisy(done, 2)
        return done.stdout

    @OF_DEBIAN
    def test_hpcc(self):
        self.need("hpcc")
        lines = HPCC_INPUT.read_text(encoding="utf-8").splitlines()
        lines[5], lines[10], lines[11] = "200 Ns", "1 Ps", "2 Qs"
        (self.folder / "hpccinf.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for back_end in replay_run.BACK_ENDS:
            output = self.folder / "hpccoutf.txt"
            output.unlink(missing_ok=True)
            self.run_app(["hpcc"], "--back-end", back_end)
            text = output.read_text(encoding="utf-8")
            self.assertIn("Success=1", text)
            self.assertNotIn("FAILED", text)
            self.assertIn("PASSED", text)

    def thermo(self, text):
        """The lines of the table: step, temperature, energies, pressure."""
        rows = re.findall(r"^ +\d+(?: +-?[\d.e+-]+){5} *$", text, re.M)
        self.assertEqual(len(rows), 3, text[-2000:])
        return rows

    @OF_DEBIAN
    def test_lammps(self):
        self.need("lmp")
        (self.folder / "in.lj").write_text(LAMMPS_INPUT, encoding="utf-8")
        command = ["lmp", "-in", "in.lj"]
        plain = run_mpi.launch("openmpi", 2, command, env={"OMP_NUM_THREADS": "1"}, cwd=self.folder)
        for back_end in replay_run.BACK_ENDS:
            noisy = self.run_app(["env", "OMP_NUM_THREADS=1", *command], "--back-end", back_end)
            self.assertEqual(self.thermo(noisy), self.thermo(plain.stdout))

    def test_a_solver_to_the_last_bit(self):
        command = [self.program("replay_solver")]
        plain = run_mpi.launch(replay_run.MPI, 2, command)
        self.assertRegex(plain.stdout, r"^residual [\d.e-]+ sum [\d.e+]+\n$")
        for back_end in replay_run.BACK_ENDS:
            self.assertEqual(self.run_app(command, "--back-end", back_end, "--sync", "phase"), plain.stdout)


if __name__ == "__main__":
    replay_run.main()
