#!/usr/bin/env python3
"""Random GOAL graphs take as long by `idlewave simulate --rules loggopsim` as by LogGOPSim itself, on every rank.

SPDX-License-Identifier: BSD-3-Clause

Usage: loggopsim_graphs.py --idlewave PATH --loggopsim PATH --txt2bin PATH [--graphs N] [--seed N] [--keep DIR]
    --loggopsim, --txt2bin    of https://github.com/spcl/LogGOPSim, built by whoever runs this; no build or test of
                              idlewave needs them
    --graphs N                how many graphs (default 1000)
    --seed N                  of the first graph; the next one has the next seed (default 1)
    --keep DIR                where graphs on which the two differ are left

Graphs have up to 8 ranks, several CPUs, NICs, tags and sizes, `requires` and `irequires`, messages to oneself, receives
from any source, eager messages and rendezvous. Half of them have times that often coincide. What LogGOPSim does not
define is left out: no more than 16 operations of a rank become ready at once, since its sort would mix them up, and
dependences are written behind the operation that has them, so that dependants of one operation are in program order.

Exit code: 0 all agree, 1 some do not.
"""

import argparse
import collections
import pathlib
import random
import re
import subprocess
import sys
import tempfile

TIMEOUT_SECONDS = 60
MOST_ROOTS = 16  # of a rank
MOST_DEPENDANTS = 7  # of an operation; one event can end two of them
LOOK_BACK = 8  # operations of the rank

HOST = re.compile(r"^Host (\d+): (\d+)$", re.MULTILINE)


class Rank:
    """The operations of a rank, and what may still depend on them."""

    def __init__(self, draw, cpus, nics):
        self.draw, self.cpus, self.nics = draw, cpus, nics
        self.lines, self.dependants, self.roots = [], [], 0

    def place(self, kind):
        cpu = f" cpu {self.draw.randrange(self.cpus)}" if self.cpus > 1 else ""
        nic = f" nic {self.draw.randrange(self.nics)}" if self.nics > 1 and kind != "calc" else ""
        return cpu + nic

    def add(self, kind, text, is_own=False):
        """A receive of the rank's own message, which came just before, does not wait for that."""
        own = len(self.dependants)
        self.lines.append(f"l{own}: {kind} {text}{self.place(kind)}")
        free = [k for k in range(max(0, own - LOOK_BACK), own - is_own) if self.dependants[k] < MOST_DEPENDANTS]
        wanted = max(self.draw.choice((0, 1, 1, 2, 3)), self.roots == MOST_ROOTS)
        chosen = self.draw.sample(free, min(wanted, len(free)))
        for other in chosen:
            self.dependants[other] += 1
            self.lines.append(f"l{own} {self.draw.choice(('requires', 'irequires'))} l{other}")
        self.dependants.append(0)
        self.roots += not chosen


def draw_network(draw, is_coarse):
    """What both are told: whole nanoseconds, which is all that LogGOPSim knows."""
    if is_coarse:
        network = {"L": draw.randrange(8), "o": draw.randrange(1, 5), "g": draw.randrange(6), "G": draw.randrange(3),
                   "O": draw.randrange(2)}
    else:
        network = {"L": draw.randrange(5000), "o": draw.randrange(1, 3000), "g": draw.randrange(2000),
                   "G": draw.randrange(8), "O": draw.randrange(4)}
    return network | {"S": draw.choice((0, 5, 50, 65535))}


def draw_sizes(draw, network, is_coarse):
    """The size of each tag: one that a receive does not expect could leave a send waiting, which LogGOPSim overlooks."""
    # a message of 0 bytes costs minus one byte, which must not lead back in time
    may_be_empty = network["o"] >= max(network["O"], network["G"]) and network["g"] >= network["G"]
    return [draw.randrange(not may_be_empty, 12 if is_coarse else 200) for _ in range(draw.choice((1, 3, 10, 40)))]


def draw_graph(seed):
    """A GOAL text, and the network that it runs on."""
    draw = random.Random(seed)
    is_coarse = draw.randrange(2) == 0
    network = draw_network(draw, is_coarse)
    sizes = draw_sizes(draw, network, is_coarse)
    is_wild = draw.randrange(4) == 0
    may_have_any_tag = is_wild and (max(sizes) <= network["S"] or min(sizes) > network["S"])
    cpus, nics = draw.choice((1, 1, 2, 3)), draw.choice((1, 1, 2))
    ranks = [Rank(draw, cpus, nics) for _ in range(draw.randrange(1, 9))]
    for _ in range(draw.randrange(5, 80)):
        if draw.randrange(3) == 0:
            draw.choice(ranks).add("calc", str(draw.randrange(6 if is_coarse else 9000)))
            continue
        source, target, tag = draw.randrange(len(ranks)), draw.randrange(len(ranks)), draw.randrange(len(sizes))
        expected = -1 if is_wild and draw.randrange(8) == 0 else source
        expected_tag = -1 if may_have_any_tag and draw.randrange(16) == 0 else tag
        ranks[source].add("send", f"{sizes[tag]}b to {target} tag {tag}")
        ranks[target].add("recv", f"{sizes[tag]}b from {expected} tag {expected_tag}", source == target)
    for rank in ranks:
        if not rank.lines:
            rank.add("calc", "1")
    blocks = [f"rank {number} {{\n" + "\n".join(rank.lines) + "\n}\n" for number, rank in enumerate(ranks)]
    return f"num_ranks {len(ranks)}\n" + "\n".join(blocks), network


def run(command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          timeout=TIMEOUT_SECONDS)


def by_loggopsim(tools, goal, network):
    """End times in ns by rank; None if some operation never ends."""
    binary = goal.with_suffix(".bin")
    made = run((tools.txt2bin, "-i", goal, "-o", binary))
    if made.returncode != 0:
        raise RuntimeError(f"txt2bin: {made.stdout}{made.stderr}")
    done = run([tools.loggopsim, "-f", binary] + [word for key, value in network.items() for word in (f"-{key}", value)])
    if done.returncode != 0:
        raise RuntimeError(f"LogGOPSim ended with {done.returncode}: {done.stdout}{done.stderr}")
    return {int(rank): int(end) for rank, end in HOST.findall(done.stdout)} or None


def by_idlewave(tools, goal, network):
    """The same."""
    ends = goal.with_suffix(".csv")
    units = {key: f"{value}ns" if key != "S" else value for key, value in network.items()}
    done = run([tools.idlewave, "simulate", goal, "--rules", "loggopsim", "--net", "none", "--end-times", ends]
               + [word for key, value in units.items() for word in (f"--{key}", value)])
    if done.returncode != 0:
        if "cannot continue" not in done.stderr:
            raise RuntimeError(f"idlewave ended with {done.returncode}: {done.stderr}")
        return None
    rows = [line.split(",") for line in ends.read_text(encoding="utf-8").splitlines()[1:]]
    return {int(rank): float(end) for rank, end in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("idlewave", "loggopsim", "txt2bin"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--graphs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    tools = parser.parse_args()
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(tools.seed, tools.seed + tools.graphs):
            text, network = draw_graph(seed)
            goal = pathlib.Path(folder) / "graph.goal"
            goal.write_text(text, encoding="ascii")
            theirs, ours = by_loggopsim(tools, goal, network), by_idlewave(tools, goal, network)
            counts["agree" if theirs == ours else "differ"] += 1
            counts["with irequires"] += " irequires " in text
            counts["that cannot end"] += theirs is None
            if theirs != ours:
                print(f"graph {seed}, {network}:\n  LogGOPSim {theirs}\n  idlewave  {ours}")
                if tools.keep is not None:
                    tools.keep.mkdir(parents=True, exist_ok=True)
                    (tools.keep / f"{seed}.goal").write_text(text, encoding="ascii")
    print(f"{counts['agree']} of {tools.graphs} graphs agree on every rank; {counts['with irequires']} have irequires, "
          f"{counts['that cannot end']} cannot end")
    return 1 if counts["differ"] else 0


if __name__ == "__main__":
    sys.exit(main())
