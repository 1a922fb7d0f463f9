#!/usr/bin/env python3
"""simulate over TCP between two "hosts" (network namespaces): the bytes of one process alone; the times of both are printed.

SPDX-License-Identifier: BSD-3-Clause
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

import net_support
import run_mpi
from simulate_matrix import TRACE

NOISE = ["--noise", "periodic:1kHz,20us", "--net", "chic", "--seed", "3"]
CASES = {  # the second has few, large exchanges in each round; the others many small ones
    "extrapolated trace": [TRACE, "--ranks", "512", "--trials", "3"],
    "dissemination of 2^18 ranks": ["--pattern", "barrier:dissemination", "--ranks", "256Ki"],
    "halo and allreduce": ["--pattern", "halo2d+allreduce", "--ranks", "4096", "--bytes", "100KiB", "--repeat", "20",
                           "--compute", "1ms"],
}


def read(text, ends):
    result = json.loads(text)
    return result, hashlib.sha256(ends.read_bytes()).hexdigest()


def compare(arguments, hosts, folder, name):
    ends = folder / "ends.csv"
    command = [arguments.idlewave.resolve(), "simulate", *CASES[name], *NOISE, "--format", "json", "--end-times", ends,
               "--threads", "1"]
    alone, expected = read(subprocess.run(command, check=True, capture_output=True, text=True).stdout, ends)
    ends.unlink()
    code, out, err = net_support.run_until(hosts.line(arguments.mpi, 1, [*command, "--parallel", "ranks"]),
                                           net_support.HOSTS_ENVIRONMENT[arguments.mpi], net_support.is_json, 100)
    assert code == 0, f"{name}: ended with {code}:\n{out}\n{err}"
    together, ends_together = read(out, ends)
    assert (together["processes"], together["parallel"]) == (2, "ranks"), together
    assert together["makespan_ns"] == alone["makespan_ns"], (together["makespan_ns"], alone["makespan_ns"])
    assert ends_together == expected, f"{name}: ranks end at other times"
    print(f"{name}: alone {alone['engine_seconds']:.3f} s, two over TCP {together['engine_seconds']:.3f} s", flush=True)


def check_nodes(arguments, hosts):
    """All members talk to all, inside a host and between them."""
    link_run = arguments.idlewave.resolve().parent / "iw_link_run"
    code, out, err = net_support.run_until(hosts.line(arguments.mpi, 2, [link_run, arguments.mpi, 1, "fine"]),
                                           net_support.HOSTS_ENVIRONMENT[arguments.mpi],
                                           lambda text: net_support.has_rows(text, 1), 60)
    assert (code, out) == (0, "6 members of 4 processes on 2 nodes\n"), f"{code}\n{out}\n{err}"


def main():
    arguments = run_mpi.test_arguments(__doc__)
    with net_support.hosts() as hosts, tempfile.TemporaryDirectory(prefix="iw_hosts_out_") as folder:
        check_nodes(arguments, hosts)
        for name in CASES:
            compare(arguments, hosts, pathlib.Path(folder), name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
