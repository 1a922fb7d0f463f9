#!/usr/bin/env python3
"""Holds `watch` against what the kernel counts itself, against bursts of known times, and kills it.

SPDX-License-Identifier: BSD-3-Clause

Usage: watch_test.py --idlewave PATH --bursts PATH
"""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

from support import BURSTS_NAME, SKIPPED, Bursts, Recording, Skip, attempts, last_cpu, run_checks, share

NOBODY = 65534
KILLS = int(os.environ.get("IW_TEST_KILLS", "12"))

# A job that waits for a line on its standard input, works for so many seconds, and waits again: `work` is called.
JOB = """
import os, sys, time
def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
def work():
    {work}
sys.stdin.readline()
work()
print("done", flush=True)
sys.stdin.readline()
"""


def loaded():
    """Numbers of the programs and maps of BPF that the kernel holds for `watch`."""
    done = subprocess.run(["bpftool", "prog", "show", "-j"], capture_output=True, text=True, check=True)
    programs = [program["id"] for program in json.loads(done.stdout or "[]")
                if program.get("name", "") in ("on_sched_switch", "on_vector_entry", "on_softirq_exit")]
    done = subprocess.run(["bpftool", "map", "show", "-j"], capture_output=True, text=True, check=True)
    return programs, [a_map["id"] for a_map in json.loads(done.stdout or "[]")
                      if a_map.get("name", "") in ("claims", "threads", "processes", "sums")]


class Job:
    """Processes that do the same, stopped before and after their work."""

    def __init__(self, count, work, cpu=None):
        command = [sys.executable, "-c", JOB.format(work=work)]
        if cpu is not None:
            command = ["taskset", "-c", str(cpu), *command]
        self.processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                          for _ in range(count)]
        self.pids = [process.pid for process in self.processes]

    def __enter__(self):
        time.sleep(0.3)  # until all wait for their line
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.communicate()

    def start(self):
        for process in self.processes:
            process.stdin.write("\n")
            process.stdin.flush()

    def finish(self):
        for process in self.processes:
            process.stdout.readline()

    def schedstat(self):
        """Seconds of all: run, waited; and how often they got a CPU."""
        rows = [pathlib.Path(f"/proc/{pid}/schedstat").read_text().split() for pid in self.pids]
        return [sum(int(row[i]) for row in rows) * scale for i, scale in enumerate((1e-9, 1e-9, 1))]


class Watcher:
    """`watch`, from the moment on in which it sees everything."""

    def __init__(self, idlewave, folder, options, prefix=()):
        self.file = folder / "watched.h5"
        self.file.unlink(missing_ok=True)
        self.process = subprocess.Popen([*prefix, idlewave, "watch", "--no-config", *map(str, options), "--format", "json", "-o",
                                         self.file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while self.process.poll() is None and not self.file.exists():
            time.sleep(0.02)
        if self.process.poll() is not None:
            errors = self.process.communicate()[1]
            if any(words in errors for words in ("watching needs", "this build of idlewave cannot watch", "the kernel refuses")):
                raise Skip(errors.strip().splitlines()[-1])
            raise AssertionError(f"watch exits {self.process.returncode}: {errors}")

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.finish()

    def finish(self):
        """Without a signal: its duration is over, or its job has ended."""
        text, self.errors = self.process.communicate()
        assert self.process.returncode == 0, f"watch exits {self.process.returncode}: {self.errors}"
        return json.loads(text)


def pid_option(job):
    return ["--pid", ",".join(map(str, job.pids))]


def close(seen, truth, part, what):
    print(f"{what}: {seen:.4f}, the kernel says {truth:.4f} ({(seen / truth - 1) if truth else 0:+.2%})")
    assert abs(seen - truth) <= part * truth, f"{what}: {seen:.4f} for {truth:.4f}"


def agrees_with_schedstat(idlewave, _bursts, folder):
    work = "[(spin(0.002), time.sleep(0.001)) for _ in range(400)]"

    def attempt():
        with Job(4, work) as job:
            watcher = Watcher(idlewave, folder, pid_option(job))
            before = job.schedstat()
            job.start()
            job.finish()
            time.sleep(0.2)
            after = job.schedstat()
            watch = watcher.end()["watch"]
        totals = watch["totals"]
        # the kernel's run time does not have what the hypervisor took meanwhile
        stolen = totals["steal_unplaced_ns"] + sum(source["time_ns"] for source in watch["sources"] if source["name"] == "steal")
        run, wait, slices = (b - a for a, b in zip(before, after))
        close((totals["run_ns"] - stolen) / 1e9, run, 0.01, "run")
        close(totals["wait_ns"] / 1e9, wait, 0.01, "wait")
        close(totals["slices"], slices, 0.01, "slices")

    attempts(3, attempt)


LINE = re.compile(r"^(\d+)\.(\d{9}) s, CPU (\d+): \S+ \S+, (.*)$")


def events_of(watcher, result):
    """(start, end, names) of the detours that were told, on CLOCK_MONOTONIC_RAW."""
    zero = int(result["attributes"]["start_raw_ns"])
    found = []
    for line in watcher.errors.splitlines():
        match = LINE.match(line)
        if match:
            parts = re.findall(r"(?:^|, )(\w+ ?.*?) ([\d.]+) (ns|us|ms|s)(?=,|$)", match[4])
            length = sum(float(number) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit] for _, number, unit in parts)
            start = zero + int(match[1]) * 10**9 + int(match[2])
            found.append((start, start + length, [name for name, *_ in parts]))
    return sorted(found)


def finds_bursts_and_names_them(idlewave, bursts, folder):
    cpu = last_cpu()

    def attempt():
        with Job(1, "spin(30)", cpu) as job:
            watcher = Watcher(idlewave, folder, [*pid_option(job), "--on-threshold", "1ns"])
            job.start()
            time.sleep(0.3)
            made = Bursts(bursts, folder, cpu, 500, (5, 1000), (1500, 3500)).run()
            time.sleep(0.3)
            result = watcher.end()
        events = events_of(watcher, result)
        found, named = [], []
        for burst in made:
            inside = overlapping(events, burst.start_ns, burst.end_ns)
            found.append(any(event[0] <= burst.start_ns and event[1] >= burst.end_ns - 2000 for event in inside))
            named.append(any(f"thread {BURSTS_NAME}" in event[2] for event in inside))
        print(f"{sum(found)} of {len(made)} bursts lie in a detour, {sum(named)} have their name")
        assert share(found) >= 0.99 and share(named) >= 0.99, f"{share(found):.2%} found, {share(named):.2%} named"

    attempts(3, attempt)


def overlapping(events, start_ns, end_ns):
    return [event for event in events if event[0] < end_ns and event[1] > start_ns]


def interrupts(bursts, kind, folder, count):
    """(start, end, number) of bursts of interrupts on the last CPU, as interrupts.c tells them."""
    log, cpu = folder / "interrupts.log", last_cpu()
    command = [bursts.with_name("iw_interrupts"), kind, cpu, min(os.sched_getaffinity(0)), count, 1, log]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode == SKIPPED:
        raise Skip(f"no bursts of {kind}: {done.stderr.strip()}")
    assert done.returncode == 0, f"iw_interrupts exits {done.returncode}: {done.stderr}"
    return [tuple(map(int, line.split())) for line in log.read_text().splitlines()]


def finds_interrupts(idlewave, bursts, folder, kind, name, slack_ns):
    """Bursts hit a thread that spins: a detour that has `name` lies where each of them was, up to slack_ns late."""
    def attempt():
        with Job(1, "spin(60)", last_cpu()) as job:
            watcher = Watcher(idlewave, folder, [*pid_option(job), "--on-threshold", "1ns"])
            job.start()
            time.sleep(0.3)
            made = interrupts(bursts, kind, folder, 500)
            time.sleep(0.3)
            result = watcher.end()
        events = events_of(watcher, result)
        inside = [overlapping(events, start, end + slack_ns) for start, end, _ in made]
        named = [any(name in event[2] for event in found) for found in inside]
        print(f"{kind}: {sum(map(bool, inside))} of {len(made)} bursts meet a detour, {sum(named)} one with {name}")
        assert share(inside) >= 0.99 and share(named) >= 0.99, f"{share(inside):.2%} found, {share(named):.2%} named"

    attempts(3, attempt)


def finds_timer_interrupts(idlewave, bursts, folder):
    finds_interrupts(idlewave, bursts, folder, "timer", "irq local_timer", 100000)


def finds_softirqs(idlewave, bursts, folder):
    finds_interrupts(idlewave, bursts, folder, "softirq", "softirq NET_RX", 0)


def loads_in_a_second(idlewave, _bursts, folder):
    with Job(1, "spin(60)") as job:
        job.start()
        seconds = [Watcher(idlewave, folder, [*pid_option(job), "--duration", "0.2s"]).finish()["watch"]["load_ns"] / 1e9 for _ in range(5)]
    print("loaded in", ", ".join(f"{value:.3f}" for value in seconds), "s")
    assert min(seconds) < 1, "loading takes too long"


def detours_lie_in_those_of_the_probe(idlewave, _bursts, folder):
    """`record` is the job that is watched: what the kernel tells of its CPU must be a part of what it feels there."""
    cpu, file = last_cpu(), folder / "probe.h5"

    def attempt():
        file.unlink(missing_ok=True)
        with subprocess.Popen([idlewave, "record", "--no-config", "--cpus", str(cpu), "--duration", "6s", "--attribution", "none", "-o", file],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as probe:
            watcher = Watcher(idlewave, folder, ["--pid", probe.pid, "--cpus", cpu, "--on-threshold", "1ns"])
            errors = probe.communicate()[1]
        assert probe.returncode == 0, errors
        events = events_of(watcher, watcher.end())
        felt = Recording(idlewave, file)
        # events are told with four digits of their length; the clocks of both sides differ by less than this
        slack_ns = 2000
        watched = [event for event in events if event[0] > felt.zero_ns and event[1] < felt.end_ns]
        inside = []
        for start, end, _ in watched:
            detour = felt.overlapping(start, end)
            inside.append(detour is not None and detour.start_ns - slack_ns <= start and end <= detour.end_ns + slack_ns)
        print(f"{sum(inside)} of {len(inside)} detours lie in one that the probe felt")
        assert len(inside) > 500 and share(inside) >= 0.99, f"{share(inside):.2%} of {len(inside)}"

    attempts(3, attempt)


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


# Two processes that hand a byte to and fro through pipes with names; the first one does so for 2 s.
PING = """
import os, sys, time
there, back = os.open(sys.argv[1], os.O_WRONLY), os.open(sys.argv[2], os.O_RDONLY)
sys.stdin.readline()
end = time.monotonic() + 2
while time.monotonic() < end:
    os.write(there, b"x")
    os.read(back, 1)
print("done", flush=True)
sys.stdin.readline()
"""
PONG = """
import os, sys
there, back = os.open(sys.argv[1], os.O_RDONLY), os.open(sys.argv[2], os.O_WRONLY)
while (byte := os.read(there, 1)):
    os.write(back, byte)
"""


def nothing_is_lost_uncounted(idlewave, bursts, folder):
    """As many switches as can be had, and bursts among them: what is not kept is counted."""
    pipes = [folder / "there", folder / "back"]
    for pipe in pipes:
        os.mkfifo(pipe)
    pinned = ["taskset", "-c", str(last_cpu()), sys.executable, "-c"]
    with subprocess.Popen([*pinned, PONG, *pipes]) as other, \
            subprocess.Popen([*pinned, PING, *pipes], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as job:
        watcher = Watcher(idlewave, folder, ["--pid", job.pid])
        started = time.monotonic()
        job.stdin.write("\n")
        job.stdin.flush()
        Bursts(bursts, folder, last_cpu(), 200, (5, 100), (300, 600)).run()
        job.stdout.readline()
        seconds = time.monotonic() - started
        result = watcher.end()
        job.kill()
        other.kill()
    watch = result["watch"]
    kept = sum(cpu["count"] for cpu in result["cpus"])
    left_out = sum(cpu["detours"] for cpu in watch["cpus"] if not cpu["is_kept"])
    print(f"{2 * watch['totals']['slices'] / seconds:.0f} switches a second; {watch['totals']['detours']} detours, {kept} kept, "
          f"{left_out} on other CPUs, losses {watch['losses']}")
    # each CPU may have one that is still open at the end
    open_ones = kept + left_out + watch["losses"]["detours"] - watch["totals"]["detours"]
    assert 0 <= open_ones <= len(watch["cpus"]), f"{-open_ones} detours are not accounted for"


def trace_events_tell_the_same(idlewave, bursts, folder):
    """The fall-back beside the programs, on a thread that never sleeps."""
    cpu = last_cpu()

    def attempt():
        with Job(1, "spin(60)", cpu) as job:
            job.start()
            time.sleep(0.2)
            watcher = Watcher(idlewave, folder, pid_option(job))
            other = subprocess.Popen([idlewave, "watch", "--no-config", *pid_option(job), "--attribution", "events", "--duration", "3s",
                                      "--format", "json", "-o", folder / "events.h5"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            Bursts(bursts, folder, cpu, 400, (50, 1000), (3000, 6000)).run()
            text, errors = other.communicate()
            result = watcher.end()
        if other.returncode != 0:
            raise Skip(errors.strip().splitlines()[-1])
        told, seen = json.loads(text), result["watch"]
        shares = [{source["name"]: source["time_ns"] / watch["totals"]["wanted_ns"] for source in watch["sources"]}
                  for watch in (seen, told["watch"])]
        lost = [watch["totals"]["lost_ns"] / watch["totals"]["wanted_ns"] for watch in (seen, told["watch"])]
        print(f"lost by programs {lost[0]:.2%}, by {told['rung']} {lost[1]:.2%}; bursts {shares[0][BURSTS_NAME]:.2%}, {shares[1][BURSTS_NAME]:.2%}")
        assert told["watch"]["totals"]["wanted_ns"] > 2.8e9, "not all of its time was wanted"
        assert abs(shares[1][BURSTS_NAME] / shares[0][BURSTS_NAME] - 1) < 0.1, shares

    attempts(3, attempt)


def stacks_say_where_the_kernel_was(idlewave, _bursts, folder):
    """A program that lets the kernel make random numbers, beside the job on its CPU."""
    cpu = last_cpu()
    with Job(1, "spin(60)", cpu) as job, \
            subprocess.Popen(["taskset", "-c", str(cpu), "dd", "if=/dev/urandom", "of=/dev/null", "bs=16M"], stderr=subprocess.DEVNULL) as other:
        try:
            job.start()
            watcher = Watcher(idlewave, folder, [*pid_option(job), "--on-threshold", "1ms"])
            time.sleep(3)
            watcher.end()
        finally:
            other.kill()
    lines = watcher.errors.splitlines()
    stacks = [stack.strip() for line, stack in zip(lines, lines[1:]) if LINE.match(line) and "thread dd" in line and stack.startswith("    in ")]
    if not stacks and "0000000000000000" in pathlib.Path("/proc/kallsyms").read_text().split("\n", 1)[0]:
        raise Skip("the kernel hides its functions")
    print(f"{len(stacks)} detours by dd with a stack; the first: {stacks[:1]}")
    assert any("random" in stack for stack in stacks), stacks[:10]


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
    assert len(screens) >= 3, f"{len(screens)} screens"
    lines = screens[-1].split("\033[J")[0].replace("\033[K", "").splitlines()
    print("\n".join(lines[:8]))
    assert len(lines) <= 24 and all(len(line) <= 80 for line in lines), lines
    assert re.match(r"process \d+, watched for [3-5] s", lines[0]), lines[0]
    assert re.match(r"lost [\d.]+ % of the CPU time that it wanted, [\d.]+ % since the start", lines[1]), lines[1]
    assert any(line.startswith("irq local_timer") for line in lines), "no tick in 4 s"


def kills_leave_nothing(idlewave, _bursts, folder):
    if shutil.which("bpftool") is None:
        raise Skip("bpftool is not there")
    before = loaded()
    with Job(1, "spin(600)") as job:
        job.start()
        for number in range(KILLS):
            watcher = subprocess.Popen([idlewave, "watch", *pid_option(job), "-o", folder / "killed.h5"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.02 + 0.5 * number / KILLS)  # while it loads, and while it runs
            watcher.kill()
            watcher.wait()
    for _ in range(50):  # the kernel frees programs and maps a little later, also those of checks before this one
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
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    with Job(1, "spin(600)") as job:
        job.start()
        both = [*user, "--inh-caps=-all,+bpf,+perfmon", "--ambient-caps=-all,+bpf,+perfmon"]
        result = Watcher(program, folder, [*pid_option(job), "--duration", "1s"], both).finish()
        assert result["watch"]["totals"]["run_ns"] > 0
        for lacking, caps in (("CAP_BPF and CAP_PERFMON", "-all"), ("CAP_PERFMON", "-all,+bpf"), ("CAP_BPF", "-all,+perfmon")):
            done = subprocess.run([*user, f"--inh-caps={caps}", f"--ambient-caps={caps}", program, "watch", "--no-config", *pid_option(job),
                                   "--attribution", "bpf", "-o", folder / "refused.h5"], capture_output=True, text=True, check=False)
            assert done.returncode != 0 and f"needs {lacking}:" in done.stderr, f"without {lacking}: {done.stderr}"


if __name__ == "__main__":
    sys.exit(run_checks(__doc__, [agrees_with_schedstat, finds_bursts_and_names_them, finds_timer_interrupts,
                                  finds_softirqs, detours_lie_in_those_of_the_probe, loads_in_a_second, own_threads_and_sleep_are_no_noise,
                                  quotas_are_no_noise, nothing_is_lost_uncounted, trace_events_tell_the_same, stacks_say_where_the_kernel_was,
                                  a_terminal_shows_it_live, kills_leave_nothing,
                                  two_capabilities_are_enough]))
