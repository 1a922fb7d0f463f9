"""Runs the study of examples/emulation with fewer ranks and phases: the facts of its traces, and the order of its results.

SPDX-License-Identifier: BSD-3-Clause

Usage: emulation_study_test.py IDLEWAVE

With the seed given, each run has the same results. The bounds of factor 1.5 are for 2,048 ranks, at fewer phases than in
docs/validation/emulation.md.
"""

import csv
import importlib.util
import io
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
IDLEWAVE = pathlib.Path(sys.argv.pop(1)).resolve()
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "emulation"
PUBLISHED = {  # per cent at 2,048 ranks
    "off-the-shelf": 99, "off-the-shelf once": 13, "off-the-shelf each phase": 0.7,
    "optimised": 20, "optimised once": 6, "optimised each phase": 0.9,
}


def made_small(text, changes):
    for old, new in changes:
        text, count = re.subn(old, new, text, flags=re.MULTILINE)
        if count != 1:
            raise ValueError(f"'{old}' is {count} times in the study, not once")
    return text


def run(*arguments):
    return subprocess.run([IDLEWAVE, *arguments], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def detours_of(path):
    rows = [line.split() for line in path.read_text(encoding="ascii").splitlines() if not line.startswith("#")]
    return [(int(start), int(duration)) for start, duration in rows]


class Emulation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="iw_emulation_"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        spec = importlib.util.spec_from_file_location("make_traces", FOLDER / "make_traces.py")
        maker = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(maker)
        for name in maker.TRACES:
            maker.write(name, cls.folder / f"{name}.txt")
        study = cls.folder / "study.yaml"
        study.write_text(made_small((FOLDER / "compute-barrier.yaml").read_text(encoding="utf-8"),
                                    [(r"^ranks: .*$", "ranks: [2^4, 2^11]"), (r"^trials: .*$", "trials: 5"),
                                     (r"repeat: \d+", "repeat: 500")]), encoding="utf-8")
        results = cls.folder / "results"
        run("study", study, "-o", results)
        cls.percent = {(row["system"], int(row["ranks"])): 100 * float(row["median_slowdown"])
                       for row in csv.DictReader(io.StringIO(run("report", results, "--format", "csv")))}

    def test_the_traces_have_exactly_the_two_facts_of_each(self):
        for name, per_ms, below_ns, share in (("off-the-shelf", 0.6, 14_000, 0.98), ("optimised", 1.04, 5_000, 0.995)):
            with self.subTest(trace=name):
                detours = detours_of(self.folder / f"{name}.txt")
                self.assertEqual(len(detours), round(120_000 * per_ms))
                self.assertEqual(sum(duration < below_ns for _, duration in detours), round(share * len(detours)))
                for (start, duration), (following, _) in zip(detours, detours[1:]):
                    self.assertLess(start + duration, following)
                self.assertLess(sum(detours[-1]), 120_000_000_000)

    def test_slowdowns_at_2048_ranks_are_within_1_5_of_those_published(self):
        for system, published in PUBLISHED.items():
            with self.subTest(system=system):
                self.assertTrue(published / 1.5 <= self.percent[system, 2048] <= published * 1.5,
                                f"{self.percent[system, 2048]:.2f} % instead of {published} %")

    def test_synchronisation_helps_and_in_each_phase_ranks_do_not_matter(self):
        for kernel in ("off-the-shelf", "optimised"):
            with self.subTest(kernel=kernel):
                apart, once, phase = (self.percent[kernel + how, 2048] for how in ("", " once", " each phase"))
                self.assertGreater(apart, 2 * once)
                self.assertGreater(once, 4 * phase)
                self.assertAlmostEqual(self.percent[kernel + " each phase", 16], phase, delta=0.01)
                self.assertGreater(apart, 2 * self.percent[kernel, 16])


if __name__ == "__main__":
    unittest.main()
