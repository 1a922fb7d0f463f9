#!/usr/bin/env python3
"""simulate under the real launchers: one result, each message once, and whoever fails ends all.

SPDX-License-Identifier: BSD-3-Clause
"""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import run_mpi

ARGUMENTS = run_mpi.test_arguments(__doc__)
IDLEWAVE = ARGUMENTS.idlewave.resolve()
RANK = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}[ARGUMENTS.mpi]
PATTERN = ("--pattern", "allreduce", "--ranks", "100", "--noise", "periodic:1kHz,20us", "--trials", "4")


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iw_launch_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def launch(self, processes, *options, env=None):
        return run_mpi.launch(ARGUMENTS.mpi, processes, [IDLEWAVE, "simulate", *options], cwd=self.folder, env=env)

    def alone(self, *options):
        done = subprocess.run([IDLEWAVE, "simulate", *options], cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout

    def assert_tells_once(self, processes, options, code, text, verb="simulate", env=None):
        """What all of them meet."""
        done = run_mpi.launch_for_one_telling(ARGUMENTS.mpi, processes, [IDLEWAVE, verb, *options], text,
                                              cwd=self.folder, env=env)
        self.assert_ended(done, code, text)

    def assert_ended(self, done, code, text):
        """With that exit code, after telling `text` once."""
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count(text), 1, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertNotIn("killed after", done.stderr)


class Results(Case):
    def test_one_process_tells_the_result(self):
        for parallel, what in (("ranks", "ranks"), ("trials", "trials")):
            done = self.launch(3, *PATTERN, "--parallel", parallel, "--threads", "1")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout.count("messages   "), 1, done.stdout)
            self.assertIn(f"3 processes of 1 thread, each with some of the {what}", " ".join(done.stdout.split()))

    def test_one_process_of_a_launcher_starts_no_mpi(self):
        done = self.launch(1, *PATTERN, "--format", "csv", env={"IDLEWAVE_PARTS": "/nowhere"})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, self.alone(*PATTERN, "--format", "csv"), ""))

    def test_cpus_are_shared_out(self):
        """Processes that may use the same CPUs have together at most as many threads as there are."""
        done = self.launch(2, *PATTERN, "--parallel", "ranks", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["threads"], max(1, len(os.sched_getaffinity(0)) // 2))

    def test_auto_splits_something(self):
        done = self.launch(2, *PATTERN, "--format", "csv")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, self.alone(*PATTERN, "--format", "csv"), ""))

    def test_explanation_and_timeline(self):
        for trials in ("1", "4"):
            options = (*PATTERN[:-1], trials, "--explain", "--timeline", "run.h5", "--format", "json")
            expected = json.loads(self.alone(*options))
            (self.folder / "run.h5").unlink()
            done = self.launch(3, *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["explain"], expected["explain"])
            self.assertTrue((self.folder / "run.h5").exists())

    def test_a_schedule(self):
        (self.folder / "app.goal").write_text("num_ranks 4\n" + "".join(
            f"rank {rank} {{\na: calc 1000\nb: send 8b to {(rank + 1) % 4} tag 1\nc: recv 8b from {(rank + 3) % 4} tag 1\n"
            "b requires a\nc requires b\n}\n" for rank in range(4)), encoding="ascii")
        options = ("app.goal", "--noise", "periodic:10kHz,5us", "--trials", "5", "--format", "csv")
        done = self.launch(3, *options)
        self.assertEqual((done.returncode, done.stdout), (0, self.alone(*options)), done.stderr)


class Failures(Case):
    def test_options_that_are_none(self):
        self.assert_tells_once(3, (*PATTERN, "--bogus"), 64, "there is no option '--bogus'")

    def test_options_that_do_not_fit(self):
        self.assert_tells_once(3, (*PATTERN, "--lanes", "3"), 64, "--lanes 3: use 1, 2, 4 or 8")
        self.assert_tells_once(3, (*PATTERN, "--lanes", "3"), 64, "hint: ")

    def test_one_argument_too_many(self):
        self.assert_tells_once(3, ("a.goal", "b.goal"), 64, "unexpected argument 'b.goal'")
        self.assert_tells_once(3, ("a.goal", "b.goal"), 64, "hint: ")

    def test_verbs_and_patterns_that_are_none(self):
        self.assert_tells_once(3, (), 64, "there is no verb 'simulat'", verb="simulat")
        self.assert_tells_once(3, (), 64, "hint: ", verb="simulat")
        self.assert_tells_once(3, ("--pattern", "none", "--ranks", "8"), 64, "hint: ")

    def test_help_is_told_once(self):
        for words in (["simulate", "--help"], ["--help"], ["--version"]):
            done = run_mpi.launch(ARGUMENTS.mpi, 3, [IDLEWAVE, *words], cwd=self.folder)
            alone = subprocess.run([IDLEWAVE, *words], check=True, capture_output=True, text=True).stdout
            self.assertEqual((done.returncode, done.stdout), (0, alone), done.stderr)

    def test_inputs_that_all_find_missing(self):
        self.assert_tells_once(3, ["missing.goal"], 1, "missing.goal")

    def test_warnings_are_told_once(self):
        done = self.launch(3, "--pattern", "barrier", "--ranks", "64", "--noise", "bernoulli:0.1,1ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("warning: "), 1, done.stderr)

    def test_an_input_that_one_finds_missing(self):
        """The others wait for it in MPI; they learn of it."""
        script = f'exec {IDLEWAVE} simulate --pattern barrier --ranks 64 --net "net.${RANK}"'
        for rank in (0, 2):
            (self.folder / f"net.{rank}").write_text("name: mine\nL: 5us\no: 1us\ng: 1us\nG: 1ns\n", encoding="ascii")
        done = run_mpi.launch(ARGUMENTS.mpi, 3, ["sh", "-c", script], cwd=self.folder)
        self.assert_ended(done, 64, "'net.1' is neither a file nor one of")

    def test_a_file_that_the_first_cannot_write(self):
        self.assert_ended(self.launch(3, *PATTERN, "--end-times", "no/such/folder.csv"), 1, "no/such/folder.csv")

    def test_what_cannot_be_split(self):
        self.assert_tells_once(2, (*PATTERN, "--engine", "event", "--parallel", "ranks"), 1, "only trials can be split")

    def test_a_process_that_is_killed_ends_all(self):
        """While the others wait for its messages."""
        script = f'[ "${RANK}" = 1 ] && (sleep 1; kill -9 $$) & exec {IDLEWAVE} simulate --pattern allreduce ' \
                 "--ranks 65536 --repeat 100000 --noise periodic:1kHz,1us --parallel ranks --threads 1"
        done = run_mpi.launch(ARGUMENTS.mpi, 3, ["sh", "-c", script], cwd=self.folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("allreduce on", done.stdout)
        self.assertNotIn("killed after", done.stderr)

    def test_parts_that_are_missing(self):
        self.assert_tells_once(2, PATTERN, 1, "libidlewave-mpi.so", env={"IDLEWAVE_PARTS": "/nowhere"})


if __name__ == "__main__":
    run_mpi.run_tests(ARGUMENTS)
