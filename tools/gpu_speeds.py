#!/usr/bin/env python3
"""Predicts how long steps of N GPUs in lockstep take from the measured speeds of other GPUs, and compares.

SPDX-License-Identifier: BSD-3-Clause

Usage: gpu_speeds.py BUILD_DIR FOLDER [--data DIR]
    FOLDER: a checkout of github.com/hal-uw/blox-pal, or a copy of its aggregated_data. --data writes the page gpu-speeds.md into DIR.

The speed of a GPU is the median of its runs. Half of the nodes, chosen by their names, are fitted; the others are held out. A step takes
as long as the slowest of its GPUs would. Times are over those of the median GPU. Predicted twice: N GPUs drawn from those fitted, with the
interval for as many other nodes by the bootstrap, and by `idlewave training --set slow=normal:SIGMA`. Measured: groups of held-out GPUs, by
chance and by node. "Inside" is whether the interval has the former, and in how many of other halves it would.
"""

import argparse
import collections
import csv
import hashlib
import pathlib
import random
import statistics
import sys
import tempfile

import data_page
import make_coverage

SETS = {  # of benchmarks that ran on one GPU: GPUs that are fitted, GPUs that are held out
    "SGEMM, Longhorn": ("sim/sgemm-longhorn-agg.csv", None),
    "PageRank, Longhorn": ("sim/pagerank-longhorn-agg.csv", None),
    "PageRank, Frontera": ("frontera/frontera-pagerank-agg.csv", None),
    "ResNet, Lonestar6": ("ls6/resnet-ls6-agg.csv", None),
    "PageRank, Longhorn to Frontera": ("sim/pagerank-longhorn-agg.csv", "frontera/frontera-pagerank-agg.csv"),
}
SIZES = (4, 16, 64)
RESAMPLES, SPLITS = 400, 40


def read(path):
    """The GPUs of each node, as times over that of the median GPU: {node: [factor, ...]}. A GPU without a node is one by itself."""
    runs, places = collections.defaultdict(list), {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            runs[row["uuid"]].append(float(row["perf"]))
            if row["cabinet"] != "-1":
                places[row["uuid"]] = f"{row['cabinet']}-{row['node']}"
    times = {gpu: statistics.median(found) for gpu, found in runs.items()}
    nodes = collections.defaultdict(list)
    for gpu, time in sorted(times.items()):
        nodes[places.get(gpu, gpu)].append(time)
    return dict(nodes)


def halves(nodes, salt=""):
    """By the digest of a node's name, so that no choice is ours: fitted, held out."""
    parts = ({}, {})
    for name, times in nodes.items():
        parts[hashlib.sha256((salt + name).encode()).digest()[0] % 2][name] = times
    return over_median(parts[0]), over_median(parts[1])


def flat(nodes):
    return [time for times in nodes.values() for time in times]


def over_median(nodes):
    middle = statistics.median(flat(nodes))
    return {name: [time / middle for time in times] for name, times in nodes.items()}


def slowest_of(factors, count):
    """Mean of the slowest of `count` of these GPUs, over all choices: unbiased for more GPUs of the same law."""
    ordered, slowest, share = sorted(factors, reverse=True), 0.0, 1.0
    for at, factor in enumerate(ordered):  # the share of choices that have none of the slower ones
        if share <= 0:
            break
        left = len(ordered) - at
        chosen = min(1.0, count / left)
        slowest += factor * share * chosen
        share *= 1 - chosen
    return slowest


def interval(fitted, others, count):
    """95 % for the mean of `others` more nodes: nodes are drawn anew, as those that were fitted and as those others."""
    draw, names = random.Random(1), sorted(fitted)

    def excess(size):
        return slowest_of([factor for name in draw.choices(names, k=size) for factor in fitted[name]], count) - 1

    ratios = sorted(excess(others) / max(excess(len(names)), 1e-9) for _ in range(RESAMPLES))
    predicted = slowest_of(flat(fitted), count) - 1
    return 1 + predicted * ratios[int(0.025 * RESAMPLES)], 1 + predicted * ratios[int(0.975 * RESAMPLES)]


def is_inside(fitted, held, count):
    low, high = interval(fitted, len(held), count)
    return low <= slowest_of(flat(held), count) <= high


def by_law(tool, sigma, count):
    """The same by idlewave, where all GPUs differ by a normal law."""
    answer = tool.ask("training", "--dp", count, "--forward", "10ms", "--backward", "20ms", "--set", "launch=0s", "--set", "free-network=yes",
                      "--set", f"slow=normal:{sigma:.6f}", "--steps", 1, "--trials", 400, "--no-bill")
    return 1 + answer["loss"]


def whole_nodes(nodes, count):
    """The mean slowest of a node, of those with `count` GPUs."""
    slowest = [max(factors) for factors in nodes.values() if len(factors) == count]
    return statistics.fmean(slowest) if len(slowest) >= 10 else None


def percent(factor):
    return f"{100 * (factor - 1):.2f}"


def rows_of(tool, name, fitted, held, nodes):
    """`nodes`: all, if other halves of them can be tried."""
    sigma = statistics.stdev(flat(fitted))
    for count in SIZES:
        low, high = interval(fitted, len(held), count)
        found, node = slowest_of(flat(held), count), whole_nodes(held, count)
        splits = [is_inside(*halves(nodes, str(salt)), count) for salt in range(SPLITS)] if nodes else []
        yield [name, f"{len(flat(fitted))}, {len(flat(held))}", count, percent(slowest_of(flat(fitted), count)), f"{percent(low)} to {percent(high)}",
               percent(by_law(tool, sigma, count)), percent(found), "-" if node is None else percent(node),
               ("yes" if low <= found <= high else "no") + (f"; {sum(splits)} of {SPLITS}" if splits else "")]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, metavar="DIR")
    return parser.parse_args()


def main():
    arguments = parse()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        tool = make_coverage.Tool(arguments.build, folder)
        for name, (one, other) in SETS.items():
            nodes = read(arguments.folder / "aggregated_data" / one)
            if other:
                rows += rows_of(tool, name, over_median(nodes), over_median(read(arguments.folder / "aggregated_data" / other)), None)
            else:
                rows += rows_of(tool, name, *halves(nodes), nodes)
    text = "Per cent over a step of median GPUs.\n\n" + data_page.table(
        ["data", "GPUs fitted, held out", "in lockstep", "drawn", "95 %", "`slow=normal`", "measured, by chance", "whole nodes", "inside"], rows)
    print(text)
    if arguments.data:
        data_page.write(arguments.data, "gpu-speeds", "Steps of GPUs that are not alike", "gpu_speeds.py", "validation/training.md", text)


if __name__ == "__main__":
    sys.exit(main())
