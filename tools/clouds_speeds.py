"""How fast single nodes of clouds are, and how slow the slowest of 256 will be. For real_clouds.py.

SPDX-License-Identifier: BSD-3-Clause

Each node ran `sysbench cpu` once, on one core. The slowest of 256 nodes is predicted by drawing 256 speeds, with replacement, from those of
clusters of up to 128 nodes; its interval is that of such draws from clusters that are drawn again too. What waits for all nodes
(`idlewave simulate --node-speed`) takes as much longer as the slowest node does.
"""

import csv
import random
import re
import statistics

import data_page

FITTED, HELD_OUT = (32, 64, 128), 256
CLOUDS = {"aws/eks": "single-node", "azure/cyclecloud": "single-node-benchmarks", "google/gke": "single-node"}
SPEED = re.compile(rb"events per second:\s*([0-9.]+)")
DRAWS, SEED = 2000, 39
# Runs of applications: what they report of themselves, where more of it is better.
RATES = {"lammps-reax": "matom_steps_per_second", "amg2023": "fom_solve", "kripke": "throughput_unknowns_over_second_per_iteration"}


def speeds(folder, cloud, nodes):
    """Of each node, against their mean; files without a figure do not count."""
    found = []
    for path in sorted((folder / "experiments" / cloud / "cpu" / f"size{nodes}" / "results" / CLOUDS[cloud]).glob("*.out")):
        match = SPEED.search(path.read_bytes())
        if match:
            found.append(float(match[1]))
    mean = statistics.fmean(found) if found else 0.0
    return [speed / mean for speed in found]


def predict(folder):
    """For each cloud: how much longer than the mean of 256 nodes the slowest takes, in %."""
    rows, rng = [], random.Random(SEED)
    for cloud in CLOUDS:
        clusters = [of_nodes for of_nodes in (speeds(folder, cloud, nodes) for nodes in FITTED) if of_nodes]
        if not clusters:
            continue
        draws = []
        for _ in range(DRAWS):
            pool = [speed for cluster in rng.choices(clusters, k=len(clusters)) for speed in cluster]
            drawn = rng.choices(pool, k=HELD_OUT)
            draws.append(100 * (statistics.fmean(drawn) / min(drawn) - 1))
        draws.sort()
        rows.append({"cloud": cloud, "nodes_seen": sum(map(len, clusters)), "percent": statistics.median(draws), "low_percent": draws[DRAWS // 40],
                     "high_percent": draws[-1 - DRAWS // 40], "spread_percent": 100 * statistics.pstdev([s for c in clusters for s in c])})
    return rows


def runs(folder, application, metric):
    """Values by (cloud, nodes) of one application's runs."""
    values, path = {}, folder / "analysis" / application / "data" / f"{application}-results.csv"
    if path.exists():
        with open(path, encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                if row["env_type"] == "cpu" and row["metric"] == metric:
                    values.setdefault((f"{row['cloud']}/{row['env']}", int(row["nodes"])), []).append(float(row["value"]))
    return values


def slowest_rows(folder, predictions):
    rows = []
    for row in predictions:
        found = speeds(folder, row["cloud"], HELD_OUT)
        if found:
            percent = 100 * (1 / min(found) - 1)
            rows.append([row["cloud"], row["nodes_seen"], f"{row['spread_percent']:.2f} %", f"{row['percent']:.2f} %",
                         f"{row['low_percent']:.2f} to {row['high_percent']:.2f} %", len(found), f"{percent:.2f} %",
                         "yes" if row["low_percent"] <= percent <= row["high_percent"] else "no"])
    return rows


def spread_rows(folder):
    """How much runs of one cluster, on the same nodes, differ: node speeds alone would make none of that."""
    rows = []
    for application, metric in RATES.items():
        by_cluster = {key: values for key, values in runs(folder, application, metric).items() if key[0] in CLOUDS and len(values) >= 3}
        for (cloud, nodes), values in sorted(by_cluster.items()):
            if nodes in FITTED + (HELD_OUT,):
                found = speeds(folder, cloud, nodes)
                slowest = f"{100 * (1 / min(found) - 1):.2f} %" if found else "-"
                rows.append([application, cloud, nodes, len(values), f"{100 * (max(values) / min(values) - 1):.1f} %", slowest])
    return rows


def text(folder, predictions):
    """Predicted and measured slowest nodes, and applications beside them."""
    rows = slowest_rows(folder, predictions)
    parts = []
    if rows:
        inside = sum(row[-1] == "yes" for row in rows)
        parts.append(f"The slowest of 256 nodes, against their mean: {inside} of {len(rows)} are inside.\n\n" + data_page.table(
            ["cloud", "nodes seen", "standard deviation", "predicted", "95 % interval", "nodes measured", "measured", "inside"], rows))
    rows = spread_rows(folder)
    if rows:
        parts.append("Runs of applications on the same nodes, all in one cluster:\n\n" + data_page.table(
            ["application", "cloud", "nodes", "runs", "best run above worst", "slowest node takes longer by"], rows))
    return "\n\n".join(parts) or "There is nothing to compare."
