"""`idlewave net` and clock synchronisation across two "hosts": network namespaces of this machine.

SPDX-License-Identifier: BSD-3-Clause
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import net_support
import run_mpi

PROGRAM_ROWS = 12  # of clock_check on 4 ranks


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
    assert node["hosts"][0] == node["hosts"][1] and network["hosts"][0] != network["hosts"][1], (node, network)
    inside, between = (level["half_round_trip"]["median_ns"] for level in (node, network))
    assert between > 1.5 * inside, f"half a round trip: {inside} ns inside of a host, {between} ns between hosts"
    assert result["links_looked_at"] == 6, result["links_looked_at"]
    times = [predicted(arguments.idlewave, yaml, options) for options in ([], ["--net-level", "network"],
                                                                         ["--net-level", "node"])]
    assert times[0] == times[1] > times[2], times
    print(f"inside {inside:.0f} ns, between {between:.0f} ns")


def predicted(idlewave, yaml, options):
    done = subprocess.run([idlewave, "simulate", "--pattern", "pingpong", "--ranks", "2", "--net", yaml, "--format", "json",
                           *options], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["makespan_ns"]["median"]


def check_clocks(arguments, hosts, mode, window_ms):
    """All hosts have the same true clock here, so the errors are known."""
    line = hosts.line(arguments.mpi, 2, [arguments.programs / "clock_check", mode, window_ms])
    code, out, err = net_support.run_until(line, net_support.HOSTS_ENVIRONMENT[arguments.mpi], lambda text: net_support.has_rows(text, PROGRAM_ROWS), 60)
    assert code == 0, f"clock_check ended with {code}:\n{out}\n{err}"
    rows = [row.split() for row in out.splitlines()]
    assert len(rows) == PROGRAM_ROWS, out
    for row in rows:
        assert abs(float(row[2])) <= float(row[3]), f"{mode}: off by {row[2]} ns, bound {row[3]} ns: {out}"
    measured = {int(row[1]) for row in rows if float(row[3]) > 0}
    expected = {1, 2, 3} if mode == "skewed" else {2, 3}  # rank 1 shares the clock of its host with rank 0
    assert measured == expected, f"{mode}: clocks that were measured: {measured}\n{out}"
    print(f"clocks, {mode}, {window_ms} ms: bounds {sorted({row[3] for row in rows})}")


def main():
    arguments = run_mpi.test_arguments(__doc__)
    if not net_support.can_have_hosts():
        print("skipped: network namespaces need root and iproute2")
        return run_mpi.SKIPPED
    with net_support.Hosts() as hosts, tempfile.TemporaryDirectory(prefix="iw_net_") as folder:
        check_clocks(arguments, hosts, "host", "100")
        check_clocks(arguments, hosts, "skewed", "100")
        net_support.attempts(3, lambda: check_levels(arguments, hosts, pathlib.Path(folder)))
    left = [name for name in net_support.namespaces() if name in hosts.names]
    assert not left, f"left behind: {left}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
