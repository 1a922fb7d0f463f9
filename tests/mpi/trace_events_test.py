#!/usr/bin/env python3
"""The tracer records everything: what fixtures say they did is what otf2-print shows, in every language binding.

SPDX-License-Identifier: BSD-3-Clause

Usage: see run_mpi.test_arguments().
"""

import re

import trace_events
import trace_run


class Events(trace_run.Case):
    maxDiff = None

    def compare(self, name, ranks):
        done = self.run_traced(ranks, name, self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        for rank in range(ranks):
            wanted = (self.folder / f"expect.{rank}").read_text(encoding="utf-8").splitlines()
            self.assertEqual(trace_events.lines(self.anchor, rank), wanted, f"rank {rank}")
        return done

    def test_point_to_point(self):
        self.compare("trace_p2p", 2)
        polls = [enter.attribute("polls") for line, enter, _ in trace_events.calls(self.anchor, 1)
                 if line.startswith("MPI_Send: send 0 42 ")]
        self.assertEqual(polls, ["30"])

    def test_collectives(self):
        self.compare("trace_collectives", 4)

    def test_communicators(self):
        self.compare("trace_comms", 4)

    def test_processes_outside_of_the_world(self):
        done = self.compare("trace_processes", 2)
        self.assertRegex(done.stderr, r"warning: \d+ of the calls \(one-sided, files, \.\.\.\) are opaque")
        # Debian's MPICH cannot spawn
        self.assertEqual(done.stderr.count("programs started by MPI_Comm_spawn are not in the trace"),
                         trace_run.MPI == "openmpi")
        definitions = trace_events.otf2_print(self.anchor, "--show-global-defs")
        self.assertRegex(definitions, r'Name: "MPI_Comm_spawn".*"opaque: process management"')

    def test_mpif_h(self):
        self.compare("trace_mpifh", 2)

    def test_use_mpi(self):
        self.compare("trace_use_mpi", 2)

    def test_use_mpi_f08(self):
        self.compare("trace_mpi_f08", 2)

    def test_programs_give_the_same_results_untraced(self):
        for name, ranks in (("trace_p2p", 2), ("trace_collectives", 4), ("trace_use_mpi", 2), ("trace_mpi_f08", 2)):
            if (trace_run.PROGRAMS / name).exists():
                self.assertEqual(self.run_plain(ranks, name, self.folder).returncode, 0, name)

    def test_opaque_calls_are_counted_and_switching_off_works(self):
        done = self.compare("trace_misc", 2)
        self.assertIn("16 of the calls (one-sided, files, ...) are opaque", done.stderr)
        definitions = trace_events.otf2_print(self.anchor, "--show-global-defs")
        self.assertRegex(definitions, r'Name: "MPI_Get".*"opaque: one-sided"')
        self.assertRegex(definitions, r'Name: "MPI_File_open".*"opaque: file"')
        self.assertNotRegex(definitions, r'Name: "MPI_Send".*"opaque')

    def test_cpu_time_leaves_out_sleep_and_has_work(self):
        self.compare("trace_misc", 2)
        calls = trace_events.calls(self.anchor, 0)
        gaps = {}
        for (_, _, before), (line, enter, _) in zip(calls, calls[1:]):
            gap = enter.time - before.time
            gaps[line.split(":")[0]] = (gap, int(enter.attribute("cpu_ns") or gap))
        slept_wall, slept_cpu = gaps["MPI_Scan"]
        worked_wall, worked_cpu = gaps["MPI_Exscan"]
        self.assertGreater(slept_wall, 29e6)
        self.assertLess(slept_cpu, slept_wall / 3)
        self.assertGreater(worked_wall, 29e6)
        self.assertGreater(worked_cpu, 2 * slept_cpu)
        self.assertLess(worked_cpu, 1.1 * worked_wall)

    def test_threads_have_locations_of_their_own(self):
        self.compare_threads()

    def compare_threads(self):
        done = self.run_traced(2, "trace_threads", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        for rank in range(2):
            wanted = (self.folder / f"expect.{rank}").read_text(encoding="utf-8").splitlines()
            self.assertEqual(trace_events.lines(self.anchor, rank), wanted)
            for thread in (1, 2, 3):
                lines = trace_events.lines(self.anchor, thread << 32 | rank)
                tag = re.search(r"irecv_request \d (\d+)", lines[0]).group(1)
                wanted = (self.folder / f"expect.{rank}.{tag}").read_text(encoding="utf-8").splitlines()
                self.assertEqual(lines, wanted, f"rank {rank} thread {thread}")

    def test_starting_off_records_nothing_until_switched_on(self):
        done = self.run_traced(2, "trace_misc", self.folder, settings=["IDLEWAVE_TRACE_START=off"])
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = trace_events.lines(self.anchor, 0)
        self.assertEqual(lines[:2], ["off", "on"])
        self.assertEqual(lines[2], "MPI_Send: send 1 4 4 0,1")

    def test_quiet_is_silent(self):
        done = self.run_traced(2, "trace_p2p", self.folder, settings=["IDLEWAVE_TRACE_QUIET=1"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("idlewave", done.stderr)
        self.assertTrue(self.anchor.exists())

    def test_a_small_buffer_and_many_flushes_give_the_same_trace(self):
        done = self.run_traced(1, "trace_many", "20000", settings=["IDLEWAVE_TRACE_BUFFER=64KiB"])
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = trace_events.lines(self.anchor, 0)
        self.assertEqual(len(lines), 21002)
        self.assertEqual(set(lines[1:-1]), {"MPI_Sendrecv: send 0 1 1 0; recv 0 1 1 0"})


if __name__ == "__main__":
    trace_run.require("otf2-print")
    trace_run.main()
