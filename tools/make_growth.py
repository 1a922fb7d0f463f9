#!/usr/bin/env python3
"""Remakes docs/validation/data/growth.md and docs/pictures/growth.png: what a message, an operation, a node and a GPU cost, from few
of them to as many as this machine holds.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_growth.py BUILD [--largest BITS] [--data DIR] [--pictures DIR]
    BUILD is a release build without sanitizers. Needs a quiet machine, gnuplot, 16 GiB and as much disk; takes about 15 minutes.
    --largest 20 ends at 2^20 ranks, and the other series at a tenth of their largest size.

Seconds are CPU time of whole commands, less that of `idlewave --version`, and the least of some runs; of patterns they are the
engine's own, without making the result of a trial.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import tempfile

import data_page

ENVIRONMENT = dict(os.environ, IDLEWAVE_CONFIG="")
CACHES = pathlib.Path("/sys/devices/system/cpu/cpu0/cache")
# Of each the largest size, as a power of 2, and repetitions: some 16 messages for each rank and trial.
PATTERNS = {"barrier:dissemination": (28, 1), "allreduce:recursive-doubling": (26, 1), "halo2d": (24, 4), "bcast:binomial": (24, 16)}
TRAINING = ("training", "--model", "llama3-8b", "--tp", "2", "--pp", "4", "--chunks", "2", "--microbatches", "8", "--step-rate", "400TFLOP/s",
            "--noise", "python-gc", "--trials", "6", "--format", "json")


def caches():
    """(name, bytes) of the caches of one CPU, as Linux tells them."""
    found = {}
    for index in sorted(CACHES.glob("index*")):
        if (index / "type").read_text(encoding="ascii").strip() != "Instruction":
            found["L" + (index / "level").read_text(encoding="ascii").strip()] = int((index / "size").read_text(encoding="ascii").strip()[:-1]) << 10
    return list(found.items())


def run(words, folder):
    """(output, CPU seconds, bytes resident at most) of a command that passes or gives a verdict."""
    with tempfile.TemporaryFile(dir=folder) as output:
        with subprocess.Popen(list(map(str, words)), cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=output) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 2, 3, 4, 5):
            raise SystemExit(f"failed: {' '.join(map(str, words))}")
        output.seek(0)
        return output.read().decode(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


class Machine:
    """Runs commands of a build in a folder."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.idlewave = build / "cli" / "idlewave"
        _, self.start_s, self.start_bytes = self.least([self.idlewave, "--version"], 9)

    def least(self, words, tries):
        return min((run(words, self.folder) for _ in range(tries)), key=lambda each: each[1])

    def above_start(self, words, tries):
        """(seconds, bytes) that a command takes more than one that does nothing."""
        _, seconds, size = self.least(words, tries)
        return seconds - self.start_s, size - self.start_bytes


def tries_of(size, largest):
    """Small sizes take little time and vary most."""
    return 1 if size > largest / 8 else 3 if size > largest / 128 else 7


def ranks(machine, largest_bits):
    for pattern, (most, repeats) in PATTERNS.items():
        for bits in range(10, min(most, largest_bits) + 1, 2):
            trials = 1 << max(0, 20 - bits)
            words = [machine.idlewave, "simulate", "--pattern", pattern, "--ranks", 1 << bits, "--net", "chic", "--noise", "periodic:1Hz,200us",
                     "--repeat", repeats, "--threads", 1, "--trials", trials, "--lanes", 1, "--format", "json"]
            results = [json.loads(machine.least(words, 1)[0]) for _ in range(tries_of(1 << bits, 1 << most))]
            seconds = min(result["engine_seconds"] for result in results)
            size = max(0, results[0]["peak_rss_bytes"] - machine.start_bytes)
            yield pattern, 1 << bits, 1e9 * seconds / trials / results[0]["messages"], size / (1 << bits)


def operations(machine, largest_bits):
    """Graphs: an exported halo on 1,024 ranks, whose file is read and run in order, and random ones that only time orders."""
    for power in range(4, 9 if largest_bits > 20 else 7):
        repeats = max(1, 10**power // 8192)
        run([machine.idlewave, "schedule", "--pattern", "halo2d", "--ranks", 1024, "--repeat", repeats, "--format", "goal-bin", "-o", "halo.bin"],
            machine.folder)
        seconds, size = machine.above_start([machine.idlewave, "simulate", "halo.bin", "--net", "chic", "--threads", 1, "--quiet"],
                                            tries_of(10**power, 10**8))
        yield "a halo from a file", 8192 * repeats, 1e9 * seconds / (8192 * repeats), size / (8192 * repeats)
    os.unlink(machine.folder / "halo.bin")
    for power in range(4, 8 if largest_bits > 20 else 7):
        words = [machine.build / "bench" / "window_bench", 10**power, max(8, 10**power // 244), 1, 0]
        lines = [machine.least(words, 1)[0].splitlines()[2].split() for _ in range(tries_of(10**power, 10**7))]
        yield "a random graph", 10**power, 1e9 * min(float(line[4]) for line in lines) / 10**power, float(lines[0][7])


def nodes(machine, largest_bits):
    for power in range(1, 6 if largest_bits > 20 else 5):
        run([machine.build / "cli" / "iw_make_digests", "fleet.digest", 10**power, 128, 50], machine.folder)
        seconds, size = machine.above_start([machine.idlewave, "fleet", "fleet.digest"], tries_of(10**power, 10**5))
        yield "fleet, 128 CPUs per node", 10**power, 1e6 * seconds / 10**power, size / 10**power


def gpus(machine, largest_bits):
    for bits in range(3, 17 if largest_bits > 20 else 13):
        seconds, size = machine.above_start([machine.idlewave, *TRAINING, "--dp", (1 << bits) // 8], tries_of(1 << bits, 1 << 16))
        yield "training, 6 trials of 20 steps", 1 << bits, 1e6 * seconds / (1 << bits), size / (1 << bits)


SERIES = {"ranks": (ranks, "ns per message"), "operations": (operations, "ns per operation"), "nodes": (nodes, "us per node"),
          "GPUs": (gpus, "us per GPU")}
HEAD = ("what", "of", "how many", "time each", "to the least", "bytes each")
LEAST_SHOWN = 8 << 20  # bytes: below, a process's own memory hides what grows


def rows_of(series):
    """Each line with how many times the least of its kind its time is."""
    lines = []
    for name, found in series.items():
        least = {}
        for what, _, cost, _ in found:
            least[what] = min(cost, least.get(what, math.inf))
        unit = SERIES[name][1].split()[0]
        lines += [(what, name, f"{count}", f"{cost:.3g} {unit}", f"{cost / least[what]:.2f}", f"{size:.3g}" if size * count > LEAST_SHOWN else "")
                  for what, count, cost, size in found]
    return lines


def panel(name, label, found):
    """gnuplot's commands for one series: costs over sizes, and where what it keeps leaves a cache."""
    sizes, costs = [[each[column] for each in found] for column in (1, 2)]
    each = max(found, key=lambda one: one[1])[3]
    commands = [f"set xlabel '{name}'", f"set ylabel '{label}'", f"set xrange [{min(sizes) / 1.5}:{max(sizes) * 1.5}]",
                f"set yrange [{min(costs) / 3}:{max(costs) * 10}]", "unset arrow", "unset label"]
    for number, (cache, size) in enumerate(caches(), 1):
        if min(sizes) < size / each < max(sizes):
            commands += [f"set arrow {number} from {size / each},graph 0 to {size / each},graph 1 nohead lc rgb '#bbbbbb'",
                         f"set label {number} '{cache}' at {size / each},graph 0.05 offset 0.4,0 textcolor rgb '#777777'"]
    kinds = list(dict.fromkeys(what for what, _, _, _ in found))
    for kind in kinds:
        points = "\n".join(f"{count} {cost}" for what, count, cost, _ in found if what == kind)
        commands.append(f"${name}{kinds.index(kind)} << END\n{points}\nEND")
    commands.append("plot " + ", ".join(f"${name}{number} using 1:2 with linespoints pt 7 ps 0.7 title '{kind}' noenhanced"
                                        for number, kind in enumerate(kinds)))
    return "\n".join(commands)


def draw(series, file):
    panels = "\n".join(panel(name, SERIES[name][1], found) for name, found in series.items())
    script = f"""set terminal pngcairo size 1200,900 font 'sans,11'
set output '{file}'
set logscale xy
set format xy '10^{{%L}}'
set key top left samplen 1
set multiplot layout 2,2
{panels}
unset multiplot
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--largest", type=int, default=28, metavar="BITS")
    parser.add_argument("--pictures", type=pathlib.Path, default=data_page.ROOT / "docs" / "pictures")
    data_page.add_option(parser)
    arguments = parser.parse_args()
    series = {}
    with tempfile.TemporaryDirectory(prefix="iw_growth_") as scratch:
        machine = Machine(arguments.build.resolve(), pathlib.Path(scratch))
        for name, (measure, _) in SERIES.items():
            series[name] = []
            for found in measure(machine, arguments.largest):
                series[name].append(found)
                print("%-30s %10d %12.4g %10.4g bytes" % found, flush=True)
    sizes = ", ".join(f"{name} {size >> 10} KiB" for name, size in caches())
    text = f"Caches of a CPU: {sizes}.\n\n{data_page.table(HEAD, rows_of(series))}"
    data_page.write(arguments.data, "growth", "What each message, operation, node and GPU costs", "make_growth.py", "validation/performance.md", text)
    draw(series, arguments.pictures / "growth.png")


if __name__ == "__main__":
    main()
