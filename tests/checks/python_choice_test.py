"""Shows which Python cmake/Python.cmake builds with: the system's, but one that was named for this build comes first.

SPDX-License-Identifier: BSD-3-Clause

Usage: python_choice_test.py CMAKE
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE = sys.argv.pop(1)
CHOICE = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "Python.cmake"
SYSTEM = "/usr/bin/python3"


class Choice(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.prefix = pathlib.Path(scratch.name).resolve()
        self.own = self.prefix / "bin" / "python3"
        self.own.parent.mkdir()
        self.own.symlink_to(pathlib.Path(sys.executable).resolve())
        self.script = self.prefix / "choose.cmake"
        self.script.write_text(f"include({CHOICE})\nfind_package(Python3 REQUIRED COMPONENTS Interpreter)\n"
                               'message(NOTICE "chosen: ${Python3_EXECUTABLE}")\n')

    def chosen(self, *options, **environment):
        quiet = {name: value for name, value in os.environ.items() if name not in ("CMAKE_PREFIX_PATH", "Python3_ROOT_DIR")}
        done = subprocess.run([CMAKE, *options, "-P", self.script], env={**quiet, **environment}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.split("chosen: ")[1].strip()

    @unittest.skipUnless(os.path.exists(SYSTEM), "SKIPPED: the system's Python: there is no " + SYSTEM)
    def test_the_first_on_the_path_is_not_taken(self):
        self.assertEqual(self.chosen(PATH=f"{self.own.parent}:{os.environ['PATH']}"), SYSTEM)

    def test_that_of_the_prefix_path_is_taken(self):
        self.assertEqual(self.chosen(f"-DCMAKE_PREFIX_PATH={self.prefix}"), str(self.own))
        self.assertEqual(self.chosen(CMAKE_PREFIX_PATH=str(self.prefix)), str(self.own))

    def test_that_of_the_root_is_taken(self):
        self.assertEqual(self.chosen(f"-DPython3_ROOT_DIR={self.prefix}"), str(self.own))
        self.assertEqual(self.chosen(Python3_ROOT_DIR=str(self.prefix)), str(self.own))

    def test_that_which_was_named_is_taken(self):
        self.assertEqual(self.chosen(f"-DPython3_EXECUTABLE={self.own}"), str(self.own))


if __name__ == "__main__":
    unittest.main()
