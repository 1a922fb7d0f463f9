#!/usr/bin/env python3
"""The time that noise costs, as SimGrid computes it: the distributions of the makespan over many draws must be the same.

SPDX-License-Identifier: BSD-3-Clause

Usage: noise_test.py --idlewave COMMAND --program noise [--smpirun COMMAND] [--full | --sizes RANKS:DRAWS,...] [--laws N,...] [--page DIR]
    --full   up to 1,024 ranks and more draws: about an hour, SimGrid takes 20 s for a run of 1,024 ranks; else 64 ranks
    --sizes  one step of that, for less time: 1024:8
    --laws   only these, by number from 0 on
    --page   also writes the table docs/validation/data/simgrid-noise.md into DIR

SimGrid's SMPI runs the program, with hosts that stand still while a detour is under way. Its noise is drawn here, by
Python, from the same laws: so neither the clock, nor the random numbers, nor the rules of messages are idlewave's. Two
samples of one law differ by less than KS_FACTOR sqrt((n + m) / (n m)) in all but one case of a thousand.
"""

import argparse
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

PHASES, WORK_S, LATENCY_S = 20, 1e-3, 5e-6
FLOPS = 1e9  # of a host in a second
STOPPED = 1e-9  # share of its speed in a detour: SimGrid takes no notice of 0
KS_FACTOR = 1.95  # alpha = 0.001
TRIALS = 1000
CONFIG = ("network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0", "smpi/simulate-computation:0", "smpi/wtime:0",
          "smpi/async-small-thresh:65536", "smpi/send-is-detached-thresh:65536", "network/weight-S:0")


def poisson(draw, rate_hz, length, end_s):
    """Detours of a stationary process from 0 on: those that began up to a second earlier may be under way."""
    now, spans = -1.0, []
    while (now := now + draw.expovariate(rate_hz)) < end_s:
        spans.append((now, now + length(draw)))
    return spans


def periodic(draw, rate_hz, length_s, end_s):
    first = draw.uniform(-1 / rate_hz, 0)
    return [(first + k / rate_hz, first + k / rate_hz + length_s) for k in range(int(end_s * rate_hz) + 2)]


LAWS = {
    "periodic:100Hz,200us": lambda draw, end_s: periodic(draw, 100, 200e-6, end_s),
    "periodic:1Hz,3ms": lambda draw, end_s: periodic(draw, 1, 3e-3, end_s),
    "poisson:20Hz,exp:300us": lambda draw, end_s: poisson(draw, 20, lambda d: d.expovariate(1 / 300e-6), end_s),
}


CONTROLS = {"periodic:100Hz,200us": "periodic:100Hz,220us", "periodic:1Hz,3ms": "periodic:3Hz,3ms", "poisson:20Hz,exp:300us": "poisson:20Hz,exp:600us"}


def availability(spans, end_s):
    """Lines of a SimGrid profile: from that time on the host has this share of its speed."""
    lines, busy_until = ["0 1"], None
    for begin, end in sorted(spans):
        begin, end = max(begin, 0.0), min(end, end_s)
        if end <= begin or (busy_until is not None and end <= busy_until):
            continue
        if busy_until is not None and begin <= busy_until:
            lines.pop()
        else:
            lines.append(f"{begin:.12f} {STOPPED}")
        lines.append(f"{end:.12f} 1")
        busy_until = end
    return "\n".join(lines[1:] if len(lines) > 1 and float(lines[1].split()[0]) == 0 else lines) + "\n"


def platform(ranks):
    hosts = "\n".join(f'<host id="h{i}" speed="{FLOPS}f" speed_file="h{i}.trace"/><link id="l{i}" bandwidth="1e18Bps" latency="{LATENCY_S / 2}s"'
                      f' sharing_policy="FATPIPE"/><host_link id="h{i}" up="l{i}" down="l{i}"/>' for i in range(ranks))
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="all" routing="Cluster">
{hosts}
</zone></platform>
"""


def simgrid_s(args, folder, ranks, law, seed):
    end_s = 10 * PHASES * WORK_S
    for rank in range(ranks):
        spans = LAWS[law](random.Random(f"{law} {seed} {rank}"), end_s)
        (folder / f"h{rank}.trace").write_text(availability(spans, end_s), encoding="utf-8")
    command = [args.smpirun, "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts", *(f"--cfg={entry}" for entry in CONFIG),
               "--log=root.thresh:error", args.program, str(PHASES), str(FLOPS * WORK_S)]
    return float(subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout)


def idlewave_s(args, ranks, law, trials):
    """Messages need no CPU there either."""
    with tempfile.TemporaryDirectory() as folder:
        net = pathlib.Path(folder) / "net.yaml"
        net.write_text(f"{{L: {LATENCY_S * 1e6}us, o: 0, g: 0, G: 0, progress: device}}\n", encoding="utf-8")
        command = [args.idlewave, "simulate", "--pattern", "barrier:dissemination", "--ranks", str(ranks), "--compute", f"{WORK_S * 1e3}ms",
                   "--repeat", str(PHASES), "--net", net, "--noise", law, "--trials", str(trials), "--format", "csv"]
        rows = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [float(row.split(",")[1]) * 1e-9 for row in rows[1:]]


def ks_distance(one, two):
    one, two = sorted(one), sorted(two)
    points = sorted(one + two)
    below = lambda sample, x: sum(value <= x for value in sample) / len(sample)
    return max(abs(below(one, x) - below(two, x)) for x in points)


def quantiles(sample):
    cuts = statistics.quantiles(sample, n=20, method="inclusive")
    return [1e3 * value for value in (cuts[0], cuts[9], cuts[18])]


def compare(args, folder, ranks, law, draws):
    """With a control: the same test has to tell noise apart that is not the same."""
    simgrid = [simgrid_s(args, folder, ranks, law, seed) for seed in range(draws)]
    samples = [idlewave_s(args, ranks, name, TRIALS) for name in (law, CONTROLS[law])]
    limit = KS_FACTOR * ((draws + TRIALS) / (draws * TRIALS)) ** 0.5
    # times that differ by rounding alone are one value
    distances = [ks_distance([round(x, 8) for x in simgrid], [round(x, 8) for x in sample]) for sample in samples]
    return (ranks, law, draws, quantiles(simgrid), quantiles(samples[0]), *distances, limit)


def write_page(folder, rows):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
    import data_page  # pylint: disable=import-outside-toplevel
    cells = [(ranks, f"`{law}`", draws, *(" / ".join(f"{q:.3f}" for q in sample) for sample in (one, two)), f"{distance:.3f}", f"{limit:.3f}", f"{wrong:.3f}")
             for ranks, law, draws, one, two, distance, wrong, limit in rows]
    text = (f"{PHASES} phases of {1e3 * WORK_S:g} ms, each closed by a dissemination barrier with L = {1e6 * LATENCY_S:g} us. Makespan in ms: 5 %, 50 % and 95 % quantiles of so many "
            f"runs of SimGrid and of {TRIALS} trials of `simulate`. KS: largest difference of the two distributions; the limit is what two samples of one law exceed once in a thousand. The "
            "last column is the control: SimGrid's sample against `simulate` with "
            + ", ".join(f"`{CONTROLS[law]}` for `{law}`" for law in LAWS) + ".\n\n"
            + data_page.table(("ranks", "noise", "runs of SimGrid", "SimGrid", "idlewave", "KS", "limit", "KS with the control"), cells))
    data_page.write(pathlib.Path(folder), "simgrid-noise", "Noise by SimGrid's clock and by ours", "../tests/oracle/noise_test.py --full --page", "validation/predictions.md", text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--idlewave", required=True, type=os.path.abspath)
    parser.add_argument("--program", required=True, type=os.path.abspath)
    parser.add_argument("--smpirun", default="smpirun")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--sizes", type=lambda text: dict(map(int, step.split(":")) for step in text.split(",")))
    parser.add_argument("--laws", default=list(LAWS), type=lambda text: [list(LAWS)[int(number)] for number in text.split(",")])
    parser.add_argument("--page")
    args = parser.parse_args()
    sizes = args.sizes or ({64: 60, 256: 40, 1024: 20} if args.full else {64: 15})
    rows, failures = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for ranks, draws in sizes.items():
            (folder / "platform.xml").write_text(platform(ranks), encoding="utf-8")
            (folder / "hosts").write_text("".join(f"h{i}\n" for i in range(ranks)), encoding="utf-8")
            for law in args.laws:
                rows.append(compare(args, folder, ranks, law, draws))
                _, _, _, one, two, distance, wrong, limit = rows[-1]
                failures += distance > limit or wrong <= limit
                print(f"{ranks} ranks, {law}: quantiles in ms {one} by SimGrid, {two} by idlewave; KS {distance:.3f}, at most {limit:.3f}; "
                      f"with another law {wrong:.3f}", flush=True)
    if args.page:
        write_page(args.page, rows)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
