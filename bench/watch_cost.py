#!/usr/bin/env python3
"""What `watch --metrics` costs: time of its programs in the kernel, and work with and without it in alternating blocks.

SPDX-License-Identifier: BSD-3-Clause

Usage: watch_cost.py --idlewave PATH [--build PATH] [--seconds N] [--pairs N] [--only programs,work,control,halo]

Needs root. `programs` lets the kernel time all programs (kernel.bpf_stats_enabled, put back afterwards).

`work`: a process that lives on does blocks of a loop and of kernels as HPC Challenge has them (watch_work.c), at real-time priority, while
the watcher is attached and taken off beside it: on, off, off, on, and so on. Attaching lies between blocks. Blocks that follow each
other with and without it are a pair. Printed are medians of all pairs with 95 % intervals by bootstrap:
- the ratio with/without of the CPU time, which has interrupts in it, but not what the hypervisor took;
- the difference of what interruptions take, in per cent of the time: how much longer chunks of 30 us are than the median of their 64
  neighbours. The clock rate, which changes from second to second on a shared host, drops out; so does a cost that all chunks have alike,
  if there is one. A chunk over 0.2 ms longer is left out: the hypervisor had the CPU.
Pairs are left out by what the hypervisor took during them, whatever they show (MOST_STOLEN).

`control`: the same with a known cost in place of the watcher, a thread that takes the CPU for 30 us every 10 ms: 0.3 %, and the switches to it.

`halo`: whole runs of an MPI program, on and off. On a machine that others use only its CPU time means something.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

KERNELS = ("loop", "triad", "random", "dgemm")
WINDOW = 64  # chunks, of watch_work.c
BLOCK_S = 0.12  # of each kernel, in a phase with or without the watcher
SETTLE_S = 0.05  # after attaching and taking off
MOST_STOLEN = 0.02  # of a phase's time


def links_of(pid):
    """How many programs the process has attached."""
    count = 0
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            count += os.readlink(fd) == "anon_inode:bpf_link"
    return count


@contextlib.contextmanager
def watching(idlewave, folder, pid):
    """From when its programs are attached on; afterwards they are gone."""
    file = folder / "cost.prom"
    with subprocess.Popen([idlewave, "watch", "--no-config", "--pid", str(pid), "--metrics", str(file)]) as watcher:
        before, now = -1, 0
        while now == 0 or now != before:  # until all its programs are attached
            time.sleep(0.03)
            if watcher.poll() is not None:
                raise SystemExit(f"watch exits {watcher.returncode}")
            before, now = now, links_of(watcher.pid)
        try:
            yield
        finally:
            watcher.send_signal(signal.SIGTERM)
            watcher.wait()


def timed(command, folder):
    """CPU and wall-clock seconds."""
    start = time.monotonic()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command[0]} exits {process.returncode}: {errors}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start


def interval(ratios):
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return f"{statistics.median(ratios):.4f} ({medians[50]:.4f} .. {medians[1949]:.4f})"


def compare(name, command, idlewave, folder, pairs):
    cpu, wall = [], []
    for number in range(pairs):
        got = {}
        for is_on in (number % 2 == 0, number % 2 != 0):
            with watching(idlewave, folder, os.getpid()) if is_on else contextlib.nullcontext():
                got[is_on] = timed(command, folder)
        cpu.append(got[True][0] / got[False][0])
        wall.append(got[True][1] / got[False][1])
    print(f"{name}, {pairs} pairs: CPU time {interval(cpu)}, wall-clock time {interval(wall)}", flush=True)


class Work:
    """A process that lives on, and does blocks."""

    def __init__(self, program):
        self.cpu = max(os.sched_getaffinity(0))
        self.process = subprocess.Popen([program, str(self.cpu)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.chunks = {kernel: 16 * WINDOW for kernel in KERNELS}
        for kernel in 2 * KERNELS:  # the second time in warm memory
            self.chunks[kernel] = max(WINDOW, int(BLOCK_S * 1e9 * self.chunks[kernel] / self.block(kernel)[1]) // WINDOW * WINDOW)

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def block(self, kernel):
        """(CPU time, undisturbed time, time beyond that) in ns, and how many chunks were left out."""
        self.process.stdin.write(f"{kernel} {self.chunks[kernel]}\n")
        self.process.stdin.flush()
        return [int(value) for value in self.process.stdout.readline().split()[:4]]

    def stolen(self):
        """Seconds that the hypervisor took from the CPU, in steps of 10 ms."""
        for line in pathlib.Path("/proc/stat").read_text(encoding="ascii").splitlines():
            if line.startswith(f"cpu{self.cpu} "):
                return int(line.split()[8]) / os.sysconf("SC_CLK_TCK")
        raise SystemExit(f"/proc/stat does not know CPU {self.cpu}")

    def phase(self):
        """Of each kernel (CPU time of a block, share beyond undisturbed time, share of chunks left out); and the share that was stolen."""
        time.sleep(SETTLE_S)
        before, start, got = self.stolen(), time.monotonic(), {}
        for kernel in KERNELS:
            cpu, plain, beyond, left_out = self.block(kernel)
            got[kernel] = cpu, beyond / plain, left_out / self.chunks[kernel]
        return got, (self.stolen() - before) / (time.monotonic() - start)


@contextlib.contextmanager
def bursting(program, folder, cpu):
    with subprocess.Popen([program, str(cpu), "1000000", "30", "30", "9970", "9970", "1", "iw-control", folder / "control.log"]) as daemon:
        try:
            yield
        finally:
            daemon.terminate()


def alternate(name, work, beside, seconds):
    """Phases with and without, in the order on, off, off, on; each two are a pair."""
    pairs, left_out, attached = [], 0, []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = {}
        for is_on in (True, False) if (len(pairs) + left_out) % 2 == 0 else (False, True):
            begin = time.monotonic()
            with beside() if is_on else contextlib.nullcontext():
                attached += [time.monotonic() - begin] if is_on else []
                got[is_on] = work.phase()
        if max(stolen for _, stolen in got.values()) > MOST_STOLEN:
            left_out += 1
        else:
            pairs.append((got[True][0], got[False][0]))
    print(f"{name}: {len(pairs)} pairs, {left_out} more left out because the hypervisor took above {MOST_STOLEN:.0%} of a phase; "
          f"switched on in {statistics.median(attached):.2f} s ({min(attached):.2f} to {max(attached):.2f}), outside of all blocks", flush=True)
    for kernel in KERNELS if len(pairs) > 1 else ():
        ratios = [on[kernel][0] / off[kernel][0] for on, off in pairs]
        costs = [100 * (on[kernel][1] - off[kernel][1]) for on, off in pairs]
        beyond = 100 * statistics.median(off[kernel][1] for _, off in pairs)
        out = [100 * statistics.mean(phases[is_off][kernel][2] for phases in pairs) for is_off in (0, 1)]
        print(f"  {kernel:6} CPU time x {interval(ratios)}; interruptions take {interval(costs)} % of the time more than {beyond:.3f} %; "
              f"chunks left out {out[0]:.3f} % with it, {out[1]:.3f} % without", flush=True)
    if len(pairs) > 1:
        means = [100 * statistics.mean(on[kernel][1] - off[kernel][1] for kernel in KERNELS) for on, off in pairs]
        print(f"  all    interruptions take {interval(means)} % of the time more", flush=True)


def compare_blocks(idlewave, build, folder, wanted, seconds):
    work = Work(build / "bench" / "watch_work")
    try:
        if "work" in wanted:
            alternate("work", work, lambda: watching(idlewave, folder, work.process.pid), seconds)
        if "control" in wanted:
            alternate("control", work, lambda: bursting(build / "tests" / "system" / "iw_bursts", folder, work.cpu), seconds)
    finally:
        work.close()


def programs(idlewave, folder, seconds=10):
    """The kernel's own count of the programs' time, while one process a CPU is busy and is switched and interrupted as it comes."""
    switch = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
    before = switch.read_text(encoding="ascii")
    jobs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in os.sched_getaffinity(0)]
    try:
        switch.write_text("1", encoding="ascii")
        with watching(idlewave, folder, os.getpid()):
            start = time.monotonic()
            sums = [program_times()]
            time.sleep(seconds)
            sums.append(program_times())
            passed = time.monotonic() - start
    finally:
        switch.write_text(before, encoding="ascii")
        for job in jobs:
            job.kill()
            job.wait()
    spent = sum(sums[1][name][0] - sums[0].get(name, (0, 0))[0] for name in sums[1]) * 1e-9
    runs = sum(sums[1][name][1] - sums[0].get(name, (0, 0))[1] for name in sums[1])
    print(f"programs: {runs / passed:.0f} runs a second, {spent / runs * 1e9:.0f} ns each with the counting's own share, "
          f"{spent / passed / os.cpu_count():.3%} of CPU time")


def program_times():
    done = subprocess.run(["bpftool", "prog", "show", "-j"], capture_output=True, text=True, check=True)
    return {program["id"]: (program.get("run_time_ns", 0), program.get("run_cnt", 0)) for program in json.loads(done.stdout)
            if program.get("name", "").startswith("on_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--idlewave", required=True, type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, help="where watch_work and iw_bursts were built; the command's own build if not given")
    parser.add_argument("--seconds", type=float, default=120, help="for `work` and `control`, each")
    parser.add_argument("--pairs", type=int, default=15, help="for `halo`")
    parser.add_argument("--only", default="programs,work,control,halo")
    arguments = parser.parse_args()
    idlewave, wanted = arguments.idlewave.resolve(), arguments.only.split(",")
    build = arguments.build or idlewave.parents[1]
    with tempfile.TemporaryDirectory(prefix="iw_cost_") as name:
        folder = pathlib.Path(name)
        if "programs" in wanted:
            programs(idlewave, folder)
        if "work" in wanted or "control" in wanted:
            compare_blocks(idlewave, build, folder, wanted, arguments.seconds)
        if "halo" in wanted and shutil.which("mpirun"):
            compare("an MPI halo exchange, 2 ranks, 1 ms of work",
                    ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", idlewave, "bench", "halo", "--phases", "500"], idlewave,
                    folder, arguments.pairs)


if __name__ == "__main__":
    main()
