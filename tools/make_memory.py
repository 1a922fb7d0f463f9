#!/usr/bin/env python3
"""Remakes the tables and pictures of docs/validation/memory.md: paper 5's figures 1 and 2 in simulation.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_memory.py BUILD_DIR [--data DIR] [--pictures DIR]
    BUILD_DIR is a release build. Takes about 3 minutes. Pictures need gnuplot.
"""

import argparse
import csv
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile

import data_page

NET = data_page.ROOT / "examples" / "memory-ring.yaml"
SOCKET, CORE, LINK = 40e9, 6.5e9, 3e9  # bytes per second, as in NET
TRIAD_BYTES, MESSAGE_BYTES, FLOP = 1.2e9, 2e6, 1e8
CORES = 10  # of a socket
NOISE = "phase-exp:1%"
STEPS = 500


class Lab:
    def __init__(self, idlewave, scratch):
        self.idlewave, self.scratch = idlewave, scratch
        shutil.copy(NET, scratch)

    def call(self, *words):
        return subprocess.run([str(self.idlewave), *map(str, words)], capture_output=True, text=True, check=True, cwd=self.scratch).stdout

    def ring(self, ranks, phase_bytes, *options, memory=None, steps=STEPS, message=MESSAGE_BYTES):
        """The result of a ring of ranks that each move `phase_bytes` in a step, and then exchange messages."""
        shared = ["--memory", memory] if memory else []
        return json.loads(self.call("simulate", "--pattern", "halo1d", "--ranks", ranks, "--repeat", steps, "--bytes", round(message),
                                    "--compute-bytes", round(phase_bytes), "--net", NET.name, *shared, *options, "--format", "json"))

    def execution_s(self, ranks, phase_bytes):
        """What phases take on average, fewest and most over the ranks: with noise, in the second half of the run."""
        self.ring(ranks, phase_bytes, "--noise", NOISE, "--timeline", "run.h5")
        self.call("report", "run.h5", "-o", "run.json")
        events = json.loads((self.scratch / "run.json").read_text(encoding="utf-8"))["traceEvents"]
        times = {}
        for event in events:
            if event.get("name") in ("compute", "noise") and event["args"]["step"] > STEPS // 2:
                times[event["tid"]] = times.get(event["tid"], 0.0) + event["dur"] * 1e-6 / (STEPS - STEPS // 2)
        return statistics.mean(times.values()), min(times.values()), max(times.values())


def step_s(result, key="mean", steps=STEPS):
    return result["makespan_ns"][key] * 1e-9 / steps


def quiet_s(result, steps=STEPS):
    return result["noiseless_ns"] * 1e-9 / steps


def gflops(seconds):
    return f"{FLOP / seconds / 1e9:.2f}"


def percent(seconds, model_s):
    share = 100 * (seconds / model_s - 1)
    return f"{share:+.1f} %" if abs(share) >= 0.05 else "0.0 %"


def interval(result, model_s):
    ends = sorted(step_s(result, key) for key in ("mean_low", "mean_high"))
    return " to ".join(percent(end, model_s) for end in ends)


# ---- 40 ranks on nodes of 20 ----

def ring_table(lab):
    model_s = TRIAD_BYTES / (4 * SOCKET) + 2 * MESSAGE_BYTES / LINK
    one = "ranks=10,domain=40GB/s,core=4GB/s"
    cases = [
        ("saturated (6.5 GB/s a core)", None, ()),
        ("saturated", None, ("--noise", "phase-exp:0.1%")),
        ("saturated", None, ("--noise", NOISE)),
        ("saturated", None, ("--noise", "phase-exp:5%")),
        ("saturated", None, ("--delay", "rank=5,time=30ms")),
        ("saturated", None, ("--delay", "rank=5,time=30ms", "--noise", NOISE)),
        ("not saturated (4 GB/s a core)", one, ()),
        ("not saturated", one, ("--noise", NOISE)),
        ("not saturated", one, ("--delay", "rank=5,time=30ms")),
    ]
    rows = []
    for name, memory, options in cases:
        is_random = "--noise" in options
        result = lab.ring(40, TRIAD_BYTES / 40, *options, *(("--trials", 10) if is_random else ()), memory=memory)
        rows.append((name, " ".join(options) or "none", f"{1e3 * step_s(result):.3f} ms", percent(step_s(result), model_s),
                     interval(result, model_s) if is_random else "exact"))
    head = ("memory", "noise, delay", "a step", "against equation 1", "95 % interval")
    return f"Equation 1 for n = 4 sockets: {1e3 * model_s:.3f} ms. Means of 10 trials of {STEPS} steps where there is noise.\n\n" + data_page.table(head, rows)


# ---- figure 1 ----

def scaling_table(lab):
    rows = []
    for sockets in range(1, 10):
        ranks, phase = CORES * sockets, TRIAD_BYTES / (CORES * sockets)
        model_s, exec_s = TRIAD_BYTES / (sockets * SOCKET) + 2 * MESSAGE_BYTES / LINK, TRIAD_BYTES / (sockets * SOCKET)
        quiet, noisy = lab.ring(ranks, phase), lab.ring(ranks, phase, "--noise", NOISE, "--trials", 10)
        mean, least, most = lab.execution_s(ranks, phase)
        rows.append((sockets, ranks, gflops(model_s), gflops(quiet_s(quiet)), gflops(step_s(noisy)), percent(step_s(noisy), model_s), gflops(exec_s),
                     f"{gflops(mean)} ({gflops(most)} to {gflops(least)})"))
    head = ("sockets", "ranks", "equation 1", "without noise", "with 1 % noise", "time against equation 1", "execution only: model", "execution only: ranks (fewest, most)")
    return "GFlop/s.\n\n" + data_page.table(head, rows)


def node_table(lab):
    rows = []
    for ranks in (*range(1, 11), 12, 14, 16, 18, 20):
        phase = TRIAD_BYTES / ranks
        most = min(ranks, CORES)  # on the fuller socket
        model_s = phase / min(CORE, SOCKET / most) + (2 * MESSAGE_BYTES / LINK if ranks > 1 else 0.0)
        quiet, noisy = lab.ring(ranks, phase), lab.ring(ranks, phase, "--noise", NOISE, "--trials", 10)
        rows.append((ranks, gflops(model_s), gflops(quiet_s(quiet)), gflops(step_s(noisy)), percent(step_s(noisy), model_s)))
    return "GFlop/s; ranks fill the first socket, then the second.\n\n" + data_page.table(
        ("ranks of a node", "model", "without noise", "with 1 % noise", "time against the model"), rows)


def sparse_table(lab):
    rows = []
    for nodes in range(1, 10):
        phase = TRIAD_BYTES / nodes
        model_s = phase / CORE + (2 * MESSAGE_BYTES / LINK if nodes > 1 else 0.0)
        memory = "ranks=1,domain=40GB/s,core=6.5GB/s"
        quiet = lab.ring(nodes, phase, memory=memory)
        noisy = lab.ring(nodes, phase, "--noise", NOISE, "--trials", 10, memory=memory)
        rows.append((nodes, gflops(model_s), gflops(quiet_s(quiet)), gflops(step_s(noisy)), percent(step_s(noisy), model_s)))
    return "GFlop/s; one rank on each node.\n\n" + data_page.table(("nodes", "model", "without noise", "with 1 % noise", "time against the model"), rows)


# ---- figure 2 ----

# 302^3 cells, 19 numbers read and 19 written each; messages that make communication 30 % of a step, as the paper says.
LBM_RANKS, LBM_BYTES = 100, 302 ** 3 * 19 * 2 * 8
LBM_PHASE_S = LBM_BYTES / (LBM_RANKS // CORES * SOCKET)
LBM_MESSAGE = 0.3 / 0.7 * LBM_PHASE_S * LINK / 2


def steps_table(lab, pictures):
    model_s = LBM_PHASE_S + 2 * LBM_MESSAGE / LINK
    rows, ends_of = [], {}
    for steps in (1, 20, 500, 1000, 5000, 10000):
        lab.ring(LBM_RANKS, LBM_BYTES / LBM_RANKS, "--noise", NOISE, "--end-times", "ends.csv", steps=steps, message=LBM_MESSAGE)
        with open(lab.scratch / "ends.csv", encoding="utf-8", newline="") as lines:
            ends = [float(row["end_ns"]) * 1e-9 for row in csv.DictReader(lines)]
        ends_of[steps] = ends
        mean = statistics.mean(ends)
        rows.append((steps, f"{steps * model_s:.2f} s", f"{mean:.2f} s", f"{mean - steps * model_s:+.3f} s", percent(mean, steps * model_s), f"{max(ends) - min(ends):.3f} s"))
    draw_steps(pictures, ends_of, model_s)
    head = ("step", "equation 1", "mean of the ranks", "difference", "", "first to last rank")
    return f"A step takes {1e3 * model_s:.2f} ms by equation 1, of which {1e3 * LBM_PHASE_S:.2f} ms are execution.\n\n" + data_page.table(head, rows)


def draw_steps(folder, ends_of, model_s):
    """Panels like those of figure 2: when each rank ends a step, before and after the mean of all."""
    shown = (20, 500, 5000, 10000)
    lines = ["set terminal pngcairo size 1400,420 font ',11'", f"set output '{folder / 'memory-steps.png'}'", f"set multiplot layout 1,{len(shown)}",
             "set ylabel 'rank'", "set yrange [-1:100]", "set key off", "set xlabel 'ms after the mean rank'"]
    for steps in shown:
        mean = statistics.mean(ends_of[steps])
        points = "\n".join(f"{1e3 * (end - mean)} {rank}" for rank, end in enumerate(ends_of[steps]))
        widest = 1.1e3 * max(abs(end - mean) for end in ends_of[steps])
        lines += [f"$ends << END\n{points}\nEND", f"set title 'step {steps}: {percent(mean, steps * model_s)} against the model'",
                  f"set xrange [{-widest}:{widest}]", f"set xtics {float(f'{widest / 2:.1g}')}", "plot $ends using 1:2 with points pt 7 ps 0.5 lc rgb '#d62020'"]
    subprocess.run(["gnuplot"], input="\n".join(lines), text=True, check=True)


def draw_overlap(lab, pictures):
    lab.ring(40, TRIAD_BYTES / 40, "--noise", NOISE, "--timeline", "ring.h5")
    lab.call("report", "ring.h5", "-o", pictures / "memory-in-step.png", "--time", "0s-80ms")
    lab.call("report", "ring.h5", "-o", pictures / "memory-out-of-step.png", "--time", "3.9s-3.98s")


def main():
    parser = argparse.ArgumentParser(description="Remakes the tables and pictures of docs/validation/memory.md.")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--pictures", type=pathlib.Path, default=data_page.ROOT / "docs" / "pictures")
    data_page.add_option(parser)
    arguments = parser.parse_args()
    pictures = arguments.pictures.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        lab = Lab((arguments.build / "cli" / "idlewave").resolve(), pathlib.Path(scratch))
        pages = {
            "ring": ("A STREAM-like ring of 40 ranks on nodes of 20", lambda: ring_table(lab)),
            "scaling": ("Figure 1(a) of paper 5 in simulation", lambda: scaling_table(lab)),
            "node": ("Figure 1(b) of paper 5 in simulation", lambda: node_table(lab)),
            "sparse": ("Figure 1(c) of paper 5 in simulation", lambda: sparse_table(lab)),
            "steps": ("Figure 2 of paper 5 in simulation", lambda: steps_table(lab, pictures)),
        }
        for name, (title, make) in pages.items():
            print(name, flush=True)
            data_page.write(arguments.data, f"memory-{name}", title, "make_memory.py", "validation/memory.md", make())
        draw_overlap(lab, pictures)


if __name__ == "__main__":
    main()
