#!/usr/bin/env python3
"""What `watch --metrics` costs: time of its programs in the kernel, and work with and without it in alternating blocks.

SPDX-License-Identifier: BSD-3-Clause

Usage: watch_cost.py --idlewave PATH [--pairs N] [--only loop,hpcc,halo,programs]

Needs root. Each block runs the same work; the watcher watches this program and all that it starts. Printed is the ratio with/without of
the CPU time that the work used, and of its wall-clock time: the median of all pairs and its 95 % interval by bootstrap. On a machine that
others use only the first means something. `programs` lets the kernel time all programs (kernel.bpf_stats_enabled, put back afterwards).
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

LOOP = """
x = 0
for i in range(6000000):
    x += i & 3
"""


@contextlib.contextmanager
def watching(idlewave, folder):
    file = folder / "cost.prom"
    with subprocess.Popen([idlewave, "watch", "--no-config", "--pid", str(os.getpid()), "--metrics", str(file)]) as watcher:
        while not file.exists():
            if watcher.poll() is not None:
                raise SystemExit(f"watch exits {watcher.returncode}")
            time.sleep(0.05)
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
            with watching(idlewave, folder) if is_on else contextlib.nullcontext():
                got[is_on] = timed(command, folder)
        cpu.append(got[True][0] / got[False][0])
        wall.append(got[True][1] / got[False][1])
    print(f"{name}, {pairs} pairs: CPU time {interval(cpu)}, wall-clock time {interval(wall)}", flush=True)


def small_hpcc(folder):
    """hpcc's example input with a matrix that takes a second or two."""
    lines = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    for place, text in ((5, "800          Ns\n"), (10, "1            Ps\n"), (11, "1            Qs\n")):
        lines[place] = text
    (folder / "hpccinf.txt").write_text("".join(lines), encoding="utf-8")
    return ["hpcc"]


def programs(idlewave, folder, seconds=10):
    """The kernel's own count of the programs' time, while one process a CPU is busy and is switched and interrupted as it comes."""
    switch = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
    before = switch.read_text(encoding="ascii")
    jobs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in os.sched_getaffinity(0)]
    try:
        switch.write_text("1", encoding="ascii")
        with watching(idlewave, folder):
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
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--only", default="programs,loop,hpcc,halo")
    arguments = parser.parse_args()
    idlewave, wanted = arguments.idlewave.resolve(), arguments.only.split(",")
    with tempfile.TemporaryDirectory(prefix="iw_cost_") as name:
        folder = pathlib.Path(name)
        if "programs" in wanted:
            programs(idlewave, folder)
        if "loop" in wanted:
            compare("a loop", [sys.executable, "-c", LOOP], idlewave, folder, arguments.pairs)
        if "hpcc" in wanted and shutil.which("hpcc"):
            compare("hpcc, one process", small_hpcc(folder), idlewave, folder, arguments.pairs)
        if "halo" in wanted and shutil.which("mpirun"):
            compare("an MPI halo exchange, 2 ranks, 1 ms of work",
                    ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", idlewave, "bench", "halo", "--phases", "500"], idlewave,
                    folder, arguments.pairs)


if __name__ == "__main__":
    main()
