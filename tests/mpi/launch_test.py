#!/usr/bin/env python3
"""Parts and `idlewave trace` under the real launchers: what fits works, what does not is refused with a sentence.

SPDX-License-Identifier: BSD-3-Clause

What the trace holds is not looked at here. Usage: see run_mpi.test_arguments().
"""

import pathlib
import tempfile
import unittest

import run_mpi

ARGUMENTS = run_mpi.test_arguments(__doc__)
MPI = ARGUMENTS.mpi
OTHER = next(mpi for mpi in run_mpi.MPIS if mpi != MPI)
IDLEWAVE = ARGUMENTS.idlewave.resolve()
HELLO = ARGUMENTS.programs.resolve() / "hello"
OTHER_HELLO = HELLO.parent.parent / OTHER / "hello"
PART_START = IDLEWAVE.parent / "iw_plugin_start"  # beside the command: it finds the parts as the command does
PARTS = run_mpi.parts_beside(IDLEWAVE)
TRACER = PARTS / MPI / "libidlewave-trace.so"
OTHER_TRACER = PARTS / OTHER / "libidlewave-trace.so"
# an interpreter that loads a module which uses MPI, as mpi4py does
PYTHON = ("python3", "-c", f"import ctypes; ctypes.CDLL('{HELLO.parent}/libhello.so').main(0, None)")
ALONE = f"the launcher started 2 processes, but {MPI} sees 1"


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iw_launch_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def launch(self, ranks, *command, mpi=MPI, env=None):
        return run_mpi.launch(mpi, ranks, command, cwd=self.folder, env=env)

    def run_alone(self, *command, env=None):
        return run_mpi.run([str(word) for word in command], cwd=self.folder, env=env)

    def script(self, text):
        path = self.folder / "script"
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
        return path


class Parts(Case):
    def test_start_with_all_ranks(self):
        done = self.launch(3, PART_START, MPI)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"{MPI}: rank {rank} of 3" for rank in range(3)])

    def test_start_alone_without_a_launcher(self):
        done = self.run_alone(PART_START, MPI)
        self.assertEqual((done.returncode, done.stdout), (0, f"{MPI}: rank 0 of 1\n"), done.stderr)

    @unittest.skipIf(run_mpi.launcher(OTHER) is None, f"there is no launcher of {OTHER}")
    def test_refuse_to_be_alone_under_the_other_launcher(self):
        done = self.launch(2, PART_START, MPI, mpi=OTHER)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertIn(ALONE, done.stderr)


@unittest.skipUnless(TRACER.exists(), "built without the tracer")
class Trace(Case):
    def test_runs_the_program_as_it_is(self):
        done = self.launch(3, IDLEWAVE, "trace", "-q", "-o", "run", "--", HELLO, 0, "a b", "-n", "--", "*")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "ranks 3 sum 3 'a b' '-n' '--' '*'\n")
        self.assertTrue((self.folder / "run/traces.otf2").exists())

    def test_options_end_at_the_program(self):
        done = self.launch(1, IDLEWAVE, "trace", "-q", HELLO, 0, "-o", "x")
        self.assertEqual((done.returncode, done.stdout), (0, "ranks 1 sum 0 '-o' 'x'\n"), done.stderr)
        self.assertTrue((self.folder / "trace-hello").is_dir())

    def test_runs_without_a_launcher(self):
        done = self.run_alone(IDLEWAVE, "trace", "-q", "-o", "run", "--", HELLO)
        self.assertEqual((done.returncode, done.stdout), (0, "ranks 1 sum 0\n"), done.stderr)

    def test_passes_the_exit_code_on(self):
        done = self.launch(1, IDLEWAVE, "trace", "-q", "-o", "run", "--", HELLO, 42)
        self.assertEqual(done.returncode, 42, done.stderr)

    def test_takes_the_launcher_s_mpi_for_a_script(self):
        script = self.script(f"exec {HELLO} \"$@\"")
        done = self.launch(2, IDLEWAVE, "trace", "-q", "-o", "run", "--", script, 0, "x")
        self.assertEqual((done.returncode, done.stdout), (0, "ranks 2 sum 1 'x'\n"), done.stderr)

    def test_sets_what_the_tracer_reads_and_keeps_what_was_preloaded(self):
        script = self.script("env | grep -E '^(LD_PRELOAD|IDLEWAVE_TRACE_)' | grep -v ^IDLEWAVE_TRACE_PID= | sort > seen")
        done = self.launch(1, IDLEWAVE, "trace", "-q", "--start", "off", "--buffer", "1MiB", "-o", "run", script,
                           env={"LD_PRELOAD": "libm.so.6",
                                "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "seen").read_text(encoding="utf-8").splitlines(), [
            "IDLEWAVE_TRACE_BUFFER=1048576", f"IDLEWAVE_TRACE_DIR={self.folder.resolve()}/run",
            "IDLEWAVE_TRACE_QUIET=1", "IDLEWAVE_TRACE_START=off", "IDLEWAVE_TRACE_STRICT=1",
            f"LD_PRELOAD={TRACER}:libm.so.6"])

    def test_shows_the_variables_for_use_without_the_command(self):
        shown = self.run_alone(IDLEWAVE, "trace", "--show", "-q", "-o", "run", HELLO)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        variables = dict(line.split("=", 1) for line in shown.stdout.splitlines())
        options = []
        for name, value in variables.items():
            options += ["-x", f"{name}={value}"] if MPI == "openmpi" else ["-genv", name, value]
        done = run_mpi.launch(MPI, 2, [HELLO], cwd=self.folder, options=options)
        self.assertEqual((done.returncode, done.stdout), (0, "ranks 2 sum 1\n"), done.stderr)

    @unittest.skipUnless(OTHER_HELLO.exists(), f"there is no program of {OTHER}")
    def test_refuses_a_program_of_the_other_mpi_once(self):
        done = self.launch(2, IDLEWAVE, "trace", "-o", "run", "--", OTHER_HELLO)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count("ranks"), 0)
        self.assertIn(f"is a program of {OTHER}, but was started by a launcher of {MPI}", done.stderr)
        self.assertIn(f"use the launcher of {OTHER} (on Debian mpirun.{OTHER})", done.stderr)
        self.assertEqual(done.stderr.count("is a program of"), 1, done.stderr)
        self.assertFalse((self.folder / "run").exists())

    def test_traces_an_interpreter_whose_module_uses_mpi(self):
        done = self.launch(2, IDLEWAVE, "trace", "-o", "run", "--", *PYTHON)
        self.assertEqual((done.returncode, done.stdout), (0, "ranks 2 sum 1\n"), done.stderr)
        self.assertIn("2 ranks and 8 calls traced", done.stderr)

    def test_does_not_touch_a_trace_that_is_there(self):
        (self.folder / "run/traces").mkdir(parents=True)
        (self.folder / "run/traces.otf2").write_text("mine", encoding="utf-8")
        (self.folder / "run/traces/0.evt").write_text("mine", encoding="utf-8")
        (self.folder / "run/notes").write_text("mine", encoding="utf-8")
        done = self.launch(2, IDLEWAVE, "trace", "-q", "-o", "run", "--", HELLO)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("'run' already holds a trace", done.stderr)
        self.assertEqual((self.folder / "run/traces.otf2").read_text(encoding="utf-8"), "mine")
        done = self.launch(2, IDLEWAVE, "trace", "-q", "--overwrite", "-o", "run", "--", HELLO)
        self.assertEqual((done.returncode, done.stdout), (0, "ranks 2 sum 1\n"), done.stderr)
        for name in ("traces.otf2", "traces/0.evt"):
            path = self.folder / "run" / name
            self.assertFalse(path.exists() and path.read_bytes() == b"mine", name)
        self.assertEqual((self.folder / "run/notes").read_text(encoding="utf-8"), "mine")

    def test_tells_a_missing_program_and_a_missing_folder(self):
        done = self.launch(2, IDLEWAVE, "trace", "--", "./none")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("trace: './none' cannot be run: No such file or directory", done.stderr)
        done = self.launch(2, IDLEWAVE, "trace", "-o", "no/where", "--", HELLO)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("trace: cannot use the folder 'no/where': No such file or directory", done.stderr)

    def test_tells_a_missing_part(self):
        done = self.launch(1, IDLEWAVE, "trace", "--", HELLO, env={"IDLEWAVE_PARTS": str(self.folder)})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"{MPI}/libidlewave-trace.so': IDLEWAVE_PARTS names this folder", done.stderr)


@unittest.skipUnless(TRACER.exists() and OTHER_TRACER.exists() and run_mpi.launcher(OTHER), f"there is no {OTHER}")
class OfTheOtherMpi(Case):
    """Programs, tracers and launchers of two MPIs, where the command cannot see it beforehand."""

    def preload(self, tracer, *command):
        return "env", f"LD_PRELOAD={tracer}", f"IDLEWAVE_TRACE_DIR={self.folder}/run", *command

    def assert_refused(self, done, sentence):
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("ranks", done.stdout)
        self.assertEqual(done.stderr.count(sentence), 1, done.stderr)
        self.assertFalse((self.folder / "run/traces.otf2").exists())

    def test_a_program_alone_under_the_other_launcher_is_an_error(self):
        done = self.launch(2, IDLEWAVE, "trace", "--mpi", MPI, "-o", "run", "--", HELLO, mpi=OTHER)
        self.assert_refused(done, f"idlewave: {ALONE}: it belongs to another MPI; use the launcher of {MPI}")

    def test_so_is_one_in_a_script(self):
        done = self.launch(2, IDLEWAVE, "trace", "-o", "run", "--", self.script(f"exec {HELLO}"), mpi=OTHER)
        self.assert_refused(done, f"idlewave: {ALONE}")

    def test_so_is_one_in_an_interpreter(self):
        done = self.launch(2, IDLEWAVE, "trace", "-o", "run", "--", *PYTHON, mpi=OTHER)
        self.assert_refused(done, f"the program has loaded {MPI}, but this is the tracer of {OTHER}")

    def test_by_plain_preloading_it_goes_on_with_a_warning(self):
        done = self.launch(2, *self.preload(TRACER, HELLO), mpi=OTHER)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("ranks 1 sum 0"), 2)
        self.assertEqual(done.stderr.count(f"idlewave: not traced: {ALONE}"), 1, done.stderr)
        self.assertFalse((self.folder / "run").exists())

    def test_the_wrong_tracer_gives_the_program_to_the_right_one(self):
        done = self.launch(2, *self.preload(OTHER_TRACER, HELLO, 3, "a b", "", "*"))
        self.assertEqual((done.returncode, done.stdout), (3, "ranks 2 sum 1 'a b' '' '*'\n"), done.stderr)
        self.assertTrue((self.folder / "run/traces.otf2").exists())

    def test_without_the_right_one_the_program_runs_untraced(self):
        tracer = self.folder / OTHER / OTHER_TRACER.name
        tracer.parent.mkdir()
        tracer.symlink_to(OTHER_TRACER)
        done = self.launch(2, *self.preload(tracer, HELLO))
        self.assertEqual((done.returncode, done.stdout), (0, "ranks 2 sum 1\n"), done.stderr)
        self.assertEqual(done.stderr.count(f"not traced: a program of {MPI}, but this is the tracer of {OTHER}"), 1)
        self.assertFalse((self.folder / "run").exists())


if __name__ == "__main__":
    run_mpi.run_tests(ARGUMENTS)
