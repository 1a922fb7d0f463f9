#!/usr/bin/env python3
"""Studies under the real launchers: the same lines for any number of processes, and nothing lost when one is killed.

SPDX-License-Identifier: BSD-3-Clause

Usage: see run_mpi.test_arguments().
"""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import run_mpi

ARGUMENTS = run_mpi.test_arguments(__doc__)
MPI = ARGUMENTS.mpi
IDLEWAVE = ARGUMENTS.idlewave.resolve()
STUDY = """
trials: {trials}
systems:
  - {{name: quiet, net: chic, noise: "periodic:10Hz,50us"}}
  - {{name: loud, net: xt4, noise: "periodic:1kHz,50us"}}
patterns: [barrier, "bcast:binomial"]
ranks: [{ranks}]
"""
QUICK = STUDY.format(trials=20, ranks="2, 3, 5, 8, 13, 21")
LASTING = STUDY.format(trials=16000, ranks="250, 251, 252, 253, 254, 255, 256, 257, 258, 259")
LONG = LASTING.replace("16000", "60000")  # launchers take a second to end a job, and it shall not be done by then
CELLS = 40  # of both
STUCK = """
trials: 2
systems: [{net: chic}]
patterns: [barrier]
schedules: [stuck.goal]
ranks: [4, 8, 16, 32]
"""
STUCK_GOAL = "num_ranks 2\nrank 0 {\nl1: recv 8b from 1 tag 7\n}\nrank 1 {\nl1: recv 8b from 0 tag 7\n}\n"


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iw_study_mpi_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "quick.yaml").write_text(QUICK, encoding="utf-8")
        (self.folder / "lasting.yaml").write_text(LASTING, encoding="utf-8")
        (self.folder / "long.yaml").write_text(LONG, encoding="utf-8")
        # tells its number before it becomes the command
        self.script = self.folder / "start"
        self.script.write_text(f'#!/bin/sh\necho $$ > "pid.$OMPI_COMM_WORLD_RANK$PMI_RANK"\nexec {IDLEWAVE} "$@"\n',
                               encoding="utf-8")
        self.script.chmod(0o755)

    def launch(self, ranks, *command, options=()):
        return run_mpi.launch(MPI, ranks, command, cwd=self.folder, options=options)

    def lines(self, name):
        """All whole lines of all results files, sorted: one too many is seen as well as one too few."""
        texts = [path.read_text(encoding="utf-8") for path in (self.folder / name).glob("results*.jsonl")]
        return sorted(line for text in texts for line in text.splitlines(keepends=True) if line.endswith("\n"))

    def run_alone(self, study, folder):
        done = run_mpi.run([str(IDLEWAVE), "study", study, "-o", folder], cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.lines(folder)


class Lines(Case):
    def test_are_the_same_for_any_number_of_processes(self):
        expected = self.run_alone("quick.yaml", "alone")
        for ranks in (1, 2, 4):
            with self.subTest(ranks=ranks):
                done = self.launch(ranks, IDLEWAVE, "study", "quick.yaml", "-o", f"with{ranks}")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.count("Done: 24 cells"), 1, done.stdout)
                self.assertEqual(self.lines(f"with{ranks}"), expected)

    def test_of_more_processes_than_cells_and_of_a_study_that_is_done(self):
        expected = self.run_alone("quick.yaml", "run")
        done = self.launch(3, IDLEWAVE, "study", "quick.yaml", "-o", "run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("(24 finished before)", done.stdout)
        self.assertEqual(self.lines("run"), expected)

    def test_are_all_there_when_a_cell_fails(self):
        (self.folder / "stuck.yaml").write_text(STUCK, encoding="utf-8")
        (self.folder / "stuck.goal").write_text(STUCK_GOAL, encoding="utf-8")
        done = self.launch(2, IDLEWAVE, "study", "stuck.yaml", "-o", "run")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "study: process [01]: cell 5: system chic, stuck, 2 ranks: 2 ranks cannot continue")
        self.assertEqual(len(self.lines("run")), 4)

    def test_what_all_meet_is_told_once(self):
        done = run_mpi.launch_for_one_telling(MPI, 3, [IDLEWAVE, "study", "none.yaml", "-o", "run"], "none.yaml",
                                              cwd=self.folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("none.yaml"), 1, done.stderr)


class Killed(Case):
    def kill_one(self, ranks, victim, study="lasting.yaml", options=(), wrapper=()):
        """Kills the process of that rank once some cells are done, but not all; the launcher's exit code."""
        for _ in range(10):
            code = self.try_to_kill_one(ranks, victim, study, options, wrapper)
            if code is not None:
                return code
            shutil.rmtree(self.folder / "run")
        self.fail("it always ended before it could be killed")
        return None

    def try_to_kill_one(self, ranks, victim, study, options, wrapper):
        """None: it was done before."""
        line = [run_mpi.launcher(MPI), *options, "-n", str(ranks), *wrapper, str(self.script), "study", study,
                "-o", "run", "--threads", "1"]
        with subprocess.Popen(line, cwd=self.folder, env=run_mpi.environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as process:
            try:
                self.wait_for_lines(process, 3)
                done = len(self.lines("run"))
                if process.poll() is None:
                    os.kill(int((self.folder / f"pid.{victim}").read_text(encoding="utf-8")), signal.SIGKILL)
                process.communicate(timeout=run_mpi.TIMEOUT_SECONDS)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return process.returncode if done < CELLS - ranks else None

    def wait_for_lines(self, process, count):
        limit = time.monotonic() + run_mpi.TIMEOUT_SECONDS
        while len(self.lines("run")) < count and process.poll() is None:
            self.assertLess(time.monotonic(), limit, "no cell has ended")
            time.sleep(0.02)

    def assert_nobody_is_left(self):
        """All processes that were started have ended, or do so within a moment."""
        limit = time.monotonic() + run_mpi.TIMEOUT_SECONDS
        for path in self.folder.glob("pid.*"):
            pid = int(path.read_text(encoding="utf-8"))
            while (pathlib.Path(f"/proc/{pid}/cmdline").exists()
                   and str(IDLEWAVE).encode() in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()):
                self.assertLess(time.monotonic(), limit, f"process {pid} goes on")
                time.sleep(0.05)

    def test_the_launcher_ends_the_job_and_the_next_run_goes_on(self):
        self.assertNotEqual(self.kill_one(3, 1, "long.yaml"), 0)
        self.assert_nobody_is_left()
        left = self.lines("run")
        self.assertLess(len(left), CELLS, "all was done before the kill")
        done = self.launch(2, IDLEWAVE, "study", "long.yaml", "-o", "run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"({len(left)} finished before)", " ".join(done.stdout.split()))
        self.assertEqual(self.lines("run"), self.run_alone("long.yaml", "alone"))

    def test_the_others_end_the_study_under_a_launcher_that_lets_them(self):
        """Open MPI's has an option for it; MPICH's cares for signals, but not for exit codes."""
        options, wrapper = (["--enable-recovery"], []) if MPI == "openmpi" else ([], ["sh", "-c", '"$0" "$@"; exit $?'])
        expected = self.run_alone("lasting.yaml", "alone")
        for victim in (0, 2):
            with self.subTest(victim=victim):
                self.kill_one(3, victim, options=options, wrapper=wrapper)
                self.assertEqual(self.lines("run"), expected)
                (self.folder / "run").rename(self.folder / f"run{victim}")


if __name__ == "__main__":
    run_mpi.run_tests(ARGUMENTS)
