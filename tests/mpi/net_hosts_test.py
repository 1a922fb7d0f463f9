"""Clock synchronisation across two "hosts": network namespaces of this machine.

SPDX-License-Identifier: BSD-3-Clause
"""

import sys

import net_support
import run_mpi

PROGRAM_ROWS = 12  # of clock_check on 4 ranks


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
    with net_support.hosts() as hosts:
        check_clocks(arguments, hosts, "host", "100")
        check_clocks(arguments, hosts, "skewed", "100")
    return 0


if __name__ == "__main__":
    sys.exit(main())
