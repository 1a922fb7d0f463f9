#!/usr/bin/env python3
"""Predictions for a made machine are registered before its runs are opened, hold what was made, and cannot be changed afterwards.

SPDX-License-Identifier: BSD-3-Clause

Usage: real_machines_test.py IDLEWAVE
"""

import contextlib
import io
import itertools
import json
import pathlib
import random
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
import real_inputs as inputs  # noqa: E402
import real_machines as tool  # noqa: E402
import real_model as model  # noqa: E402
import real_pages as pages  # noqa: E402

IDLEWAVE = pathlib.Path("idlewave")
HALF_TRIP, OVERHEAD, DETOUR, RATE = 2.0, 0.5, 20.0, 0.001  # us, and detours in a us
RUNS, NODES = 1500, (4, 8, 16)
SESSION, RECORDING = "deep-est/2022_05_06_16_58_14", "deep-est/2022_05_05_17_00_11"


def busy(draw, start, work, until):
    """When work ends that detours interrupt; `until` is the end of the last detour that this rank has met."""
    start, end = max(start, until[0]), max(start, until[0]) + work
    if draw.random() < RATE * work:
        end += DETOUR
        until[0] = end
    return end


def barrier(draw, nodes):
    """A dissemination barrier, made without idlewave: the time of each rank."""
    ready, until = [0.0] * nodes, [[DETOUR * draw.random() if draw.random() < RATE * DETOUR else 0.0] for _ in range(nodes)]
    for step in (2**r for r in range((nodes - 1).bit_length())):
        sent = [busy(draw, ready[rank], OVERHEAD, until[rank]) for rank in range(nodes)]
        arrived = [max(sent[rank], sent[(rank - step) % nodes] + HALF_TRIP - 2 * OVERHEAD) for rank in range(nodes)]
        ready = [busy(draw, arrived[rank], OVERHEAD, until[rank]) for rank in range(nodes)]
    return ready


def recording(draw):
    lines, now = ["# Benchmark Method: selfish", "# Time [ns]\tselfish duration [ns]"], 0.0
    for _ in range(4000):
        lines.append(f"{now * 1000:.2f}\t{DETOUR * 1000:.2f}")
        now += DETOUR + draw.expovariate(RATE)
    return "\n".join(lines) + "\n"


def network():
    lines = ["# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)"]
    for size in range(1, 131072, 4096):
        trip = 2 * HALF_TRIP + 2e-4 * (size - 1)
        lines.append(f"{size} 10 {trip:.6f} {trip + 9 * OVERHEAD + 9e-4 * size:.6f} {10 * trip + 9 * OVERHEAD:.6f} {HALF_TRIP:.6f} {OVERHEAD} {OVERHEAD} 0 0 0")
    return "\n".join(lines) + "\n"


def trips(draw, size, half):
    return "#size\trtt\n" + "".join(f"{size}\t{half + draw.expovariate(20):.6f}\n" for _ in range(1000))


def make(root):
    draw = random.Random(5)
    for session in SESSION, RECORDING:
        (root / session / session.split("/")[1]).mkdir(parents=True)
    recorded, session = (root / name / name.split("/")[1] for name in (RECORDING, SESSION))
    (recorded / "ng_osnoise.out").write_text(recording(draw))
    (recorded / "ng_loggp.out").write_text(network())
    (recorded / "ng_netnoise_mpi_lat.out").write_text(trips(draw, 1, HALF_TRIP))
    (recorded / "ng_netnoise_mpi_bw.out").write_text(trips(draw, 16777216, 1700.0))
    for nodes in NODES:
        runs = (" ".join(f"{time:.6f}" for time in barrier(draw, nodes)) for _ in range(RUNS))
        (session / f"nwaydissemination_nocompute_{nodes}_32.csv").write_text("#MessageSize\n" + "".join(f"32 {run} \n" for run in runs))
    (session / "nwaydissemination_nocompute_test_8_32.csv").write_text("#MessageSize\n")
    (session / "pipelinedring_4_16.csv").write_text("#MessageSize\n16 1 1 1 1\n")
    (session / "pipelinedring_32_16.csv").write_text("#MessageSize\n")


class RealMachines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="idlewave-real-test-")
        cls.root = pathlib.Path(cls.scratch.name)
        make(cls.root / "data")
        cls.keep = cls.root / "keep"
        cls.keep.mkdir()
        cls.folder, cls.machines = inputs.Folder(cls.root / "data"), [inputs.MACHINES[0]]
        model.TRIALS, model.PING_TRIALS = 1000, 1000
        cls.read = []
        slowest = inputs.slowest

        def watched(path, nodes):
            cls.read.append((nodes, (cls.keep / "predictions.json").exists()))
            return slowest(path, nodes)

        inputs.slowest = watched
        cls.lab = model.Lab(IDLEWAVE, cls.keep)
        with contextlib.redirect_stderr(io.StringIO()):
            cls.text = tool.predictions(cls.folder, cls.lab, cls.machines)
        cls.seal = inputs.register(cls.keep / "predictions.json", cls.text)
        cls.rows = tool.compared(cls.folder, cls.lab, cls.seal, cls.machines)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_larger_runs_are_read_after_predictions_are_written(self):
        self.assertEqual(self.read, [(4, False), (4, True), (8, True), (16, True)])

    def test_what_larger_runs_hold_changes_no_prediction(self):
        other = self.root / "other"
        make(other)
        for path in other.glob("*/*/*/*_8_32.csv"):
            path.write_text("unreadable\n")
        with contextlib.redirect_stderr(io.StringIO()):
            text = tool.predictions(inputs.Folder(other), self.lab, self.machines)
        self.assertEqual(text, self.text)

    def test_intervals_hold_what_was_made(self):
        self.assertEqual([row["nodes"] for row in self.rows], [8, 16])
        for name in "system", "fitted":
            held = [pages.inside(row, name, quantity) for row, quantity in itertools.product(self.rows, pages.TIMES)]
            self.assertGreaterEqual(sum(held), 7, (name, [(row["measured"], row["models"][name]) for row in self.rows]))
        for row in self.rows:
            self.assertLess(pages.width(row, "system", "p50"), 1.6)

    def test_a_machine_that_is_otherwise_is_not_held(self):
        for row in self.rows:
            slower = dict(row, measured={name: 2 * value for name, value in row["measured"].items()})
            self.assertFalse(pages.inside(slower, "system", "p50"))

    def test_without_registered_predictions_larger_runs_are_sealed(self):
        series = self.folder.series(self.machines[0])[0]
        with self.assertRaisesRegex(inputs.Error, "sealed until"):
            inputs.Measured().times(series, 8)
        self.assertEqual(len(inputs.Measured().times(series, 4)), RUNS)

    def test_changed_predictions_are_noticed(self):
        path = self.root / "predictions.json"
        seal = inputs.register(path, self.text)
        self.assertTrue(inputs.opened(path).holds())
        path.write_text(self.text.replace('"p50"', '"p51"', 1))
        with self.assertRaisesRegex(inputs.Error, "SHA-256 differs"):
            inputs.opened(path)
        with self.assertRaisesRegex(inputs.Error, "sealed until"):
            inputs.Measured(seal).times(self.folder.series(self.machines[0])[0], 8)
        with self.assertRaisesRegex(inputs.Error, "written once"):
            inputs.register(path, self.text)

    def test_halves_of_round_trips_are_doubled_and_the_first_of_each_start_left_out(self):
        path = self.root / "trips.out"
        path.write_text(("#size\trtt\n" + "1\t9.0\n" * inputs.WARM_UP + "1\t1.5\n") * 2)
        self.assertEqual(inputs.round_trips(path), (1, [3.0, 3.0]))

    def test_archives_are_unpacked(self):
        packed, scratch = self.root / "packed", self.root / "scratch"
        for name in SESSION, RECORDING:
            path = packed / (name + ".tar.xz")
            path.parent.mkdir(parents=True, exist_ok=True)
            with tarfile.open(path, "w:xz") as archive:
                archive.add(self.root / "data" / name / name.split("/")[1], arcname=name.split("/")[1])
                archive.add(self.root / "data" / RECORDING / RECORDING.split("/")[1] / "ng_loggp.out", arcname="../../../outside")
        folder = inputs.Folder(inputs.unpacked(packed, scratch))
        self.assertEqual([s[2:] for s in folder.series(self.machines[0])], [s[2:] for s in self.folder.series(self.machines[0])])
        self.assertEqual(len(folder.recordings(self.machines[0])), 1)
        self.assertFalse((self.root / "outside").exists())
        path.write_bytes(path.read_bytes()[:200])
        with self.assertRaisesRegex(inputs.Error, RECORDING.split("/")[1]):
            inputs.unpacked(packed, scratch)

    def test_programs_send_what_they_receive(self):
        for name, program in model.PROGRAMS.items():
            sent, received = [], []
            for rank in range(8):
                steps = list(program(rank, 8, 64, 0))
                posted = range(sum(kind == "irecv" for kind, *_ in steps))
                self.assertEqual(sorted(words[0] for kind, *words in steps if kind == "wait"), list(posted), (name, rank))
                for kind, *words in steps:
                    if kind in ("send", "irecv"):
                        sent += [(rank, *words)] if kind == "send" else []
                        received += [(words[0], rank, *words[1:])] if kind == "irecv" else []
            self.assertEqual(sorted(sent), sorted(received), name)

    def test_pages_have_all_cases(self):
        results = self.root / "total.csv"
        lines = [f"os+net,nwaydissemination_nocompute,DEEP-EST,HPC (Metal),{nodes},{2.0 * nodes},16" for nodes in NODES for _ in range(20)]
        results.write_text("Noise,Collective,Provider,Instance Type,Nodes,Time (us),Message Size\n" + "\n".join(lines) + "\n")
        pages.write(self.root / "pages", [dict(row, bytes=16, machine="DEEP-EST", session=row["session"]) for row in self.rows], self.seal.digest, results)
        self.assertIn("No case", (self.root / "pages" / "real-machines-loggopsim.md").read_text())  # all are in view
        self.assertIn("| all |  |  |  | 8 |", pages.beside_loggopsim([dict(row, bytes=16) for row in self.rows], results))
        pages.write(self.root / "pages", self.rows, self.seal.digest, None)
        written = (self.root / "pages" / "real-machines-deep-est.md").read_text()
        self.assertIn(self.seal.digest, written)
        cases = (self.root / "pages" / "real-machines-deep-est.csv").read_text()
        self.assertEqual(cases.count(",nwaydissemination_nocompute,"), 10)
        self.assertEqual(json.loads(self.text)["series"][0]["smallest"]["nodes"], 4)


if __name__ == "__main__":
    IDLEWAVE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
