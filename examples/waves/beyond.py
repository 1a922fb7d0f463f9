#!/usr/bin/env python3
"""Beyond the paper: grids, an allreduce now and then, slow links between nodes, the noise of four systems.

SPDX-License-Identifier: BSD-3-Clause
"""

import lab

WORK_NS, BYTES = 3000000, 16384
NODE = 8  # ranks
# between nodes as slow as a network of 100 MB/s, inside 20 times faster or just as slow
MACHINE = """format: idlewave.net/2
name: nodes
levels:
  - {{name: node, ranks: {node}, L: 0.3us, o: 0.2us, g: 0.2us, G: {inside}ns, S: 128KiB}}
  - {{name: network, L: 4.26us, o: 3.65us, g: 2.7us, G: {outside}ns, S: 128KiB}}
"""
SYSTEMS = {"chic": "periodic:0.375Hz,5.6ms", "altix": "periodic:0.5Hz,220us", "zeptoos": "periodic:16Hz,50us",
           "xt4": "periodic:0.03Hz,3.3ms"}


class GoalRank:
    """The operations of one rank, as text; what comes next requires what was last."""

    def __init__(self, rank):
        self.lines, self.count, self.last = [f"rank {rank} {{"], 0, []

    def add(self, operation, after):
        self.count += 1
        label = f"l{self.count}"
        self.lines.append(f"{label}: {operation}")
        self.lines += [f"{label} requires {other}" for other in after]
        return label

    def exchange(self, sends, receives, tag):
        """Messages to some and from others, all at once; sizes as given."""
        after = self.last
        self.last = [self.add(f"send {size}b to {peer} tag {tag}", after) for peer, size in sends]
        self.last += [self.add(f"recv {size}b from {peer} tag {tag}", after) for peer, size in receives]


def write_goal(path, ranks, steps, every):
    """An open chain, with a dissemination over all ranks after each `every` steps."""
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"num_ranks {ranks}\n")
        for rank in range(ranks):
            goal = GoalRank(rank)
            for step in range(steps):
                goal.last = [goal.add(f"calc {WORK_NS}", goal.last)]
                neighbours = [(peer, BYTES) for peer in (rank + 1, rank - 1) if 0 <= peer < ranks]
                goal.exchange(neighbours, neighbours, 0)
                far = 1
                while (step + 1) % every == 0 and far < ranks:
                    goal.exchange([((rank + far) % ranks, 8)], [((rank - far) % ranks, 8)], 1)
                    far *= 2
            out.write("\n".join(goal.lines) + "\n}\n")


def speed_of(wave):
    per_step = wave["ranks_per_step"]["value"]
    return "too short for a speed" if per_step is None else f"{per_step:.3f} a step"


def told(found):
    """speed and reach of each wave, in words"""
    return "; ".join(f"dimension {wave['dimension']} {'up' if wave['direction'] > 0 else 'down'} {speed_of(wave)}, "
                     f"{len(wave['fronts'])} ranks, {wave['end']}" for wave in found["waves"]) or "none"


def grids(bench):
    for pattern, dims in (("halo2d", "24x24"), ("halo3d", "10x10x10")):
        ranks = 576 if pattern == "halo2d" else 1000
        origin = 12 * 24 + 12 if pattern == "halo2d" else 555
        options = ["--pattern", pattern, "--ranks", ranks, "--dims", dims, "--repeat", 20, "--compute", "3ms", "--bytes", lab.EAGER,
                   "--boundary", "open", *lab.delay(origin, "20ms")]
        yield [f"{pattern} {dims}", told(bench.waves(pattern, options, has_picture=True))]


def goal_waves(bench, name, every):
    path, timeline = bench.folder / f"{name}.goal", bench.folder / f"{name}.h5"
    write_goal(path, 64, 40, every)
    bench.call("simulate", path, *lab.SYSTEM, *lab.delay(20, "13.5ms", 2), "--timeline", timeline)
    return bench.waves_of(timeline)


def collectives(bench):
    for every in (1, 5, 15):
        yield [f"allreduce after each {every} steps", told(goal_waves(bench, f"allreduce-{every}", every))]


def levels(bench):
    for name, inside, outside in (("as fast inside as between", 10, 10), ("slower between them", 0.5, 10)):
        machine = bench.folder / "nodes.yaml"
        machine.write_text(MACHINE.format(node=NODE, inside=inside, outside=outside), encoding="utf-8")
        options = ["--net", machine, *lab.chain(64, 40, lab.EAGER, split=False), *lab.delay(20, "13.5ms", 2)]
        found = bench.waves("levels", options)
        yield [f"nodes of {NODE}, {name}", f"{told(found)}; T_comm {found['comm_ns'] / 1e3:.1f} us"]


def systems(bench):
    ranks, steps = (200, 80) if bench.is_quick else (1000, 400)
    for name, noise in SYSTEMS.items():
        options = ["--net", name, *lab.chain(ranks, steps, lab.EAGER, split=False), *lab.delay(ranks // 2, "90ms"), "--noise", noise]
        found = bench.waves("noise-" + name, options, has_picture=True)
        decay = [f"{wave['decay_s_per_rank']['value'] * 1e6:.3g} ({wave['decay_s_per_rank']['low'] * 1e6:.3g} to "
                 f"{wave['decay_s_per_rank']['high'] * 1e6:.3g})" for wave in found["waves"][:2]]
        yield [f"noise of {name}", f"decay {'; '.join(decay)} us/rank, of {len(found['waves'])} waves"]


def main():
    bench = lab.parse(__doc__.splitlines()[0])
    lab.print_table(["what", "waves"], [*grids(bench), *collectives(bench), *levels(bench), *systems(bench)])


if __name__ == "__main__":
    main()
