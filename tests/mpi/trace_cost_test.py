#!/usr/bin/env python3
"""What tracing costs: time per call, memory however many calls, bytes of trace per call.

SPDX-License-Identifier: BSD-3-Clause

Times are medians of blocks with and without the tracer in one run; the best of some runs counts, because the machine is
shared. Usage: see run_mpi.test_arguments().
"""

import math
import re

import trace_run

CALLS = 300_000
ATTEMPTS = 6
MOST_NS_PER_CALL = 500
MOST_PERCENT = 1.0
SHARED_CORE_NS = 20_000


class Time(trace_run.Case):
    def measure(self, attempt):
        self.trace = self.folder / f"trace{attempt}"
        done = self.run_traced(2, "trace_cost")
        self.assertEqual(done.returncode, 0, done.stderr)
        print(done.stdout.replace("\n", "; "))
        values = {line.split()[0]: [float(word) for word in line.split()[1:2] + line.split()[2:3]]
                  for line in done.stdout.splitlines() if not line.startswith("clock")}
        # where the ranks share a core, a message takes a time slice: that says nothing of the tracer
        added, plain = values["pingpong"]
        return {"pingpong": added if plain < SHARED_CORE_NS else math.inf, "self": values["self"][0],
                "compute": values["compute"][0]}

    def test_time(self):
        best = dict.fromkeys(("pingpong", "self", "compute"), math.inf)
        for attempt in range(ATTEMPTS):
            values = self.measure(attempt)
            best = {name: min(best[name], values[name]) for name in best}
            if max(best["pingpong"], best["self"]) < MOST_NS_PER_CALL and best["compute"] < MOST_PERCENT:
                break
        if best["pingpong"] < math.inf:
            self.assertLess(best["pingpong"], MOST_NS_PER_CALL)
        self.assertLess(best["self"], MOST_NS_PER_CALL)
        self.assertLess(best["compute"], MOST_PERCENT)


class Memory(trace_run.Case):
    def grown(self, *arguments):
        done = self.run_traced(1, "trace_many", *arguments, timeout=1000)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [int(number) for number in re.findall(r"grew (\d+)", done.stdout)]

    def test_memory_stays_bounded(self):
        while_running, at_the_end = self.grown(CALLS)
        self.assertLess(while_running, 4096)
        self.assertLess(at_the_end, 32768)

    def test_memory_stays_bounded_with_many_open_requests(self):
        while_running, at_the_end = self.grown(CALLS, 1000)
        self.assertLess(while_running, 8192)
        self.assertLess(at_the_end, 32768)

    def test_size_per_call(self):
        self.grown(CALLS)
        size = sum(path.stat().st_size for path in self.trace.rglob("*") if path.is_file())
        print(f"{size / (CALLS + 1000):.1f} bytes per MPI_Sendrecv")
        self.assertLess(size / (CALLS + 1000), 48)


if __name__ == "__main__":
    trace_run.require()
    trace_run.main()
