"""Switches `watch --metrics` on and off beside a program, and compares blocks of that program's work with and without it.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import os
import pathlib
import random
import signal
import statistics
import subprocess
import time

SETTLE_S = 0.05  # after attaching and taking off
STEADY_WITHIN = 0.05  # a block counts if those without the watcher before and after it differ by no more
LEAST = 40  # such blocks, five runs, or nothing is said
RUN = 8  # neighbours share a block and the host's mood: they are drawn together


def links_of(pid):
    """How many programs the process has attached."""
    count = 0
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            count += os.readlink(fd) == "anon_inode:bpf_link"
    return count


@contextlib.contextmanager
def watching(idlewave, folder, pid):
    """From when its programs are attached on; afterwards they are gone. The watcher's process."""
    file = folder / "cost.prom"
    with subprocess.Popen([idlewave, "watch", "--no-config", "--pid", str(pid), "--metrics", str(file)]) as watcher:
        before, now = -1, 0
        while now == 0 or now != before:  # until all its programs are attached
            time.sleep(0.03)
            if watcher.poll() is not None:
                raise SystemExit(f"watch exits {watcher.returncode}")
            before, now = now, links_of(watcher.pid)
        try:
            yield watcher
        finally:
            watcher.send_signal(signal.SIGTERM)
            watcher.wait()


@contextlib.contextmanager
def bursting(program, folder, cpus):
    """A known cost: on each CPU a thread that takes it for 30 us every 10 ms."""
    with contextlib.ExitStack() as daemons:
        for cpu in cpus:
            daemon = daemons.enter_context(subprocess.Popen(
                [program, str(cpu), "1000000", "30", "30", "9970", "9970", "1", "iw-control", folder / f"control{cpu}.log"]))
            daemons.callback(daemon.terminate)
        yield


def bounds(values, run=1):
    """The median, and between what it lies with 95 %: bootstrap, of `run` values that follow each other at a time."""
    draw, count = random.Random(1), len(values)
    medians = []
    for _ in range(2000):
        starts = [draw.randrange(count) for _ in range(-(-count // run))]
        medians.append(statistics.median(values[(start + i) % count] for start in starts for i in range(run)))
    medians.sort()
    return statistics.median(values), medians[50], medians[1949]


def interval(values):
    return "{:.4f} ({:.4f} .. {:.4f})".format(*bounds(values))


def alternating(block, beside, seconds):
    """Blocks without, with, without, ..., without. What `block` returns of each."""
    blocks, end = [block()], time.monotonic() + seconds
    while time.monotonic() < end:
        with beside():
            time.sleep(SETTLE_S)
            blocks.append(block())
        time.sleep(SETTLE_S)
        blocks.append(block())
    return blocks


def changes(times):
    """Of blocks without, with, without, ...: by how many per cent each with it is longer than those before and after, if these are alike."""
    triples = zip(times[0::2], times[1::2], times[2::2])
    return [100 * (2 * with_it / (before + after) - 1) for before, with_it, after in triples if abs(before / after - 1) <= STEADY_WITHIN]


def told(values, digits):
    if len(values) < LEAST:
        return "too few to say how much"
    return "{:+.{d}f} % ({:+.{d}f} .. {:+.{d}f})".format(*bounds(values, RUN), d=digits)


def say(name, times):
    """Prints what blocks take longer."""
    found = changes(times)
    print(f"{name}: {len(times) // 2} blocks of {statistics.median(times[0::2]):.3f} s with it, of which {len(found)} lie between two without "
          f"that are alike: {told(found, 2)} longer", flush=True)


def say_shares(name, shares):
    """Prints how much more of the time interruptions take: whatever the clock rate did, all blocks count."""
    found = [100 * (with_it - (before + after) / 2) for before, with_it, after in zip(shares[0::2], shares[1::2], shares[2::2])]
    print(f"{name}: interruptions take {100 * statistics.median(shares[0::2]):.3f} % of the time without it; {told(found, 3)} more with it", flush=True)
