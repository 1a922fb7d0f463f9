"""`idlewave net` across two "hosts", network namespaces of this machine: it tells the network from what is inside a host.

SPDX-License-Identifier: BSD-3-Clause
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import net_support
import run_mpi


def check_levels(arguments, hosts, folder):
    """Between hosts messages are slower than inside one, and simulate takes either level."""
    yaml = folder / "hosts.yaml"
    line = hosts.line(arguments.mpi, 2, [arguments.idlewave, "net", "-o", yaml, "--duration", "4s", "--max-size", "256KiB",
                                         "--format", "json"])
    code, out, err = net_support.run_until(line, net_support.HOSTS_ENVIRONMENT[arguments.mpi], net_support.is_json, 100)
    assert code == 0, f"net ended with {code}:\n{out}\n{err}"
    result = json.loads(out)
    assert result["hosts"] == 2 and result["ranks"] == 4, result
    assert [level["name"] for level in result["levels"]] == ["node", "network"], result["levels"]
    node, network = result["levels"]
    here, there = ({result["host_names"][rank] for rank in level["ranks"]} for level in (node, network))
    assert len(here) == 1 and len(there) == 2, (here, there)
    inside, between = (level["half_round_trip_ns"]["value"] for level in (node, network))
    assert between > 1.5 * inside, f"half a round trip: {inside} ns inside of a host, {between} ns between hosts"
    assert result["links_looked_at"] == 6, result["links_looked_at"]
    times = [predicted(arguments.idlewave, yaml, options) for options in ([], ["--net-level", "network"],
                                                                         ["--net-level", "node"])]
    assert times[1] > times[2] == times[0], times  # two ranks are on one host
    print(f"inside {inside:.0f} ns, between {between:.0f} ns")


def predicted(idlewave, yaml, options):
    done = subprocess.run([idlewave, "simulate", "--pattern", "pingpong", "--ranks", "2", "--net", yaml, "--format", "json",
                           *options], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["makespan_ns"]["median"]


def main():
    arguments = run_mpi.test_arguments(__doc__)
    with net_support.hosts() as hosts, tempfile.TemporaryDirectory(prefix="iw_net_") as folder:
        net_support.attempts(3, lambda: check_levels(arguments, hosts, pathlib.Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
