"""Builds the package if it is whole: the classes of results are made from the C sources when idlewave is built.

SPDX-License-Identifier: BSD-3-Clause
"""

import pathlib
import sys

from setuptools import setup

if not pathlib.Path(__file__).with_name("src").joinpath("idlewave", "kinds", "__init__.py").exists():
    sys.exit("error: this is the source of the package; the build makes the rest of it: cmake --build BUILD --target python, "
             "then pip install BUILD/python")
setup()
