#!/usr/bin/env python3
"""`watch` in use, whatever else runs: what counts as noise, what is shown, which rights it needs, and what kills leave.

SPDX-License-Identifier: BSD-3-Clause

Usage: watch_use_test.py --idlewave PATH --bursts PATH
"""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

from support import BURSTS_NAME, Bursts, Skip, last_cpu, run_checks
from watch_support import LINE, Job, Watcher, pid_option

NOBODY = 65534
KILLS = int(os.environ.get("IW_TEST_KILLS", "0"))  # so many, and nothing else
SOME_KILLS = 8


def cpu_seconds():
    """Of the programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def loads_in_a_second(idlewave, _bursts, folder):
    """And sees a thread that nothing switches: one at real-time priority, where that is allowed."""
    work = "os.geteuid() or os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); spin(120)"
    with Job(1, work, last_cpu()) as job:
        job.start()
        while job.schedstat()[0] < 0.5:  # until it spins, which may take long where others want the CPUs
            time.sleep(0.02)
        before = cpu_seconds()
        seconds = [Watcher(idlewave, folder, [*pid_option(job), "--duration", "0.2s"]).finish()["watch"]["load_ns"] / 1e9 for _ in range(5)]
        mean = (cpu_seconds() - before) / len(seconds)
        for _ in range(10):  # shorter than the 50 ms of each second for which the kernel holds such a thread
            Watcher(idlewave, folder, [*pid_option(job), "--duration", "20ms"]).finish()
    print("loaded in", ", ".join(f"{value:.3f}" for value in seconds), f"s; {mean:.3f} s of CPU time each")
    assert mean < 1, "loading takes too long"  # CPU time: others may want the CPUs too


def thread_sources(result):
    return {source["name"]: source["time_ns"] for source in result["watch"]["sources"] if source["class"] == "thread"}


def own_threads_and_sleep_are_no_noise(idlewave, _bursts, folder):
    """Two processes on one CPU wait for each other; a third sleeps."""
    with Job(2, "spin(1.5)", last_cpu()) as job, Job(1, "time.sleep(1.5)", last_cpu()) as sleeper:
        watcher = Watcher(idlewave, folder, ["--pid", ",".join(map(str, job.pids + sleeper.pids))])
        sleeper.start()
        job.start()
        job.finish()
        sleeper.finish()
        result = watcher.end()
    totals = result["watch"]["totals"]
    print({name: value for name, value in totals.items() if value}, thread_sources(result))
    assert totals["wait_own_ns"] > 0.3 * totals["run_ns"], "waiting behind own threads is not seen"
    assert totals["wanted_ns"] <= 1.02 * (totals["run_ns"] + totals["lost_ns"]), "sleep was wanted time"
    assert totals["wait_own_ns"] <= totals["wait_ns"], "they waited longer for each other than in all"


def of_a_sleeper_there_is_nothing_to_say(idlewave, _bursts, folder):
    """No verdict, and no file that says nothing."""
    file = folder / "sleeper.h5"
    with Job(1, "pass") as sleeper:  # it waits for its line
        time.sleep(0.5)  # until it sleeps
        done = subprocess.run([idlewave, "watch", "--no-config", *pid_option(sleeper), "--duration", "500ms", "-o", file],
                              capture_output=True, text=True, check=False)
    if "watching needs" in done.stderr or "cannot watch" in done.stderr:
        raise Skip(done.stderr.strip())
    assert done.returncode == 3 and "wanted none of these CPUs" in done.stderr, f"exit {done.returncode}: {done.stderr}"
    assert not file.exists(), "a file is left"


def who_gets_no_cpu_says_so(idlewave, _bursts, folder):
    """Whatever kept it from ending in time: here it is stopped."""
    with Job(1, "spin(120)") as job:
        job.start()
        watcher = Watcher(idlewave, folder, [*pid_option(job), "--duration", "2s"])
        watcher.process.send_signal(signal.SIGSTOP)
        time.sleep(8)
        watcher.process.send_signal(signal.SIGCONT)
        result = watcher.finish()
    watched_s = result["watch"]["watched_ns"] / 1e9
    print(f"watched {watched_s:.1f} s:", watcher.errors.strip())
    assert watched_s > 6, "it did not watch while it was stopped"
    assert "asked for 2.000 s, took" in watcher.errors and "nice -n -20" in watcher.errors, "no word of it"


@contextlib.contextmanager
def quota_group(share_of_cpu):
    """A control group of either version with that quota: its folder, and what tells its throttling in ns."""
    for parent, version in (("/sys/fs/cgroup/cpu", 1), ("/sys/fs/cgroup", 2)):
        folder = pathlib.Path(parent) / f"iw-watch-test-{os.getpid()}"
        with contextlib.suppress(OSError):
            folder.mkdir()
            break
    else:
        raise Skip("no control group can be made here")
    try:
        try:
            if version == 1:
                (folder / "cpu.cfs_quota_us").write_text(str(int(share_of_cpu * 100000)))
            else:
                (folder / "cpu.max").write_text(f"{int(share_of_cpu * 100000)} 100000")
        except OSError as reason:
            raise Skip(f"no quota can be set here: {reason}") from reason
        yield folder
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                folder.rmdir()
                break
            time.sleep(0.1)


def throttled_s(folder):
    for line in (folder / "cpu.stat").read_text().splitlines():
        name, value = line.split()
        if name in ("throttled_time", "throttled_usec"):
            return int(value) * (1e-9 if name == "throttled_time" else 1e-6)
    raise Skip("the kernel does not say for how long it throttles")


def quotas_are_no_noise(idlewave, _bursts, folder):
    with quota_group(0.05) as group, Job(1, "spin(2)", last_cpu()) as job:
        (group / "cgroup.procs").write_text(str(job.pids[0]))
        watcher = Watcher(idlewave, folder, ["--cgroup", group])
        job.start()
        job.finish()
        truth = throttled_s(group)
        result = watcher.end()
    totals = result["watch"]["totals"]
    print(f"throttled {totals['throttled_ns'] / 1e9:.3f} s, cpu.stat says {truth:.3f} s; lost {totals['lost_ns'] / 1e9:.3f} s, "
          f"wanted {totals['wanted_ns'] / 1e9:.3f} s")
    assert totals["throttled_ns"] / 1e9 >= 0.9 * truth > 0, "the quota is not seen"
    assert totals["wanted_ns"] <= 1.02 * (totals["run_ns"] + totals["lost_ns"]), "throttled time was wanted time"


# Two processes that offer each other the CPU all the time; before ordinary ones, where that is allowed.
YIELD = "os.geteuid() or os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))" """
    end = time.monotonic() + 2
    while time.monotonic() < end:
        os.sched_yield()
        sum(range(200))  # or what is between is too short to part detours"""


def nothing_is_lost_uncounted(idlewave, bursts, folder):
    """As many switches as can be had, and bursts among them: what is not kept is counted."""
    with Job(1, YIELD, last_cpu()) as job, Job(1, YIELD, last_cpu()) as other:
        watcher = Watcher(idlewave, folder, pid_option(job))
        started = time.monotonic()
        other.start()
        job.start()
        Bursts(bursts, folder, last_cpu(), 200, (5, 100), (300, 600)).run()
        job.finish()
        seconds = time.monotonic() - started
        result = watcher.end()
    watch = result["watch"]
    kept = sum(cpu["count"] for cpu in result["cpus"])
    left_out = sum(cpu["detours"] for cpu in watch["cpus"] if not cpu["is_kept"])
    print(f"{2 * watch['totals']['slices'] / seconds:.0f} switches a second; {watch['totals']['detours']} detours, {kept} kept, "
          f"{left_out} on other CPUs, losses {watch['losses']}")
    # each CPU may have one that is still open at the end
    open_ones = kept + left_out + watch["losses"]["detours"] - watch["totals"]["detours"]
    assert 0 <= open_ones <= len(watch["cpus"]), f"{-open_ones} detours are not accounted for"


def stacks_say_where_the_kernel_was(idlewave, _bursts, folder):
    """A program that lets the kernel make random numbers, beside the job on its CPU."""
    cpu, program = last_cpu(), folder / "iw_random"
    shutil.copy(shutil.which("dd"), program)  # others may run dd too
    with Job(1, "spin(600)", cpu) as job, \
            subprocess.Popen(["taskset", "-c", str(cpu), program, "if=/dev/urandom", "of=/dev/null", "bs=16M"], stderr=subprocess.DEVNULL) as other:
        try:
            job.start()
            for _ in range(10):  # others may leave it little time on that CPU
                watcher = Watcher(idlewave, folder, [*pid_option(job), "--on-threshold", "1ms"])
                time.sleep(1.5)
                watcher.end()
                lines = watcher.errors.splitlines()
                stacks = [stack.strip() for line, stack in zip(lines, lines[1:])
                          if LINE.match(line) and f"thread {program.name}" in line and stack.startswith("    in ")]
                if any("random" in stack for stack in stacks):
                    break
        finally:
            other.kill()
    if not stacks and "0000000000000000" in pathlib.Path("/proc/kallsyms").read_text().split("\n", 1)[0]:
        raise Skip("the kernel hides its functions")
    print(f"{len(stacks)} detours by {program.name} with a stack; the first: {stacks[:1]}")
    assert any("random" in stack for stack in stacks), stacks[:10]


def as_user(*caps):
    """Before a command: as an ordinary user with these capabilities only."""
    named = ",".join(["-all", *(f"+{cap}" for cap in caps)])
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", f"--inh-caps={named}", f"--ambient-caps={named}"]


def stacks_say_which_program_called(idlewave, bursts, folder):
    """Functions of a program with frame pointers, for root; for an ordinary user as much as the kernel lets it see."""
    program = folder / "idlewave"  # the build may lie where others may not look
    shutil.copy(idlewave, program)
    # before ordinary processes: only the bursts take its CPU
    work = "os.geteuid() or os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); spin(600)"
    wanted = {"root": ((), "run_bursts < main")}
    if os.geteuid() == 0 and shutil.which("setpriv") is not None:
        wanted["nobody"] = (as_user("bpf", "perfmon"), "")
    with Job(1, work, last_cpu()) as job, Bursts(bursts, folder, last_cpu(), 1000000, (8000, 8000), (30000, 30000)).running():
        job.start()
        for user, (prefix, words) in wanted.items():
            for _ in range(10):  # others may leave it little time on that CPU
                watcher = Watcher(program, folder, [*pid_option(job), "--on-threshold", "2ms", "--duration", "1s"], prefix)
                watcher.finish()
                stacks = [line.strip() for line in watcher.errors.splitlines() if line.startswith(f"    user stack of {BURSTS_NAME}: ")]
                if any(words in stack for stack in stacks):
                    break
            print(f"{user}: {len(stacks)} user stacks of {BURSTS_NAME}; the first: {stacks[:1]}")
            assert any(words in stack for stack in stacks), stacks[:10]


def a_terminal_shows_it_live(idlewave, _bursts, folder):
    """What stands on a screen of 80 x 24 after 4 s: the head, and what takes the CPU, in so many lines."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with Job(1, "spin(60)") as job:
        job.start()
        with subprocess.Popen([idlewave, "watch", "--no-config", *pid_option(job), "--live", "--duration", "4s", "-o", folder / "live.h5"],
                              stdout=slave, stderr=subprocess.PIPE, text=True, env=dict(os.environ, TERM="xterm")) as process:
            os.close(slave)
            shown = b""
            with contextlib.suppress(OSError):  # the other end is closed
                while piece := os.read(master, 65536):
                    shown += piece
            errors = process.stderr.read()
    os.close(master)
    if process.returncode != 0 and "watching needs" in errors:
        raise Skip(errors.strip())
    assert process.returncode == 0, errors
    screens = shown.decode().split("\033[H")[1:]
    assert len(screens) >= 2, f"{len(screens)} screens"
    lines = screens[-1].split("\033[J")[0].replace("\033[K", "").splitlines()
    print("\n".join(lines[:8]))
    assert len(lines) <= 24 and all(len(line) <= 80 for line in lines), lines
    assert re.match(r"process \d+, watched for \d+ s", lines[0]), lines[0]
    assert re.match(r"lost [\d.]+ % of the CPU time that it wanted \([\d.]+ % since the start\)", lines[1]), lines[1]
    assert any(line.startswith("irq local_timer") for line in lines), "no tick in 4 s"


def loaded():
    """Numbers of the programs and maps of BPF that the kernel holds for `watch`."""
    done = subprocess.run(["bpftool", "prog", "show", "-j"], capture_output=True, text=True, check=True)
    programs = [program["id"] for program in json.loads(done.stdout or "[]")
                if program.get("name", "") in ("on_sched_switch", "on_vector_entry", "on_softirq_exit")]
    done = subprocess.run(["bpftool", "map", "show", "-j"], capture_output=True, text=True, check=True)
    return programs, [a_map["id"] for a_map in json.loads(done.stdout or "[]")
                      if a_map.get("name", "") in ("claims", "threads", "processes", "sums")]


def kills_leave_nothing(idlewave, _bursts, folder):
    if shutil.which("bpftool") is None:
        raise Skip("bpftool is not there")
    before = loaded()
    with Job(1, "spin(600)") as job:
        job.start()
        for number in range(KILLS or SOME_KILLS):
            watcher = subprocess.Popen([idlewave, "watch", *pid_option(job), "-o", folder / "killed.h5"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.02 + 0.5 * number / (KILLS or SOME_KILLS))  # while it loads, and while it runs
            watcher.kill()
            watcher.wait()
    for _ in range(600):  # the kernel frees programs and maps a little later, also those of checks before this one
        left = [sorted(set(now) - set(then)) for now, then in zip(loaded(), before)]
        if not any(left):
            break
        time.sleep(0.1)
    assert not any(left), f"programs and maps {left} are left"
    left = [path for path in pathlib.Path("/sys/fs/bpf").glob("**/*") if "idlewave" in path.name]
    assert not left, f"pins are left: {left}"


def two_capabilities_are_enough(idlewave, _bursts, folder):
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        raise Skip("only root can give and take capabilities")
    program = folder / "idlewave"  # the build may lie where others may not look
    shutil.copy(idlewave, program)
    with Job(1, "spin(600)") as job:
        job.start()
        result = Watcher(program, folder, [*pid_option(job), "--duration", "1s"], as_user("bpf", "perfmon")).finish()
        assert result["watch"]["totals"]["run_ns"] > 0
        for lacking, caps in (("CAP_BPF and CAP_PERFMON", ()), ("CAP_PERFMON", ("bpf",)), ("CAP_BPF", ("perfmon",))):
            done = subprocess.run([*as_user(*caps), program, "watch", "--no-config", *pid_option(job),
                                   "--attribution", "bpf", "-o", folder / "refused.h5"], capture_output=True, text=True, check=False)
            assert done.returncode != 0 and f"needs {lacking}:" in done.stderr, f"without {lacking}: {done.stderr}"


if __name__ == "__main__":
    sys.exit(run_checks(__doc__, [kills_leave_nothing] if KILLS > 0 else
                        [loads_in_a_second, own_threads_and_sleep_are_no_noise, of_a_sleeper_there_is_nothing_to_say, who_gets_no_cpu_says_so,
                         quotas_are_no_noise, nothing_is_lost_uncounted,
                         stacks_say_where_the_kernel_was, stacks_say_which_program_called, a_terminal_shows_it_live,
                         kills_leave_nothing, two_capabilities_are_enough]))
