"""What the experiments on idle waves share: a simulation, its timeline, its waves, a table.

SPDX-License-Identifier: BSD-3-Clause
"""

import argparse
import json
import pathlib
import statistics
import subprocess

EAGER, RENDEZVOUS = "16KiB", "248640"  # bytes; the paper's 16,384 bytes and 31,080 doubles
SYSTEM = ["--net", "chic", "--S", "128KiB"]


class Lab:
    def __init__(self, idlewave, folder, is_quick):
        self.idlewave, self.folder, self.is_quick = idlewave, pathlib.Path(folder), is_quick
        self.folder.mkdir(parents=True, exist_ok=True)

    def call(self, *words):
        """Standard output of one command; its complaint, if it fails, is the caller's end."""
        done = subprocess.run([self.idlewave, *map(str, words)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"idlewave {' '.join(map(str, words))}:\n{done.stderr}")
        return done.stdout

    def simulate(self, options):
        """The result of one simulation, as `idlewave simulate --format json` has it."""
        return json.loads(self.call("simulate", *SYSTEM, *options, "--format", "json"))

    def waves(self, name, options, has_picture=False):
        """The waves of one simulation, as `idlewave wave --format json` has them; its timeline is NAME.h5."""
        timeline = self.folder / f"{name}.h5"
        self.call("simulate", *SYSTEM, *options, "--timeline", timeline)
        return self.waves_of(timeline, has_picture)

    def waves_of(self, timeline, has_picture=True):
        if has_picture and not self.is_quick:
            self.call("report", timeline, "-o", timeline.with_suffix(".png"))
        return json.loads(self.call("wave", timeline, "--format", "json"))


def parse(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--idlewave", default="idlewave", help="the command (default: the one on PATH)")
    parser.add_argument("-o", "--output", default="waves", help="folder for timelines and pictures (default waves)")
    parser.add_argument("--quick", action="store_true", help="fewer cases and repetitions")
    arguments = parser.parse_args()
    return Lab(arguments.idlewave, arguments.output, arguments.quick)


def chain(ranks, steps, size, *, work="3ms", periodic=False, uni=False, split=True, distance=1):
    """Options of a neighbour exchange along a line of ranks."""
    return ["--pattern", "halo1d", "--ranks", ranks, "--repeat", steps, "--compute", work, "--bytes", size,
            "--boundary", "periodic" if periodic else "open", "--direction", "uni" if uni else "bi",
            "--exchange", "split" if split else "joint", "--distance", distance]


def delay(rank, time, step=1):
    return ["--delay", f"rank={rank},step={step},time={time}"]


def three(values):
    """median (least to largest)"""
    return f"{statistics.median(values):.4g} ({min(values):.4g} to {max(values):.4g})"


def print_table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
