#!/usr/bin/env python3
"""`idlewave check` on this machine: a busy node is watched, and a node keeps the profile that was learned from it.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import json
import os
import resource
import subprocess
import sys

import support

GOOD, NOISY, BUSY = 0, 4, 5


def check(command, folder, *options):
    """Exit code, result, and CPU seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([command, "check", "--no-config", "--json", folder / "check.json", *options], text=True,
                          capture_output=True, timeout=120, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in (GOOD, NOISY, BUSY), f"exit code {done.returncode}: {done.stderr}{done.stdout}"
    result = json.loads((folder / "check.json").read_text())
    return done.returncode, result, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextlib.contextmanager
def program():
    """A program of a user that wants a CPU all the time."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def busy_node_is_watched(command, _bursts, folder):
    if os.geteuid() != 0:
        raise support.Skip("watching needs root")
    with program():
        code, result, cpu_s = check(command, folder, "--within", "8s")
    assert code == BUSY, result["line"]
    assert result["is_watched"] and not result["jobs"] and not result["requirements"], result
    assert "to noise" in result["line"], result["line"]
    assert result["noise"]["watched_ns"] > 0
    # a probe would have taken 3 s on each CPU
    assert cpu_s < 1.0, f"it took {cpu_s:.2f} s of CPU time from the programs"
    print(f"  {result['line']}; {cpu_s:.2f} s of CPU time")


def without_rights_nothing_is_measured(command, _bursts, folder):
    if os.geteuid() != 0:
        raise support.Skip("root is needed to become another user")
    with program():
        done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", command, "check", "--no-config",
                               "--within", "5s"], text=True, capture_output=True, timeout=60, check=False, cwd=folder)
    assert done.returncode == BUSY, done.stderr + done.stdout
    assert "cannot be measured" in done.stderr and "Noise not measured" in done.stdout, done.stderr + done.stdout


# whatever this machine's noise is, it counts as good
LENIENT = ("--limit", "100%", "--slowdown-limit", "100000%")


def node_keeps_the_profile_that_was_learned_from_it(command, _bursts, folder):
    """Recorded where nothing else runs; else with a program that is watched. What jobs cost cannot be known from 4 s: without them."""

    def attempt():
        profile = folder / "profile.json"
        options = ("--within", "12s", "--duration", "4s", "--jobs", "none")
        with contextlib.ExitStack() as stack:
            code, result, _ = check(command, folder, *options, *LENIENT, "--learn", profile)
            if code == BUSY:
                stack.enter_context(program())
                options += ("--watch",)
                code, result, _ = check(command, folder, *options, *LENIENT, "--learn", profile)
            print(f"  learned: {result['line']}")
            code, result, _ = check(command, folder, *options, "--require", profile)
        print(f"  required: {result['line']}")
        assert code == GOOD, result["line"]
        assert {r["state"] for r in result["requirements"]} == {"met"}, result["requirements"]

    support.attempts(3, attempt)


if __name__ == "__main__":
    sys.exit(support.run_checks(__doc__, [busy_node_is_watched, without_rights_nothing_is_measured,
                                          node_keeps_the_profile_that_was_learned_from_it]))
