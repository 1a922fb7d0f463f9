#!/usr/bin/env python3
"""Remakes docs/validation/data/emulation-nodes.md: section VI of the emulation paper, in simulation.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_nodes.py IDLEWAVE [--data DIR]
    IDLEWAVE is the command of a release build. Takes about two minutes.

A cluster of 13 nodes with 32 CPUs each is made by `noise synth`: every node has detours that stop all of its CPUs at once,
and others that hit one CPU alone. The cluster itself is simulated with the recordings of all nodes. The paper predicts it
from those of one node, whose 32 traces stay together; taken apart, they are no longer a node.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import data_page

CPUS, NODES = 32, 13
SOURCES = {"all CPUs of a node at once": ("common", "poisson:20Hz,lognormal:60us,1.0", "start"),
           "one CPU alone": ("own", "poisson:4Hz,lognormal:60us,1.0", "none")}
RANKS = (32, 64, 128, 192, 256, 320, 384, 416)


class Cluster:
    def __init__(self, idlewave, folder):
        self.idlewave, self.folder = idlewave, folder
        for name, spec, sync in SOURCES.values():
            (folder / name).mkdir()
            for node in range(NODES):
                self.call("noise", "synth", spec, "--cpus", CPUS, "--sync", sync, "--duration", "120s", "--seed", 100 + node,
                          "-o", f"{name}/node{node:02}.h5")

    def call(self, *words):
        return subprocess.run([str(self.idlewave), *map(str, words)], capture_output=True, text=True, check=True, cwd=self.folder).stdout

    def slowdown(self, ranks, which, ranks_per_node):
        """Mean slowdown of a phase of 1 ms, with its 95 % interval, per cent."""
        noise = [word for name, _, _ in SOURCES.values() for word in ("--noise", name + which)]
        text = self.call("simulate", "--pattern", "barrier", "--ranks", ranks, "--compute", "1ms", "--repeat", 2000, "--net", "none", *noise,
                         "--ranks-per-node", ranks_per_node, "--trials", 20, "--format", "json")
        makespan, quiet = json.loads(text)["makespan_ns"], json.loads(text)["noiseless_ns"]
        return tuple(100 * (makespan[key] / quiet - 1) for key in ("mean", "mean_low", "mean_high"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("idlewave", type=pathlib.Path)
    data_page.add_option(parser)
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        cluster = Cluster(args.idlewave.resolve(), pathlib.Path(scratch))
        for ranks in RANKS:
            all_nodes = cluster.slowdown(ranks, "", CPUS)
            one_node = cluster.slowdown(ranks, "/node00.h5", CPUS)
            apart = cluster.slowdown(ranks, "/node00.h5", 1)
            rows.append((ranks, *(f"{mean:.2f} ({low:.2f} to {high:.2f})" for mean, low, high in (all_nodes, one_node, apart)),
                         f"{one_node[0] - all_nodes[0]:+.2f}", f"{apart[0] - all_nodes[0]:+.2f}"))
    text = (f"SD of equation 3, per cent: phases of 1 ms, a barrier without cost, mean of 20 trials of 2,000 phases. {NODES} nodes of {CPUS} CPUs; "
            + "; ".join(f"{what}: `{spec}`" for what, (_, spec, _) in SOURCES.items()) + ".\n\n"
            + data_page.table(("CPUs", "the cluster: recordings of all nodes", "from the 32 traces of one node", "from the same traces, each CPU apart",
                               "one node - cluster", "apart - cluster"), rows))
    data_page.write(args.data, "emulation-nodes", "A cluster predicted from one node", "make_nodes.py", "validation/emulation.md", text)


if __name__ == "__main__":
    main()
