#!/usr/bin/env python3
"""Compares what `record` and `noise show` say first, what barriers pay for the noise of a node, with barriers that real machines ran.
Remakes docs/validation/data/real-headline.md.

SPDX-License-Identifier: BSD-3-Clause

Usage: real_headline.py FOLDER [--idlewave COMMAND] [--data DIR]
    FOLDER is a copy of DanieleDeSensi/cloud_noise_data, its archives packed or unpacked.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import data_page
import real_inputs as inputs

TITLE = "The headline beside measured barriers"
MACHINES, BARRIERS, BYTES, NODES = ("DEEP-EST", "Alps", "Daint"), ("nwaydissemination", "nwaydissemination_nocompute"), 16, (4, 8, 16, 32)
DEFAULT_NET = "hdr-fat-tree"
REPEAT, TRIALS, ALONE_TRIALS = 100, 200, 20000  # more trials than the headline has: here the mean counts, not how soon it is there


def simulated(command, recording, net, nodes, is_alone=False):
    """What one of many barriers back to back pays, one rank a node, as the headline has it; or the mean over the median of one that begins at any time."""
    repeat, trials = (1, ALONE_TRIALS) if is_alone else (REPEAT, TRIALS)
    done = subprocess.run([command, "simulate", "--noise", recording, "--net", net, "--ranks-per-node", "1", "--pattern", "barrier", "--ranks", str(nodes),
                           "--repeat", str(repeat), "--trials", str(trials), "--quiet", "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise inputs.Error(f"{recording}: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    return answer["makespan_ns"]["mean"] / answer["makespan_ns"]["median"] - 1 if is_alone else answer["steady"]["slowdown"]["value"]


def measured(path, nodes):
    """Of the slowest rank: the mean over the time that a tenth of the runs do not exceed, and over the median; less one."""
    times = sorted(inputs.slowest(path, nodes))
    mean = statistics.fmean(times)
    return mean / times[len(times) // 10] - 1, mean / statistics.median(times) - 1


def sessions(folder, machine):
    """(session, its series) of barriers of few bytes."""
    return [series for series in folder.series(machine) if series.collective in BARRIERS and series.size == BYTES]


def nearest(recordings, session):
    return min(recordings, key=lambda path: abs(inputs.when(path) - inputs.when(session)))


def percent(share):
    return f"{100 * share:.0f}" if share >= 1 else f"{100 * share:.3g}"


def middle(shares):
    """The median of several, and between which ends."""
    text = f"{percent(statistics.median(shares))} %"
    return text if len(shares) < 2 else f"{text} ({percent(min(shares))} to {percent(max(shares))})"


def rows_of(command, folder, machine, scratch):
    recordings, found = folder.recordings(machine), {nodes: [] for nodes in NODES}
    noises = {}
    for series in sessions(folder, machine):
        recorded = nearest(recordings, series.session)
        if recorded not in noises:
            noises[recorded] = scratch / f"{machine.name}-{recorded.name}.h5"
            subprocess.run([command, "noise", "convert", recorded / "ng_osnoise.out", noises[recorded]], check=True, stdout=subprocess.DEVNULL)
        for nodes in set(series.nodes) & set(NODES):
            found[nodes].append((recorded, *measured(inputs.measured_path(series, nodes), nodes)))
    for nodes, runs in found.items():
        if runs:
            used = sorted({recorded for recorded, *_ in runs})
            ours = [[simulated(command, noises[recorded], net or recorded / "ng_loggp.out", nodes, is_alone) for recorded in used]
                    for net, is_alone in ((None, False), (DEFAULT_NET, False), (None, True))]
            yield [machine.name, nodes, len(runs), middle([over for _, over, _ in runs]), middle([over for *_, over in runs]), *map(middle, ours)]


def text_of(command, root, scratch):
    folder = inputs.Folder(root)
    rows = [row for machine in inputs.MACHINES if machine.name in MACHINES for row in rows_of(command, folder, machine, scratch)]
    if not rows:
        raise inputs.Error(f"'{root}' has no barriers of {BYTES} bytes with recordings of their machine")
    head = ["machine", "nodes", "sessions", "measured: mean over p10", "measured: mean over median", "headline, its own network", f"headline, {DEFAULT_NET}",
            "one alone, its own network: mean over median"]
    return (f"Dissemination barriers of {BYTES} B, one rank a node, and the recording of the date nearest to each session. Measured: by how much the mean of the "
            "slowest rank exceeds what a tenth of the runs do not exceed, and the median. Headline: what a barrier pays for the noise of the node, back to "
            "back. Alone: a barrier that begins at any time, so that detours under way count too, as they do in the measured ones. Several sessions or recordings: their median, and from where to where they lie.\n\n" + data_page.table(head, rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--idlewave", default="idlewave", metavar="COMMAND")
    parser.add_argument("--data", type=pathlib.Path, metavar="DIR", help="write the page there (default: print the table only)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="idlewave-headline-") as scratch:
        try:
            text = text_of(arguments.idlewave, inputs.unpacked(arguments.folder, pathlib.Path(scratch)), pathlib.Path(scratch))
        except inputs.Error as error:
            sys.exit(f"real_headline.py: {error}")
    print(text)
    if arguments.data:
        data_page.write(arguments.data, "real-headline", TITLE, "real_headline.py", "validation/real-machines.md", text)


if __name__ == "__main__":
    main()
