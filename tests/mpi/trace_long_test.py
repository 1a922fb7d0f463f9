#!/usr/bin/env python3
"""Ten million calls: memory stays bounded, none is lost.

SPDX-License-Identifier: BSD-3-Clause

Usage: see run_mpi.test_arguments().
"""

import re

import trace_events
import trace_run

CALLS = 10_000_000


class Many(trace_run.Case):
    def test_memory_stays_bounded_and_no_call_is_lost(self):
        done = self.run_traced(1, "trace_many", CALLS, timeout=1500)
        self.assertEqual(done.returncode, 0, done.stderr)
        while_running, at_the_end = (int(number) for number in re.findall(r"grew (\d+)", done.stdout))
        self.assertLess(while_running, 4096)
        self.assertLess(at_the_end, 32768)
        self.assertIn(f"1 rank and {CALLS + 1002} calls traced", done.stderr)
        definitions = trace_events.otf2_print(self.anchor, "--show-global-defs")
        events = int(re.search(r"# Events: (\d+)", definitions).group(1))
        self.assertEqual(events, 4 * (CALLS + 1000) + 4)  # Enter, MpiSend, MpiRecv, Leave; Init and Finalize


if __name__ == "__main__":
    trace_run.require("otf2-print")
    trace_run.main()
