"""Shows that the shell checks (headers, symbols, format) accept what is good and find what is bad.

SPDX-License-Identifier: BSD-3-Clause
"""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
HEADER = """#ifndef IW_THING_H
#define IW_THING_H
#define IW_API __attribute__((visibility("default")))
IW_API int iw_thing(
    int argument);
#endif
"""


class ShellChecks(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        (self.root / "include" / "idlewave").mkdir(parents=True)
        self.header = self.root / "include" / "idlewave" / "thing.h"
        self.header.write_text(HEADER, encoding="utf-8")

    def run_tool(self, name, *arguments):
        """(exit code, all output)"""
        done = subprocess.run([str(TOOLS / name), *map(str, arguments)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.decode()

    def check_symbols(self, code, of="tools", versions="IDLEWAVE_TOOLS_1 { global: iw_*; local: *; };"):
        """What is said of a library whose headers are of_tools.h and of_core.h, version 1.2.3."""
        self.header.rename(self.header.with_name(f"of_{of}.h"))
        (self.root / "src" / "core").mkdir(parents=True)
        (self.root / "src" / "core" / "headers.txt").write_text("of_core\n" if of == "core" else "", encoding="utf-8")
        (self.root / "CMakeLists.txt").write_text("project(idlewave VERSION 1.2.3 LANGUAGES C)\n", encoding="utf-8")
        source, library, script = self.root / "thing.c", self.root / "libthing.so", self.root / "versions"
        source.write_text(code, encoding="utf-8")
        script.write_text(versions, encoding="utf-8")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source), f"-Wl,--version-script={script}"], check=True)
        return self.run_tool("check_symbols.sh", of, library, self.root)

    def test_headers_accepts_a_good_header(self):
        code, output = self.run_tool("check_headers.sh", self.root / "include")
        self.assertEqual(code, 0, output)

    def test_headers_refuses_one_that_needs_another_before_it(self):
        self.header.write_text("size_t iw_thing(void);\n", encoding="utf-8")
        code, output = self.run_tool("check_headers.sh", self.root / "include")
        self.assertEqual(code, 1)
        self.assertIn("does not compile alone as c11", output)

    def test_headers_refuses_what_only_c_accepts(self):
        self.header.write_text("struct iw_thing { int new; };\n", encoding="utf-8")
        code, output = self.run_tool("check_headers.sh", self.root / "include")
        self.assertEqual(code, 1)
        self.assertIn("does not compile alone as c++17", output)

    def test_headers_refuses_a_missing_guard(self):
        self.header.write_text("struct iw_thing { int a; };\n", encoding="utf-8")
        self.assertEqual(self.run_tool("check_headers.sh", self.root / "include")[0], 1)

    def test_headers_refuses_an_empty_folder(self):
        self.header.unlink()
        self.assertEqual(self.run_tool("check_headers.sh", self.root / "include")[0], 1)

    def test_symbols_accepts_exactly_what_is_declared(self):
        code, output = self.check_symbols("int iw_thing(int a) { return a; }")
        self.assertEqual(code, 0, output)

    def test_symbols_refuses_other_prefixes(self):
        code, output = self.check_symbols("int iw_thing(int a) { return a; } int more(void) { return 0; }",
                                          versions="IDLEWAVE_TOOLS_1 { global: iw_*; more; local: *; };")
        self.assertEqual(code, 1)
        self.assertIn("without the prefix iw_: more", output)

    def test_symbols_accepts_private_ones_of_core_under_the_whole_version(self):
        both = "int iw_thing(int a) { return a; } int iwi_doc_append(void) { return 0; }"
        public = "IDLEWAVE_1 { global: iw_*; local: *; };"
        code, output = self.check_symbols(both, "core", public + "IDLEWAVE_PRIVATE_1.2.3 { global: iwi_*; };")
        self.assertEqual(code, 0, output)
        self.setUp()
        code, output = self.check_symbols(both, "core", public + "IDLEWAVE_PRIVATE_1 { global: iwi_*; };")
        self.assertEqual(code, 1)
        self.assertIn("as if it were not: iwi_doc_append", output)
        self.setUp()
        self.assertEqual(self.check_symbols(both, versions="IDLEWAVE_TOOLS_1 { global: iw*; local: *; };")[0], 1)

    def test_symbols_refuses_another_version(self):
        code, output = self.check_symbols("int iw_thing(int a) { return a; }", versions="IDLEWAVE_TOOLS_2 { global: iw_*; };")
        self.assertEqual(code, 1)
        self.assertIn("not exported: iw_thing@@IDLEWAVE_TOOLS_1", output)

    def test_symbols_refuses_what_no_header_declares(self):
        code, output = self.check_symbols("int iw_thing(int a) { return a; } int iw_more(void) { return 0; }")
        self.assertEqual(code, 1)
        self.assertIn("not declared in a public header of this library: iw_more", output)

    def test_symbols_refuses_what_is_declared_only(self):
        code, output = self.check_symbols("int iw_other(int a) { return a; }")
        self.assertEqual(code, 1)
        self.assertIn("but not exported: iw_thing", output)

    @unittest.skipUnless(shutil.which("clang-format"), "clang-format is not installed")
    def test_format_refuses_and_repairs(self):
        source = self.root / "thing.c"
        shutil.copy(TOOLS.parent / ".clang-format", self.root)
        source.write_text("int   iw_thing( int a ){return a;}\n", encoding="utf-8")
        self.assertEqual(self.run_tool("check_format.sh", source)[0], 1)
        self.assertEqual(self.run_tool("check_format.sh", "--fix", source)[0], 0)
        self.assertEqual(self.run_tool("check_format.sh", source)[0], 0)

    @unittest.skipUnless(shutil.which("clang-tidy") and shutil.which("cppcheck"), "the tools are not installed")
    def test_static_refuses_faults_and_long_functions(self):
        cases = {
            "int f(void);\nint f(void)\n{\n    return 0;\n}\n": 0,
            "int f(int *a);\nint f(int *a)\n{\n    return a ? 0 : *a;\n}\n": 1,
            "void f(void);\nvoid g(void);\nvoid f(void)\n{\n" + "    g();\n" * 90 + "}\n": 1,  # of another: the analyzer follows recursion
        }
        source = self.root / "src" / "thing.c"
        for folder in ("src", "tools"):
            (self.root / folder).mkdir()
        shutil.copy(TOOLS / "check_static.sh", self.root / "tools")
        shutil.copy(TOOLS.parent / ".clang-tidy", self.root)
        (self.root / "compile_commands.json").write_text(
            f'[\n{{\n "directory": "{self.root}",\n "command": "cc -c {source}",\n "file": "{source}"\n}}\n]\n',
            encoding="utf-8")
        for text, expected in cases.items():
            source.write_text(text, encoding="utf-8")
            code, output = self.run_tool(self.root / "tools" / "check_static.sh", self.root)
            self.assertEqual(code != 0, expected != 0, output)


if __name__ == "__main__":
    unittest.main()
