#!/usr/bin/env python3
"""examples/slurm on a real Slurm: array studies, studies by srun, MPI simulations; tasks that are killed.

SPDX-License-Identifier: BSD-3-Clause

Usage: slurm_test.py --idlewave PATH     skipped (77) without Slurm's daemons or root; see slurm_cluster.py
"""

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import run_mpi
import slurm_cluster

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/slurm"
NODES = 4
STUDY = """
trials: 1000
systems:
  - {name: quiet, net: chic, noise: "periodic:10Hz,50us"}
  - {name: loud, net: xt4, noise: "periodic:1kHz,50us"}
patterns: [barrier, "bcast:binomial"]
ranks: [250, 251, 252, 253, 254, 255, 256, 257, 258, 259]
"""
CELLS = 40
SIMULATION = ("--pattern", "allreduce", "--ranks", "1000", "--noise", "poisson:1kHz,exp:20us", "--delay", "rank=17,time=3ms",
              "--net", "chic", "--trials", "6", "--format", "csv")
PATIENCE_SECONDS = 120
FILES = ("--output=job-%A-%a.out", "--error=job-%A-%a.err")


class Case(unittest.TestCase):
    cluster = None
    idlewave = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iw_slurm_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "study.yaml").write_text(STUDY, encoding="utf-8")
        # the examples call `idlewave`, as people do
        self.settings = {"PATH": os.pathsep.join([str(self.idlewave.parent), slurm_cluster.search_path()]),
                         **run_mpi.SETTINGS}

    def run_here(self, *line):
        done = self.cluster.run(line, cwd=self.folder, env=self.settings)
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def submit(self, *line, must_succeed=True):
        """Submits a batch job and waits for its end; what it wrote."""
        done = self.cluster.run(["sbatch", "--wait", *FILES, *line], cwd=self.folder, env=self.settings)
        if must_succeed:
            self.assertEqual(done.returncode, 0, f"{done.stderr}\n{self.output('err')}\n{self.cluster.logs()}")
        return self.output()

    def output(self, kind="out"):
        return "".join(path.read_text(encoding="utf-8") for path in sorted(self.folder.glob(f"job-*.{kind}")))

    def lines(self, name):
        texts = [path.read_text(encoding="utf-8") for path in (self.folder / name).glob("results*.jsonl")]
        return sorted(line for text in texts for line in text.splitlines(keepends=True) if line.endswith("\n"))

    def expected(self):
        subprocess.run([self.idlewave, "study", "study.yaml", "-o", "alone"], cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL)
        return self.lines("alone")

    def wait_for_lines(self, process, count):
        limit = time.monotonic() + PATIENCE_SECONDS
        while len(self.lines("run")) < count:
            self.assertIsNone(process.poll(), f"it ended before anything could be killed\n{self.output('err')}")
            self.assertLess(time.monotonic(), limit, f"no cell has ended\n{self.output('err')}")
            time.sleep(0.02)

    def kill_task(self, variable, value):
        """Kills the one idlewave that has that in its environment."""
        wanted = f"{variable}={value}".encode()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if (os.readlink(folder / "exe") == str(self.idlewave)
                        and wanted in (folder / "environ").read_bytes().split(b"\0")):
                    os.kill(int(folder.name), signal.SIGKILL)
                    return
            except OSError:
                pass  # it has ended meanwhile
        self.fail(f"no idlewave has {variable}={value}")

    def kill_while_it_runs(self, line, variable, value):
        """Kills one task once some cells are done, and waits for the end of the job."""
        line = ["sbatch", "--wait", *FILES, *map(str, line)]
        with subprocess.Popen(line, cwd=self.folder, env=dict(self.cluster.environment, **self.settings),
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
            try:
                self.wait_for_lines(process, 3)
                self.kill_task(variable, value)
                process.wait(timeout=PATIENCE_SECONDS)
            except BaseException:
                process.kill()
                raise


class Arrays(Case):
    def test_tasks_share_the_cells(self):
        output = self.submit(f"--array=1-{NODES}", EXAMPLES / "array.sh", "study.yaml", "run")
        self.assertEqual(output.count("Done"), NODES, output)
        self.assertGreater(len(list((self.folder / "run").glob("results*.jsonl"))), 1)
        self.assertEqual(self.lines("run"), self.expected())
        self.assertIn(f"all {CELLS} cells", self.run_here("idlewave", "study", "merge", "run", "-o", "merged"))
        self.assertEqual([path.name for path in (self.folder / "merged").glob("results*.jsonl")], ["results.jsonl"])
        self.assertEqual(self.lines("merged"), self.expected())

    def test_more_tasks_than_nodes_and_a_list_with_holes(self):
        self.submit("--array=1,3,4,9,12,40", EXAMPLES / "array.sh", "study.yaml", "run")
        self.assertEqual(self.lines("run"), self.expected())

    def test_a_task_that_is_killed_loses_nothing(self):
        self.kill_while_it_runs([f"--array=1-{NODES}", EXAMPLES / "array.sh", "study.yaml", "run"],
                                "SLURM_ARRAY_TASK_ID", 2)
        left = self.lines("run")
        self.assertGreaterEqual(len(left), CELLS - 2)  # the others have left when only its cells were missing
        self.submit("--array=1-2", EXAMPLES / "array.sh", "study.yaml", "run")
        self.assertEqual(self.lines("run"), self.expected())


class Steps(Case):
    def test_processes_of_srun_share_the_cells(self):
        output = self.submit(EXAMPLES / "study-mpi.sh", "study.yaml", "run")
        self.assertEqual(output.count("Done: "), 1, output)
        self.assertIn("by other processes", " ".join(output.split()))
        self.assertTrue((self.folder / "run/report.html").exists())
        self.assertEqual(self.lines("run"), self.expected())

    def test_several_processes_a_node(self):
        self.submit("--nodes=2", "--ntasks-per-node=2", EXAMPLES / "study-mpi.sh", "study.yaml", "run")
        self.assertEqual(self.lines("run"), self.expected())

    def test_the_others_go_on_when_one_is_killed(self):
        for rank in (0, 2):
            with self.subTest(rank=rank):
                self.kill_while_it_runs([EXAMPLES / "study-mpi.sh", "study.yaml", "run"], "SLURM_PROCID", rank)
                self.assertEqual(self.lines("run"), self.expected())
                (self.folder / "run").rename(self.folder / f"run{rank}")


class Simulations(Case):
    def alone(self):
        return subprocess.run([self.idlewave, "simulate", *SIMULATION], check=True, capture_output=True, text=True).stdout

    def has_part(self, mpi):
        return (self.idlewave.parent.parent / "lib/idlewave" / mpi / "libidlewave-mpi.so").exists()

    def test_mpich_by_srun_on_all_nodes(self):
        if not self.has_part("mpich"):
            self.skipTest("built without MPICH")
        output = self.submit(EXAMPLES / "simulate-mpi.sh", *SIMULATION)
        self.assertEqual(output, self.alone())
        output = self.submit("--nodes=2", "--output=job-two.out", EXAMPLES / "simulate-mpi.sh", *SIMULATION, "--parallel",
                             "trials")
        self.assertEqual((self.folder / "job-two.out").read_text(encoding="utf-8"), self.alone(), output)

    def test_open_mpi_by_its_own_launcher_in_a_job(self):
        if not self.has_part("openmpi") or run_mpi.launcher("openmpi") is None:
            self.skipTest("there is no Open MPI")
        line = " ".join([run_mpi.launcher("openmpi"), "-n 3 idlewave simulate --parallel ranks", *SIMULATION])
        self.assertEqual(self.submit("--nodes=1", "--ntasks=2", "--wrap", line), self.alone())

    def test_open_mpi_by_srun_on_one_node(self):
        pmix = self.cluster.run(["srun", "--mpi=list"])
        if not self.has_part("openmpi") or "pmix" not in pmix.stdout + pmix.stderr:
            self.skipTest("there is no Open MPI, or Slurm has no PMIx")
        self.settings["PMI"] = "pmix"
        output = self.submit("--nodes=1", "--ntasks-per-node=2", EXAMPLES / "simulate-mpi.sh", *SIMULATION)
        self.assertEqual(output, self.alone())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--idlewave", required=True, type=pathlib.Path)
    parser.add_argument("tests", nargs="*")
    arguments = parser.parse_args()
    slurm_cluster.require()
    slurm_cluster.enter_namespace()
    Case.idlewave = arguments.idlewave.resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="iw_slurmd_"))
    try:
        with slurm_cluster.Cluster(folder / "slurm", NODES) as Case.cluster:
            runner = unittest.TextTestRunner(resultclass=run_mpi.Result, verbosity=2)
            done = unittest.main(argv=[sys.argv[0], *arguments.tests], exit=False, testRunner=runner)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if done.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
