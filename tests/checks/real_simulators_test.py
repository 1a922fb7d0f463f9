"""What tools/real_simulators.py, real_milc.py and real_independence.py make of small made data, with the command.

SPDX-License-Identifier: BSD-3-Clause

Usage: real_simulators_test.py IDLEWAVE
"""

import contextlib
import io
import pathlib
import random
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import real_independence as independence  # noqa: E402
import real_milc as milc  # noqa: E402
import real_simulators as simulators  # noqa: E402

IDLEWAVE = sys.argv.pop() if len(sys.argv) > 1 else "idlewave"
ALPS = simulators.MACHINES[0]
HEAD = ",Noise,Type,Collective,Provider,Instance Type,Placement,Nodes,Scenario,Time (us),Message Size"
# Two rounds of o + L + 15 G + o; of 131,072 B, above S, with three times L; by hand.
QUIET = {("nwaydissemination_nocompute", 4, 16): 2 * (0.23 + 1.9 + 15 * 79e-6 + 0.23),
         ("nwaydissemination_nocompute", 4, 131072): 2 * (0.23 + 3 * 1.9 + 131071 * 79e-6 + 0.23),
         ("pipelinedring", 4, 65536): 4 * (0.23 + 3 * 1.9 + 16383 * 79e-6 + 0.23)}


def run(module, *words):
    out = io.StringIO()
    with mock.patch.object(sys, "argv", ["tool", *map(str, words)]), contextlib.redirect_stdout(out):
        module.main()
    return out.getvalue()


def made_results(folder, noisy):
    rows = [f"0,none,Simulated,{collective},Alps,HPC (Metal),Different Racks,{nodes},x,{time:.9g},{size}"
            for (collective, nodes, size), time in QUIET.items()]
    rows += [f"0,{noise},Simulated,nwaydissemination_nocompute,Alps,HPC (Metal),Different Racks,4,x,{time},16" for noise, time in noisy]
    rows += [HEAD, "0,none,Simulated,pipelinedring,Alps,HPC (Metal),Different Racks,1024,x,,65536"]
    path = folder / "simulations" / "total" / "total.csv"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join([HEAD, *rows]) + "\n")


def made_machine(folder):
    """Two runs of netgauge: a loud one, which LogGOPSim's search does not meet, and one of 3 us every ms."""
    path = folder / ALPS.scenario / pathlib.Path(ALPS.scenario).name
    path.mkdir(parents=True)
    head = "# Benchmark Method: selfish\n# Minimal cycle length [ns]: 29\n"
    loud = "".join(f"{1000 * i}.00\t990.00\n" for i in range(100))
    calm = "".join(f"{1000000 * i}.00\t3000.00\n" for i in range(200))
    (path / "ng_osnoise.out").write_text(head + loud + head + calm)
    draw = random.Random(5)
    for name, size, middle in ("lat", 1, 3.0), ("bw", 16777216, 1400.0):
        times = [1e6 if number <= 20 else middle * (1 + draw.random()) for number in range(1000)]
        (path / f"ng_netnoise_mpi_{name}.out").write_text("#size\trtt\n" + "".join(f"{size}\t{time:.6f}\n" for time in times))


class Simulators(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        made_results(cls.folder, [("os", 4.72237)] * 95 + [("os", 6.0)] * 5 + [("os+net", 5.0)] * 30)
        made_machine(cls.folder)
        cls.page = run(simulators, cls.folder, "--idlewave", IDLEWAVE, "--keep", cls.folder / "kept.jsonl")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_times_without_noise_are_equal_to_the_picosecond(self):
        self.assertIn("| Alps | 3 | 3 |", self.page)

    def test_noise_of_the_last_run_is_simulated_by_both_rules(self):
        rows = [line for line in self.page.splitlines() if line.startswith("| Alps | dissemination | 16 B | 4 |")]
        self.assertEqual(len(rows), 2)
        cells = [cell.strip() for cell in rows[0].strip("|").split("|")]
        for low, mean in (cells[6], cells[7]), (cells[9], cells[10]):
            self.assertEqual(low.split(" / ")[1], "4.722")
            self.assertLess(float(mean), 5.5)  # the loud run would make it twice as long

    def test_a_kept_run_is_not_repeated(self):
        before = (self.folder / "kept.jsonl").read_text()
        again = run(simulators, self.folder, "--idlewave", "/nowhere", "--keep", self.folder / "kept.jsonl")
        self.assertEqual((again, (self.folder / "kept.jsonl").read_text()), (self.page, before))

    def test_what_is_drawn_leaves_out_warm_up_and_has_the_parameter_as_its_median(self):
        values = simulators.drawn(ALPS.folder(self.folder) / "ng_netnoise_mpi_lat.out", ALPS.L)
        self.assertEqual(len(values), 979)
        self.assertAlmostEqual(sorted(values)[len(values) // 2], ALPS.L)
        self.assertLess(max(values), 2 * ALPS.L)

    def test_delays_of_a_large_message_have_three_latencies(self):
        ((latency, byte_time), small), (_, large) = (simulators.delays(ALPS, ALPS.folder(self.folder), size, 64, 2000)
                                                         for size in (16, 65536))
        self.assertAlmostEqual(latency * 3 + 65535 * byte_time + large[1000], 3 * ALPS.L + 65535e-6 * ALPS.G_far, delta=0.4)
        self.assertLess(simulators.delays(ALPS, ALPS.folder(self.folder), 65536, 16, 10)[0][1], byte_time)
        self.assertGreater(large[1900], 2.5 * small[1900])
        pairs = simulators.quantiles(small)
        self.assertEqual((len(pairs), pairs[0], pairs[-1]), (64, (0.0, 0.0), (1.0, small[-1])))

    def test_a_message_above_16_mib_has_several_draws(self):
        self.assertEqual(simulators.blocks_of((1 << 25) + 3), [1 << 24, 1 << 24, 3])

    def test_the_distance_of_samples(self):
        self.assertEqual(simulators.distance([1, 2, 3, 4], [1, 2, 3, 4])[0], 0)
        self.assertEqual(simulators.distance([1, 2, 3, 4], [3, 4, 5, 6])[0], 0.5)

    def test_parameters_that_differ_are_named(self):
        (self.folder / "simulations" / "loggp_params.py").write_text(
            "import numpy\ndef get_loggp_params(provider, instance, suffix, placement):\n    return (1.9, 0.23, 0, 0.000079, 4096)\n")
        bad = simulators.check_parameters(self.folder)
        self.assertIn("Alps: (1.9, 0.23, 0, 79, 79, 4096) there, (1.9, 0.23, 0, 79, 92, 4096) here", bad)


def made_trace(folder, rank):
    """A barrier, in which rank 0 waits from 1 s until rank 1 comes at 3 s. It ends 10 ms later."""
    begin = 1000000 * (1 + 2 * rank)
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["MPI_Init:0:1:1:0", f"MPI_Comm_rank:0:1140850688,{rank},2:1:0",
             f"MPI_Barrier:{begin}:1140850688,{rank},2:3010000", "MPI_Finalize:3010000:-"]
    (folder / f"input-{rank}.txt").write_text("# htor's PMPI Tracer 0.9 Output File\n\n" + "\n".join(lines) + "\n")


class Milc(unittest.TestCase):
    def test_what_is_left_beside_computing_is_in_mpi(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            for name in milc.TRACES.values():
                for rank in range(2):
                    made_trace(folder / "MILC" / name / name, rank)
            made_machine(folder)
            (folder / "alps").rename(folder / "daint")
            network = next(folder.glob("daint/*/*/ng_osnoise.out")).parent / "ng_loggp.out"
            network.write_text("# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)\n"
                               + "".join(f"{1 + 1024 * i} 10 {4 + i} {13 + 4 * i} {50 + 10 * i} 2 0.5 0.5 1 0.001 0\n" for i in range(4)))
            page = run(milc, folder, "--idlewave", IDLEWAVE, "--trials", 2)
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| tiny | ")]
        self.assertEqual([row[:6] for row in rows], [["tiny", "0", "3.010", "2.01", "2.00", "2.01"], ["tiny", "1", "3.010", "0.01", "0.00", "0.01"]])
        self.assertIn("| daint, 2022-07-14 | 3.00 | -0.3 % |", page)


def made_barriers(folder, lates):
    """Of `lates` runs in 1,000, the last rank is 7 us late; a barrier of N nodes takes log2(N) us."""
    for nodes, late in lates.items():
        quiet = (nodes - 1).bit_length()
        rows = [f"16 {quiet} {quiet + (7 if number < late else 0)} " for number in range(1000)]
        (folder / f"nwaydissemination_nocompute_{nodes}_16.csv").write_text("#MessageSize Rank0Time(us)\n" + "\n".join(rows) + "\n")


class Independence(unittest.TestCase):
    def test_lateness_of_few_nodes_says_that_of_many(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / "machine" / "date" / "date"
            folder.mkdir(parents=True)
            made_barriers(folder, {4: 20, 8: 59, 16: 99})  # 1 - 0.98^3 = 5.9 %; 1 - 0.98^8 = 14.9 %; together 1 - 0.98^2 = 4.0 %
            rows = [line.split(" | ") for line in run(independence, scratch).splitlines() if line.startswith("| machine | date | ")][1:]
        self.assertEqual([row[2] for row in rows], ["4", "8", "16"])
        self.assertEqual([row[5] for row in rows], ["2.0 %", "5.9 %", "9.9 %"])
        self.assertEqual([row[7] for row in rows], ["-", "5.9 %", "15 %"])
        self.assertEqual([row[8].rstrip(" |") for row in rows], ["-", "3.0 %", "4.0 %"])


if __name__ == "__main__":
    unittest.main()
