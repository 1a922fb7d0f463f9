#!/usr/bin/env python3
"""A fleet of noise files with bad nodes of five kinds among them: all are found, none is invented, in bounds of
time and memory; damaged files do not stop it; simulations take the folder.

SPDX-License-Identifier: BSD-3-Clause

Usage: fleet_test.py --idlewave PATH --maker PATH --nodes N --seconds S [--most-seconds S] [--most-mib M]
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

BAD = 5


def run(command, folder):
    """Exit code, stdout, stderr, seconds, MiB of the command."""
    start = time.monotonic()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        out, err = process.communicate()
    peak_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # of the largest child so far
    return process.returncode, out, err, time.monotonic() - start, peak_mib


def check(condition, text):
    if not condition:
        print(f"FAILED: {text}")
        sys.exit(1)


def make(options, folder, bad):
    code, out, err, _, _ = run([options.maker, folder, str(options.nodes), str(bad), str(options.seconds)], ".")
    check(code == 0, err)
    return [line.split(" ", 1) for line in out.splitlines()]


def judge(options, folder, name="fleet"):
    code, out, err, seconds, peak_mib = run([options.idlewave, "fleet", name, "--format", "json"], folder)
    check(code in (0, 2), f"exit code {code}: {err}")
    return code, json.loads(out), seconds, peak_mib


def check_found(made, result):
    found = {finding["node"]: finding for finding in result["findings"]}
    check(sorted(found) == sorted(node for node, _ in made), f"made {made}, found {sorted(found)}")
    check(result["nodes_outstanding"] == BAD, "as many nodes as were made bad")
    for node, what in made:
        finding = found[node]
        source = f"{finding['source']['class']}/{finding['source']['name']}"
        check(what.startswith(source), f"{node} was made with {what}, found {source}")
        check(("CPU 1" in what) == (finding["cpu"] == 1), f"{node}: {what}, found on CPU {finding['cpu']}")
        print(f"{node}: {source}: {finding['metric']} {finding['value']:g}, median {finding['median']:g}")


def check_damage(options, folder):
    """Cut off, empty and foreign files are counted, and the rest is judged."""
    fleet = pathlib.Path(folder, "fleet")
    whole = fleet.joinpath("n0001.h5").read_bytes()
    fleet.joinpath("n0001.h5").write_bytes(whole[: len(whole) // 2])
    fleet.joinpath("n0002.h5").write_bytes(b"")
    fleet.joinpath("notes.txt").write_text("by hand\n", encoding="ascii")
    code, result, _, _ = judge(options, folder)
    check(code == 2 and result["nodes_outstanding"] == BAD, "damaged files change the verdict")
    check([file["name"] for file in result["unreadable"]] == ["n0001", "n0002"], result["unreadable"])
    check(len(result["nodes"]) == options.nodes - 2, "all others are read")


def check_simulation(options, folder):
    code, out, err, _, _ = run([options.idlewave, "simulate", "--pattern", "allreduce", "--ranks", "256", "--compute",
                                "1ms", "--repeat", "20", "--ranks-per-node", "2", "--noise", "clean", "--format", "json"],
                               folder)
    check(code == 0, err)
    check(json.loads(out)["slowdown"]["median"] > 0, "noise of a folder slows down")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--idlewave", required=True)
    parser.add_argument("--maker", required=True)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--most-seconds", type=float, default=60.0)
    parser.add_argument("--most-mib", type=float, default=2048.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="iw_fleet_") as folder:
        made = make(options, os.path.join(folder, "fleet"), BAD)
        code, result, seconds, peak_mib = judge(options, folder)
        check(code == 2, "bad nodes are a negative verdict")
        check_found(made, result)
        print(f"{options.nodes} files in {seconds:.2f} s, {peak_mib:.0f} MiB at most")
        check(seconds < options.most_seconds, f"it takes less than {options.most_seconds} s")
        check(peak_mib < options.most_mib, f"it takes less than {options.most_mib} MiB")
        make(options, os.path.join(folder, "clean"), 0)
        code, result, _, _ = judge(options, folder, "clean")
        check(code == 0 and result["findings"] == [], f"invented: {result['findings']}")
        if options.nodes <= 200:
            check_damage(options, folder)
            check_simulation(options, folder)


if __name__ == "__main__":
    main()
