"""Clock synchronisation: offsets and drifts that are known are found within the bound that it states.

SPDX-License-Identifier: BSD-3-Clause
"""

import sys

import run_mpi


def check(arguments, ranks, mode, window_ms):
    done = run_mpi.launch(arguments.mpi, ranks, [arguments.programs / "clock_check", mode, window_ms])
    assert done.returncode == 0, f"clock_check ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    rows = [row.split() for row in done.stdout.splitlines()]
    assert len(rows) == 3 * ranks, done.stdout
    for row in rows:
        assert abs(float(row[2])) <= float(row[3]), f"off by {row[2]} ns, bound {row[3]} ns: {done.stdout}"
        assert float(row[4]) <= float(row[5]) + 1e-8, f"drift off by {row[4]}, bound {row[5]}: {done.stdout}"
    assert all(float(row[3]) == 0 for row in rows if row[1] == "0"), "rank 0 is the reference"
    if mode == "host":
        assert all(float(row[3]) == 0 for row in rows), f"a shared clock was measured: {done.stdout}"
    else:
        assert all(row[6] == "1" for row in rows if row[1] != "0"), f"offsets of seconds were not found: {done.stdout}"
    return rows


def main():
    arguments = run_mpi.test_arguments(__doc__)
    for ranks in (1, 2, 3, 4, 5):
        check(arguments, ranks, "host", "0")
    for ranks in (2, 3, 5):
        check(arguments, ranks, "skewed", "0")
    check(arguments, 4, "skewed", "60")
    return 0


if __name__ == "__main__":
    sys.exit(main())
