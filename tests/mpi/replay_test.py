#!/usr/bin/env python3
"""Programs under `idlewave replay` do what they do without, and meet noise.

SPDX-License-Identifier: BSD-3-Clause

Usage: see run_mpi.test_arguments().
"""

import os
import subprocess

import replay_run
import run_mpi

CLOSES = replay_run.MPI == "openmpi"  # MPICH's launcher itself must be talked with through a file that is open
PYTHON = f"import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:], close_fds={CLOSES}))"


class Replay(replay_run.Case):
    def test_a_program_with_signals_timers_threads_and_sleeps_is_undisturbed(self):
        command = [self.program("replay_undisturbed")]
        plain = run_mpi.launch(replay_run.MPI, 1, command)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        for back_end in replay_run.BACK_ENDS:
            done = self.replay(1, command, "--back-end", back_end)
            self.assert_undisturbed(done, plain, back_end)

    def assert_undisturbed(self, done, plain, back_end):
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr)
        self.assertGreaterEqual(self.made_seconds(done), 100 * 50e-6, done.stderr)
        self.assertEqual(done.stderr.count("the program now uses signal"), int(back_end == "timer"), done.stderr)

    @run_mpi.only_if(replay_run.MPI == "openmpi" or run_mpi.launcher("openmpi") is None)  # once is enough
    def test_a_program_without_mpi_is_undisturbed(self):
        command = [replay_run.PLAIN / "replay_undisturbed"]
        plain = run_mpi.run(command)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        for back_end in replay_run.BACK_ENDS:
            done = self.when_calibrated(lambda calibrate, name=back_end: run_mpi.run(
                self.line(command, "--back-end", name, calibrate=calibrate)))
            self.assert_undisturbed(done, plain, back_end)

    def test_a_timer_of_its_own_may_take_our_signal(self):
        done = self.replay(1, [self.program("replay_undisturbed"), "sends_the_highest_signal"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the program now uses signal", done.stderr)

    def test_its_threads_may_meet_noise_too(self):
        """Three threads compute beside the main one, which waits for them."""
        command = [self.program("replay_undisturbed"), "long_threads"]
        for _ in range(5):  # other jobs make one of the runs longer
            alone = self.made(self.replay(1, command))[1]
            done = self.replay(1, command, "--threads", "all")
            self.assertEqual((done.returncode, done.stdout), (0, "rank 0 long_threads: undisturbed\n"), done.stderr)
            if self.made(done)[1] > 1.7 * alone:
                break
            run_mpi.measured_again("detours of threads", f"{self.made(done)[1]} beside {alone} of one")
        else:
            self.fail(f"not more than {alone}: {done.stderr}")
        done = self.replay(1, [self.program("replay_undisturbed"), "threads"], "--threads", "all")
        self.assertEqual((done.returncode, done.stdout), (0, "rank 0 threads: undisturbed\n"), done.stderr)

    def test_fifo_wants_a_cpu_for_each_rank(self):
        if len(os.sched_getaffinity(0)) < 2 or "fifo" not in replay_run.BACK_ENDS:
            self.skipTest("all ranks are on one CPU, or SCHED_FIFO is not for us")
        done = run_mpi.launch(replay_run.MPI, 2, self.line(["true"], "--back-end", "fifo"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("bind each rank to a CPU", done.stderr)

    def test_nobody_reads_the_last_words(self):
        """The reader of stderr is gone when they are written."""
        script = '"$@" 2> >(head -c 1 >/dev/null); echo $?'
        done = run_mpi.run(["bash", "-c", script, "bash", *map(str, self.line(["sleep", "0.5"], "--mpi", "none"))])
        self.assertEqual(done.stdout, "0\n", done.stderr)

    def test_phases_begin_at_collectives_of_all_ranks_and_at_pcontrol(self):
        """Each of 400 begins in a detour with probability 1 / 20; time alone brings far fewer, on a busy machine too."""
        in_world = None
        for how, has_phases in (("world", True), ("part", False), ("pcontrol", True)):
            done = self.replay(2, [self.program("replay_phases"), how, "400"], "--sync", "phase", noise="periodic:2Hz,25ms")
            self.assertEqual((done.returncode, done.stdout), (0, "begins\n400 phases\n"), done.stderr)
            if has_phases:
                self.assert_noisy(done, 2, least=20)
                in_world = in_world or self.made(done)[0]
            else:
                self.assertLess(self.made(done)[0], in_world / 2, done.stderr)

    def test_phases_of_fortran(self):
        for binding in ("mpifh", "mpi_f08"):
            done = self.replay(2, [self.program(f"replay_{binding}")], "--sync", "phase", noise="periodic:10Hz,5ms")
            self.assertEqual((done.returncode, done.stdout.strip()), (0, "400 phases"), done.stderr)
            self.assert_noisy(done, 2, least=20)

    def test_phases_of_fifo(self):
        if "fifo" not in replay_run.BACK_ENDS:
            self.skipTest("SCHED_FIFO is not for us")
        done = self.replay(2, [self.program("replay_phases"), "world", "400"], "--sync", "phase", "--back-end", "fifo",
                           noise="periodic:10Hz,5ms")
        self.assertEqual((done.returncode, done.stdout), (0, "begins\n400 phases\n"), done.stderr)
        self.assert_noisy(done, 2, least=5)

    def test_scripts_may_start_the_program(self):
        """By a shell, and by an interpreter that closes all files."""
        app = [self.program("replay_phases"), "world", "50", "500"]
        done = self.replay(2, ["sh", "-c", 'true; "$@" && echo "$4 microseconds" && sleep 0.3 && exit 5', "sh", *app])
        self.assertEqual(done.stdout.count("50 phases"), 1, done.stderr)
        self.assertEqual(done.stdout.count("500 microseconds"), 2, done.stderr)
        self.assertEqual(len(replay_run.MADE.findall(done.stderr)), 1, done.stderr)
        self.assertEqual(done.returncode, 5)
        for back_end in replay_run.BACK_ENDS:
            done = self.replay(2, ["python3", "-c", PYTHON, *app], "--back-end", back_end)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_noisy(done, 2)

    def test_quiet_is_quiet(self):
        done = self.replay(2, [self.program("replay_phases"), "world", "10"], "--quiet")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "begins\n10 phases\n", ""))

    def test_the_third_of_a_file_is_used_up(self):
        made = self.folder / "short.h5"
        subprocess.run([replay_run.IDLEWAVE, "noise", "synth", "periodic:1kHz,50us", "--duration", "300ms", "-o", made],
                       check=True, capture_output=True)
        app = [self.program("replay_phases"), "world", "10", "30000"]
        done = self.replay(1, app, noise=str(made))
        self.assertIn("ended without noise", done.stderr)
        self.assertNotIn("ended without noise", self.replay(1, app, "--most", "all", noise=str(made)).stderr)


class Failures(replay_run.Case):
    """Whatever is ours and fails: one warning, and the program runs on."""

    def setUp(self):
        super().setUp()
        self.app = [self.program("replay_phases"), "world", "50"]

    def assert_runs_on(self, done, why, warnings=2):
        self.assertEqual((done.returncode, done.stdout), (0, "begins\n50 phases\n"), done.stderr)
        said = [line for line in done.stderr.splitlines() if "no noise" in line]
        self.assertEqual(len(said), warnings, done.stderr)
        self.assertRegex(said[0], why)

    def test_nothing_is_shared(self):
        line = ["env", f"LD_PRELOAD={replay_run.LIBRARY}", "IDLEWAVE_REPLAY=/proc/1/fd/999", *self.app]
        self.assert_runs_on(run_mpi.launch(replay_run.MPI, 2, line), "'/proc/1/fd/999' is missing")

    def spoil(self, code, *options):
        """`code` has the page as file `page`, and its memory's parts as `struct` reads them."""
        script = ("import os, struct, sys, time, signal\n"
                  "page = os.open(os.environ['IDLEWAVE_REPLAY'], os.O_RDWR)\n"
                  f"{code}\nos.execv(sys.argv[1], sys.argv[1:])")
        return self.replay(2, ["python3", "-c", script, *self.app], *options)

    def test_a_page_of_another_version(self):
        self.assert_runs_on(self.spoil("os.pwrite(page, struct.pack('I', 99), 8)"), "of another version of idlewave")

    def test_a_plan_that_is_none(self):
        self.assert_runs_on(self.spoil("os.pwrite(page, struct.pack('i', 0), 20)"), "the plan is not a sealed file")

    def test_an_injector_that_is_gone(self):
        if "fifo" not in replay_run.BACK_ENDS:
            self.skipTest("SCHED_FIFO is not for us")
        offset = "struct.calcsize('QIIi16iIIIII')"
        self.assert_runs_on(self.spoil(f"os.kill(struct.unpack('i', os.pread(page, 4, {offset}))[0], 9); time.sleep(0.1)",
                                       "--back-end", "fifo"), "the injector process has ended")

    def test_a_program_that_takes_our_signal_keeps_it(self):
        done = self.replay(1, [self.program("replay_signals")])
        self.assertEqual((done.returncode, done.stdout), (0, "signals: 0 foreign, 1 own\n"), done.stderr)
        self.assertIn("no more noise: the program now uses signal", done.stderr)

    def test_without_the_right_to_fifo_nothing_is_run(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to give rights up")
        line = ["setpriv", "--bounding-set", "-sys_nice", "--inh-caps", "-sys_nice", IDLEWAVE_AS_TEXT, "replay", "--noise",
                "periodic:1kHz,50us", "--back-end", "fifo", "--", *self.app]
        done = run_mpi.run(line)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn("SCHED_FIFO", done.stderr)


IDLEWAVE_AS_TEXT = str(replay_run.IDLEWAVE)

if __name__ == "__main__":
    replay_run.main()
