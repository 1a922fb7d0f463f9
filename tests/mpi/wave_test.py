#!/usr/bin/env python3
"""A real idle wave: a traced ring of 8 ranks, one of which sleeps once; `idlewave wave` finds it.

SPDX-License-Identifier: BSD-3-Clause

Usage: see run_mpi.test_arguments().
"""

import json
import subprocess

import run_mpi
import trace_run

IDLEWAVE = trace_run.ARGUMENTS.idlewave.resolve()
RANKS, STEPS, WORK_US, DELAY_US, ORIGIN, DELAY_STEP = 8, 30, 20000, 500000, 2, 8
TRIES = 5


class RealWave(trace_run.Case):
    def idlewave(self, *arguments):
        done = subprocess.run([str(IDLEWAVE), *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def trace_ring(self, attempt):
        """Phases of 20 ms: what other users of the machine take is small beside them."""
        trace = self.folder / f"ring-{attempt}"
        command = [IDLEWAVE, "trace", "-o", trace, "--", self.program("wave_ring"), STEPS, WORK_US, DELAY_US, ORIGIN,
                   DELAY_STEP]
        done = run_mpi.launch(trace_run.MPI, RANKS, list(map(str, command)), cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return trace

    def fault_of(self, trace):
        """What is wrong with the waves found, or None."""
        found = json.loads(self.idlewave("wave", trace, "--periodic", "--format", "json"))
        waves = [wave for wave in found["waves"] if wave["origin_rank"] == ORIGIN and
                 0.8 * DELAY_US < wave["delay_ns"] / 1e3 < 1.5 * DELAY_US]
        reached = {front[0] for wave in waves for front in wave["fronts"]}
        if sorted(wave["direction"] for wave in waves) != [-1, 1]:
            return f"directions of {found['waves']}"
        if len(reached) < RANKS - 3:
            return f"ranks that no wave reached: {waves}"
        return None

    def test_found_in_both_directions(self):
        faults = []
        for attempt in range(TRIES):
            trace = self.trace_ring(attempt)
            faults.append(self.fault_of(trace))
            if faults[-1] is None:
                self.assertIn("<canvas", self.idlewave("report", trace, "--format", "html"))
                return
        self.fail("\n".join(faults))


if __name__ == "__main__":
    trace_run.require()
    trace_run.main()
