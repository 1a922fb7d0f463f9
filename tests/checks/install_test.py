#!/usr/bin/env python3
"""What is installed can be built against, by pkg-config and by CMake, also after it was moved; and what idlewave itself is
built from may lie in a prefix of its own.

SPDX-License-Identifier: BSD-3-Clause

Usage: install_test.py CMAKE SOURCE_DIR BUILD_DIR
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, SOURCE, BUILD = sys.argv[1:4]
PROGRAM = """#include <stdio.h>
#include <idlewave/status.h>
int main(void) { return puts(iw_status_name(IW_OK)) < 0; }
"""
PROJECT = """cmake_minimum_required(VERSION 3.22)
project(user C)
find_package(idlewave 0.1 REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE idlewave::idlewave)
"""


def run(*command, **settings):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **settings)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="iw_install_")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        run(CMAKE, "--install", BUILD, "--prefix", cls.folder / "first")
        cls.prefix = cls.folder / "moved"
        (cls.folder / "first").rename(cls.prefix)
        cls.library = next(cls.prefix.rglob("libidlewave.so")).parent
        (cls.folder / "user.c").write_text(PROGRAM, encoding="utf-8")
        (cls.folder / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")

    def test_by_pkg_config(self):
        found = dict(os.environ, PKG_CONFIG_PATH=str(self.library / "pkgconfig"))
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "idlewave", env=found))
        run("cc", self.folder / "user.c", "-o", self.folder / "by_pkg_config", *flags)
        said = run(self.folder / "by_pkg_config", env=dict(os.environ, LD_LIBRARY_PATH=str(self.library)))
        self.assertEqual(said, "OK\n")

    def test_by_cmake(self):
        built = self.folder / "build"
        run(CMAKE, "-S", self.folder, "-B", built, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run(CMAKE, "--build", built)
        self.assertEqual(run(built / "user"), "OK\n")

    def test_the_licence_is_there(self):
        self.assertTrue(list(self.prefix.glob("share/doc/idlewave/LICENSE")))

    def test_the_schemas_of_results_are_there(self):
        self.assertTrue(list(self.prefix.glob("share/idlewave/schemas/forecast.schema.json")))


class Prefixes(unittest.TestCase):
    def test_a_library_in_a_prefix_of_its_own_is_linked_from_there(self):
        with tempfile.TemporaryDirectory(prefix="iw_prefix_") as name:
            folder = pathlib.Path(name)
            (folder / "lib").mkdir()
            directory = run("pkg-config", "--variable=libdir", "jansson").strip()
            shutil.copy(f"{directory}/libjansson.so", folder / "lib" / "libjansson.so")
            (folder / "jansson.pc").write_text(f"Name: jansson\nDescription: JSON\nVersion: 2.14\n"
                                               f"Libs: -L{folder}/lib -ljansson\nCflags:\n", encoding="utf-8")
            run(CMAKE, "-G", "Ninja", "-S", SOURCE, "-B", folder / "build", "-DBUILD_TESTING=OFF", "-DIW_MPI=OFF",
                env=dict(os.environ, PKG_CONFIG_PATH=str(folder)))
            text = (folder / "build" / "build.ninja").read_text(encoding="utf-8")
            self.assertIn(f"{folder}/lib/libjansson.so", text)
            self.assertNotIn(" -ljansson", text)
            cache = (folder / "build" / "CMakeCache.txt").read_text(encoding="utf-8")
            self.assertIn("CMAKE_BUILD_TYPE:STRING=Release", cache)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
