#!/usr/bin/env python3
"""Compares idlewave with what LogGOPSim gave for the same collectives of real machines, from the same recordings of noise and with
the same parameters of their networks: results that DanieleDeSensi/cloud_noise_data publishes. Remakes
docs/validation/data/real-loggopsim.md.

SPDX-License-Identifier: BSD-3-Clause

Usage: real_simulators.py FOLDER [CLOUD_NOISE] [--idlewave BIN] [--keep FILE] [--machines A,B] [--messages N] [--jobs N]
                          [--data DIR] [--table]
    FOLDER is cloud_noise_data, its archives unpacked beside themselves. CLOUD_NOISE is DanieleDeSensi/cloud_noise, whose parameters
    are then compared with those below. --keep continues a file of results, --messages bounds the messages of one case, --table only
    writes the page from what is kept.
"""

import argparse
import concurrent.futures
import csv
import functools
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

import data_page

TITLE = "LogGOPSim's published results and ours"
SHARES = (0.05, 0.5, 0.9, 0.99)
POINTS = 64


class Machine:
    """What simulations/loggp_params.py (suffix x1) and simulate.py of cloud_noise say: us, and ps a byte within a switch and beyond."""

    def __init__(self, provider, instance, scenario, costs, switch):
        self.provider, self.instance, self.scenario, self.switch = provider, instance, scenario, switch
        self.L, self.o, self.g, self.G, self.G_far, self.S = costs
        self.name = provider + (" 200 Gb/s" if "200" in instance else "")

    def folder(self, data):
        """Archives are unpacked beside themselves, so their folder is there twice."""
        folder = data / self.scenario
        inner = folder / folder.name
        return inner if inner.is_dir() else folder


METAL = "HPC (Metal)"
MACHINES = [
    Machine("Alps", METAL, "alps/2022_07_14_12_59_18", (1.9, 0.23, 0, 79, 92, 4096), 16),
    Machine("Daint", METAL, "daint/2022_05_19_13_03_39", (0.5, 0, 6, 110, 140, 4096), 16),
    Machine("Azure", "HPC", "azure_hpc44rs_azure_rush_same_rack/2022_03_18_22_04_11", (1.3, 0.15, 1.5, 86, 86, 4096), 1),
    Machine("Azure", "HPC (200 Gb/s)", "azure_hbv2_rush_hour/2022_03_25_17_01_24", (1.7, 0, 1, 46, 46, 4096), 1),
    Machine("DEEP-EST", METAL, "deep-est/2022_05_13_17_15_46", (1.6, 0.35, 5.5, 89, 89, 4096), 32),
    Machine("AWS", METAL, "aws_c5n.metal_spread/2022_03_28_22_19_59", (28, 0, 22, 170, 300, 65536), 32),
    Machine("GCP", "HPC", "gcp_c2-standard-60_spread/2022_03_29_22_18_11", (23, 0, 0, 390, 390, 65536), 22),
    Machine("Oracle", METAL, "oracle-hpc/2022_07_13_13_09_16", (1.6, 0.15, 5, 100, 105, 4096), 8),
]


# ---- what they published ----

def published(data):
    """Times in us of each (machine, collective, bytes, nodes, noise). Runs of one case are pooled: only seeds differ."""
    names = {(machine.provider, machine.instance): machine.name for machine in MACHINES}
    times = {}
    with open(data / "simulations" / "total" / "total.csv", newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            machine = names.get((row["Provider"], row["Instance Type"]))
            if machine is None or not row["Time (us)"] or not row["Noise"]:  # headers within, and runs that failed
                continue
            collective = "ring" if row["Collective"] == "pipelinedring" else "dissemination"
            case = machine, collective, int(row["Message Size"]), int(row["Nodes"]), row["Noise"]
            times.setdefault(case, []).append(float(row["Time (us)"]))
    return times


def check_parameters(cloud_noise):
    """What differs from cloud_noise's own table."""
    lines = (cloud_noise / "simulations" / "loggp_params.py").read_text(encoding="utf-8").splitlines()
    module = {"sys": sys}
    exec("\n".join(line for line in lines if not line.startswith(("import ", "from "))), module)  # imports what it does not use
    parameters = module["get_loggp_params"]
    bad = []
    for machine in MACHINES:
        near, far = (parameters(machine.provider, machine.instance, "x1", place) for place in ("Same Rack", "Different Racks"))
        theirs = (*near[:2], far[2], int(near[3] * 1e6), int(far[3] * 1e6), near[4])
        ours = (machine.L, machine.o, machine.g, machine.G, machine.G_far, machine.S)
        if theirs != ours:
            bad.append(f"{machine.name}: {theirs} there, {ours} here")
    return bad


# ---- their inputs for our command ----

def last_run(path, out):
    """LogGOPSim gets all runs of a file as one, in which only the last has the times that its search ends with."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if line.startswith("# Benchmark Method")]
    out.write_text("".join(lines[starts[-1] if starts else 0:]), encoding="utf-8")
    return out


def drawn(path, median):
    """What they draw from: measured values but for the first 21 of each thousand, scaled to the median of the parameter."""
    values = []
    with open(path, encoding="utf-8") as lines:
        rows = [line.split() for line in lines if not line.startswith("#")]
    for number, words in enumerate(rows):
        if number % 1000 > 20 and len(words) == 2:
            values.append(float(words[1]))
    middle = sorted(values)[len(values) // 2]
    return [value * median / middle for value in values]


def blocks_of(size):
    """G is drawn anew for every 16 MiB."""
    whole = 1 << 24
    return [whole] * (size // whole) + ([size % whole] if size % whole else [])


@functools.lru_cache(maxsize=None)
def delays(machine, folder, size, ranks, count=100000):
    """(least L, least G) in us, and by how much messages of `size` bytes exceed what these make of them, L and G being drawn for each.
    A message above S pays L three times, as in the copy of LogGOPSim that they used. Jobs of one switch have its G, larger ones only
    the other, since noise is of one level."""
    draw = random.Random(1)
    byte_ps = machine.G if ranks <= machine.switch else machine.G_far
    latencies = drawn(folder / "ng_netnoise_mpi_lat.out", machine.L)
    byte_times = drawn(folder / "ng_netnoise_mpi_bw.out", 1e-6 * byte_ps)
    times, blocks = latencies_of(machine, size), blocks_of(size - 1)
    floor = min(latencies), min(byte_times)
    least = times * floor[0] + (size - 1) * floor[1]
    return floor, sorted(times * draw.choice(latencies) + sum(block * draw.choice(byte_times) for block in blocks) - least
                         for _ in range(count))


def latencies_of(machine, size):
    return 3 if size > machine.S else 1


def quantiles(values):
    """The `noise` of a network file: half of its points are in the slowest hundredth."""
    shares = [i / 31 for i in range(31)] + [1 - 10 ** (-2 - 3 * i / 31) for i in range(32)]
    return [(0.0, 0.0)] + [(share, values[int(share * len(values))]) for share in sorted(shares)[1:]] + [(1.0, values[-1])]


def network(machine, size, floor=None, noise=()):
    """A network file. Above S nothing but L tells their rendezvous from an eager message, if all messages have one size."""
    latency, byte_time = floor or (machine.L, 1e-6 * machine.G)
    lines = [f"L: {latencies_of(machine, size) * latency:.6f}us", f"o: {machine.o}us", f"g: {machine.g}us",
             f"G: {1e6 * byte_time:.3f}ps", f"S: {machine.S}"]
    if noise:
        lines.append("noise: [" + ", ".join(f"[{share:.7f}, {time:.6f}us]" for share, time in noise) + "]")
    return "\n".join(lines) + "\n"


def schedule(collective, ranks, size, is_graph):
    """GOAL: with the dependences of their generator, or (not is_graph) with those of a program that waits for both messages of a
    round, as MPI programs do."""
    rounds = (ranks - 1).bit_length() if collective == "dissemination" else ranks
    piece = size if collective == "dissemination" else size // ranks
    yield f"num_ranks {ranks}\n"
    for rank in range(ranks):
        yield f"rank {rank} {{\n"
        for number in range(rounds):
            step = 1 << number if collective == "dissemination" else 1
            tag = 0 if collective == "dissemination" else number
            receive = f"r{number}: recv {piece}b from {(rank - step) % ranks} tag {tag}\n"
            send = f"s{number}: send {piece}b to {(rank + step) % ranks} tag {tag}\n"
            if is_graph:
                work = f"c{number}: calc 0\nc{number} requires r{number - 1}\ns{number} requires c{number}\n"  # which meets noise
                after = work if collective == "dissemination" else f"s{number} requires r{number - 1}\n"
                yield send + receive + (after if number else "")
            else:
                after = f"r{number} requires w{number - 1}\n" if number else ""
                yield (f"{receive}{after}{send}s{number} irequires r{number}\n"
                       f"w{number}: calc 0\nw{number} requires r{number}\nw{number} requires s{number}\n")
        yield "}\n"


def messages(collective, ranks):
    return ranks * ((ranks - 1).bit_length() if collective == "dissemination" else ranks)


# ---- ours ----

class Tool:
    def __init__(self, binary, data, folder):
        self.binary, self.data, self.folder = binary, data, pathlib.Path(folder)

    def written(self, name, text):
        path = self.folder / name
        if not path.exists():
            path.write_text("".join(text), encoding="utf-8")
        return path

    def simulate(self, machine, case, rules, trials):
        """(time without noise, times of the trials), us."""
        collective, size, ranks, noise = case
        is_graph = rules == "loggopsim"
        goal = self.written(f"{collective}-{ranks}-{size}-{is_graph}.goal", schedule(collective, ranks, size, is_graph))
        piece = size if collective == "dissemination" else size // ranks
        floor, extra = None, ()
        if "net" in noise:
            floor, found = delays(machine, machine.folder(self.data), piece, ranks)
            extra = quantiles(found)
        net = self.written(f"{machine.name}-{ranks}-{piece}-{'net' in noise}.yaml".replace("/", ""), network(machine, piece, floor, extra))
        words = [self.binary, "simulate", goal, "--net", net, "--trials", str(trials), "--format", "json"]
        words += ["--rules", "loggopsim"] if is_graph else []
        if "os" in noise:
            words += ["--noise", last_run(machine.folder(self.data) / "ng_osnoise.out", self.folder / f"{machine.name}.txt")]
        answer = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout
        answer = json.loads(answer)
        return answer["noiseless_ns"] / 1e3, [trial["makespan_ns"] / 1e3 for trial in answer["trial_times"] or []]


def trials_of(case, rules, count, budget):
    """As many as were published, but no more messages than the budget."""
    return max(20, min(count, 1000, budget // messages(case[0], case[2])))


def wanted(data, times, machines):
    """(machine, case, rules), the smallest first. Without noise only parameters are needed; with noise the files of the machine."""
    cases = []
    for name, collective, size, ranks, noise in times:
        machine = next(machine for machine in MACHINES if machine.name == name)
        folder = machine.folder(data)
        files = {"os": ["ng_osnoise.out"], "net": ["ng_netnoise_mpi_lat.out", "ng_netnoise_mpi_bw.out"]}
        needs = [file for part, files_of in files.items() if part in noise for file in files_of]
        if name not in machines or not all((folder / file).is_file() for file in needs):
            continue
        rules = ["loggopsim"] if noise == "none" else ["idlewave"] if "net" in noise else ["loggopsim", "idlewave"]
        cases += [(machine, (collective, size, ranks, noise), rule) for rule in rules]
    return sorted(cases, key=lambda one: (messages(one[1][0], one[1][2]), one[1], one[0].name, one[2]))


def run_all(arguments, times, rows):
    done = {(row["machine"], *row["case"], row["rules"]) for row in rows}
    with tempfile.TemporaryDirectory() as folder, arguments.keep.open("a", encoding="utf-8") as out, \
            concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        tool = Tool(arguments.idlewave, arguments.folder, folder)

        def one(machine, case, rules):
            trials = 1 if case[3] == "none" else trials_of(case, rules, len(times[(machine.name, *case)]), arguments.messages)
            quiet, found = tool.simulate(machine, case, rules, trials)
            return {"machine": machine.name, "case": case, "rules": rules, "quiet": quiet, "times": found}

        jobs = [pool.submit(one, *case) for case in wanted(arguments.folder, times, arguments.machines)
                if (case[0].name, *case[1], case[2]) not in done]
        for job in jobs:
            rows.append(job.result())
            print(json.dumps(rows[-1]), file=out, flush=True)


# ---- the page ----

def quantile(values, share):
    values = sorted(values)
    return values[min(int(share * len(values)), len(values) - 1)]


def distance(a, b):
    """(Kolmogorov-Smirnov distance, what two samples of one law exceed once in a thousand). Times that differ by rounding are equal."""
    a, b = (sorted(float(f"{value:.7g}") for value in values) for values in (a, b))
    most = at_a = at_b = 0
    for value in sorted(set(a + b)):
        while at_a < len(a) and a[at_a] <= value:
            at_a += 1
        while at_b < len(b) and b[at_b] <= value:
            at_b += 1
        most = max(most, abs(at_a / len(a) - at_b / len(b)))
    return most, 1.95 * math.sqrt((len(a) + len(b)) / (len(a) * len(b)))


def figures(values):
    """p5 / p50 / p90 / p99 and the mean; no p99 of fewer than 100."""
    shown = [f"{quantile(values, share):.4g}" if share < 0.99 or len(values) >= 100 else "-" for share in SHARES]
    return [" / ".join(shown), f"{sum(values) / len(values):.4g}"]


def quiet_table(times, rows):
    """Without noise: of each machine, how many times are the same to the picosecond."""
    lines = []
    for machine in MACHINES:
        pairs = [(times[(row["machine"], *row["case"])], row["quiet"]) for row in rows
                 if row["machine"] == machine.name and row["case"][3] == "none"]
        same = sum(round(1e6 * theirs[0]) == round(1e6 * ours) for theirs, ours in pairs)
        if pairs:
            lines.append([machine.name, len(pairs), same])
    return data_page.table(["machine", "cases", "equal to the picosecond"], lines)


def noisy_table(times, rows, noise):
    lines = []
    found = {(row["machine"], *row["case"], row["rules"]): row["times"] for row in rows if row["case"][3] == noise}
    for key in sorted({key[:-1] for key in found}):
        theirs = times[key]
        machine, collective, size, ranks, _ = key
        cells = [machine, collective, size_of(size), f"{ranks:,}", *figures(theirs)]
        for rules in ["loggopsim", "idlewave"] if noise == "os" else ["idlewave"]:
            ours = found.get((*key, rules))
            cells += [*figures(ours), "{:.2f} ({:.2f})".format(*distance(theirs, ours))] if ours else ["-", "-", "-"]
        lines.append(cells)
    head = ["machine", "collective", "bytes", "ranks", "published", "mean"]
    for rules in ["LogGOPSim's rules", "our rules"] if noise == "os" else ["our rules"]:
        head += [rules, "mean", "KS (limit)"]
    return data_page.table(head, lines)


def size_of(size):
    return next(f"{size // unit} {name}" for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")) if size >= unit)


def summary(times, rows):
    """How many medians and means are within 5 and 20 %, of each noise and rule set."""
    lines = []
    for noise in "os", "net", "os+net":
        for rules in "loggopsim", "idlewave":
            pairs = [(times[(row["machine"], *row["case"])], row["times"]) for row in rows
                     if row["case"][3] == noise and row["rules"] == rules]
            if not pairs:
                continue
            medians = [abs(quantile(ours, 0.5) / quantile(theirs, 0.5) - 1) for theirs, ours in pairs]
            means = [abs(sum(ours) / len(ours) * len(theirs) / sum(theirs) - 1) for theirs, ours in pairs]
            close = sum(most <= limit for most, limit in (distance(*pair) for pair in pairs))
            lines.append([noise, rules, len(pairs), sum(m <= 0.05 for m in medians), sum(m <= 0.2 for m in medians),
                          sum(m <= 0.05 for m in means), sum(m <= 0.2 for m in means), close])
    return data_page.table(["noise", "rules", "cases", "median within 5 %", "20 %", "mean within 5 %", "20 %", "KS below its limit"], lines)


def text_of(times, rows):
    parts = ["Of `total.csv` in `simulations/total.tar.xz` of DanieleDeSensi/cloud_noise_data. Times in us: p5 / p50 / p90 / p99, and mean. "
             "KS: the distance from the published distribution, and the one that two samples of one law exceed once in a thousand.",
             "Without noise, by LogGOPSim's rules:", quiet_table(times, rows), "All cases with noise:", summary(times, rows)]
    for noise, title in ("os", "Noise of the system"), ("net", "Noise of the network"), ("os+net", "Both"):
        if any(row["case"][3] == noise for row in rows):
            parts += [f"## {title}", noisy_table(times, rows, noise)]
    return "\n\n".join(parts)


def load(path):
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("cloud_noise", type=pathlib.Path, nargs="?")
    parser.add_argument("--idlewave", default="build/release/cli/idlewave")
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("real-simulators.jsonl"))
    parser.add_argument("--machines", type=lambda text: text.split(","), default=[machine.name for machine in MACHINES])
    parser.add_argument("--messages", type=int, default=8_000_000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--data", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--table", action="store_true")
    return parser.parse_args()


def main():
    arguments = parse()
    bad = check_parameters(arguments.cloud_noise) if arguments.cloud_noise else []
    if bad:
        sys.exit("\n".join(bad))
    times, rows = published(arguments.folder), load(arguments.keep)
    for row in rows:
        row["case"] = tuple(row["case"])
    if not arguments.table:
        run_all(arguments, times, rows)
    text = text_of(times, rows)
    print(text)
    if arguments.data:
        data_page.write(arguments.data, "real-loggopsim", TITLE, "real_simulators.py", "validation/real-machines.md", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
