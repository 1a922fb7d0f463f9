#!/usr/bin/env python3
"""Shows that tools/run_tests.py sees failures, retries and skips: on test folders made for it.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "run_tests.py"
# fails until it has been run N times
FLAKY = 'echo x >>{name}.runs; test "$(wc -l <{name}.runs)" -ge {needed}'


class RunTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="iw_run_tests_")
        self.addCleanup(self.folder.cleanup)
        self.build = pathlib.Path(self.folder.name)
        self.lines = []

    def add(self, name, command, labels=""):
        script = self.build / f"{name}.sh"
        script.write_text(command + "\n", encoding="utf-8")
        self.lines += [f'add_test({name} "sh" "{script}")',
                       f'set_tests_properties({name} PROPERTIES LABELS "{labels}" SKIP_RETURN_CODE 77 '
                       f'WORKING_DIRECTORY "{self.build}")']

    def add_flaky(self, name, needed, labels=""):
        self.add(name, FLAKY.format(name=name, needed=needed), labels)

    def run_tool(self, skips="", *options, environment=None):
        (self.build / "CTestTestfile.cmake").write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        (self.build / "skips").write_text(skips, encoding="utf-8")
        done = subprocess.run([sys.executable, TOOL, self.build, "--skips", self.build / "skips", *options],
                              capture_output=True, text=True, check=False, env={**os.environ, **(environment or {})})
        return done.returncode, done.stdout + done.stderr

    def expect(self, code, text, skips="", *options, environment=None):
        got, output = self.run_tool(skips, *options, environment=environment)
        self.assertEqual(got, code, output)
        self.assertIn(text, output)

    def test_passing_tests_pass(self):
        self.add("good", "true")
        self.expect(0, "tried again (budget 12 tests): none")

    def test_a_failure_fails(self):
        self.add("bad", "false")
        self.expect(1, "error: bad failed")

    def test_two_tests_of_one_name_fail(self):
        self.add("twin", "true")
        (self.build / "sub").mkdir()
        (self.build / "sub" / "CTestTestfile.cmake").write_text(self.lines[0] + "\n", encoding="utf-8")
        self.lines.append("subdirs(sub)")
        self.expect(1, "error: several tests are called twin")

    def test_parts_are_all_of_the_tests_once(self):
        for number in range(5):
            self.add(f"one{number}", f"echo {number} >>ran")
        for part, count in (("1/3", 2), ("2/3", 2), ("3/3", 1)):
            self.expect(0, f": {count} tests", "", "--part", part)
        self.assertEqual(sorted((self.build / "ran").read_text(encoding="utf-8").split()), list("01234"))
        self.assertNotEqual(self.run_tool("", "--part", "4/3")[0], 0)

    def test_an_exact_test_has_one_try(self):
        self.add_flaky("exact", 2)
        self.expect(1, "error: exact failed")

    def test_a_measuring_test_is_tried_again_and_that_is_said(self):
        self.add_flaky("noisy", 3, "measures")
        self.expect(0, "noisy: 3 tries")

    def test_a_measuring_test_has_three_tries(self):
        self.add_flaky("patient", 3, "measures")
        self.expect(0, "patient: 3 tries")
        self.add_flaky("noisy", 4, "measures")
        self.expect(1, "error: noisy failed")

    def test_a_test_under_launchers_has_a_second_try_and_that_is_said(self):
        self.add_flaky("launched", 2, "mpi")
        self.add_flaky("served", 2, "live")
        self.expect(0, "launched: 2 tries\n  served: 2 tries")
        self.add_flaky("wrong", 3, "mpi")
        self.expect(1, "error: wrong failed")

    def test_measuring_under_launchers_has_three_tries(self):
        self.add_flaky("patient", 3, "mpi;measures")
        self.expect(0, "patient: 3 tries")

    @unittest.skipIf(shutil.which("mpirun.openmpi") is None, "there is no launcher of Open MPI")
    def test_launchers_keep_the_folder_that_they_share(self):
        remembered = "for one in $TMPDIR/ompi.*; do echo $(stat -c %i $one) >>inodes; done"
        self.add("launched", f"{remembered}; mpirun.openmpi --allow-run-as-root -n 1 true && {remembered}", "mpi")
        tmp = self.build / "tmp"
        tmp.mkdir()
        self.expect(0, "1 tests", environment={"TMPDIR": str(tmp)})
        inodes = (self.build / "inodes").read_text(encoding="utf-8").split()
        self.assertEqual(len(set(inodes)), 1, "it was removed and made again")
        self.assertEqual(list(tmp.glob("ompi.*/held_*")), [])

    def test_too_many_retries_fail(self):
        for number in range(13):
            self.add_flaky(f"noisy{number}", 2, "measures")
        self.expect(1, "error: 13 tests needed another try, more than 12")

    def test_a_retry_inside_a_test_is_said(self):
        self.add("again", "echo 'RETRIED: the first look: too busy'")
        for number in range(13):  # a busy machine is no fault
            self.add(f"again{number}", "echo 'RETRIED: the first look: too busy'")
        self.expect(0, "again: measured once more: the first look: too busy")

    def test_a_skip_fails_unless_it_is_listed(self):
        self.add("good", "true")
        self.add("absent", "exit 77")
        self.expect(1, "error: absent skips the whole test, which is not on the list")
        self.expect(0, "absent: the whole test: no such machine", "^absent$ | whole | no such machine\n")

    def test_skips_inside_a_program_that_passes_are_seen(self):
        self.add("cmocka", "echo '[  SKIPPED ] needs_a_kernel'")
        self.add("python", "echo 'OK (skipped=2)'")
        self.add("script", "echo 'SKIPPED: half of it: no root'")
        code, output = self.run_tool("cmocka | needs_a_kernel | none here\n")
        self.assertEqual(code, 1, output)
        self.assertIn("cmocka: needs_a_kernel: none here", output)
        self.assertIn("error: python skips skipped=2, which is not on the list", output)
        self.assertIn("error: script skips half of it: no root, which is not on the list", output)

    def test_a_list_without_reasons_is_refused(self):
        self.add("good", "true")
        self.expect(1, "expected 'TEST | WHAT | REASON'", "absent | whole\n")

    def test_no_test_is_a_failure(self):
        self.add("good", "true", "measures")
        self.expect(1, "no test ran", "", "--without", "measures")


if __name__ == "__main__":
    unittest.main()
