#!/usr/bin/env python3
"""Whoever is killed under `idlewave replay`, at whatever moment: no process is left, and no limit is changed.

SPDX-License-Identifier: BSD-3-Clause

Usage: see run_mpi.test_arguments(). IW_REPLAY_KILLS: so many moments (default 1).
"""

import os
import pathlib
import select
import signal
import time

import replay_run
import run_mpi

INJECTOR = "idlewave-fifo"
RT_LIMIT = pathlib.Path("/proc/sys/kernel/sched_rt_runtime_us")
MOMENTS = int(os.environ.get("IW_REPLAY_KILLS", "1"))
BOTH = (signal.SIGKILL, signal.SIGTERM)
SIGNALS = {"timer": BOTH if MOMENTS > 1 else BOTH[1:], "fifo": BOTH if MOMENTS > 1 else BOTH[:1]}


class Kill(replay_run.Case):
    def setUp(self):
        super().setUp()
        self.limit = RT_LIMIT.read_text(encoding="ascii")

    def processes(self, name):
        return [pid for pid, found in self.marked().items() if found == name]

    def start(self, back_end, phases="100000000"):
        """Runs, and is noisy."""
        for calibrate in replay_run.CALIBRATIONS:
            launcher = self.begin(2, [self.program("replay_phases"), "world", phases, "50"], "--back-end", back_end,
                                  calibrate=calibrate)
            self.wait_until(lambda: self.says_something(launcher) or self.is_too_busy(launcher), 120)
            if self.says_something(launcher) and not self.is_too_busy(launcher):
                break
            # where one rank refuses, MPICH's launcher lets the other wait for it for ever
            run_mpi.measured_again(f"a calibration of {calibrate}", "the CPU was too busy")
            self.end_all()
            launcher.wait(timeout=180)
        self.assertEqual(launcher.stdout.readline(), "begins\n", launcher.errors.read_text(encoding="utf-8"))
        return launcher

    @staticmethod
    def says_something(launcher):
        """Or has closed its output."""
        return bool(select.select([launcher.stdout], [], [], 0)[0])

    @staticmethod
    def is_too_busy(launcher):
        return replay_run.TOO_BUSY in launcher.errors.read_text(encoding="utf-8")

    def assert_nothing_left(self):
        self.assertTrue(self.wait_until(lambda: not self.marked()), self.marked())
        self.assertEqual(RT_LIMIT.read_text(encoding="ascii"), self.limit)

    def kill(self, pids, number):
        for pid in pids:
            os.kill(pid, number)

    def test_the_program(self):
        for back_end in replay_run.BACK_ENDS:
            for number in SIGNALS[back_end]:
                launcher = self.start(back_end)
                self.kill(self.processes("replay_phases")[:1], number)
                self.assertNotEqual(launcher.wait(timeout=180), 0)
                self.assert_nothing_left()

    def test_the_launcher(self):
        """What an MPI leaves of its own ranks then is not ours; what is ours goes with them."""
        for back_end in replay_run.BACK_ENDS:
            for number in SIGNALS[back_end]:
                launcher = self.start(back_end)
                os.kill(launcher.pid, number)
                launcher.wait(timeout=180)
                if not self.wait_until(lambda: not self.processes("replay_phases"), 3):
                    self.kill(self.processes("replay_phases"), signal.SIGKILL)
                self.assert_nothing_left()

    def test_the_injector(self):
        if "fifo" not in replay_run.BACK_ENDS:
            self.skipTest("SCHED_FIFO is not for us")
        launcher = self.start("fifo", "10000")
        self.assertEqual(len(self.processes(INJECTOR)), 2)
        self.kill(self.processes(INJECTOR), signal.SIGKILL)
        output, _ = launcher.communicate(timeout=300)
        errors = launcher.errors.read_text(encoding="utf-8")
        self.assertEqual((launcher.returncode, output), (0, "10000 phases\n"), errors)
        self.assertIn("noise ended before the program", errors)
        self.assert_nothing_left()

    def test_while_it_starts(self):
        for back_end in replay_run.BACK_ENDS:
            for moment in range(MOMENTS):
                launcher = self.begin(2, [self.program("replay_phases"), "world", "100000000", "50"], "--back-end", back_end,
                                      calibrate=replay_run.CALIBRATIONS[1])
                first = INJECTOR if back_end == "fifo" else "idlewave"
                self.assertTrue(self.wait_until(lambda: self.processes(first)), "it does not start")
                time.sleep(0.02 * moment)
                killed = (self.processes("idlewave") or self.processes("replay_phases"))[:1]
                self.assertEqual(len(killed), 1)
                self.kill(killed, signal.SIGKILL)
                self.wait_until(lambda: launcher.poll() is not None, 5)
                launcher.kill()
                launcher.wait()
                if not self.wait_until(lambda: not self.marked(), 3):
                    self.kill(self.processes("replay_phases"), signal.SIGKILL)
                self.assert_nothing_left()


if __name__ == "__main__":
    replay_run.main()
