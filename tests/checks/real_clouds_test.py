"""Shows on made clouds that tools/real_clouds.py registers predictions before it reads what they are compared with, finds the parameters that
the made values have, and says of waits and times no more than permutations allow.

SPDX-License-Identifier: BSD-3-Clause

Usage: real_clouds_test.py IDLEWAVE
"""

import json
import math
import pathlib
import random
import sys
import tempfile
import unittest
import unittest.mock

IDLEWAVE = sys.argv.pop(1)
TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
import clouds_allreduce  # noqa: E402
import clouds_fleet  # noqa: E402
import clouds_speeds  # noqa: E402
import real_clouds  # noqa: E402

CLOUD, RATE_HZ, SENDERS = "google/gke", 1.0, 1
KINDS = {"latency": "latency_us", "bw": "bandwidth_mb_s", "allreduce": "avg_latency_us"}


def small(name, value):
    return unittest.mock.patch.object(clouds_allreduce, name, value)


def setUpModule():
    for name, value in (("CLOUDS", {CLOUD: 2}), ("RATES_HZ", (0.0, 1.0, 10.0)), ("SENDERS", (1, 0)), ("LONG", (16384,)), ("SHORT", (4,)),
                        ("REPEAT", {True: 200, False: 20})):
        patch = small(name, value)
        patch.start()
        unittest.addModuleCleanup(patch.stop)


def write_table(folder, kind, nodes, values):
    path = folder / clouds_allreduce.TABLES.format(kind, nodes)
    path.parent.mkdir(parents=True, exist_ok=True)
    cloud, env = CLOUD.split("/")
    lines = [f",size,{KINDS[kind]},experiment,cloud,env,env_type,nodes"]
    lines += [f"{i},{size}.0,{value},x,{cloud},{env},cpu,{nodes}" for i, (size, value) in enumerate(values)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def make_network(folder):
    for nodes in clouds_allreduce.FITTED:
        write_table(folder, "latency", nodes, [(size, 30 + 0.0006 * size) for size in clouds_allreduce.KNOTS])
        write_table(folder, "bw", nodes, [(4194304, 2000.0)])


def make_allreduce(folder, nodes):
    simulator = clouds_allreduce.Simulator(folder, IDLEWAVE)
    write_table(folder, "allreduce", nodes, [(size, simulator.time_us(CLOUD, nodes, size, RATE_HZ, SENDERS)) for size in (4, 16384)])


def make_speeds(folder, nodes):
    rng = random.Random(nodes)
    place = folder / "experiments" / CLOUD / "cpu" / f"size{nodes}" / "results" / clouds_speeds.CLOUDS[CLOUD]
    place.mkdir(parents=True)
    for node in range(nodes):
        (place / f"{node}.out").write_text(f"====== sysbench cpu run\n    events per second:  {rng.gauss(4000, 20):.2f}\n", encoding="utf-8")


def make_job(folder, nodes, name, waited_s):
    place = folder / f"experiments/gke/cpu/size-{nodes}/logs/ebpf-multiple/{name}/cpu-model"
    place.mkdir(parents=True)
    for node in range(4):
        waits = {"count": 100.0, "sum_ns": waited_s * 1e9, "max_ns": waited_s * 1e8, "variance_ns2": 1.0}
        process = {"comm": "lmp", "runq_latency_stats_ns": waits, "first_seen_ts_ns": 10**18, "last_seen_ts_ns": 10**18 + 10**11}
        (place / f"lammps-{node}-x.out").write_text(json.dumps({"final_aggregated_summary_river": [process]}), encoding="utf-8")


class Clouds(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def run_tool(self):
        words = ["real_clouds.py", str(self.folder), str(self.folder), "--idlewave", IDLEWAVE, "--predictions", str(self.folder / "p.json"),
                 "--data", str(self.folder / "pages")]
        with unittest.mock.patch.object(sys, "argv", words):
            real_clouds.main()

    def test_predictions_are_registered_and_then_compared(self):
        make_network(self.folder)
        for nodes in clouds_allreduce.FITTED:
            make_allreduce(self.folder, nodes)
        for nodes in clouds_speeds.FITTED:
            make_speeds(self.folder, nodes)
        self.run_tool()
        page = self.folder / "pages" / "real-clouds-allreduce.md"
        self.assertIn("Nothing was measured on 256 nodes.", page.read_text(encoding="utf-8"))
        registered = (self.folder / "p.json").read_bytes()
        row = json.loads(registered)["allreduce"]["rows"][0]
        self.assertAlmostEqual(row["rate_hz"], RATE_HZ, delta=0.1)
        self.assertEqual(json.loads(registered)["allreduce"]["rows"][1]["senders"], SENDERS)
        make_allreduce(self.folder, 256)
        make_speeds(self.folder, 256)
        self.run_tool()
        self.assertEqual((self.folder / "p.json").read_bytes(), registered)
        self.assertRegex(page.read_text(encoding="utf-8"), r"[12] of 2 medians are inside")
        self.assertIn("are inside", (self.folder / "pages" / "real-clouds-speeds.md").read_text(encoding="utf-8"))
        (self.folder / "p.json").write_bytes(registered.replace(b"rate_hz", b"rate_Hz", 1))
        with self.assertRaisesRegex(SystemExit, "is not what was registered"):
            self.run_tool()

    def test_the_ranks_of_a_node_share_its_card(self):
        make_network(self.folder)
        simulator = clouds_allreduce.Simulator(self.folder, IDLEWAVE)
        self.assertLess(simulator.time_us(CLOUD, 32, 16384, 0.0, 1), simulator.time_us(CLOUD, 32, 16384, 0.0, 2))

    def test_the_interval_follows_from_the_errors_of_clouds(self):
        self.assertAlmostEqual(clouds_allreduce.spread([[0.1, -0.1], [0.2, 0.2], [9.0]]), 3.18 * 0.2)
        self.assertEqual(clouds_allreduce.spread([]), math.inf)

    def test_the_slowest_of_many_is_slower_than_that_of_few(self):
        for nodes in clouds_speeds.FITTED:
            make_speeds(self.folder, nodes)
        row = clouds_speeds.predict(self.folder)[0]
        self.assertEqual(row["nodes_seen"], 224)
        self.assertAlmostEqual(row["percent"], 1.4, delta=0.4)
        self.assertTrue(row["low_percent"] < row["percent"] <= row["high_percent"])


class Waits(unittest.TestCase):
    def test_waits_that_make_times_are_told_from_chance(self):
        jobs = [{"nodes": nodes, "mpi": mpi, "median": (mpi + 1) * 0.01 / nodes, "seconds": 10 + 5 * mpi} for nodes in (4, 8, 16, 32) for mpi in range(3)]
        r, p = clouds_fleet.correlate(jobs, "median", "nodes")
        self.assertGreater(r, 0.95)
        self.assertAlmostEqual(p, 1 / 6**4)
        rng = random.Random(3)
        r, p = clouds_fleet.correlate([job | {"median": rng.random()} for job in jobs], "median", "nodes")
        self.assertGreater(p, 0.05)

    def test_jobs_are_read_with_their_fleets(self):
        with tempfile.TemporaryDirectory() as holder:
            folder = pathlib.Path(holder)
            lines = [",nodes,problem_size,metric,value"]
            for i, (name, problem) in enumerate(clouds_fleet.MPIS.items()):
                make_job(folder, 4, name, 1 + i)
                lines += [f"0,4,{problem} eBPF,wall-time,{50 + 10 * i}", f"0,4,{problem},wall-time,40"]
            (folder / clouds_fleet.RUNS).parent.mkdir(parents=True)
            (folder / clouds_fleet.RUNS).write_text("\n".join(lines) + "\n", encoding="utf-8")
            jobs = clouds_fleet.jobs(folder, IDLEWAVE)
            text = clouds_fleet.text(folder, IDLEWAVE)
        self.assertEqual([job["seconds"] for job in jobs], [50, 60, 70])
        self.assertAlmostEqual(jobs[1]["waited_s"], 2, places=2)
        self.assertIn("| 4 | Ubuntu Mpich | 1.000 % |", text)


if __name__ == "__main__":
    unittest.main()
