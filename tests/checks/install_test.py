#!/usr/bin/env python3
"""The examples can be built against what is installed, by pkg-config, by CMake and as C++17, also after it was moved; what simulates needs the C
library only; and what idlewave itself is built from may lie in a prefix of its own. Static libraries and a subdirectory serve as well.

SPDX-License-Identifier: BSD-3-Clause

Usage: install_test.py CMAKE SOURCE_DIR BUILD_DIR [CLASS...]
"""

import hashlib
import json
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
NEED_TOOLS = {"read_recording", "run_study"}
VERSION = re.search(r"^project\(idlewave VERSION ([0-9.]+)", (pathlib.Path(SOURCE) / "CMakeLists.txt").read_text(encoding="utf-8"), re.M).group(1)
SHORT = VERSION.rsplit(".", 1)[0] if VERSION.startswith("0.") else VERSION.split(".", 1)[0]  # of sonames
# of the C library, with the compiler's own and, in older ones, threads
C_LIBRARY = re.compile(r"(linux-vdso|lib(c|m|pthread|gcc_s|idlewave)|(/.*/)?ld-linux.*)\.so\S*$")
BARRIER = r"""
#include <idlewave/sim.h>
#include <stdio.h>

int main(void)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;
    iw_sim_result *result = NULL;
    pattern.ranks = 8;
    if (iw_program_from_pattern(NULL, "barrier", &pattern, &program) != IW_OK ||
        iw_simulate(NULL, program, iw_net_builtin("chic"), NULL, NULL, &result) != IW_OK) {
        return 1;
    }
    printf("%s\n", result->noiseless_ps > 0 ? "simulated" : "no time");
    iw_sim_result_free(result);
    iw_program_free(program);
    return 0;
}
"""


def run(*command, **settings):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **settings)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def files_below(folder):
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()]


def needed_by(program, environment):
    """Names of the libraries that are loaded with it."""
    return {line.split()[0] for line in run("ldd", program, env=environment).splitlines()}


def write_project(folder, program, lines):
    """A project of CMake in a folder, with one program of one file."""
    folder.mkdir()
    (folder / f"{program}.c").write_text(BARRIER if program == "barrier" else (EXAMPLES / f"{program}.c").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "CMakeLists.txt").write_text(
        "\n".join(["cmake_minimum_required(VERSION 3.18)", "project(user C)", f"add_executable({program} {program}.c)", *lines, ""]), encoding="utf-8")


def cached(name):
    """What a build of this tree shall have in common with BUILD."""
    text = (pathlib.Path(BUILD) / "CMakeCache.txt").read_text(encoding="utf-8")
    return [f"-D{name}={value}" for value in re.findall(rf"^{name}:\w+=(.+)$", text, re.M)]


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

    def flags(self, library="idlewave"):
        return shlex.split(run("pkg-config", "--cflags", "--libs", library, env=self.environment))

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
            run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", path, "-o", built / path.stem,
                *self.flags("idlewave-tools" if path.stem in NEED_TOOLS else "idlewave"))
        self.check_examples(built)

    def test_examples_by_cmake(self):
        built = self.folder / "by_cmake"
        run(CMAKE, "-S", EXAMPLES, "-B", built, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run(CMAKE, "--build", built)
        self.check_examples(built)

    def test_what_simulates_needs_the_c_library_only(self):
        for how in ("pkg-config", "CMake"):
            built = self.folder / f"barrier_by_{how}"
            write_project(built, "barrier", [f"find_package(idlewave {SHORT} REQUIRED COMPONENTS core)",
                                             "target_link_libraries(barrier PRIVATE idlewave::idlewave)",
                                             "if(TARGET idlewave::tools)", "  message(FATAL_ERROR unasked)", "endif()"])
            if how == "CMake":
                run(CMAKE, "-S", built, "-B", built, f"-DCMAKE_PREFIX_PATH={self.prefix}")
                run(CMAKE, "--build", built)
            else:
                run("cc", built / "barrier.c", "-o", built / "barrier", *self.flags())
            self.assertEqual(run(built / "barrier", env=self.environment), "simulated\n", how)
            needed = needed_by(built / "barrier", self.environment)
            self.assertEqual({name for name in needed if not C_LIBRARY.match(name)}, set(), how)
            self.assertIn(f"libidlewave.so.{SHORT}", needed)

    def test_components_are_asked_for(self):
        built = self.folder / "asks"
        write_project(built, "barrier", ["find_package(idlewave REQUIRED COMPONENTS core nonesuch)"])
        with self.assertRaisesRegex(AssertionError, "without its component 'nonesuch'"):
            run(CMAKE, "-S", built, "-B", built, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        write_project(self.folder / "asks_old", "read_recording", [
            f"find_package(idlewave {SHORT} REQUIRED)", "target_link_libraries(read_recording PRIVATE idlewave::idlewave idlewave::tools)"])
        run(CMAKE, "-S", self.folder / "asks_old", "-B", self.folder / "asks_old", f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def test_tools_and_core_of_two_versions_do_not_load(self):
        path, other = self.folder / "read", self.folder / "other"
        run("cc", EXAMPLES / "read_recording.c", "-o", path, *self.flags("idlewave-tools"))
        self.assertIn(f"libidlewave-tools.so.{SHORT}", needed_by(path, self.environment))
        other.mkdir()
        (other / "versions").write_text(f"IDLEWAVE_{SHORT} {{ global: iw_*; local: *; }}; IDLEWAVE_PRIVATE_{VERSION}9 {{ global: iwi_*; }};", encoding="utf-8")
        (other / "stub.c").write_text("int iw_stub(void) { return 0; } int iwi_stub(void) { return 0; }", encoding="utf-8")
        run("cc", "-shared", "-fPIC", other / "stub.c", "-o", other / f"libidlewave.so.{SHORT}", f"-Wl,-soname,libidlewave.so.{SHORT}",
            f"-Wl,--version-script={other / 'versions'}")
        with self.assertRaisesRegex(AssertionError, f"version `IDLEWAVE_PRIVATE_{re.escape(VERSION)}' not found"):
            run(path, "node.h5", env=dict(self.environment, LD_LIBRARY_PATH=f"{other}:{self.library}"))

    def test_an_example_as_cxx17(self):
        run("c++", "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", EXAMPLES / "simulate_pattern.c",
            "-o", self.folder / "by_cxx", *self.flags())
        self.assertIn("slower", run(self.folder / "by_cxx", env=self.environment))

    def test_python_uses_the_command(self):
        code = "import idlewave; print(idlewave.command_path(), idlewave.simulate(pattern='barrier', ranks=8, net='chic').noiseless_ns)"
        said = run(sys.executable, "-B", "-c", code, env=dict(
            self.environment, PYTHONPATH=f"{BUILD}/python/src", PATH=f"{self.prefix}/bin:{os.environ['PATH']}"))
        self.assertEqual(said.split(), [f"{self.prefix}/bin/idlewave", "20610.0"])
        self.assertFalse(list(self.prefix.rglob("idlewave/__init__.py")), "only where IW_PYTHON_DIR says so")

    def test_headers_of_the_command_are_not_installed(self):
        headers = {path.name for path in self.prefix.rglob("*.h")}
        self.assertEqual(headers, {path.name for path in (pathlib.Path(SOURCE) / "include" / "idlewave").glob("*.h")})

    def test_the_bill_of_materials_is_there(self):
        with open(self.prefix / "share/doc/idlewave/idlewave.spdx.json", encoding="utf-8") as file:
            bill = json.load(file)
        packages = {package["SPDXID"]: package for package in bill["packages"]}
        self.assertEqual((bill["spdxVersion"], packages["SPDXRef-idlewave"]["name"]), ("SPDX-2.3", "idlewave"))
        self.assertRegex(packages["SPDXRef-jansson"]["versionInfo"], r"^\d+\.\d+")
        related = {relation["relatedSpdxElement"] for relation in bill["relationships"]}
        self.assertEqual(related, set(packages), "each package is used by something")

    def test_the_licence_is_there(self):
        self.assertTrue(list(self.prefix.glob("share/doc/idlewave/LICENSE")))

    def test_each_file_belongs_to_one_component(self):
        """Packagers make one package of each."""
        parts = {}
        for name in ["command", "library", "tools", "headers", "docs", "examples", *(f"mpi-{mpi}" for mpi in self.mpis())]:
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
        control = (pathlib.Path(BUILD) / "packaging" / "debian" / "control").read_text(encoding="utf-8")
        for package in (f"libidlewave{SHORT}", f"libidlewave-tools{SHORT}"):  # as Debian wants them, by their sonames
            self.assertIn(f"Package: {package}\n", control)
            self.assertTrue((pathlib.Path(BUILD) / "packaging" / "debian" / f"{package}.install").exists())
        self.assertFalse([path for path in (pathlib.Path(BUILD) / "packaging").rglob("*")
                          if path.is_file() and re.search(r"@[A-Z0-9_]+@", path.read_text(encoding="utf-8"))])
        with tarfile.open(tarball) as tar:
            names = {name.split("/", 1)[-1] for name in tar.getnames()}
        self.assertTrue({"README.md", "LICENSE", "CMakeLists.txt", "src/core/numeric/numeric.h", "web/report.css",
                         "python/src/idlewave/kinds/simulate.py", "python/src/idlewave/palette.json", "python/src/idlewave/signatures.py"} <= names)


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
            installed = (folder / "build" / "cmake_install.cmake").read_text(encoding="utf-8")
            self.assertRegex(installed, r'DESTINATION "\$\{CMAKE_INSTALL_PREFIX\}/lib/python" .*"[^"]*/build/python/src/idlewave"')


class Static(unittest.TestCase):
    def test_static_libraries_serve_by_cmake_and_pkg_config(self):
        with tempfile.TemporaryDirectory(prefix="iw_static_") as name:
            folder = pathlib.Path(name)
            prefix, built = folder / "prefix", folder / "build"
            run(CMAKE, "-G", "Ninja", "-S", SOURCE, "-B", built, "-DBUILD_SHARED_LIBS=OFF", "-DBUILD_TESTING=OFF", "-DIW_MPI=OFF",
                *cached("CMAKE_C_COMPILER"), *cached("CMAKE_C_COMPILER_LAUNCHER"))
            run(CMAKE, "--build", built, "--target", "idlewave", "idlewave-tools")
            run(CMAKE, "--install", built, "--component", "headers", "--prefix", prefix)
            self.assertEqual({path.name for path in prefix.rglob("lib*.*") if path.is_file()}, {"libidlewave.a", "libidlewave-tools.a"})
            environment = dict(os.environ, PKG_CONFIG_PATH=str(next(prefix.rglob("pkgconfig"))))
            for program, library, target in (("barrier", "idlewave", "core"), ("read_recording", "idlewave-tools", "tools")):
                project = folder / program
                write_project(project, program, [f"find_package(idlewave REQUIRED COMPONENTS {target})",
                                                 f"target_link_libraries({program} PRIVATE idlewave::{'tools' if target == 'tools' else 'idlewave'})"])
                run(CMAKE, "-S", project, "-B", project, f"-DCMAKE_PREFIX_PATH={prefix}")
                run(CMAKE, "--build", project)
                flags = shlex.split(run("pkg-config", "--static", "--cflags", "--libs", library, env=environment))
                run("cc", project / f"{program}.c", "-o", project / "by_pkg_config", *flags)
                for path in (project / program, project / "by_pkg_config"):
                    self.assertFalse([name for name in needed_by(path, os.environ) if "idlewave" in name])
                    if program == "barrier":
                        self.assertEqual(run(path), "simulated\n")
                        self.assertFalse([name for name in needed_by(path, os.environ) if not C_LIBRARY.match(name)])

    def test_a_subdirectory_gives_targets_and_nothing_else(self):
        for shared in (False, True):
            with self.subTest(shared=shared), tempfile.TemporaryDirectory(prefix="iw_within_") as name:
                folder = pathlib.Path(name)
                project, built = folder / "project", folder / "build"
                write_project(project, "barrier", [f"add_subdirectory({SOURCE} idlewave)", "target_link_libraries(barrier PRIVATE idlewave::idlewave)",
                                                   "if(NOT TARGET idlewave::tools)", "  message(FATAL_ERROR missing)", "endif()", "enable_testing()",
                                                   "install(TARGETS barrier DESTINATION bin)"])
                run(CMAKE, "-G", "Ninja", "-S", project, "-B", built, "-DIW_MPI=OFF", "-DCMAKE_BUILD_TYPE=Release", *(["-DBUILD_SHARED_LIBS=ON"] if shared else []),
                    *cached("CMAKE_C_COMPILER"), *cached("CMAKE_C_COMPILER_LAUNCHER"))
                run(CMAKE, "--build", built)
                self.assertEqual(run(built / "barrier"), "simulated\n")
                self.assertEqual(bool(list(built.rglob("libidlewave.so"))), shared)
                self.assertFalse(list(built.rglob("libidlewave-tools.*[ao]")), "what is not linked is not built")
                self.assertIn("Total Tests: 0", run("ctest", "-N", "--test-dir", built))
                run(CMAKE, "--install", built, "--prefix", folder / "prefix")
                self.assertEqual(files_below(folder / "prefix"), ["bin/barrier"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
