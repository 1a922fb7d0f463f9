#!/usr/bin/env python3
"""Whatever fails in the tracer, the program goes on: same output, same exit code, one warning, nothing hangs.

SPDX-License-Identifier: BSD-3-Clause

Usage: see run_mpi.test_arguments().
"""

import os
import pathlib
import subprocess

import run_mpi
import trace_events
import trace_run


class Failures(trace_run.Case):
    def assert_unchanged(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "sum 2\n")

    def warnings(self, done):
        return [line for line in done.stderr.splitlines() if line.startswith("idlewave: ") and "traced in" not in line]

    def test_a_folder_that_cannot_be_made(self):
        self.trace.write_text("a file", encoding="utf-8")
        done = self.run_traced(2, "trace_death", "fine")
        self.assert_unchanged(done)
        self.assertEqual(len(self.warnings(done)), 1, done.stderr)
        self.assertIn("not traced: rank 0: ", done.stderr)
        self.assertIn("Not a directory", done.stderr)

    def test_a_trace_that_is_there_already_is_kept(self):
        self.assert_unchanged(self.run_traced(2, "trace_death", "fine", "10"))
        before = self.anchor.stat().st_mtime_ns
        done = self.run_traced(2, "trace_death", "fine", "10")
        self.assert_unchanged(done)
        self.assertEqual(len(self.warnings(done)), 1, done.stderr)
        self.assertIn("it already holds a trace", done.stderr)
        self.assertEqual(self.anchor.stat().st_mtime_ns, before)
        self.assertFalse((self.trace / "spool").exists())

    def test_files_that_may_not_grow(self):
        """What was recorded until then is kept; as an archive it is larger than files may be."""
        done = self.run_traced(2, "trace_death", "disk", "200000")
        self.assert_unchanged(done)
        self.assertEqual(len(self.warnings(done)), 1, done.stderr)
        self.assertIn("could not be written (disk full?)", done.stderr)
        self.assertEqual(self.finish().returncode, 0)
        self.assertGreater(len(trace_events.lines(self.anchor, 0)), 100000)

    def assert_one_thread_is_lost(self, how, reason):
        done = self.run_traced(2, "trace_death", how)
        self.assert_unchanged(done)
        self.assertEqual(len(self.warnings(done)), 1, done.stderr)
        self.assertRegex(done.stderr, rf"incomplete: 1 of 2 ranks stopped early; rank 1: .*1\.1: {reason}")
        self.assertEqual(sum(line.startswith("MPI_Sendrecv: send") for line in trace_events.lines(self.anchor, 0)), 1000)
        self.assertEqual(trace_events.lines(self.anchor, 1)[0], "MPI_Init_thread")
        self.assertFalse((self.trace / "spool").exists())

    def test_a_thread_without_a_file(self):
        self.assert_one_thread_is_lost("files", "Too many open files")

    def test_a_thread_without_room_for_its_file(self):
        self.assert_one_thread_is_lost("no-room", "File too large")

    def test_threads_one_after_the_other_share_a_location(self):
        done = self.run_traced(2, "trace_death", "threads", "10")
        self.assert_unchanged(done)
        self.assertEqual(sorted(int(path.stem) for path in (self.trace / "traces").glob("*.evt")),
                         [0, 1, 1 << 32, 1 << 32 | 1])
        self.assertEqual(len(trace_events.lines(self.anchor, 1 << 32)), 20)

    def test_a_call_left_by_longjmp(self):
        done = self.run_traced(2, "trace_death", "longjmp")
        self.assert_unchanged(done)
        self.assertIn("incomplete: 1 calls were left by an exception or longjmp()", done.stderr)
        self.assertIn("left by an exception", trace_events.otf2_print(self.anchor, "-A"))
        lines = trace_events.lines(self.anchor, 1)
        self.assertEqual(sum(line.startswith("MPI_Sendrecv: send") for line in lines), 1000)
        self.assertEqual(lines[-1], "MPI_Finalize")

    def test_a_trace_is_kept_where_mpi_init_was_not_seen(self):
        self.assert_unchanged(self.run_traced(2, "trace_death", "alone", "10"))
        before = {path: path.stat().st_mtime_ns for path in self.trace.rglob("*")}
        done = self.run_traced(2, "trace_death", "alone", "10")
        self.assert_unchanged(done)
        self.assertIn("it already holds a trace", done.stderr)
        self.assertEqual({path: path.stat().st_mtime_ns for path in self.trace.rglob("*")}, before)

    def test_a_foreign_program_with_a_tracer_that_no_variable_names(self):
        other = {"openmpi": "mpich", "mpich": "openmpi"}[trace_run.MPI]
        program = trace_run.PROGRAMS.parent / other / "hello"
        loader = pathlib.Path("/lib64/ld-linux-x86-64.so.2")
        if not program.exists() or not loader.exists():
            self.skipTest("needs both MPIs and a loader with --preload")
        done = run_mpi.launch(other, 2, [loader, "--preload", trace_run.TRACER, program], cwd=self.folder)
        self.assertEqual(done.stderr.count(f"not traced: a program of {other}"), 1, done.stderr)
        if trace_run.MPI == "openmpi":  # MPICH's wrappers have 32 bits for handles, and Open MPI's have 64
            self.assertEqual((done.returncode, done.stdout), (0, "ranks 2 sum 1\n"))

    def test_no_memory(self):
        done = self.run_traced(2, "trace_death", "memory", "200000")
        self.assert_unchanged(done)
        self.assertEqual(len(self.warnings(done)), 1, done.stderr)
        self.assertIn("incomplete: 2 of 2 ranks stopped early; rank 0: writing the trace: Cannot allocate memory", done.stderr)
        self.assertGreater(len(trace_events.lines(self.anchor, 0)), 1000)
        self.assertIn("stopped early", trace_events.otf2_print(self.anchor, "-A"))

    @run_mpi.only_if(trace_run.MPI == "mpich")  # Open MPI 4.1 has no sessions
    def test_sessions_alone_are_not_traced(self):
        done = self.run_traced(2, "trace_processes", "sessions")
        self.assert_unchanged(done)
        self.assertEqual(len(self.warnings(done)), 1, done.stderr)
        self.assertIn("not traced: MPI_Init was not called; MPI sessions are not supported", done.stderr)

    def test_a_disk_too_small_for_the_archive(self):
        """A small tmpfs in a mount namespace of its own."""
        small = self.folder / "small"
        small.mkdir()
        probe = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=6m", "none", small],
                               capture_output=True, text=True, check=False)
        if os.geteuid() != 0 or probe.returncode != 0:
            self.skipTest("mounting needs rights")
        self.trace = small / "trace"
        script = (f"mount -t tmpfs -o size=6m none {small} && "
                  f"{run_mpi.launcher(trace_run.MPI)} -n 2 env LD_PRELOAD={trace_run.TRACER} "
                  f"IDLEWAVE_TRACE_DIR={self.trace} {self.program('trace_death')} fine 100000; echo code $?; "
                  f"mount -o remount,size=60m {small}; {trace_run.FINISH} {self.trace}; "
                  f"ls {self.trace}")
        done = run_mpi.run(["unshare", "-m", "sh", "-c", script], cwd=self.folder)
        self.assertEqual(len(self.warnings(done)), 1, done.stderr)
        self.assertIn("could not be written (disk full?)", done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:2], ["sum 2", "code 0"])
        self.assertRegex(lines[2], r"^2 of 2 ranks and \d+ calls in ")
        self.assertEqual(lines[3:], ["traces", "traces.def", "traces.otf2"])


class Deaths(trace_run.Case):
    """All calls up to the death are there, those of the killed rank too."""

    def assert_recovered(self, ending):
        spooled = sorted(path.name for path in (self.trace / "spool").iterdir())
        self.assertEqual(spooled, ["0.0", "1.0"])
        done = self.finish()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^2 of 2 ranks and \d+ calls in '.*traces.otf2'\n$")
        for rank in range(2):
            lines = trace_events.lines(self.anchor, rank)
            self.assertEqual(lines[0], "MPI_Init")
            self.assertEqual(sum(line.startswith("MPI_Sendrecv: send") for line in lines), 1000)
        self.assertEqual(trace_events.lines(self.anchor, 1)[-1], ending)
        self.assertFalse((self.trace / "spool").exists())

    def test_segmentation_fault(self):
        done = self.run_traced(2, "trace_death", "segv")
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("sum", done.stdout)
        self.assert_recovered("MPI_Barrier: collective BARRIER 0,1 root=- 0 0")

    def idlewave(self, *arguments):
        command = [str(trace_run.ARGUMENTS.idlewave.resolve()), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_killed(self):
        self.assertNotEqual(self.run_traced(2, "trace_death", "kill").returncode, 0)
        self.assertIn(f"'{trace_run.FINISH} {self.trace}'", self.idlewave("report", self.trace).stderr)
        self.assert_recovered("MPI_Barrier: collective BARRIER 0,1 root=- 0 0")
        self.assertIn("the run died; all that its ranks did until then was recovered",
                      self.idlewave("simulate", self.trace).stderr)

    def test_mpi_abort(self):
        done = self.run_traced(2, "trace_death", "abort")
        self.assertEqual(done.returncode, self.run_plain(2, "trace_death", "abort").returncode)
        self.assertIn("idlewave-trace-finish", done.stderr)
        self.assert_recovered("MPI_Abort")

    def test_exit_without_finalize(self):
        done = self.run_traced(2, "trace_death", "exit")
        # MPICH's launcher ends the other rank if it is quicker than that one's own end, and says 1 then, traced or not
        if trace_run.MPI == "openmpi":
            self.assertEqual(done.returncode, self.run_plain(2, "trace_death", "exit").returncode)
        self.assert_recovered("MPI_Barrier: collective BARRIER 0,1 root=- 0 0")

    def test_an_unfinished_trace_is_not_overwritten(self):
        self.run_traced(2, "trace_death", "exit")
        done = self.run_traced(2, "trace_death", "fine")
        self.assertEqual((done.returncode, done.stdout), (0, "sum 2\n"), done.stderr)
        self.assertIn("it holds an unfinished trace", done.stderr)
        self.assert_recovered("MPI_Barrier: collective BARRIER 0,1 root=- 0 0")

    def run_command(self, *options):
        command = [trace_run.ARGUMENTS.idlewave.resolve(), "trace", *options, "-o", self.trace, "--",
                   self.program("trace_death"), "fine"]
        return run_mpi.launch(trace_run.MPI, 2, command, cwd=self.folder)

    def test_the_command_refuses_a_folder_with_an_unfinished_trace(self):
        self.run_traced(2, "trace_death", "exit")
        done = self.run_command()
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("sum", done.stdout)
        self.assertEqual(done.stderr.count(f"to finish it, run '{trace_run.FINISH} {self.trace}'"), 1, done.stderr)
        self.assert_recovered("MPI_Barrier: collective BARRIER 0,1 root=- 0 0")

    def test_the_command_overwrites_an_unfinished_trace(self):
        self.run_traced(2, "trace_death", "exit")
        done = self.run_command("--overwrite")
        self.assertEqual((done.returncode, done.stdout), (0, "sum 2\n"), done.stderr)
        self.assertIn("2 ranks and 2010 calls traced", done.stderr)
        self.assertFalse((self.trace / "spool").exists())

    def test_nothing_to_finish(self):
        done = self.finish()
        self.assertEqual(done.returncode, 1)
        self.assertIn("it holds no unfinished trace", done.stderr)

    def test_files_that_are_not_usable_are_left_out(self):
        self.run_traced(2, "trace_death", "exit")
        (self.trace / "spool" / "1.0").write_bytes(b"x" * 100)
        (self.trace / "spool" / "1.1").write_bytes(b"")
        done = self.finish()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^1 of 2 ranks and \d+ calls in ")
        self.assertIn("warning: 2 files left out", done.stderr)
        self.assertEqual([path.name for path in (self.trace / "spool").iterdir()], ["1.0"])


if __name__ == "__main__":
    trace_run.require("otf2-print", "unshare")
    trace_run.main()
