#!/usr/bin/env python3
"""Traces of all fixtures can be simulated: no call is refused, what is not followed is named, messages are all there.

SPDX-License-Identifier: BSD-3-Clause

Usage: see run_mpi.test_arguments().
"""

import json
import re
import subprocess

import run_mpi
import trace_run

IDLEWAVE = trace_run.ARGUMENTS.idlewave.resolve()
OPAQUE = "calls of one-sided communication, files, processes or other things that are not followed"
BETWEEN = "collective calls on intercommunicators"
UNKNOWN = "calls on communicators whose members the trace does not tell"
OFF = "places where recording was switched off"
LOST = ["never sent", "never received"]
THREADS = "called MPI from"


class Simulate(trace_run.Case):
    def idlewave(self, *arguments):
        done = subprocess.run([str(IDLEWAVE), *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def messages(self, *options):
        done = self.idlewave("simulate", self.trace, "--net", "chic", "--format", "json", *options)
        return json.loads(done.stdout)["messages"]

    def sends_in_lists(self, ranks):
        """What the program says that it sent."""
        text = "".join((self.folder / f"expect.{rank}").read_text(encoding="utf-8") for rank in range(ranks))
        return len(re.findall(r"\bi?send \d+ ", text))

    def trace_and_simulate(self, name, ranks, warnings):
        command = [IDLEWAVE, "trace", "-o", self.trace, "--", self.program(name), self.folder]
        done = run_mpi.launch(trace_run.MPI, ranks, command, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.idlewave("schedule", self.trace, "-o", self.folder / "app.goal")
        found = re.findall(r"warning: '[^']*': ([^:]*): \d+ \(first", done.stderr)
        found += re.findall(r"warning: '[^']*': \d+ messages? (?:is|are) (never (?:sent|received))\b", done.stderr)
        found += re.findall(r"warning: '[^']*': rank \d+ (called MPI from) \d+ threads", done.stderr)
        self.assertEqual(sorted(found), sorted(warnings), done.stderr)
        scheduled = len(re.findall(r"^l\d+: send ", (self.folder / "app.goal").read_text(encoding="utf-8"), re.M))
        self.assertEqual(self.messages(), scheduled)
        self.assertEqual(self.messages("--ranks", 4 * ranks, "--no-collectives"), 4 * self.messages("--no-collectives"))

    def test_messages(self):
        self.trace_and_simulate("trace_p2p", 2, ["requests that are never completed in the trace"])
        self.assertEqual(self.messages("--no-collectives"), self.sends_in_lists(2))

    def test_collectives(self):
        self.trace_and_simulate("trace_collectives", 4, [])
        # four ranks exchange 8 messages by bruck, 12 by pairwise; 11 are alltoalls, those with neighbours are none,
        # whether called, or started as persistent ones
        bruck, pairwise = (self.messages("--algorithm", f"alltoall={name}") for name in ("bruck", "pairwise"))
        self.assertEqual(pairwise - bruck, 11 * (12 - 8))

    def test_communicators(self):
        """Of Comm_create_group and its like only some ranks of the parent take part."""
        self.trace_and_simulate("trace_comms", 4, [BETWEEN])
        self.assertEqual(self.messages("--no-collectives"), self.sends_in_lists(4))

    def test_processes_outside_of_the_world(self):
        self.trace_and_simulate("trace_processes", 2, [OPAQUE, BETWEEN if trace_run.MPI == "mpich" else UNKNOWN])

    def test_opaque_calls_and_parts_that_are_switched_off(self):
        self.trace_and_simulate("trace_misc", 2, [OPAQUE, OFF, *LOST])

    def test_threads(self):
        self.trace_and_simulate("trace_threads", 2, [THREADS])

    def test_the_traced_run_and_its_cpu_time_are_told(self):
        """Ranks that sleep have wall-clock time but no CPU time between their calls."""
        steps, work_us = 10, 3000
        done = run_mpi.launch(trace_run.MPI, 4, [IDLEWAVE, "trace", "-o", self.trace, "--", self.program("wave_ring"), steps,
                                                 work_us], cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        least_ns = steps * work_us * 1e3
        cpu, wall = (json.loads(self.idlewave("simulate", self.trace, "--format", "json", "--compute-clock", clock).stdout)
                     for clock in ("auto", "wall"))
        self.assertEqual([run["traced"]["is_by_cpu"] for run in (cpu, wall)], [True, False])
        self.assertGreater(cpu["traced"]["run_ns"], least_ns)
        self.assertLess(cpu["traced"]["cpu_share"], 0.8)
        self.assertGreater(wall["makespan_ns"]["min"], least_ns)
        self.assertLess(cpu["makespan_ns"]["min"], 0.8 * wall["makespan_ns"]["min"])
        text = self.idlewave("simulate", self.trace, "--ranks", 8).stdout
        self.assertRegex(text, r"(?m)^traced +\S+ m?s on 4 ranks: ")
        self.assertRegex(text, r"(?m)^warning +only ")
        self.assertRegex(text, r"(?m)^note +point-to-point messages stay inside a replica")

    def test_fortran(self):
        for name in ("trace_mpifh", "trace_use_mpi", "trace_mpi_f08"):
            self.trace = self.folder / name
            self.trace_and_simulate(name, 2, [OFF])


if __name__ == "__main__":
    trace_run.require()
    trace_run.main()
