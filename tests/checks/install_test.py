#!/usr/bin/env python3
"""The examples can be built against what is installed, by pkg-config, by CMake and as C++17, also after it was moved; and what idlewave itself is
built from may lie in a prefix of its own.

SPDX-License-Identifier: BSD-3-Clause

Usage: install_test.py CMAKE SOURCE_DIR BUILD_DIR
"""

import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

CMAKE, SOURCE, BUILD = sys.argv[1:4]
EXAMPLES = pathlib.Path(SOURCE) / "examples" / "c"


def run(*command, **settings):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **settings)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def files_below(folder):
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()]


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
        cls.environment = dict(os.environ, LD_LIBRARY_PATH=str(cls.library),
                               PKG_CONFIG_PATH=str(cls.library / "pkgconfig"))

    def flags(self):
        return shlex.split(run("pkg-config", "--cflags", "--libs", "idlewave", env=self.environment))

    def check_examples(self, built):
        """What each example prints, run from the folder where it was built."""
        recording, results = self.folder / "node.h5", built / "results"
        run(self.prefix / "bin" / "idlewave", "noise", "synth", "periodic:100Hz,50us", "--duration", "1s", "-o", recording,
            env=self.environment)
        said = {
            "simulate_pattern": run(built / "simulate_pattern", env=self.environment),
            "own_noise_source": run(built / "own_noise_source", env=self.environment),
            "read_recording": run(built / "read_recording", recording, env=self.environment),
            "run_study": run(built / "run_study", pathlib.Path(SOURCE) / "examples" / "study-small.yaml", results,
                             env=self.environment),
        }
        self.assertEqual(sorted(said), sorted(path.stem for path in EXAMPLES.glob("*.c")), "an example is not run")
        self.assertRegex(said["simulate_pattern"], r"1024 ranks, trial 4: .* slower than without noise")
        self.assertRegex(said["own_noise_source"], r"'growing daemon' takes 0\.5\d % of the time, and slows 256 ranks")
        self.assertRegex(said["read_recording"], r"CPU 0: (99|100) detours take 0\.\d+ % of 1\.0 s, the longest 50\.0 us")
        self.assertEqual(said["run_study"].count("slower"), 32)

    def test_the_collection_is_found_where_it_was_moved(self):
        said = run(self.prefix / "bin" / "idlewave", "get", "idle-wave-nodes", "--path", env=dict(self.environment, XDG_DATA_HOME=str(self.folder)))
        self.assertEqual(said.strip(), str(self.prefix / "share" / "idlewave" / "net" / "idle-wave-nodes.yaml"))

    def test_examples_by_pkg_config(self):
        built = self.folder / "by_pkg_config"
        built.mkdir()
        for path in EXAMPLES.glob("*.c"):
            run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", path, "-o", built / path.stem, *self.flags())
        self.check_examples(built)

    def test_examples_by_cmake(self):
        built = self.folder / "by_cmake"
        run(CMAKE, "-S", EXAMPLES, "-B", built, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run(CMAKE, "--build", built)
        self.check_examples(built)

    def test_an_example_as_cxx17(self):
        run("c++", "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", EXAMPLES / "simulate_pattern.c",
            "-o", self.folder / "by_cxx", *self.flags())
        self.assertIn("slower", run(self.folder / "by_cxx", env=self.environment))

    def test_python_uses_the_command(self):
        code = "import idlewave; print(idlewave.command_path(), idlewave.simulate(pattern='barrier', ranks=8).noiseless_ns)"
        said = run(sys.executable, "-B", "-c", code, env=dict(
            self.environment, PYTHONPATH=f"{SOURCE}/python/src", PATH=f"{self.prefix}/bin:{os.environ['PATH']}"))
        self.assertEqual(said.split(), [f"{self.prefix}/bin/idlewave", "20610.0"])
        self.assertFalse(list(self.prefix.rglob("idlewave/__init__.py")), "only where IW_PYTHON_DIR says so")

    def test_headers_of_the_command_are_not_installed(self):
        headers = {path.name for path in self.prefix.rglob("*.h")}
        self.assertEqual(headers, {path.name for path in (pathlib.Path(SOURCE) / "include" / "idlewave").glob("*.h")})

    def test_the_licence_is_there(self):
        self.assertTrue(list(self.prefix.glob("share/doc/idlewave/LICENSE")))

    def test_each_file_belongs_to_one_component(self):
        """Packagers make one package of each."""
        parts = {}
        for name in ["command", "library", "headers", "docs", "examples", *(f"mpi-{mpi}" for mpi in self.mpis())]:
            run(CMAKE, "--install", BUILD, "--component", name, "--prefix", self.folder / name)
            parts[name] = files_below(self.folder / name)
            self.assertTrue(parts[name], f"component {name} is empty")
        everything = [path for part in parts.values() for path in part]
        self.assertEqual(sorted(everything), sorted(files_below(self.prefix)))
        self.assertIn("bin/idlewave", parts["command"])
        self.assertIn("include/idlewave/idlewave.h", parts["headers"])
        self.assertFalse(any(path.endswith(".h") for name in parts if name not in ("headers", "examples") for path in parts[name]))

    def mpis(self):
        return sorted(path.name for path in self.prefix.glob("lib*/**/idlewave/*") if path.is_dir() and path.name != "plain"
                      and list(path.glob("*idlewave-trace*")))

    def test_the_schemas_of_results_are_there(self):
        self.assertTrue(list(self.prefix.glob("share/idlewave/schemas/forecast.schema.json")))


class Releases(unittest.TestCase):
    def test_a_tarball_is_the_same_twice_and_whole(self):
        if not (pathlib.Path(SOURCE) / ".git").exists():
            print("SKIPPED: the tarball of a release: this is no git checkout")
            return
        run(CMAKE, "--build", BUILD, "--target", "dist")
        tarball = next(pathlib.Path(BUILD).glob("idlewave-*.tar.gz"))
        first = tarball.read_bytes()
        run(CMAKE, "--build", BUILD, "--target", "dist")
        self.assertEqual(tarball.read_bytes(), first)
        run("sha256sum", "-c", tarball.name + ".sha256", cwd=BUILD)
        recipe = (pathlib.Path(BUILD) / "packaging" / "spack" / "package.py").read_text(encoding="utf-8")
        self.assertIn(hashlib.sha256(first).hexdigest(), recipe)
        self.assertFalse([path for path in (pathlib.Path(BUILD) / "packaging").rglob("*")
                          if path.is_file() and re.search(r"@[A-Z0-9_]+@", path.read_text(encoding="utf-8"))])
        with tarfile.open(tarball) as tar:
            names = {name.split("/", 1)[-1] for name in tar.getnames()}
        self.assertTrue({"README.md", "LICENSE", "CMakeLists.txt", "src/core/numeric/numeric.h", "web/report.css"} <= names)


class Prefixes(unittest.TestCase):
    def test_a_library_in_a_prefix_of_its_own_is_linked_from_there(self):
        with tempfile.TemporaryDirectory(prefix="iw_prefix_") as name:
            folder = pathlib.Path(name)
            (folder / "lib").mkdir()
            directory = run("pkg-config", "--variable=libdir", "jansson").strip()
            shutil.copy(f"{directory}/libjansson.so", folder / "lib" / "libjansson.so")
            (folder / "jansson.pc").write_text(f"Name: jansson\nDescription: JSON\nVersion: 2.14\n"
                                               f"Libs: -L{folder}/lib -ljansson\nCflags:\n", encoding="utf-8")
            run(CMAKE, "-G", "Ninja", "-S", SOURCE, "-B", folder / "build", "-DBUILD_TESTING=OFF", "-DIW_MPI=OFF", "-DIW_PYTHON_DIR=lib/python",
                env=dict(os.environ, PKG_CONFIG_PATH=str(folder)))
            text = (folder / "build" / "build.ninja").read_text(encoding="utf-8")
            self.assertIn(f"{folder}/lib/libjansson.so", text)
            self.assertNotIn(" -ljansson", text)
            cache = (folder / "build" / "CMakeCache.txt").read_text(encoding="utf-8")
            self.assertIn("CMAKE_BUILD_TYPE:STRING=Release", cache)
            run(CMAKE, "--install", folder / "build", "--component", "python", "--prefix", folder / "prefix")
            self.assertTrue((folder / "prefix" / "lib" / "python" / "idlewave" / "palette.json").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
