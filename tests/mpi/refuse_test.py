#!/usr/bin/env python3
"""One process refuses before MPI is started: all of them end, and the reason is told once.

SPDX-License-Identifier: BSD-3-Clause
"""

import tempfile
import unittest

import run_mpi

ARGUMENTS = run_mpi.test_arguments(__doc__)
IDLEWAVE = ARGUMENTS.idlewave.resolve()
HELLO = ARGUMENTS.programs.resolve() / "hello"
NOISE = ("--calibrate", "5s", "--noise", "periodic:1kHz,50us")
ERROR, USAGE = 1, 64

# what one process is asked, what another one is, the reason that the latter has, and its exit code
CASES = {
    "replay, noise that is not there": (("replay", *NOISE, "--", HELLO), ("replay", "--noise", "gone.h5", "--", HELLO),
                                        "cannot read 'gone.h5'", ERROR),
    "replay, a program that is not there": (("replay", *NOISE, "--", HELLO), ("replay", *NOISE, "--", "./gone"),
                                            "'./gone' cannot be run", ERROR),
    "trace": (("trace", "-o", "run", "--", HELLO), ("trace", "-o", "/proc/gone", "--", HELLO),
              "cannot use the folder '/proc/gone'", ERROR),
    "bench": (("bench", "barrier"), ("bench", "barrier", "--noise", "gone.h5"), "cannot read 'gone.h5'", ERROR),
    "net": (("net",), ("net", "--sizes", "0"), "--sizes: 1 to ", USAGE),
    "simulate": (("simulate", "--pattern", "barrier", "--ranks", "8"), ("simulate", "--gone"), "no option '--gone'", USAGE),
    "fleet": (("fleet", "."), ("fleet",), "no folder given", USAGE),
}


class Refuse(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def assert_all_end(self, good, bad, reason, code):
        """Waiting for ever shows as an exit by a signal, with a line of run_mpi's."""
        done = run_mpi.launch(ARGUMENTS.mpi, 1, [*good, ":", "-n", "1", *bad], cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr.count(reason)), (code, 1), done.stderr)

    def test_the_last_refuses(self):
        for name, (good, bad, reason, code) in CASES.items():
            with self.subTest(name):
                self.assert_all_end((IDLEWAVE, *good), (IDLEWAVE, *bad), reason, code)

    def test_the_first_refuses(self):
        good, bad, reason, code = CASES["simulate"]
        self.assert_all_end((IDLEWAVE, *bad), (IDLEWAVE, *good), reason, code)

    def test_one_lacks_its_part(self):
        """As on a host where it is not installed."""
        command = (IDLEWAVE, "simulate", "--pattern", "barrier", "--ranks", "8")
        self.assert_all_end(command, ("env", "IDLEWAVE_PARTS=/gone", *command), "IDLEWAVE_PARTS names this folder", ERROR)

    def test_all_refuse_and_one_tells(self):
        for verb, *wrong in (("replay", *NOISE, "--calibrate", "1ns", "true"), ("trace", "--kernel-optional", "true"),
                             ("bench", "gone"), ("net", "--sizes", "0")):
            said = f"idlewave: {verb}: "
            done = run_mpi.launch_for_one_telling(ARGUMENTS.mpi, 3, [IDLEWAVE, verb, *wrong], said, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr.count(said)), (USAGE, 1), done.stderr)


if __name__ == "__main__":
    run_mpi.run_tests(ARGUMENTS)
