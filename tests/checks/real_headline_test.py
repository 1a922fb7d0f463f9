#!/usr/bin/env python3
"""The headline of a made machine: what is measured of its barriers, and what its recording says they pay.

SPDX-License-Identifier: BSD-3-Clause

Usage: real_headline_test.py IDLEWAVE
"""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
import real_headline as tool  # noqa: E402
import real_inputs as inputs  # noqa: E402

IDLEWAVE = pathlib.Path("idlewave")
SESSION, RECORDING = "deep-est/2022_05_06_16_58_14", "deep-est/2022_05_05_17_00_11"
QUIET, LATE = 4.0, 12.0  # us; one run in five is late


def make(root):
    """Ticks of 10 us each 1 ms, 1 % of the time; barriers, one in five of which takes three times as long."""
    session, recorded = (root / name / name.split("/")[1] for name in (SESSION, RECORDING))
    session.mkdir(parents=True)
    recorded.mkdir(parents=True)
    ticks = "".join(f"{1e6 * i:.2f}\t10000.00\n" for i in range(5000))
    (recorded / "ng_osnoise.out").write_text(f"# Benchmark Method: selfish\n# Time [ns]\tselfish duration [ns]\n{ticks}")
    lines = ["# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)"]
    lines += [f"{size} 10 4 8.5 44.5 2 0.5 0.5 0 0 0" for size in (1, 1024)]
    (recorded / "ng_loggp.out").write_text("\n".join(lines) + "\n")
    for name in "ng_netnoise_mpi_lat.out", "ng_netnoise_mpi_bw.out":
        (recorded / name).write_text("#size\trtt\n1\t2.0\n")
    for nodes in (4, 8):
        runs = "".join("16 " + " ".join(str(LATE if run % 5 == 0 and rank == 1 else QUIET) for rank in range(nodes)) + "\n" for run in range(100))
        (session / f"nwaydissemination_{nodes}_16.csv").write_text("#MessageSize\n" + runs)


class RealHeadline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="idlewave-headline-test-")
        cls.root = pathlib.Path(cls.scratch.name)
        make(cls.root / "data")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_the_slowest_rank_of_each_run_counts(self):
        path = next(self.root.glob("data/deep-est/*/*/nwaydissemination_8_16.csv"))
        for over in tool.measured(path, 8):
            self.assertAlmostEqual(over, (0.8 * QUIET + 0.2 * LATE) / QUIET - 1)

    def test_few_nodes_pay_what_each_of_them_loses(self):
        tool.TRIALS, tool.ALONE_TRIALS = 100, 2000
        machine = inputs.MACHINES[0]
        rows = list(tool.rows_of(IDLEWAVE, inputs.Folder(self.root / "data"), machine, self.root))
        self.assertEqual([row[:4] for row in rows], [["DEEP-EST", nodes, 1, "40 %"] for nodes in (4, 8)])
        for row in rows:  # each node loses 1 % of its time; what it waits anyway hides a little of that
            back_to_back, default_net, alone = (float(text.split()[0]) for text in row[5:])
            for slowdown in back_to_back, default_net:
                self.assertGreater(slowdown, 0.6 * row[1], row)
                self.assertLess(slowdown, 1.5 * row[1], row)
            self.assertGreater(alone, 1.2 * back_to_back, row)  # ticks under way when it begins

    def test_a_folder_without_barriers_is_an_error(self):
        empty = self.root / "empty"
        (empty / "deep-est" / "a" / "2022_05_06_16_58_14").mkdir(parents=True)
        with self.assertRaisesRegex(inputs.Error, "no barriers of 16 bytes"):
            tool.text_of(IDLEWAVE, empty, self.root)


if __name__ == "__main__":
    IDLEWAVE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
