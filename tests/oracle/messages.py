"""Messages of collectives as SimGrid's SMPI sends them and as `idlewave schedule` writes them.

SPDX-License-Identifier: BSD-3-Clause

The messages of one run are a dict: rank -> [(receiver, bytes), ...] in the order that the rank sends them. Ranks that
send nothing are left out, and so are messages to oneself, which SimGrid uses for copies.
"""

import collections
import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess

Case = collections.namedtuple("Case", "ranks bytes root")
Schedule = collections.namedtuple("Schedule", "pattern ranks bytes root segment")  # segment 0: whole messages

WORKERS = 2
TIMEOUT_SECONDS = 120

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="host" suffix="" radical="0-{last}" speed="1Gf" bw="1GBps" lat="1us"/>
</platform>
"""

# Events of the trace format Paje, as numbered in the head of SimGrid's traces.
DEFINE_VALUE, PUSH_STATE, POP_STATE, START_LINK = "5", "12", "13", "15"
OUTSIDE = ("PMPI_Init", "PMPI_Finalize")

ALGORITHM = re.compile(r"^  ([a-z0-9_]+:[a-z0-9-]+)\s", re.MULTILINE)
SEND = re.compile(r"l\d+: send (\d+)b to (\d+) tag (\d+)")


def run(command, **settings):
    """The standard output of a command that must succeed; settings: of its environment."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          timeout=TIMEOUT_SECONDS, env={**os.environ, **settings})
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))[:400]}\n"
                           f"ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def in_parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(function, items))


class SimGrid:
    """Runs the program `collectives` under smpirun, in a folder for its files."""

    def __init__(self, smpirun, program, folder, ranks):
        self.smpirun, self.program, self.ranks = smpirun, program, ranks
        self.folder = pathlib.Path(folder)
        self.numbers = itertools.count()
        (self.folder / "platform.xml").write_text(PLATFORM.format(last=ranks - 1), encoding="utf-8")
        (self.folder / "hosts").write_text("".join(f"host{i}\n" for i in range(ranks)), encoding="utf-8")

    def messages(self, operation, settings, cases):
        """{case: messages} of an operation; settings: {"smpi/bcast": "binomial_tree", ...}."""
        trace = self.folder / f"{next(self.numbers)}.trace"
        run([self.smpirun, "-np", self.ranks, "-no-privatize", "-platform", self.folder / "platform.xml",
             "-hostfile", self.folder / "hosts", "-trace", "-trace-file", trace,
             "--cfg=tracing/smpi/internals:yes", "--cfg=tracing/smpi/display-sizes:yes",
             "--cfg=smpi/simulate-computation:no", "--log=root.thres:error",
             *(f"--cfg={name}:{value}" for name, value in settings.items()),
             self.program, operation, *(f"{case.ranks}:{case.bytes}:{case.root}" for case in cases)],
            TMPDIR=str(self.folder))
        with trace.open(encoding="utf-8") as lines:
            found = self.read_trace(lines, cases)
        trace.unlink()
        return found

    def read_trace(self, lines, cases):
        """A rank's n-th collective is the n-th case that it takes part in; what it sends in between is not wanted."""
        found = {case: collections.defaultdict(list) for case in cases}
        to_come = [iter([case for case in cases if rank < case.ranks]) for rank in range(self.ranks)]
        names, running = {}, {}
        for line in lines:
            words = line.split()
            if words[0] == DEFINE_VALUE:
                names[words[1]] = words[3]
            elif words[0] == PUSH_STATE and names[words[4]] not in OUTSIDE:
                rank = int(words[3]) - 1
                running[rank] = next(to_come[rank], None)
                if running[rank] is None:
                    raise RuntimeError(f"rank {rank} runs {names[words[4]]}, which nobody asked for")
            elif words[0] == POP_STATE:
                running.pop(int(words[3]) - 1, None)
            elif words[0] == START_LINK:
                sender, receiver = (int(number) - 1 for number in words[6].split("_")[:2])
                if sender in running and sender != receiver:
                    found[running[sender]][sender].append((receiver, int(words[7])))
        left = [rank for rank, rest in enumerate(to_come) if next(rest, None) is not None]
        if left:
            raise RuntimeError(f"SimGrid's trace lacks collectives of ranks {left}")
        return {case: dict(messages) for case, messages in found.items()}


def read_goal(text, patterns):
    """{pattern: messages}: the operations of a schedule have the tags 0, 1, ..."""
    found = [collections.defaultdict(list) for _ in patterns]
    rank = None
    for line in text.splitlines():
        if line.startswith("rank "):
            rank = int(line.split()[1])
        send = SEND.match(line)
        if send:
            found[int(send[3])][rank].append((int(send[2]), int(send[1])))
    return {pattern: dict(messages) for pattern, messages in zip(patterns, found)}


def of_schedules(idlewave, schedules):
    """{schedule: messages}, by one run of `idlewave schedule` for all patterns of the same size."""
    groups = collections.defaultdict(set)
    for schedule in schedules:
        groups[schedule[1:]].add(schedule.pattern)

    def run_group(group):
        ranks, size, root, segment = group
        patterns = sorted(groups[group])
        options = ["--ranks", ranks, "--bytes", size, "--root", root]
        options += ["--segment", segment] if segment > 0 else []
        text = run([idlewave, "schedule", "--pattern", "+".join(patterns), *options])
        return {Schedule(pattern, *group): messages for pattern, messages in read_goal(text, patterns).items()}

    found = {}
    for part in in_parallel(run_group, list(groups)):
        found.update(part)
    return found


def algorithms(idlewave):
    """All that `idlewave schedule --list` names: ["barrier:dissemination", ...]"""
    return ALGORITHM.findall(run([idlewave, "schedule", "--list"]))
