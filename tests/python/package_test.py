#!/usr/bin/env python3
"""The wheel: built and installed into a virtual environment without a network; all tests of the package run against it there.

SPDX-License-Identifier: BSD-3-Clause

Usage: package_test.py IDLEWAVE PACKAGE_DIR SOURCE_DIR
Skipped where no Python has the packages; without mypy, types are not checked, and it says so.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from python_env import Environment, python_with, run

IDLEWAVE, PACKAGE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
TESTS = pathlib.Path(__file__).resolve().parent
PYTHON = python_with("ensurepip", "h5py", "matplotlib", "pandas", "setuptools", "venv", "wheel", "xarray")
MYPY = shutil.which("mypy", path="/usr/bin") or shutil.which("mypy")

USER_PROGRAM = """import idlewave

result = idlewave.simulate(pattern="barrier", ranks=8)
ranks: int = result.ranks
mean: float = result.slowdown.mean or 0.0
parts = result.explain.parts
name: int = idlewave.noise.show("node.h5").sources[0].name
print(result.nonsense)
"""
# line: what mypy has to find there, and nothing elsewhere
FINDINGS = {6: '"None" of "Optional[Explain]" has no attribute "parts"', 7: 'expression has type "str", variable has type "int"',
            8: '"Simulate" has no attribute "nonsense"'}


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="iw_package_")
        cls.addClassCleanup(scratch.cleanup)
        cls.environment = Environment(PYTHON, PACKAGE, scratch.name)

    def run_test(self, name):
        variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        said = run(self.environment.python, "-B", TESTS / name, SOURCE, cwd=self.environment.folder,
                   env=dict(variables, IDLEWAVE_COMMAND=str(IDLEWAVE)))
        self.assertRegex(said, r"Ran [1-9]\d* tests")
        self.assertNotIn("skipped", said)

    def test_core(self):
        self.run_test("core_test.py")

    def test_frames(self):
        self.run_test("frames_test.py")

    def test_figures(self):
        self.run_test("figures_test.py")

    def test_pages(self):
        self.run_test("pages_test.py")

    def test_the_wheel_is_pure_and_whole(self):
        self.assertRegex(self.environment.wheel.name, r"^idlewave-[\d.]+-py3-none-any\.whl$")
        with zipfile.ZipFile(self.environment.wheel) as wheel:
            names = {name for name in wheel.namelist() if ".dist-info/" not in name}
            others = " ".join(name for name in wheel.namelist() if ".dist-info/" in name)
        files = (PACKAGE / "src").rglob("*")
        wanted = {str(path.relative_to(PACKAGE / "src")) for path in files
                  if path.is_file() and "__pycache__" not in str(path) and ".egg-info" not in str(path)}
        self.assertEqual(names, wanted)
        self.assertIn("/LICENSE", others)

    def test_sources_without_what_the_build_makes_say_what_to_build(self):
        said = subprocess.run([self.environment.python, SOURCE / "python" / "setup.py", "--version"], cwd=self.environment.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(said.returncode, 1)
        self.assertIn("cmake --build BUILD --target python", said.stdout)

    def test_the_installed_package_is_the_one_that_is_tested(self):
        said = run(self.environment.python, "-c", "import idlewave; print(idlewave.__file__)", cwd=self.environment.folder)
        self.assertTrue(said.startswith(str(self.environment.folder / "venv")), said)

    def test_types(self):
        if not MYPY:
            print("SKIPPED: types of the Python package: no mypy; on Debian: apt-get install mypy")
            return
        cache = f"--cache-dir={self.environment.folder}/mypy"
        run(MYPY, cache, "--config-file", PACKAGE / "pyproject.toml", PACKAGE / "src")
        program = self.environment.folder / "program.py"
        program.write_text(USER_PROGRAM, encoding="utf-8")
        settings = self.environment.folder / "mypy.ini"  # what ours imports would be checked for 15 s otherwise
        settings.write_text("[mypy]\n[mypy-h5py.*,matplotlib.*,numpy.*,pandas.*,xarray.*]\nfollow_imports = skip\n", encoding="utf-8")
        found = subprocess.run([MYPY, cache, "--config-file", str(settings), "--python-executable", str(self.environment.python),
                                "--follow-imports=silent", "--no-error-summary", "--ignore-missing-imports", "program.py"], cwd=self.environment.folder, stdout=subprocess.PIPE, text=True,
                               check=False).stdout.splitlines()
        self.assertEqual(len(found), len(FINDINGS), found)
        for line, (number, text) in zip(found, FINDINGS.items()):
            self.assertTrue(line.startswith(f"program.py:{number}: "), line)
            self.assertIn(text, line)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
