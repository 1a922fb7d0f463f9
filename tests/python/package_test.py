#!/usr/bin/env python3
"""The wheel: built and installed into a virtual environment without a network; all tests of the package run against it there.

SPDX-License-Identifier: BSD-3-Clause

Usage: package_test.py IDLEWAVE PACKAGE_DIR SOURCE_DIR
Skipped where no Python has the packages; without mypy, types are not checked, and it says so.
"""

import json
import os
import pathlib
import re
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

USER_PROGRAM = """import pathlib
import idlewave

result = idlewave.simulate(pattern="barrier", ranks=8)
ranks: int = result.ranks
mean: float = result.slowdown.mean or 0.0
parts = result.explain.parts
name: int = idlewave.noise.show("node.h5").sources[0].name
print(result.nonsense)
idlewave.simulate(rnks=3)
idlewave.simulate(pattern="barrier", ranks=[8], sync="begin", explain="yes")
idlewave.noise.show("node.h5", plot=pathlib.Path("node.svg"), nonsense=True)
idlewave.explain("run", only="waits", top=5, least=0.01).nonsense
idlewave.explain("run", only="nothing")
idlewave.simulate("run", o=0, L="2us", noise=["exp:1%", pathlib.Path("node.h5")], async_="wait", no_p2p=False, progress=print)
"""
# lines, and what mypy has to find there, and nothing elsewhere
FINDINGS = [(7, '"None" of "Optional[Explain]" has no attribute "parts"'), (8, 'expression has type "str", variable has type "int"'),
            (9, '"Simulate" has no attribute "nonsense"'), (10, 'Unexpected keyword argument "rnks" for "simulate"'),
            (11, '"ranks" to "simulate" has incompatible type "List[int]"'), (11, '"sync" to "simulate" has incompatible type "Literal[\'begin\']"'),
            (11, '"explain" to "simulate" has incompatible type "str"'), (12, 'Unexpected keyword argument "nonsense" for "show"'),
            (13, '"Waits" has no attribute "nonsense"'), (14, 'No overload variant matches argument types "str", "str"')]


def calls_in(page):
    """The Python on a page: of consoles what is typed."""
    blocks = re.findall(r"^```(?:pycon|python)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    typed = [line[4:] if line.startswith((">>> ", "... ")) else line for block in blocks for line in block.splitlines()
             if ">>> " not in block or line.startswith((">>> ", "... "))]
    return "\n".join(typed) + "\n"


def cells_of(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code") + "\n"


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
        found = self.mypy("program.py")
        self.assertEqual(len(found), len(FINDINGS), found)
        for line, (number, text) in zip(found, FINDINGS):
            self.assertTrue(line.startswith(f"program.py:{number}: "), line)
            self.assertIn(text, line)

    def test_types_of_calls_on_pages_in_notebooks_and_tests(self):
        if not MYPY:
            return
        texts = {path: calls_in(path) for path in (SOURCE / "README.md", SOURCE / "python/README.md", *(SOURCE / "docs").rglob("*.md"))}
        texts.update((path, cells_of(path)) for path in (SOURCE / "examples/notebooks").glob("*.ipynb"))
        texts.update((path, path.read_text(encoding="utf-8")) for path in TESTS.glob("*_test.py"))
        texts = {path: text for path, text in texts.items() if "idlewave." in text and path.name != "package_test.py"}
        self.assertGreater(len(texts), 8)
        folder = self.environment.folder / "calls"
        folder.mkdir()
        for path, text in texts.items():
            name = re.sub(r"\W", "_", str(path.relative_to(SOURCE)))
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
        functions = re.findall(r"^def (\w+)", (PACKAGE / "src/idlewave/signatures.py").read_text(encoding="utf-8"), re.MULTILINE)
        ours = re.compile(rf'(?:to|for|of) "(?:{"|".join(functions)})"|No overload|syntax')
        found = [line for line in self.mypy("--check-untyped-defs", *sorted(map(str, folder.iterdir()))) if ours.search(line)]
        self.assertEqual(found, [])

    def mypy(self, *words):
        """What it says of programs that use the installed package."""
        settings = self.environment.folder / "mypy.ini"  # what ours imports would be checked for 15 s otherwise
        settings.write_text("[mypy]\n[mypy-h5py.*,matplotlib.*,numpy.*,pandas.*,xarray.*]\nfollow_imports = skip\n", encoding="utf-8")
        done = subprocess.run([MYPY, f"--cache-dir={self.environment.folder}/mypy", "--config-file", settings, "--python-executable",
                               self.environment.python, "--follow-imports=silent", "--no-error-summary", "--ignore-missing-imports", *words],
                              cwd=self.environment.folder, stdout=subprocess.PIPE, text=True, check=False)
        return [line for line in done.stdout.splitlines() if ": note: " not in line]

    def test_completion(self):
        code = ("import jedi\n"
                "for text in ('idlewave.simulate(ra', 'idlewave.explain(le', 'idlewave.noise.show(pl'):\n"
                "    script = jedi.Script('import idlewave\\n' + text)\n"
                "    print(*(found.name for found in script.complete() if found.name.endswith('=')))")
        said = run(self.environment.python, "-c", code, cwd=self.environment.folder)
        self.assertEqual(said.splitlines(), ["ranks= ranks_per_node=", "least= leave_out=", "plot="])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
