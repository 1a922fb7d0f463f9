#!/usr/bin/env python3
"""The link over MPI, under teams of threads in several processes: what is sent arrives, mistakes are told, one can end all.

SPDX-License-Identifier: BSD-3-Clause
"""

import re
import unittest

import run_mpi

ARGUMENTS = run_mpi.test_arguments(__doc__)
LINK_RUN = ARGUMENTS.idlewave.resolve().parent / "iw_link_run"  # beside the command: it finds the parts as that does


def run(processes, threads, what):
    return run_mpi.launch(ARGUMENTS.mpi, processes, [LINK_RUN, ARGUMENTS.mpi, threads, what])


class Link(unittest.TestCase):
    def test_members_of_all_processes_reach_each_other(self):
        for processes, threads, members in ((1, 2, 2), (2, 1, 3), (3, 2, 7), (7, 1, 10)):
            with self.subTest(processes=processes, threads=threads):
                done = run(processes, threads, "fine")
                self.assertEqual((done.returncode, done.stdout),
                                 (0, f"{members} members of {processes} processes on 1 nodes\n"), done.stderr)

    def test_another_size_than_expected_is_refused(self):
        done = run(2, 1, "size")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "process 0: process 1 sends (16 bytes where 8 are|more than the 8 bytes) expected")

    def test_one_thread_only_is_refused_by_all(self):
        done = run(3, 2, "threads")
        self.assertNotEqual(done.returncode, 0)
        told = re.findall(r"process (\d): this MPI allows calls from one thread only", done.stderr)
        self.assertEqual(sorted(told), ["0", "1", "2"], done.stderr)

    def test_one_process_ends_all(self):
        done = run(3, 1, "abort")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertNotIn("killed after", done.stderr)


if __name__ == "__main__":
    run_mpi.run_tests(ARGUMENTS)
