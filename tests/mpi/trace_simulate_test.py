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
OPAQUE = "calls of one-sided communication, files, processes and others are not simulated"
BETWEEN = "collective calls on intercommunicators"
UNKNOWN = "calls on communicators with unknown members"
WAITS = "waits for files, one-sided or partitioned communication"
OFF = "gaps where recording was switched off"
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
        # four ranks exchange 8 messages by bruck, 12 by pairwise; 10 are alltoalls, those with neighbours and those with
        # unequal sizes are none, whether called, or started as persistent ones
        bruck, pairwise = (self.messages("--algorithm", f"alltoall={name}") for name in ("bruck", "pairwise"))
        self.assertEqual(pairwise - bruck, 10 * (12 - 8))

    def test_communicators(self):
        """Of Comm_create_group and its like only some ranks of the parent take part."""
        self.trace_and_simulate("trace_comms", 4, [BETWEEN])
        self.assertEqual(self.messages("--no-collectives"), self.sends_in_lists(4))

    def test_processes_outside_of_the_world(self):
        # MPICH has partitioned communication
        self.trace_and_simulate("trace_processes", 2,
                                [OPAQUE, *([BETWEEN, WAITS] if trace_run.MPI == "mpich" else [UNKNOWN])])

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

    def trace_sizes(self, what):
        command = [IDLEWAVE, "trace", "-o", self.trace, "--", self.program("trace_sizes"), what]
        done = run_mpi.launch(trace_run.MPI, 4, command, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def sends(self, *options):
        """Messages of the schedule, as (from, to, bytes)."""
        goal = self.folder / "app.goal"
        self.idlewave("schedule", self.trace, "-o", goal, *options)
        rank, found = None, []
        for line in goal.read_text(encoding="utf-8").splitlines():
            match = re.match(r"rank (\d+)", line)
            rank = int(match.group(1)) if match else rank
            match = re.match(r"l\d+: send (\d+)b to (\d+)", line)
            if match:
                found.append((rank, int(match.group(2)), int(match.group(1))))
        return found

    def test_neighbour_collectives_are_their_messages(self):
        self.trace_sizes("neighbours")
        large = [send for send in self.sends() if send[2] > 1000]
        self.assertEqual(sorted(large), sorted((rank, (rank + step) % 4, 1 << 20) for rank in range(4) for step in (1, 3)
                                               for _ in range(5)))
        large = [send for send in self.sends("--ranks", 8) if send[2] > 1000]
        self.assertEqual(len(large), 80)
        self.assertTrue(all(send[0] // 4 == send[1] // 4 for send in large))

    def test_unequal_sizes_are_sent_as_they_were(self):
        self.trace_sizes("one_pair")
        self.assertEqual(self.sends(), 5 * [(0, 1, 4 << 20)])

    def test_waits_for_what_is_no_message_take_their_time(self):
        self.trace_sizes("unknown_request")
        done = self.idlewave("simulate", self.trace, "--format", "json")
        self.assertGreater(json.loads(done.stdout)["makespan_ns"]["min"], 99e6)
        self.assertIn("waits for files, one-sided or partitioned communication: 4 (first: rank 0", done.stderr)

    def test_communicators_have_one_name_everywhere(self):
        self.trace_sizes("names")
        done = self.idlewave("simulate", self.trace, "--ranks", 8, "--net", "chic")
        self.assertRegex(done.stderr, r"4 communicators keep their traced size on 8 ranks: rows \(2 ranks\), ")
        self.assertIn("communicator 3 (2 ranks)", done.stderr)
        self.assertIn("communicator 3", self.idlewave("explain", self.trace).stdout)
        more = self.messages("--ranks", 8, "--grow", "rows") - self.messages("--ranks", 8)
        self.assertGreater(more, 0)
        self.assertGreater(self.messages("--ranks", 8, "--grow", "communicator 3"), self.messages("--ranks", 8))

    def test_a_program_without_mpi_leaves_a_message_and_no_folder(self):
        done = run_mpi.launch(trace_run.MPI, 2, [IDLEWAVE, "trace", "-o", self.trace, "--", "true"], cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("not traced: the program did not start MPI"), 1, done.stderr)
        self.assertFalse(self.trace.exists())

    def test_functions_are_counted_once(self):
        """As otf2-print counts them; what goes to all partners is what was sent."""
        self.trace_sizes("persistent")
        found = {use["name"]: use for use in json.loads(self.idlewave("report", self.trace, "--format", "json").stdout)["functions"]}
        self.assertEqual([found[f"MPI_{name}"]["calls"] for name in ("Send_init", "Recv_init", "Startall", "Waitall", "Alltoall")],
                         [4, 4, 20, 20, 4])
        self.assertEqual(found["MPI_Alltoall"]["bytes"], 4 * 4 * 10)

    def test_fortran(self):
        for name in ("trace_mpifh", "trace_use_mpi", "trace_mpi_f08"):
            self.trace = self.folder / name
            self.trace_and_simulate(name, 2, [OFF])


if __name__ == "__main__":
    trace_run.require()
    trace_run.main()
