#!/usr/bin/env python3
"""Asks whether real nodes are hit by noise independently of each other: measured barriers on 4 nodes say how often larger ones are
late if they are, and how often if all nodes are hit together. Remakes docs/validation/data/real-independence.md.

SPDX-License-Identifier: BSD-3-Clause

Usage: real_independence.py FOLDER [--late US] [--data DIR]
    FOLDER is DanieleDeSensi/cloud_noise_data, its archives unpacked beside themselves.
"""

import argparse
import math
import pathlib

import data_page

TITLE = "Are real nodes hit independently?"
BARRIERS = "*/*/*/nwaydissemination_nocompute_4_16.csv"
NODES = (4, 8, 16, 32)


def slowest(path):
    """Us, of the slowest rank in each repetition."""
    times = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split("#")[0].replace(",", " ").split()
            if len(words) > 1:
                times.append(max(map(float, words[1:])))
    return times


def measured(first, late_us):
    """(nodes, repetitions, undisturbed time, how many were later than that by late_us) of each size beside the file of 4 nodes."""
    found = []
    for nodes in NODES:
        path = first.with_name(first.name.replace("_4_", f"_{nodes}_"))
        times = slowest(path) if path.is_file() else []
        if times:
            quiet = sorted(times)[len(times) // 10]
            found.append((nodes, len(times), quiet, sum(time > quiet + late_us for time in times)))
    return found


def expected(found, nodes, quiet):
    """Shares that are late if nodes are hit independently, and if together: a run is not late if nothing comes meanwhile."""
    few, count, short, late = found[0]
    calm = 1 - late / count
    return 1 - calm ** (nodes * quiet / (few * short)), 1 - calm ** (quiet / short)


def percent(share):
    return f"{100 * share:.{2 if share < 0.01 else 1 if share < 0.1 else 0}f} %"


def text_of(folder, late_us):
    lines = []
    for first in sorted(folder.glob(BARRIERS)):
        found = measured(first, late_us)
        for nodes, count, quiet, late in found:
            share = late / count
            error = 1.96 * math.sqrt(share * (1 - share) / count)
            follows = map(percent, expected(found, nodes, quiet)) if nodes != found[0][0] else ("-", "-")
            lines.append([first.parts[-4], first.parts[-2], nodes, f"{count:,}", f"{quiet:.2f}", percent(share), f"+-{percent(error)}", *follows])
    head = ["machine", "date", "nodes", "runs", "undisturbed, us", "late, measured", "95 %", "if independent", "if together"]
    return (f"Dissemination barriers of 16 B, one rank a node. Undisturbed: the time that a tenth of the runs do not exceed; late: "
            f"{late_us:g} us or more beyond it. The last two columns follow from the first row of each machine.\n\n"
            + data_page.table(head, lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--late", type=float, default=5.0, metavar="US")
    parser.add_argument("--data", type=pathlib.Path, metavar="DIR")
    arguments = parser.parse_args()
    text = text_of(arguments.folder, arguments.late)
    print(text)
    if arguments.data:
        data_page.write(arguments.data, "real-independence", TITLE, "real_independence.py", "validation/real-machines.md", text)


if __name__ == "__main__":
    main()
