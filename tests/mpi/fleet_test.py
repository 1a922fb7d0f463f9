#!/usr/bin/env python3
"""`idlewave fleet` on several processes: the same bytes as on one, damaged files named once, failures of all of them.

SPDX-License-Identifier: BSD-3-Clause
"""

import pathlib
import subprocess
import tempfile
import unittest

import net_support
import run_mpi

ARGUMENTS = run_mpi.test_arguments(__doc__)
IDLEWAVE = ARGUMENTS.idlewave.resolve()
MAKE = IDLEWAVE.parent / "iw_make_digests"
PROCESSES = (2, 3, 4, 7)
MAGIC = b"IWDIGST1"


def make(path, *how):
    subprocess.run([MAKE, path, *map(str, how)], check=True, stdout=subprocess.DEVNULL)


def told(stderr):
    """Our own lines but for progress, which a slow machine shows; launchers tell of exit codes too."""
    return [line for line in stderr.splitlines() if line.startswith("idlewave: ") and "% done" not in line]


class Fleet(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compare(self, path, *options, processes=PROCESSES):
        """One process against several; returns what one said."""
        command = [IDLEWAVE, "fleet", path, *options]
        alone = run_mpi.run(list(map(str, command)))
        for count in processes:
            with self.subTest(path=path.name, processes=count):
                together = run_mpi.launch(ARGUMENTS.mpi, count, command)
                self.assertEqual((together.returncode, told(together.stderr)), (alone.returncode, told(alone.stderr)),
                                 together.stderr)
                self.assertEqual(together.stdout, alone.stdout)
        return alone

    def test_folder_with_older_and_damaged_digests(self):
        make(self.folder / "a.digest", 60, 5, 4)
        make(self.folder / "b.digest", 30, 7, 2, 3, 2)  # two weeks
        make(self.folder / "c.digest", 80, 4, 3, 9)
        content = bytearray((self.folder / "c.digest").read_bytes())
        content[len(content) // 2] ^= 0x55
        (self.folder / "c.digest").write_bytes(content)
        (self.folder / "d.h5").write_bytes(b"")
        alone = self.compare(self.folder, "--format", "json")
        self.assertEqual(alone.returncode, 2)
        self.assertIn("c.digest': the digest at byte", alone.stderr)

    def test_one_file_without_its_marks(self):
        """A process that begins in the middle of a file looks for a mark: it may be gone, or in what is no digest."""
        path = self.folder / "all.digest"
        make(path, 40, 6, 3)
        whole = path.read_bytes()
        self.compare(path, "--format", "csv", processes=(3,))
        places = [at for at in range(len(whole)) if whole.startswith(MAGIC, at)]
        middle = next(at for at in places if at >= len(whole) // 2)  # where the second of two begins
        path.write_bytes(whole[:middle] + b"?" + whole[middle + 1:])
        alone = self.compare(path, "--format", "csv", processes=(2, 4))
        self.assertIn(f"the digest at byte {middle}: not found", alone.stderr)
        path.write_bytes(whole[:middle - 30] + MAGIC + whole[middle - 22:])
        self.compare(path, "--format", "csv", processes=(2,))

    def test_nothing_to_read_ends_all(self):
        path = self.folder / "n1.h5"
        path.write_bytes(b"no recording")
        alone = self.compare(path, processes=(3,))
        self.assertEqual((alone.returncode, len(told(alone.stderr))), (1, 1), alone.stderr)
        path.unlink()
        self.assertEqual(self.compare(self.folder, processes=(2,)).returncode, 1)

    def test_two_hosts(self):
        """Two processes on each of two network namespaces, over TCP."""
        if not net_support.can_have_hosts():
            self.skipTest("network namespaces need root and iproute2")
        path = self.folder / "all.digest"
        make(path, 40, 5, 0)
        command = [IDLEWAVE, "fleet", path, "--format", "json"]
        alone = run_mpi.run(list(map(str, command)))
        with net_support.hosts() as hosts:
            code, out, err = net_support.run_until(hosts.line(ARGUMENTS.mpi, 2, command),
                                                   net_support.HOSTS_ENVIRONMENT[ARGUMENTS.mpi], net_support.is_json, 100)
        self.assertEqual((code, alone.returncode), (0, 0), err)
        self.assertEqual(out, alone.stdout)


if __name__ == "__main__":
    run_mpi.run_tests(ARGUMENTS)
