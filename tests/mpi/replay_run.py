"""Running programs under `idlewave replay`, for the tests of it.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest
import uuid

import net_support
import run_mpi

ARGUMENTS = run_mpi.test_arguments("Tests of replay.")
MPI = ARGUMENTS.mpi
IDLEWAVE = ARGUMENTS.idlewave.resolve()
PROGRAMS = ARGUMENTS.programs.resolve()
PARTS = run_mpi.parts_beside(IDLEWAVE)
LIBRARY = PARTS / MPI / "libidlewave-replay.so"
PLAIN = PROGRAMS.parent / "plain"
BINDING = {"openmpi": ["--bind-to", "core:overload-allowed"], "mpich": ["-bind-to", "core"]}[MPI]
# The command refuses to begin if others leave it too little of the CPU in that time: then more of it helps.
CALIBRATIONS = ("50ms", "500ms", "5s")
TOO_BUSY = "undisturbed detours: the CPU is too busy"
MADE = re.compile(r"(\d+) detours injected on (\d+) of (\d+) ranks")


BACK_ENDS = ("timer", "fifo") if net_support.may_use_fifo() else ("timer",)
if "fifo" not in BACK_ENDS:
    run_mpi.leave_out("replay by the back end fifo", "this user has no right to SCHED_FIFO")


class Case(unittest.TestCase):
    """Every process that a test starts carries a mark in its environment, and none is left."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iw_replay_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.mark = f"IW_TEST_MARK={uuid.uuid4()}"
        self.addCleanup(self.end_all)

    def program(self, name):
        path = PROGRAMS / name
        if not path.exists():
            self.skipTest(f"there is no {path}")
        return str(path)

    def line(self, command, *options, noise="periodic:1kHz,50us", calibrate=CALIBRATIONS[1]):
        return ["env", self.mark, IDLEWAVE, "replay", "--calibrate", calibrate, "--noise", noise, *options, "--", *command]

    def binding(self, options):
        """fifo takes CPUs away: each rank has one."""
        return BINDING if "fifo" in options else []

    def replay(self, ranks, command, *options, noise="periodic:1kHz,50us", timeout=run_mpi.TIMEOUT_SECONDS):
        return self.when_calibrated(lambda calibrate: run_mpi.launch(
            MPI, ranks, self.line(command, *options, noise=noise, calibrate=calibrate), cwd=self.folder, timeout=timeout,
            options=self.binding(options)))

    @staticmethod
    def when_calibrated(run):
        """run(calibrate) with longer and longer calibrations, until one is long enough."""
        for calibrate in CALIBRATIONS:
            done = run(calibrate)
            if TOO_BUSY not in done.stderr:
                break
            run_mpi.measured_again(f"a calibration of {calibrate}", "the CPU was too busy")
        return done

    def begin(self, ranks, command, *options, noise="periodic:1kHz,50us", calibrate=CALIBRATIONS[0]):
        """Under the launcher, not waited for; its stderr goes into a file, `process.errors`."""
        line = [run_mpi.launcher(MPI), *self.binding(options), "-n", str(ranks),
                *map(str, self.line(command, *options, noise=noise, calibrate=calibrate))]
        errors = self.folder / "errors"
        with errors.open("w", encoding="utf-8") as file:
            process = subprocess.Popen(line, env=run_mpi.environment(dict([self.mark.split("=")])), cwd=self.folder,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=file, text=True,
                                       start_new_session=True)
        process.errors = errors
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        return process

    def marked(self):
        """{pid: name} of all processes of this test that run."""
        found = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    if (folder / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                        found[int(folder.name)] = (folder / "comm").read_text().strip()
            except OSError:
                pass  # it has ended
        return found

    def end_all(self):
        for pid in self.marked():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def wait_until(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.02)
        return condition()

    def made(self, done):
        """How many detours were made, and how many were to be."""
        match = re.search(r"(\d+) detours injected.*; (\d+) skipped", done.stderr)
        self.assertIsNotNone(match, done.stderr)
        return int(match[1]), int(match[1]) + int(match[2])

    def made_seconds(self, done):
        """The time of the detours that were made; a busy CPU makes fewer and longer ones of them, not less noise."""
        match = re.search(r"detours injected.*?, ([\d.]+) s; ", done.stderr)
        self.assertIsNotNone(match, done.stderr)
        return float(match[1])

    def assert_noisy(self, done, ranks, least=1):
        match = MADE.search(done.stderr)
        self.assertIsNotNone(match, done.stderr)
        self.assertEqual((int(match[2]), int(match[3])), (ranks, ranks), done.stderr)
        self.assertGreaterEqual(int(match[1]), least, done.stderr)


def main():
    run_mpi.run_tests(ARGUMENTS)
