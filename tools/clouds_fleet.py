"""Waits of processes on nodes of Google's cloud beside LAMMPS: who stands out, and do waits explain run times? For real_clouds.py.

SPDX-License-Identifier: BSD-3-Clause

Each job ran LAMMPS three times on a cluster of 4 to 128 nodes with one of three MPIs, while collectors watched each node. `idlewave noise
fleet` judges the nodes. Whether jobs whose threads wait longer take longer is asked twice: among the MPIs on one number of nodes, and among
numbers of nodes with one MPI. Both are correlations of logarithms of which the mean of the group was taken off; p is the share of permutations
within groups that correlate at least as strongly, in either direction.
"""

import csv
import itertools
import json
import math
import random
import re
import statistics
import subprocess

import data_page

SIZES = (4, 8, 16, 32, 64, 128)
MPIS = {"lammps-mpich-ubuntu": "Ubuntu Mpich", "lammps-ubuntu-openmpi": "Ubuntu OpenMPI", "lammps-rocky8-openmpi": "Rocky OpenMPI"}
RUNS = "analysis/ebpf-lammps-reax/data-multiple/lammps-results.csv"
WAITS = "lmp waiting"
SAMPLES, SEED, EXACT = 20000, 39, 50000


def times(folder):
    """Seconds of LAMMPS by (nodes, problem): "Ubuntu Mpich", and with collectors "Ubuntu Mpich eBPF"."""
    found, path = {}, folder / RUNS
    if path.exists():
        with open(path, encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                if row["metric"] == "wall-time":
                    found.setdefault((int(row["nodes"]), row["problem_size"]), []).append(float(row["value"]))
    return found


def judged(folder, idlewave, nodes, name):
    """What `fleet` says of a job's nodes, or None."""
    path = folder / f"experiments/gke/cpu/size-{nodes}/logs/ebpf-multiple/{name}/cpu-model"
    if not path.is_dir():
        return None
    words = [idlewave, "fleet", str(path), "--threads", "1", "--format", "json"]
    return json.loads(subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def waits_of(fleet):
    """Of LAMMPS: share of time on the median node and on the worst one, and seconds on the median node."""
    watched_s = statistics.median(node["watched_ns"] for node in fleet["nodes"]) / 1e9
    for source in fleet["sources"]:
        if source["name"] == WAITS:
            share = source["share"]
            return {"median": share["median"], "worst": share["max"], "waited_s": share["median"] * watched_s}
    return None


def outstanding(fleet):
    """What `fleet` names, nodes with one source together."""
    nodes = {}
    for finding in fleet["findings"]:
        name = finding["source"]["name"] if finding["source"] else "all sources"
        family = re.sub("[0-9]+", "*", name)
        nodes.setdefault(f"{family}, {finding['metric']}", set()).add(finding["node"])
    return "; ".join(f"{', '.join(sorted(names))}: {what}" for what, names in sorted(nodes.items())) or "none"


def jobs(folder, idlewave):
    """One entry for each job of which waits and times are known."""
    found, seconds = [], times(folder)
    for nodes, (name, problem) in itertools.product(SIZES, MPIS.items()):
        fleet, ran = judged(folder, idlewave, nodes, name), seconds.get((nodes, problem + " eBPF"))
        if fleet and ran and waits_of(fleet):
            found.append({"nodes": nodes, "mpi": problem, "seconds": statistics.fmean(ran), "outstanding": outstanding(fleet),
                          "unwatched": statistics.fmean(seconds.get((nodes, problem), [math.nan]))} | waits_of(fleet))
    return found


# ---- correlation ----

def centred(jobs_, value, group):
    """Groups of logarithms less their mean."""
    groups = {}
    for job in jobs_:
        groups.setdefault(job[group], []).append(math.log(job[value]))
    return [[x - statistics.fmean(of_group) for x in of_group] for of_group in groups.values()]


def product(left, right):
    return sum(x * y for a, b in zip(left, right) for x, y in zip(a, b))


def orders(groups):
    """All permutations within groups, or a sample of them."""
    if math.prod(math.factorial(len(group)) for group in groups) <= EXACT:
        yield from itertools.product(*(list(itertools.permutations(group)) for group in groups))
    else:
        rng = random.Random(SEED)
        for _ in range(SAMPLES):
            yield [rng.sample(group, len(group)) for group in groups]


def correlate(jobs_, value, group):
    """(r, p) of the waits and the times within groups; None where a group has nothing to permute."""
    waits, seconds = centred(jobs_, value, group), centred(jobs_, "seconds", group)
    size = math.sqrt(product(waits, waits) * product(seconds, seconds))
    if size == 0:
        return None
    found = product(waits, seconds)
    as_far = [abs(product(waits, order)) >= abs(found) * (1 - 1e-9) for order in orders(seconds)]
    return found / size, statistics.fmean(as_far)


# ---- the page ----

def job_table(found):
    rows = [[job["nodes"], job["mpi"], f"{100 * job['median']:.3f} %", f"{100 * job['worst']:.3f} %", f"{job['seconds']:.0f} s",
             f"{job['unwatched']:.0f} s", job["outstanding"]] for job in found]
    return data_page.table(["nodes", "MPI", "LAMMPS waits, median node (at least)", "worst node (at least)", "LAMMPS, watched", "LAMMPS, not watched",
                            "stands out"], rows)


def correlation_table(found):
    rows = []
    for label, group in (("MPIs on the same number of nodes", "nodes"), ("numbers of nodes with the same MPI", "mpi")):
        for words, value in (("share of time, median node", "median"), ("share of time, worst node", "worst"),
                             ("seconds, median node", "waited_s")):
            result = correlate(found, value, group)
            if result:
                rows.append([label, words, f"{result[0]:+.2f}", f"{result[1]:.3f}" if result[1] >= 0.001 else "< 0.001"])
    return data_page.table(["jobs compared", "waits of LAMMPS", "correlation with its time", "p"], rows)


def text(folder, idlewave):
    """All jobs, and what their waits say of their times."""
    found = jobs(folder, idlewave)
    if len(found) < 2:
        return "There are no jobs to compare."
    return job_table(found) + "\n\n" + correlation_table(found)
