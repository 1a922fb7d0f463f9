"""Real programs of Debian: counted, traced and simulated, for the tests of this folder.

SPDX-License-Identifier: BSD-3-Clause

Usage of a test: NAME_test.py --idlewave COMMAND --counter LIBRARY (count_calls.c). 77 if its program is not installed.
IW_APPS_ROOT: a folder that packages were unpacked into (dpkg -x), looked into before the system's.
Debian builds all of them with Open MPI only.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import run_mpi

MPI = "openmpi"
POLLS = {"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status"}
SENDS = {"MPI_SEND", "MPI_ISEND"}
RECEIVES = {"MPI_RECV", "MPI_IRECV"}
ROOT = pathlib.Path(os.environ.get("IW_APPS_ROOT") or "/")
LIBRARIES = ROOT / "usr/lib/x86_64-linux-gnu"


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--idlewave", required=True, type=pathlib.Path)
    parser.add_argument("--counter", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[])
    found = parser.parse_args()
    run_mpi.require(MPI)
    need("otf2-print", "otf2-tools")
    return found


def need(path, package):
    """The full path of a command, or of a file; the test is skipped if it is missing."""
    if path.startswith("/"):
        found = next((place for place in (ROOT / path[1:], pathlib.Path(path)) if place.exists()), None)
    else:
        found = shutil.which(path, path=f"{ROOT / 'usr/bin'}:{os.environ['PATH']}")
    if found is None:
        run_mpi.skip(f"tests of {package}", f"there is no {path}; on Debian: apt-get install {package}")
    return pathlib.Path(found)


class Traced:
    """What a trace holds, by otf2-print: for each rank calls by name, failed polls, messages by kind of event."""

    def __init__(self, folder, ranks):
        self.calls, self.failed_polls, self.events = [], [], collections.Counter()
        for rank in range(ranks):
            calls, polls = collections.Counter(), 0
            line = ["otf2-print", "-L", str(rank), str(folder / "traces.otf2")]
            for text in subprocess.run(line, check=True, capture_output=True, text=True).stdout.splitlines():
                word = text.split(None, 1)[0] if text[:1].isupper() else ""
                if word == "ENTER":
                    calls[re.search(r'Region: "([^"]+)"', text).group(1)] += 1
                elif "idlewave.polls" in text:
                    polls += int(re.search(r'"idlewave\.polls" <\d+>; \w+; (\d+)', text).group(1))
                self.events[word] += 1
            self.calls.append(calls)
            self.failed_polls.append(polls)

    def count(self, kinds):
        return sum(self.events[kind] for kind in kinds)


def read_counts(folder, ranks):
    """What count_calls.c wrote: for each rank {name: calls}."""
    found = []
    for rank in range(ranks):
        pairs = (line.split() for line in (folder / str(rank)).read_text().splitlines())
        found.append({name: int(number) for name, number in pairs})
    return found


def without_polls(calls):
    return {name: number for name, number in calls.items() if name not in POLLS}


def polls(calls):
    return sum(number for name, number in calls.items() if name in POLLS)


class Case(unittest.TestCase):
    """A program: COMMAND, RANKS, and prepare(), which puts its input into self.folder."""

    RANKS = 4
    TIMEOUT_SECONDS = 400  # whose ranks spin while they wait: beside others that takes very long

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iw_apps_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.trace = self.folder / "trace"
        self.counts = self.folder / "counts"
        self.counts.mkdir()
        self.prepare()

    def prepare(self):
        pass

    def launch(self, command):
        paths = [str(LIBRARIES)] if ROOT != pathlib.Path("/") else []
        paths += filter(None, [os.environ.get("LD_LIBRARY_PATH")])
        env = {"LD_LIBRARY_PATH": ":".join(paths), "COUNT_CALLS_DIR": str(self.counts), "OMP_NUM_THREADS": "1"}
        done = run_mpi.launch(MPI, self.RANKS, command, env=env, cwd=self.folder, timeout=self.TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return done

    def run_counted(self, command):
        """Without the tracer."""
        self.launch(["env", f"LD_PRELOAD={ARGUMENTS.counter}", *command])
        return read_counts(self.counts, self.RANKS)

    def run_traced(self, command):
        done = self.launch([ARGUMENTS.idlewave, "trace", "-o", self.trace, "--", *command])
        traced = Traced(self.trace, self.RANKS)
        calls = sum(sum(rank.values()) for rank in traced.calls)
        said = [line for line in done.stderr.splitlines() if line.startswith("idlewave:")]  # warnings too
        self.assertEqual(said, [f"idlewave: {self.RANKS} ranks and {calls} calls traced in '{self.trace}'"])
        return traced

    def run_traced_and_counted(self, command):
        """In one run, the counter before the tracer: for programs whose calls depend on time."""
        both = 'LD_PRELOAD="$0:$LD_PRELOAD" exec "$@"'
        traced = self.run_traced(["sh", "-c", both, ARGUMENTS.counter, *command])
        return traced, read_counts(self.counts, self.RANKS)

    def assert_all_calls_are_traced(self, traced, counted):
        for rank in range(self.RANKS):
            self.assertEqual(without_polls(traced.calls[rank]), without_polls(counted[rank]), f"rank {rank}")

    def assert_all_polls_are_traced(self, traced, counted):
        """Those that found nothing are counted in the trace, all others are calls of it."""
        for rank in range(self.RANKS):
            self.assertEqual(polls(traced.calls[rank]) + traced.failed_polls[rank], polls(counted[rank]), f"rank {rank}")

    def simulate(self, *options):
        """Ends well and has nothing to warn of; returns the number of messages."""
        line = [ARGUMENTS.idlewave, "simulate", self.trace, "--net", "altix", "--format", "json", *options]
        done = subprocess.run(line, capture_output=True, text=True, check=False, env=run_mpi.environment())
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        result = json.loads(done.stdout)
        self.assertEqual(result["ranks"], self.RANKS)
        return result["messages"]

    def assert_simulates(self, traced):
        """Every message that the program sent arrives, in the trace and in the simulation."""
        sent = traced.count(SENDS)
        self.assertEqual(traced.count(RECEIVES), sent)
        self.assertEqual(self.simulate("--no-collectives"), sent)
        all_messages = self.simulate()
        self.assertGreater(all_messages, sent)  # those of collectives
        calls = sum(sum(rank.values()) for rank in traced.calls)
        print(f"{calls} calls and {sum(traced.failed_polls)} failed polls traced; simulated: {sent} messages of the program, "
              f"{all_messages - sent} of its collectives")


ARGUMENTS = arguments()


def main():
    run_mpi.run_tests(ARGUMENTS)
