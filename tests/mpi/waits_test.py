#!/usr/bin/env python3
"""Traced programs in which one rank works longer than the others: `idlewave explain --only waits` names it.

SPDX-License-Identifier: BSD-3-Clause

Usage: see run_mpi.test_arguments(). Each run has other ranks, another program, another slow rank and another slowness.
IW_WAITS_EVEN: so many runs without a slow rank, in which nobody should be named (default 10).
"""

import json
import os
import subprocess

import run_mpi
import trace_run

IDLEWAVE = trace_run.ARGUMENTS.idlewave.resolve()
STEPS, WORK_US = 200, 10000
KINDS = ("halo", "barrier", "allreduce", "begun", "halo")
# ranks, program, slow rank, per cent
CASES = [(4 + i % 5, KINDS[i % len(KINDS)], (3 * i + 2) % (4 + i % 5), 10 + 5 * (7 * i % 9)) for i in range(10)]
EVEN = int(os.environ.get("IW_WAITS_EVEN", "10"))


class Run(trace_run.Case):
    def waits(self, number, ranks, kind, slow, per_cent):
        trace = self.folder / f"run-{number}"
        command = [IDLEWAVE, "trace", "-o", trace, "--", self.program("slow_rank"), kind, STEPS, WORK_US, slow, per_cent]
        done = run_mpi.launch(trace_run.MPI, ranks, list(map(str, command)), cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = subprocess.run([str(IDLEWAVE), "explain", "--only", "waits", "--format", "json", str(trace)], capture_output=True, text=True, check=False)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return json.loads(shown.stdout)

    def expect_named(self, number):
        ranks, kind, slow, per_cent = CASES[number]
        found = self.waits(number, ranks, kind, slow, per_cent)
        named = [rank["rank"] for rank in found["ranks"] if rank["pattern"] != "ordinary"]
        print(f"{trace_run.MPI}, {ranks} ranks, {kind}, rank {slow} by {per_cent} %: {found['verdict']}", flush=True)
        self.assertEqual(found["traced_ranks"], ranks)
        self.assertIn(slow, named, found["verdict"])


class Named(Run):
    def test_the_slow_rank_is_named(self):
        for number in range(2):
            with self.subTest(CASES[number]):
                self.expect_named(number)

    def test_a_page_has_the_map(self):
        trace = self.folder / "page"
        command = [IDLEWAVE, "trace", "-o", trace, "--", self.program("slow_rank"), "allreduce", 40, 2000, 1, 100]
        done = run_mpi.launch(trace_run.MPI, 3, list(map(str, command)), cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = subprocess.run([str(IDLEWAVE), "explain", "--only", "waits", "--format", "html", str(trace)], capture_output=True, text=True, check=True).stdout
        self.assertIn("Who waits, and for whom", page)
        self.assertIn("Time of an iteration", page)


class AllNamed(Run):
    def test_the_slow_rank_is_named_in_every_run(self):
        for number, case in enumerate(CASES):
            with self.subTest(case):
                self.expect_named(number)


class NobodySlow(Run):
    """Says how often somebody is named. Others on the machine may make a rank slow, which then is rightly named: no more than half."""

    def test_hardly_anybody_is_named(self):
        accused = 0
        for number in range(EVEN):
            found = self.waits(number, 4 + number % 5, KINDS[number % len(KINDS)], 0, 0)
            print(f"{trace_run.MPI}: {found['verdict']}", flush=True)
            accused += found["named"] > 0
        print(f"{trace_run.MPI}: {accused} of {EVEN} runs without a slow rank have somebody named", flush=True)
        self.assertLessEqual(accused, EVEN // 2)


if __name__ == "__main__":
    trace_run.require()
    trace_run.main()
