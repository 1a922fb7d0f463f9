"""Traces the programs that imitate applications, runs the studies of examples/apps made small, looks for section V's shapes.

SPDX-License-Identifier: BSD-3-Clause

As tools/run_app_studies.sh does it, on 16 traced ranks and up to 1,024. Traced times differ from run to run, so only
what is far apart is compared.
"""

import csv
import io
import pathlib
import re
import subprocess
import tempfile
import unittest

import run_mpi
import trace_run

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGEST = 1024


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env=run_mpi.environment({"MPIRUN": run_mpi.launcher(trace_run.MPI)}))
    if done.returncode != 0:
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


class AppStudies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="iw_apps_")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.idlewave = trace_run.ARGUMENTS.idlewave.resolve()
        cls.output = run(ROOT / "tools/run_app_studies.sh", cls.idlewave, trace_run.PROGRAMS, cls.folder, "small")
        cls.rows = {}
        for app in ("pop", "sweep", "amg"):
            text = run(cls.idlewave, "report", cls.folder / f"{app}-study", "--format", "csv")
            for row in csv.DictReader(io.StringIO(text)):
                cls.rows[row["work"], row["system"], row["sync"], int(row["ranks"])] = row

    def slowdown(self, work, system, ranks=LARGEST, sync="none"):
        return float(self.rows[work, system, sync, ranks]["median_slowdown"])

    def messages(self, work, ranks):
        return int(self.rows[work, "chic", "none", ranks]["messages"])

    def test_the_messages_are_those_of_the_calls_that_the_programs_count(self):
        pop = {word: int(n) for word, n in re.findall(r"(\w+) (\d+)", self.output.splitlines()[0].split(":")[1])}
        sweep, amg = ({word: int(n) for word, n in re.findall(r"(\w+) (\d+)", line)} for line in re.findall(r"calls.*all ranks.*", self.output))
        for ranks, rounds in ((16, 4), (1024, 10)):
            # dissemination takes log2(ranks) rounds, a broadcast reaches all others once, Cart_create is an allgather
            collectives = (pop["allreduce"] + pop["barrier"]) * ranks * rounds + pop["bcast"] * (ranks - 1)
            created = self.messages("POP no p2p", ranks) - collectives
            self.assertEqual(self.messages("POP no collectives", ranks), pop["send"] * ranks)
            self.assertEqual(self.messages("POP", ranks), pop["send"] * ranks + collectives + created)
            self.assertTrue(0 < created <= ranks * ranks)
            self.assertEqual(self.messages("Sweep no collectives", ranks), sweep["send"] * ranks // 16)
            self.assertEqual(self.messages("AMG no collectives", ranks), amg["send"] * ranks // 16)
            self.assertEqual(self.messages("AMG", ranks), self.messages("AMG no p2p", ranks) + self.messages("AMG no collectives", ranks))

    def test_pop_is_sensitive_and_sweep_is_not(self):
        self.assertGreater(self.slowdown("POP", "chic"), 0.2)
        for system in ("chic", "altix", "zeptoos", "xt4"):
            self.assertLess(self.slowdown("Sweep", system), 0.03)
        self.assertGreater(self.slowdown("POP", "chic"), 10 * self.slowdown("Sweep", "chic"))

    def test_the_noise_of_chic_is_the_worst(self):
        for system in ("altix", "zeptoos", "xt4"):
            self.assertGreater(self.slowdown("POP", "chic"), 4 * self.slowdown("POP", system))

    def test_collectives_spread_noise_and_messages_to_neighbours_hardly_do(self):
        self.assertGreater(self.slowdown("POP no p2p", "chic"), 5 * self.slowdown("POP no collectives", "chic"))

    def test_messages_between_neighbours_cannot_be_ignored_in_amg(self):
        """The paper's figure 9b. POP, of which it says the opposite, is the control."""
        self.assertGreater(self.slowdown("AMG", "chic"), 1.15 * self.slowdown("AMG no p2p", "chic"))
        self.assertGreater(self.slowdown("AMG no collectives", "chic"), 0.0025)
        self.assertLess(self.slowdown("POP", "chic"), 1.3 * self.slowdown("POP no p2p", "chic"))

    def test_it_grows_with_the_ranks(self):
        self.assertGreater(self.slowdown("POP", "chic"), 2 * self.slowdown("POP", "chic", ranks=16))

    def test_co_scheduled_noise_costs_no_more_than_its_share(self):
        self.assertLess(self.slowdown("POP", "chic", sync="start"), 0.02)

    def test_the_report_draws_the_variants_side_by_side(self):
        text = (self.folder / "pop.txt").read_text(encoding="utf-8")
        page = (self.folder / "pop.html").read_text(encoding="utf-8")
        for name in ("POP", "POP no p2p", "POP no collectives"):
            self.assertIn(name, text)
            self.assertIn(name, page)


if __name__ == "__main__":
    trace_run.require()
    trace_run.main()
