#!/usr/bin/env python3
"""What `watch --metrics` costs: time of its programs in the kernel, and work with and without it in alternating blocks.

SPDX-License-Identifier: BSD-3-Clause

Usage: watch_cost.py --idlewave PATH [--build PATH] [--seconds N] [--only programs,work,control,halo,halo_control,lammps,hpcc]

Needs root. `programs` lets the kernel time all programs (kernel.bpf_stats_enabled, put back afterwards), and says what the watcher's own process takes.

`work`: a process that lives on does blocks of a loop and of kernels as HPC Challenge has them (watch_work.c), at real-time priority, while
the watcher is attached and taken off beside it: on, off, off, on, and so on. Attaching lies between blocks. Blocks that follow each
other with and without it are a pair. Printed are medians of all pairs with 95 % intervals by bootstrap:
- the ratio with/without of the CPU time, which has interrupts in it, but not what the hypervisor took;
- the difference of what interruptions take, in per cent of the time: how much longer chunks of 30 us are than the median of their 64
  neighbours. The clock rate, which changes from second to second on a shared host, drops out; so does a cost that all chunks have alike,
  if there is one. A chunk over 0.2 ms longer is left out: the hypervisor had the CPU.
Pairs are left out by what the hypervisor took during them, whatever they show (MOST_STOLEN).

`control`: the same with a known cost in place of the watcher, a thread that takes the CPU for 30 us every 10 ms: 0.3 %, and the switches to it.

`halo`, `lammps`, `hpcc`: MPI programs with a rank on each of two CPUs, at real-time priority, in wall-clock time. One run of each goes on while
the watcher is switched on and off beside it (watch_programs.py): off, on, off, on, and so on, in blocks of a tenth of a second. It has no other
process beside it then, nor that of the watcher, which `programs` counts. A block with it is compared with the two without before and after it,
and counts if these differ by less than 5 %: the host left the speed of the CPUs as it was. Printed is the median of these with a 95 % interval
(bootstrap of runs of neighbours). `halo_control`: the known cost, on both CPUs.
"""

import argparse
import contextlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import watch_programs
from watcher import SETTLE_S, alternating, bursting, interval, say, say_shares, watching

KERNELS = ("loop", "triad", "random", "dgemm")
WINDOW = 64  # chunks, of watch_work.c
BLOCK_S = 0.12  # of each kernel, in a phase with or without the watcher
MOST_STOLEN = 0.02  # of a phase's time


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
            alternate("control", work, lambda: bursting(build / "tests" / "system" / "iw_bursts", folder, [work.cpu]), seconds)
    finally:
        work.close()


def programs(idlewave, folder, seconds=10):
    """The kernel's own count of the programs' time, while one process a CPU is busy and is switched and interrupted as it comes."""
    switch = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
    before = switch.read_text(encoding="ascii")
    jobs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in os.sched_getaffinity(0)]
    try:
        switch.write_text("1", encoding="ascii")
        with watching(idlewave, folder, os.getpid()) as watcher:
            start = time.monotonic()
            sums, own = [program_times()], [process_time(watcher.pid)]
            time.sleep(seconds)
            sums.append(program_times())
            own.append(process_time(watcher.pid))
            passed = time.monotonic() - start
    finally:
        switch.write_text(before, encoding="ascii")
        for job in jobs:
            job.kill()
            job.wait()
    spent = sum(sums[1][name][0] - sums[0].get(name, (0, 0))[0] for name in sums[1]) * 1e-9
    runs = sum(sums[1][name][1] - sums[0].get(name, (0, 0))[1] for name in sums[1])
    print(f"programs: {runs / passed:.0f} runs a second, {spent / runs * 1e9:.0f} ns each with the counting's own share, "
          f"{spent / passed / os.cpu_count():.3%} of CPU time; the watcher's process {(own[1] - own[0]) / passed / os.cpu_count():.3%}", flush=True)


def process_time(pid):
    """CPU seconds, by the scheduler."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) * 1e-9


def program_times():
    done = subprocess.run(["bpftool", "prog", "show", "-j"], capture_output=True, text=True, check=True)
    return {program["id"]: (program.get("run_time_ns", 0), program.get("run_cnt", 0)) for program in json.loads(done.stdout)
            if program.get("name", "").startswith("on_")}


def compare_halo(idlewave, build, folder, wanted, seconds):
    with watch_programs.Halo(build / "tests" / "mpi" / "bin" / "openmpi" / "watch_halo", folder) as halo:
        besides = {"halo": lambda: watching(idlewave, folder, halo.process.pid),
                   "halo_control": lambda: bursting(build / "tests" / "system" / "iw_bursts", folder, sorted(os.sched_getaffinity(0))[:2])}
        for name in (name for name in besides if name in wanted):
            blocks = alternating(halo.block, besides[name], seconds)
            say(name, [block[0] for block in blocks])
            say_shares(name, [block[1] for block in blocks])


def compare_programs(idlewave, folder, wanted, seconds):
    for name, make in (("lammps", watch_programs.Lammps), ("hpcc", watch_programs.Hpcc)):
        if name in wanted:
            with make(folder) as program:
                say(name, alternating(program.block, lambda: watching(idlewave, folder, program.process.pid), seconds))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--idlewave", required=True, type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, help="where watch_work, watch_halo and iw_bursts were built; the command's own build if not given")
    parser.add_argument("--seconds", type=float, default=120, help="for each but `programs`")
    parser.add_argument("--only", default="programs,work,control,halo,halo_control,lammps,hpcc")
    arguments = parser.parse_args()
    idlewave, wanted = arguments.idlewave.resolve(), arguments.only.split(",")
    build = (arguments.build or idlewave.parents[1]).resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # so that all that was started is ended
    print(f"load {os.getloadavg()[0]:.1f} at the beginning", flush=True)
    with tempfile.TemporaryDirectory(prefix="iw_cost_") as name:
        folder = pathlib.Path(name)
        if "programs" in wanted:
            programs(idlewave, folder)
        if "work" in wanted or "control" in wanted:
            compare_blocks(idlewave, build, folder, wanted, arguments.seconds)
        if "halo" in wanted or "halo_control" in wanted:
            compare_halo(idlewave, build, folder, wanted, arguments.seconds)
        compare_programs(idlewave, folder, wanted, arguments.seconds)


if __name__ == "__main__":
    main()
