#!/usr/bin/env python3
"""Counts lines by folder, and how long files and functions are: where the project grows.

SPDX-License-Identifier: BSD-3-Clause

Usage: measure_size.py [--rooms] [ROOT] [OTHER]     with OTHER: both, side by side. --rooms: also their rooms.

Functions are those of .c files, found by their layout: a brace alone in the first column opens one, the next closes it.
"""

import argparse
import collections
import pathlib
import statistics

FOLDERS = ("src", "cli", "mpi", "include", "tests", "tools", "web", "docs")
SUFFIXES = {".c", ".h", ".py", ".sh", ".js", ".css", ".md"}


def lines_of(path):
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def place_of(parts, has_rooms):
    """("src", "kit", "files", "goal", "goal.c") is src/kit/files, or src/kit/files/goal with rooms; tests count apart."""
    depth = (3 if parts[0] == "src" else 1) + has_rooms
    if parts[0] == "src" and "tests" in parts:
        return "tests"
    return "/".join(parts[: min(depth, len(parts) - 1)])


def functions_of(lines):
    """Lengths, from the opening brace to the closing one."""
    begin = None
    for number, line in enumerate(lines):
        if line == "{":
            begin = number
        elif line == "}" and begin is not None:
            yield number - begin + 1
            begin = None


def measure(root, has_rooms):
    counts, files, functions = collections.Counter(), [], []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES or "data" in path.parts:
                continue
            lines = lines_of(path)
            counts[place_of(path.relative_to(root).parts, has_rooms)] += len(lines)
            if path.suffix == ".c" and folder in ("src", "cli", "mpi") and "tests" not in path.parts:
                files.append(len(lines))
                functions += functions_of(lines)
    return counts, files, functions


def spread(lengths):
    ordered = sorted(lengths)
    return f"{len(ordered)}: median {statistics.median(ordered):.0f}, p90 {ordered[len(ordered) * 9 // 10]}, most {ordered[-1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("roots", nargs="*", type=pathlib.Path, default=[pathlib.Path()])
    parser.add_argument("--rooms", action="store_true")
    arguments = parser.parse_args()
    measured = [measure(root, arguments.rooms) for root in arguments.roots]
    for place in sorted(set().union(*(counts for counts, _, _ in measured))):
        print(f"{place:36}", *(f"{counts[place]:8}" for counts, _, _ in measured))
    src_and_cli = [sum(n for place, n in counts.items() if place.split("/")[0] in ("src", "cli")) for counts, _, _ in measured]
    print(f"{'src + cli':36}", *(f"{count:8}" for count in src_and_cli))
    for what, index in (("files", 1), ("functions", 2)):
        print(what, *(spread(m[index]) for m in measured), sep="\n  ")


if __name__ == "__main__":
    main()
