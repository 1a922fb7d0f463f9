#!/usr/bin/env python3
"""A real idle wave: a traced ring of 8 ranks, one of which sleeps once; `idlewave wave` follows it from rank to rank.

SPDX-License-Identifier: BSD-3-Clause

Usage: see run_mpi.test_arguments(). IW_WAVE_RUNS: how many rings are run and looked at (default 3).
"""

import json
import os
import subprocess
import sys

import run_mpi
import trace_run

IDLEWAVE = trace_run.ARGUMENTS.idlewave.resolve()
RANKS, STEPS, WORK_US, DELAY_US, ORIGIN, DELAY_STEP = 8, 30, 20000, 60000, 2, 8
RUNS = int(os.environ.get("IW_WAVE_RUNS", "3"))
LEAST_HOPS = 4  # of eight, in both directions together: behind these the machine's own noise may have eaten the wave


def start_load():
    """Two processes that want all of the CPU, as others on the machine do."""
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]


class RealWave(trace_run.Case):
    def setUp(self):
        super().setUp()
        for busy in start_load():
            self.addCleanup(busy.wait)
            self.addCleanup(busy.kill)

    def idlewave(self, *arguments):
        done = subprocess.run([str(IDLEWAVE), *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def trace_ring(self, run):
        """The delay is three times the work; ranks sleep while they work and while they wait (wait_asleep.c)."""
        trace = self.folder / f"ring-{run}"
        command = [IDLEWAVE, "trace", "-o", trace, "--", self.program("wave_ring_asleep"), STEPS, WORK_US, DELAY_US, ORIGIN,
                   DELAY_STEP]
        done = run_mpi.launch(trace_run.MPI, RANKS, list(map(str, command)), cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return trace

    def check_fronts(self, trace):
        found = json.loads(self.idlewave("wave", trace, "--periodic", "--format", "json"))
        waves = [wave for wave in found["waves"] if wave["origin_rank"] == ORIGIN and wave["delay_ns"] > 800 * DELAY_US]
        self.assertEqual(sorted(wave["direction"] for wave in waves), [-1, 1], found["waves"])
        for wave in waves:
            ways = {front["distance"]: front["step"] - wave["origin_step"] for front in wave["fronts"]}
            self.assertEqual(ways, {distance: distance - 1 for distance in ways}, wave)  # one rank a step
        self.assertGreaterEqual(sum(len(wave["fronts"]) for wave in waves), LEAST_HOPS, waves)

    def test_goes_one_rank_a_step(self):
        for run in range(RUNS):
            with self.subTest(run=run):
                self.check_fronts(self.trace_ring(run))

    def test_is_drawn(self):
        self.assertIn("<canvas", self.idlewave("report", self.trace_ring(0), "--format", "html"))


if __name__ == "__main__":
    trace_run.require()
    trace_run.main()
