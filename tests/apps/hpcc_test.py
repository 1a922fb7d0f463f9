#!/usr/bin/env python3
"""HPC Challenge on 2 ranks: Testany and Iprobe loops, Waitany, Cancel, many communicators.

SPDX-License-Identifier: BSD-3-Clause

Usage: see app_run.py.

How often it calls depends on time: the program is counted while it is traced.
"""

import app_run

HPCC = app_run.need("hpcc", "hpcc")
EXAMPLE = app_run.need("/usr/share/doc/hpcc/examples/_hpccinf.txt", "hpcc")


class Hpcc(app_run.Case):
    RANKS = 2

    def prepare(self):
        lines = EXAMPLE.read_text().splitlines()
        self.assertTrue(lines[5].endswith("Ns") and lines[10].endswith("Ps") and lines[11].endswith("Qs"))
        lines[5], lines[10], lines[11] = "200 Ns", "1 Ps", "2 Qs"
        (self.folder / "hpccinf.txt").write_text("\n".join(lines) + "\n")

    def test_all_calls_are_traced_and_simulated(self):
        traced, counted = self.run_traced_and_counted([HPCC])
        self.assertIn("Success=1", (self.folder / "hpccoutf.txt").read_text())
        # how often a rank waits, and which, is a matter of timing
        self.assertGreater(sum(calls.get("MPI_Waitany", 0) for calls in counted), 0)
        self.assert_all_calls_are_traced(traced, counted)
        self.assert_all_polls_are_traced(traced, counted)
        self.assert_simulates(traced)


if __name__ == "__main__":
    app_run.main()
