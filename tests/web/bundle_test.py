#!/usr/bin/env python3
"""A build without npm or without network goes on, with static plots; one that insists on the library does not.

SPDX-License-Identifier: BSD-3-Clause

Usage: bundle_test.py CMAKE SOURCE_DIR
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CMAKE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])


def bundle(folder, npm, wanted):
    return subprocess.run(
        [CMAKE, f"-DNPM={npm}", "-DNODE=node", f"-DSOURCE={SOURCE / 'web'}", f"-DWORK={folder}", f"-DWANTED={wanted}",
         "-P", SOURCE / "cmake" / "BundleWeb.cmake"], capture_output=True, text=True, check=False)


class Bundle(unittest.TestCase):
    def test_without_npm_there_is_an_empty_library(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(bundle(folder, "", "AUTO").returncode, 0)
            self.assertEqual((pathlib.Path(folder) / "chart.min.js").read_text(), "")

    def test_a_failing_npm_is_told_and_does_no_harm(self):
        with tempfile.TemporaryDirectory() as folder:
            done = bundle(folder, "/bin/false", "AUTO")
            self.assertEqual(done.returncode, 0)
            self.assertIn("No chart library (npm ci failed", done.stdout + done.stderr)
            self.assertEqual((pathlib.Path(folder) / "chart.min.js").read_text(), "")
            self.assertEqual((pathlib.Path(folder) / "chart-licences.txt").read_text(), "")

    def test_who_wants_the_library_gets_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertNotEqual(bundle(folder, "/bin/false", "ON").returncode, 0)
            self.assertFalse((pathlib.Path(folder) / "chart.min.js").exists())

    def test_the_lock_file_pins_all_and_names_no_host(self):
        text = (SOURCE / "web" / "package-lock.json").read_text()
        self.assertNotIn("resolved", text)
        self.assertIsNone(re.search(r"https?://", text))
        packages = len(re.findall(r'"node_modules/', text))
        self.assertEqual(len(re.findall(r'"integrity": "sha512-', text)), packages)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
