#!/usr/bin/env python3
"""Compares predictions for 256 nodes of clouds with what others measured there, and runs of LAMMPS with the waits of their nodes.
Remakes docs/validation/data/real-clouds-*.md; docs/validation/real-machines.md explains them.

SPDX-License-Identifier: BSD-3-Clause

Usage: real_clouds.py PERFORMANCE_STUDY_FOLDER GOOGLE_FOLDER [--idlewave FILE] [--predictions FILE] [--data DIR]
    Folders have files of github.com/converged-computing/performance-study and google-performance-study at the paths of these
    repositories; what is missing is left out. The predictions are made from 32 to 128 nodes and written to FILE with their SHA-256
    in FILE.sha256 (by default those of docs/validation/data), before any value of 256 nodes is read. A FILE that is there is not
    made again; its hash must be right.
"""

import argparse
import hashlib
import json
import pathlib
import sys

import clouds_allreduce
import clouds_fleet
import clouds_speeds
import data_page

ABOUT = "validation/real-machines.md"
TOOL = "real_clouds.py"
PREDICTIONS = data_page.FOLDER / "real-clouds-predictions.json"


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def registered(path, folder, idlewave):
    """The predictions of a file, which is made if it is not there."""
    hash_path = path.with_name(path.name + ".sha256")
    if not path.exists():
        made = {"allreduce": clouds_allreduce.predict(folder, idlewave), "slowest": clouds_speeds.predict(folder)}
        path.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
        hash_path.write_text(f"{digest_of(path)}  {path.name}\n", encoding="utf-8")
    if hash_path.read_text(encoding="utf-8").split()[0] != digest_of(path):
        sys.exit(f"real_clouds.py: '{path}' is not what was registered")
    return json.loads(path.read_text(encoding="utf-8"))


def main():
    """Predictions, then measurements, then pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=pathlib.Path)
    parser.add_argument("google", type=pathlib.Path)
    parser.add_argument("--idlewave", default="idlewave", metavar="FILE")
    parser.add_argument("--predictions", type=pathlib.Path, default=PREDICTIONS, metavar="FILE")
    data_page.add_option(parser)
    args = parser.parse_args()
    predictions = registered(args.predictions, args.study, args.idlewave)
    note = f"SHA-256 of the predictions: `{digest_of(args.predictions)}`."
    pages = {
        "allreduce": ("Allreduce on 256 nodes of clouds", clouds_allreduce.text(args.study, predictions["allreduce"])),
        "speeds": ("Speeds of nodes of clouds", clouds_speeds.text(args.study, predictions["slowest"])),
        "fleet": ("Waits of 128 nodes, and LAMMPS", clouds_fleet.text(args.google, args.idlewave)),
    }
    for name, (title, text) in pages.items():
        head = note + "\n\n" if name != "fleet" else ""
        data_page.write(args.data, f"real-clouds-{name}", title, TOOL, ABOUT, head + text)


if __name__ == "__main__":
    main()
