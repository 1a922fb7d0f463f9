"""The Python that has the packages, and a virtual environment with ours, installed from its wheel without a network.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import pathlib
import shutil
import subprocess
import sys

SKIP = 77
CANDIDATES = ("/usr/bin/python3", sys.executable)  # a Python in PATH may be another one than Debian's


def run(*words, **settings):
    """What a command prints; with all that it said in the error if it fails."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                          check=False, **settings)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def python_with(*modules):
    """The first Python that can import all MODULES; else says which lack and ends the test as skipped."""
    reasons = []
    for python in dict.fromkeys(CANDIDATES):
        if not os.path.exists(python):
            continue
        code = "import importlib.util, sys; print(*(name for name in sys.argv[1:] if not importlib.util.find_spec(name)))"
        lacks = run(python, "-c", code, *modules).split()
        if not lacks:
            return python
        reasons.append(f"{python} lacks {', '.join(lacks)}")
    print(f"SKIPPED: Python packages: {'; '.join(reasons)}; on Debian: apt-get install python3-NAME")
    sys.exit(SKIP)


class Environment:
    """A virtual environment in a folder, over the packages of PYTHON."""

    def __init__(self, python, package, folder):
        self.folder = pathlib.Path(folder)
        self.python = self.folder / "venv" / "bin" / "python"
        shutil.copytree(package, self.folder / "python",  # setuptools writes beside what it reads
                        ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
        run(python, "-m", "venv", "--system-site-packages", self.folder / "venv")
        self.pip("wheel", "--no-build-isolation", "--no-deps", "-w", self.folder / "wheels", self.folder / "python")
        (self.wheel,) = (self.folder / "wheels").iterdir()
        self.pip("install", self.wheel)

    def pip(self, verb, *words):
        run(self.python, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir", verb, "--no-index", *words)
