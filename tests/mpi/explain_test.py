#!/usr/bin/env python3
"""A traced halo exchange of 2 ranks beside a daemon of known bursts: `explain` names it, and nothing of the watching is left.

SPDX-License-Identifier: BSD-3-Clause

Usage: see run_mpi.test_arguments().
"""

import json
import os
import signal
import subprocess
import time

import run_mpi
import trace_run

IDLEWAVE = trace_run.ARGUMENTS.idlewave.resolve()
BURSTS = trace_run.PROGRAMS.parents[2] / "system" / "iw_bursts"
NAME = "monitord"


def watchers():
    """Processes that watch, by the name that the kernel knows them by."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/comm", encoding="utf-8") as file:
                found += [entry] if file.read() == "idlewave-kernel\n" else []
        except OSError:
            pass
    return found


class Explained(trace_run.Case):
    def trace_command(self, *options):
        return [str(IDLEWAVE), "trace", *options, "-o", str(self.trace), "--", str(self.program("halo_allreduce")), "100", "65536"]

    def start_daemons(self):
        for cpu in sorted(os.sched_getaffinity(0)):
            daemon = subprocess.Popen([str(BURSTS), str(cpu), "1000000", "4000", "4000", "16000", "16000", str(cpu), NAME, "/dev/null"],
                                      stderr=subprocess.DEVNULL)
            self.addCleanup(daemon.wait)
            self.addCleanup(daemon.terminate)
        time.sleep(0.1)

    def test_the_daemon_is_named(self):
        self.start_daemons()
        done = run_mpi.launch(trace_run.MPI, 2, self.trace_command("--kernel"), cwd=self.folder)
        if "cannot get the kernel's events" in done.stderr:
            run_mpi.skip("explain", "kernel events need root")
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = subprocess.run([str(IDLEWAVE), "explain", "--format", "json", str(self.trace)], capture_output=True, text=True, check=False)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        found = json.loads(shown.stdout)
        self.assertEqual(found["waits"]["traced_ranks"], 2)
        found = found["system"]
        self.assertEqual((found["ranks"], found["watched_ranks"], found["unordered"]), (2, 2, 0))
        self.assertLess(found["clock_error_ns"], 100000)
        sources = {source["name"]: source for source in found["sources"]}
        self.assertIn(f"thread/{NAME}", sources)
        daemon = sources[f"thread/{NAME}"]
        self.assertGreater(daemon["path_ns"], 0.02 * found["run_ns"])  # it takes 20 % of each CPU
        self.assertGreater(daemon["saving_ns"]["value"], 0.01 * found["run_ns"])
        parts = found["path_computing_ns"] + found["path_calls_ns"] + found["path_lost_ns"]
        # the path may begin on a rank that began a little later than the first
        self.assertLessEqual(parts, found["run_ns"] + 1)
        self.assertGreater(parts, 0.99 * found["run_ns"])

    def test_nothing_is_left_when_the_launcher_is_killed(self):
        before = set(watchers())
        launcher = subprocess.Popen([run_mpi.launcher(trace_run.MPI), "-n", "2", *self.trace_command("--kernel")], cwd=self.folder,
                                    env={**os.environ, **run_mpi.SETTINGS}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        launcher.send_signal(signal.SIGTERM)
        launcher.wait(timeout=60)
        end = time.monotonic() + 30
        while set(watchers()) - before and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(set(watchers()) - before, set())


if __name__ == "__main__":
    trace_run.require()
    trace_run.main()
