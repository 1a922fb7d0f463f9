#!/usr/bin/env python3
"""Simulates MILC's traces of four nodes of Piz Daint on the network that was measured there, and compares the whole time and the time
that each rank spent in MPI with the traced run's. Remakes docs/validation/data/real-milc.md.

SPDX-License-Identifier: BSD-3-Clause

Usage: real_milc.py FOLDER [--idlewave BIN] [--trials N] [--data DIR]
    FOLDER is DanieleDeSensi/cloud_noise_data, its archives unpacked beside themselves. Its traces are one rank on each of four nodes.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import data_page

TITLE = "MILC on four nodes of Daint, traced and simulated"
TRACES = {"tiny": "input_4_nodes_tiny", "very short": "input_4_nodes_veryshort_1thread"}
NETWORKS = "daint*/*/*/ng_loggp.out"


COMMUNICATES = {"MPI_" + name for name in ("Isend", "Irecv", "Wait", "Waitall", "Send", "Recv", "Allreduce", "Bcast", "Barrier", "Reduce")}


def traced(path):
    """(s from the end of MPI_Init to the begin of MPI_Finalize, s of these in calls that communicate) of one rank."""
    begin = end = 0
    in_mpi = 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.strip().split(":")
            if words[0].startswith("MPI_Init"):
                begin = int(words[-1])
            elif words[0] == "MPI_Finalize":
                end = int(words[1])
            elif words[0] in COMMUNICATES:
                in_mpi += int(words[-1]) - int(words[1])
    return (end - begin) / 1e6, in_mpi / 1e6


def simulated(binary, trace, words):
    """Mean of the makespans, s."""
    command = [binary, "simulate", trace, *words, "--format", "json"]
    answer = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
    return json.loads(answer)["makespan_ns"]["mean"] / 1e9


def percent(found, truth):
    return f"{100 * (found / truth - 1):+.1f} %"


def networks_table(whole, times):
    """`times` are those of {trace: {date of network: s}}."""
    lines = []
    for date in sorted({date for of in times.values() for date in of}):
        cells = [f"{date[0]}, {date[1].replace('_', ' ', 2)[:10].replace(' ', '-')}"]
        for name in TRACES:
            found = times[name][date]
            cells += [f"{found:.2f}", percent(found, whole[name])]
        lines.append(cells)
    return data_page.table(["network of", "tiny, s", "to traced", "very short, s", "to traced"], lines)


def ranks_table(ranks, times, noisy):
    """What each rank spends in MPI. Ranks end together, and compute as traced: what is left of the whole time is in MPI."""
    lines = []
    for name in TRACES:
        for rank, (run, in_mpi) in enumerate(ranks[name]):
            cells = [f"{of - (run - in_mpi):.2f}" for of in (times[name], noisy[name])]
            lines.append([name, rank, f"{run:.3f}", f"{in_mpi:.2f}", *cells])
    return data_page.table(["trace", "rank", "traced, s", "in MPI, traced", "simulated", "with noise"], lines)


def noise_of(path, out):
    """The last run of a recording, for there is one folder in which the runs before have other lengths."""
    text = path.read_text(encoding="utf-8")
    out.write_text(text[text.rfind("# Benchmark Method"):], encoding="utf-8")
    return out


def text_of(arguments):
    folders = {name: arguments.folder / "MILC" / folder / folder for name, folder in TRACES.items()}
    ranks = {name: [traced(path) for path in sorted(folder.glob("input-*.txt"))] for name, folder in folders.items()}
    whole = {name: max(run for run, _ in of) for name, of in ranks.items()}
    networks = {(path.parts[-4], path.parts[-2]): path for path in sorted(arguments.folder.glob(NETWORKS))}
    times = {name: {date: simulated(arguments.idlewave, folder, ["--net", path]) for date, path in networks.items()}
             for name, folder in folders.items()}
    nearest = max(networks, key=lambda date: date[1])
    with tempfile.TemporaryDirectory() as scratch:
        noise = noise_of(networks[nearest].parent / "ng_osnoise.out", pathlib.Path(scratch) / "noise.txt")
        noisy = {name: simulated(arguments.idlewave, folder, ["--net", networks[nearest], "--noise", noise, "--trials", arguments.trials])
                 for name, folder in folders.items()}
    traced_s = ", ".join(f"{name} {whole[name]:.2f} s" for name in TRACES)
    return "\n\n".join([
        f"Traces of June 2022 on four nodes, one rank on each; the traced runs took: {traced_s}. All networks of Daint that there are, without noise:",
        networks_table(whole, times),
        f"On the network of {nearest[1][:10].replace('_', '-')}, the last before the traces; noise of the same day, mean of {arguments.trials} trials. Seconds:",
        ranks_table(ranks, {name: times[name][nearest] for name in TRACES}, noisy)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--idlewave", default="build/release/cli/idlewave")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--data", type=pathlib.Path, metavar="DIR")
    arguments = parser.parse_args()
    text = text_of(arguments)
    print(text)
    if arguments.data:
        data_page.write(arguments.data, "real-milc", TITLE, "real_milc.py", "validation/real-machines.md", text)


if __name__ == "__main__":
    main()
