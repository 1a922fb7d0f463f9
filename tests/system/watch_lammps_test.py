#!/usr/bin/env python3
"""LAMMPS beside a daemon that takes its CPUs: what `whatif` predicts from the watched run, against the run without it.

SPDX-License-Identifier: BSD-3-Clause

Usage: watch_lammps_test.py --idlewave PATH --bursts PATH
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

from support import Skip, run_checks

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from watch_programs import LAMMPS_MELT, LAUNCH  # noqa: E402
from watcher import changes  # noqa: E402

RUNS = 10
LEAST_INSIDE = 9
STEPS = 800
# The clock of a host that others use too changes by the second, and a run with and one without the daemon differ from the
# next two by 10 % and more. So one run of LAMMPS stops the daemon and lets it go on for many short blocks of steps.
BLOCKS = 150  # with the daemon, and as many without
BLOCK_STEPS = 100
LEAST_STEADY = 20
STEADY = f"{LAMMPS_MELT}run {STEPS}\n"
# the daemon's pauses are over when it goes on: it takes all CPUs at once, which the sleep passes over
ALTERNATING = f"""{LAMMPS_MELT}shell kill -STOP ${{daemon}}
run {BLOCK_STEPS} post no
variable block loop {BLOCKS}
label again
shell kill -CONT ${{daemon}}
shell sleep 0.1
run {BLOCK_STEPS} post no
shell kill -STOP ${{daemon}}
run {BLOCK_STEPS} post no
next block
jump SELF again
"""
DAEMON = "iw-daemon"


def lammps(folder, script, prefix=(), options=(), watcher=None):
    """Seconds of its loops. With a watcher: launched when that sees all."""
    (folder / "in.lj").write_text(script)
    command = ["sh", "-c", 'read go && exec "$@"', "sh", *LAUNCH, *prefix, "lmp", "-in", "in.lj", *options]
    with subprocess.Popen([*map(str, command)], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as run:
        watching = watcher(run.pid) if watcher else None
        text, errors = run.communicate("go\n")
    assert run.returncode == 0, f"LAMMPS exits {run.returncode}: {text}{errors}"
    if watching:
        text_of_watch, errors = watching.communicate()
        assert watching.returncode == 0, f"watch exits {watching.returncode}: {errors}{text_of_watch}"
    return [float(seconds) for seconds in re.findall(r"Loop time of ([\d.]+)", text)]


@contextlib.contextmanager
def daemon(bursts, folder, seed):
    """Takes each CPU for 1 to 5 ms after pauses of 10 to 30 ms. Its processes."""
    running = [subprocess.Popen([*map(str, (bursts, cpu, 1000000, 1000, 5000, 10000, 30000, seed + cpu, DAEMON, folder / f"daemon{cpu}.log"))],
                                stderr=subprocess.PIPE, text=True) for cpu in sorted(os.sched_getaffinity(0))]
    try:
        time.sleep(0.3)
        yield [str(process.pid) for process in running]
    finally:
        for process in running:
            process.terminate()
            process.send_signal(signal.SIGCONT)
            _, errors = process.communicate()
            if "no real-time priority" in errors:
                raise Skip("the daemon needs real-time priority")


def watch(idlewave, folder):
    file = folder / "watched.h5"

    def start(pid):
        file.unlink(missing_ok=True)
        watching = subprocess.Popen([idlewave, "watch", "--no-config", "--pid", str(pid), "-o", file], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True)
        while watching.poll() is None and not file.exists():
            time.sleep(0.02)
        if watching.poll() is not None:
            errors = watching.communicate()[1]
            if any(words in errors for words in ("watching needs", "cannot watch", "the kernel refuses")):
                raise Skip(errors.strip().splitlines()[-1])
            raise AssertionError(errors)
        return watching

    return start


def predict(idlewave, folder):
    """What `whatif` says of the watched run: times are multiples of that without any noise. (as it was, without the daemon, saving)."""
    done = subprocess.run([idlewave, "whatif", "--no-config", "trace", "--net", "node.yaml", "--noise", "watched.h5", "--trials", "40", "--format", "json"], cwd=folder,
                          capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2, 3), done.stderr
    # a lower bound has no upper end
    told = json.loads(done.stdout, object_hook=lambda values: values | {"high": float("inf")} if values.get("high", 0) is None else values)
    change = next(change for change in told["changes"] if change["name"] == f"thread/{DAEMON}")
    return told["noiseless_ns"] * 1e-9, told["now"], change["slowdown"], change["saving"]


def slowdowns(bursts, folder, seed):
    """How much longer each block with the daemon is than the two without before and after it, if the host left these alike."""
    with daemon(bursts, folder, seed) as processes:
        seconds = lammps(folder, ALTERNATING, options=("-var", "daemon", " ".join(processes)))
    return [percent / 100 for percent in changes(seconds)]


def interquartile(values):
    quartiles = statistics.quantiles(values, n=4)
    return quartiles[2] - quartiles[0]


def one_saving(idlewave, bursts, folder, number):
    """Whether the measured saving is inside what was predicted from one watched run, and what was predicted of that run over what it took."""
    with daemon(bursts, folder, 1000 * number + 1):
        watched, = lammps(folder, STEADY, watcher=watch(idlewave, folder))
    ratios = slowdowns(bursts, folder, 1000 * number + 501)
    noiseless, now, left, saving = predict(idlewave, folder)
    least, likely, most = (saving[key] / (1 + left["value"]) for key in ("low", "value", "high"))
    assert len(ratios) >= LEAST_STEADY, f"the host changed its speed in all but {len(ratios)} of {BLOCKS} blocks"
    measured, error = statistics.median(ratios), 0.93 * interquartile(ratios) / len(ratios) ** 0.5
    is_inside = least <= measured <= most
    print(f"with the daemon {measured:+.1%} (standard error {error:.1%}, {len(ratios)} blocks); predicted {likely:+.1%} ({least:+.1%} to {most:+.1%})"
          f"{'' if is_inside else ', OUTSIDE'}. With all that was met the watched run should take {noiseless * (1 + now['value']):.3f} s "
          f"({noiseless * (1 + now['low']):.3f} to {noiseless * (1 + now['high']):.3f}), it took {watched:.3f} s", flush=True)
    return is_inside, noiseless * (1 + now["value"]) / watched


def whatif_predicts_what_stopping_the_daemon_saves(idlewave, bursts, folder):
    for program in ("lmp", "mpirun"):
        if shutil.which(program) is None:
            raise Skip(f"{program} is not there")
    # messages inside of this node: the default network, one between nodes, makes the run a fifth longer
    subprocess.run([*map(str, (*LAUNCH, idlewave, "net", "--no-config", "--duration", "2s", "-o", "node.yaml"))], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lammps(folder, STEADY, [idlewave, "trace", "-q", "-o", "trace", "--"])
    savings = [one_saving(idlewave, bursts, folder, number) for number in range(RUNS)]
    inside, whole = sum(saving[0] for saving in savings), sorted(saving[1] for saving in savings)
    print(f"{inside} of {RUNS} inside; the watched run is predicted {whole[0]:.2f} to {whole[-1]:.2f} times what it takes, "
          f"{statistics.median(whole):.2f} in the middle")
    assert inside >= LEAST_INSIDE, f"only {inside} of {RUNS} savings are inside the interval"


if __name__ == "__main__":
    sys.exit(run_checks(__doc__, [whatif_predicts_what_stopping_the_daemon_saves]))
