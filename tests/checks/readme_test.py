#!/usr/bin/env python3
"""README.md: one screen before "Install", and a table of predictions that says what the page of results says.

SPDX-License-Identifier: BSD-3-Clause
"""

import csv
import math
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).parents[2]
RESULTS = ROOT / "docs/validation/data/real-machines-summary-1.csv"
NAMES = {"Google Cloud": "GCP", "Piz Daint": "Daint"}
WORDS_MAX = 450


class Readme(unittest.TestCase):
    def setUp(self):
        self.text = (ROOT / "README.md").read_text(encoding="utf-8")

    def test_first_screen_is_short(self):
        shown = re.sub(r"<!--.*?-->", "", self.text.partition("\n## Install\n")[0], flags=re.S)
        self.assertLessEqual(len(shown.split()), WORDS_MAX)

    def test_predictions_are_those_of_the_results(self):
        with RESULTS.open(encoding="utf-8", newline="") as file:
            results = {row["machine"]: row for row in csv.DictReader(file)}
        rows = re.findall(r"^\| ([\w -]+) \| (\d+) \| ([\d.]+) \| (\d+) % \|$", self.text, re.M)
        self.assertGreaterEqual(len(rows), 5)
        for machine, count, factor, inside in rows:
            result = results[NAMES.get(machine, machine)]
            found = re.fullmatch(r"\d+ of (\d+) \((\d+) %\)", result["with network noise as 4 nodes see it: inside"])
            self.assertEqual((count, inside), found.groups(), machine)
            self.assertAlmostEqual(float(factor), math.exp(float(result["with network noise as 4 nodes see it: error"])), 2, machine)


if __name__ == "__main__":
    unittest.main()
