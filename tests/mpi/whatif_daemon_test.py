"""A noisy daemon is recorded, blamed by name and stopped: does the job gain what `whatif` predicted?

SPDX-License-Identifier: BSD-3-Clause

Two processes take a CPU each for known times. What `bench` measures on two ranks with and without them is compared with
what `whatif` made of a recording taken meanwhile.
"""

import contextlib
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import net_support
import run_mpi

NAME = "noisyd"
BURST_US = (400, 1200)
GAP_US = (6000, 14000)
QUANTUM_MS = 1
SECONDS = 6
ROUNDS = 2
TIMEOUT_SECONDS = 120


@contextlib.contextmanager
def daemons(bursts, folder):
    """One on each of the first two CPUs."""
    command = [str(10**6), *map(str, BURST_US), *map(str, GAP_US)]
    running = [subprocess.Popen([bursts, str(cpu), *command, str(cpu), NAME, str(folder / f"log{cpu}")])
               for cpu in (0, 1)]
    try:
        yield
    finally:
        for process in running:
            process.terminate()
            process.wait()


def idlewave(arguments, *options):
    done = subprocess.run([arguments.idlewave, *map(str, options)], capture_output=True, text=True,
                          timeout=TIMEOUT_SECONDS, check=False)
    assert done.returncode == 0, f"{options}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def record(arguments, path):
    idlewave(arguments, "record", "--cpus", "0,1", "--duration", f"{SECONDS}s", "-o", path)


def bench(arguments):
    """Time of a phase in units of the undisturbed work of its slowest rank, and its standard error."""
    line = [run_mpi.launcher(arguments.mpi), *net_support.BINDING[arguments.mpi], "-n", "2",
            str(arguments.idlewave), "bench", "barrier", "--compute", f"{QUANTUM_MS}ms", "--duration", f"{SECONDS}s",
            "--format", "json"]
    done = run_mpi.run(line, net_support.QUIET, timeout=TIMEOUT_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    work = max(rank["undisturbed_ns"] for rank in result["per_rank"])
    phase = result["quiet"]["phase_ns"]
    assert phase["low"] is not None, f"too few phases for an interval: {phase}"
    return phase["value"] / work, (phase["high"] - phase["low"]) / work / 3.92


def mean_of(values):
    """Of (value, standard error) pairs: weighted alike."""
    return (sum(value for value, _ in values) / len(values),
            math.sqrt(sum(error**2 for _, error in values)) / len(values))


def improvement(before, after):
    """Share of the time that is saved, with its 95 % interval."""
    value = 1 - after[0] / before[0]
    error = after[0] / before[0] * math.hypot(after[1] / after[0], before[1] / before[0])
    return value - 1.96 * error, value, value + 1.96 * error


def predict(arguments, recording):
    """What `whatif` says of the daemon, as improvement() does; it must be the source to blame."""
    answer = json.loads(idlewave(
        arguments, "whatif", "--noise", recording, "--ranks-per-node", "2", "--pattern", "barrier", "--ranks", "2",
        "--compute", f"{QUANTUM_MS}ms", "--repeat", "500", "--net", "chic", "--L", "500ns", "--o", "200ns", "--g", "200ns",
        "--format", "json"))
    best = next(change for change in answer["changes"] if change["kind"] == "source")
    assert best["name"] == f"thread/{NAME}", [change["name"] for change in answer["changes"]]
    assert best["remedy"]["name"], best
    now = 1 + answer["now"]["value"]
    return [best["saving"][key] / now for key in ("low", "value", "high")]


def attempt(arguments, folder):
    net_support.wait_until_quiet(most_seconds=15)
    before, after = [], []
    noisy, quiet = folder / "noisy.h5", folder / "quiet.h5"
    for turn in range(ROUNDS):
        with daemons(arguments.programs.parents[2] / "system" / "iw_bursts", folder):
            if turn == 0:
                record(arguments, noisy)
            before.append(bench(arguments))
        after.append(bench(arguments))
    record(arguments, quiet)
    assert NAME in idlewave(arguments, "noise", "show", noisy) and NAME not in idlewave(arguments, "noise", "show", quiet)
    measured, predicted = improvement(mean_of(before), mean_of(after)), predict(arguments, noisy)
    text = (f"predicted {predicted[1]:.4f} ({predicted[0]:.4f} to {predicted[2]:.4f}), "
            f"measured {measured[1]:.4f} ({measured[0]:.4f} to {measured[2]:.4f})")
    print(text)
    assert predicted[1] > 0.05, f"the daemon takes above 7 % of each CPU: {text}"
    assert predicted[0] <= measured[2] and measured[0] <= predicted[2], text


def require_rights():
    if net_support.cores() < 2:
        run_mpi.skip("a daemon's cost", "not tried: two ranks need two cores")
    if not net_support.may_use_fifo():
        run_mpi.skip("a daemon's cost", "not tried: this user has no right to SCHED_FIFO, by which the daemon goes first")


def main():
    arguments = run_mpi.test_arguments(__doc__)
    require_rights()
    with tempfile.TemporaryDirectory() as folder:
        net_support.attempts(3, lambda: attempt(arguments, pathlib.Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
