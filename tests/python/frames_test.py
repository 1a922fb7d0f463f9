#!/usr/bin/env python3
"""Frames of results, studies, recordings and timelines hold what the command itself prints as CSV.

SPDX-License-Identifier: BSD-3-Clause

Usage: frames_test.py SOURCE_DIR      `import idlewave` must work, with pandas, xarray and h5py; IDLEWAVE_COMMAND names the command
"""

import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy
import pandas

import idlewave
import idlewave.frames
from idlewave.recording import _lost_until

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
JOB: dict = {"pattern": "allreduce", "ranks": 64, "noise": "periodic:100Hz,200us", "trials": 8}
SPECS = ("irq/tick=periodic:1kHz,20us", "thread/daemon=poisson:40Hz,exp:300us")


def csv(*words, **options):
    return pandas.read_csv(io.StringIO(idlewave.call(*words, format="csv", **options)), keep_default_na=False, na_values=[""])


def detours_of(path, least):
    """How many detours a recording has, as soon as there are LEAST of them; it has a minute."""
    for _ in range(600):
        try:
            count = len(idlewave.Recording(path).detours())
        except idlewave.FileError:  # not there yet, or being written just now
            count = 0
        if count >= least:
            return count
        time.sleep(0.1)
    raise AssertionError(f"'{path}' did not get {least} detours")


class Made(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="iw_frames_")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.node = cls.folder / "node.h5"
        idlewave.noise.synth(*SPECS, output=cls.node, duration="2s", cpus=3)


class Results(Made):
    def test_trials_are_those_of_csv(self):
        pandas.testing.assert_frame_equal(idlewave.simulate(**JOB).frame(), csv("simulate", quiet=True, **JOB), rtol=1e-12)

    def test_columns_of_a_what_if_are_those_of_csv(self):
        options: dict = {"pattern": "allreduce", "ranks": 64, "noise": self.node, "compute": "1ms", "trials": 8, "redraws": 4}
        frame, printed = idlewave.whatif(**options).frame(), csv("whatif", quiet=True, **options)
        shared = [name for name in printed.columns if name in frame.columns]
        self.assertLessEqual({"name", "share", "slowdown", "slowdown_low", "slowdown_high", "saving", "saving_high"}, set(shared))
        self.assertEqual(list(frame["name"]), list(printed["name"]))
        numpy.testing.assert_allclose(frame["saving"].astype(float), printed["saving"].astype(float), rtol=1e-9)

    def test_lists_within(self):
        parts = idlewave.simulate(**JOB, explain=True).frame("explain.parts")
        self.assertLessEqual({"part", "is_noise", "last_ns", "average_ns", "average_ns_low"}, set(parts.columns))

    def test_a_list_that_is_not_there_names_those_that_are(self):
        result = idlewave.simulate(**JOB)
        for key in ("nothing", "explain.parts", "slowdown"):
            with self.subTest(key), self.assertRaisesRegex(idlewave.IdlewaveError, f"no list '{key}'; its lists: trial_times, noise"):
                result.frame(key)
        with self.assertRaisesRegex(idlewave.IdlewaveError, "its lists: none"):
            idlewave.forecast(**JOB).frame()

    def test_every_main_list_is_a_frame(self):
        for path in (SOURCE / "tests/data/results").glob("*.json"):
            result = idlewave.load(path)
            if type(result).__name__ in idlewave.frames.MAIN_LISTS:
                with self.subTest(path.stem):
                    self.assertGreater(len(result.frame()), 0)


class Recordings(Made):
    def test_detours_are_those_of_csv(self):
        frame, printed = idlewave.Recording(self.node).detours(), csv("noise", "show", self.node)
        self.assertGreater(len(frame), 5000)
        pandas.testing.assert_frame_equal(frame, printed)

    def test_facts(self):
        recording = idlewave.Recording(self.node)
        self.assertEqual((recording.probe, recording.cpus, recording.seconds), ("selfish", [0, 1, 2], 2.0))
        self.assertEqual(recording.origin["host"], "synthetic")
        self.assertEqual(set(recording.sources[1:]), {("irq", "tick"), ("thread", "daemon")})
        self.assertIn("3 CPUs of synthetic, 2 s", repr(recording))
        self.assertIn("<strong>synthetic loses", recording._repr_html_())

    def test_parts_belong_to_their_detours(self):
        recording = idlewave.Recording(self.node)
        detours, parts = recording.detours(), recording.parts()
        self.assertGreater(len(parts), 10)
        own = detours[detours["cpu"] == 1].reset_index(drop=True)
        for number, rows in parts[parts["cpu"] == 1].groupby("detour"):
            self.assertLessEqual(rows["part_ns"].sum(), own["duration_ns"][number])
            self.assertEqual(set(rows["source"]), {"tick", "daemon"})

    def test_shares_of_sources_are_those_of_the_command(self):
        recording = idlewave.Recording(self.node)
        frame, shown = recording.by_source(), recording.show().sources
        self.assertEqual(list(frame["source"]), [row.name for row in shown])
        numpy.testing.assert_allclose(frame["share"], [row.share for row in shown], rtol=1e-9)

    def test_parts_beyond_their_detour_do_not_count(self):
        # a detour of 100 ns of source 1 with parts 2: 70 ns, 1: 20 ns, 2: 40 ns; the last one has 10 ns left
        detours = pandas.DataFrame({"cpu": [0, 0], "duration_ns": [100, 30], "class": ["irq", "irq"], "source": ["1", "1"]})
        parts = pandas.DataFrame({"cpu": 0, "detour": [0, 0, 0], "class": ["irq"] * 3, "source": ["2", "1", "2"], "part_ns": [70, 20, 40]})
        times = idlewave.recording._source_times(detours, parts)
        self.assertEqual((times[("irq", "1")], times[("irq", "2")]), (20 + 30, 70 + 10))

    def test_rows_that_were_not_written_do_not_count(self):
        path = self.folder / "cut.h5"
        shutil.copy(self.node, path)
        with h5py.File(path, "r+") as file:
            written = numpy.array([7, 0, 0], dtype="uint64")
            file["cpu/1"].attrs["written"] = written
        recording = idlewave.Recording(path)
        counts = recording.detours()["cpu"].value_counts()
        self.assertEqual(counts[1], 7)
        self.assertGreater(counts[0], 1000)
        self.assertEqual(set(recording.parts()["cpu"]), {0, 2})

    def test_time_lost_before_an_edge(self):
        # detours [10, 30) and [50, 60): before 0, 10, 20, 30, 55 and 100 ns lie 0, 0, 10, 20, 25 and 30 ns of them
        lost = _lost_until(numpy.array([10, 50]), numpy.array([20, 10]), numpy.array([0, 10, 20, 30, 55, 100]))
        self.assertEqual(list(lost), [0, 0, 10, 20, 25, 30])
        self.assertEqual(list(_lost_until(numpy.array([]), numpy.array([]), numpy.array([0, 5]))), [0, 0])

    def test_time_lost_adds_up(self):
        recording = idlewave.Recording(self.node)
        lost = recording.lost(bin_s=0.25)
        self.assertEqual(lost.dims, ("cpu", "time"))
        self.assertEqual(lost.shape, (3, 8))
        self.assertAlmostEqual(lost.mean().item(), recording.show().share, places=9)
        self.assertEqual(recording.lost().shape, (3, 100))
        with self.assertRaisesRegex(idlewave.FileError, "exceed the recording"):
            recording.lost(bin_s=3.0)

    def test_quanta(self):
        path = self.folder / "fwq.h5"
        idlewave.record(path, probe="fwq", duration="200ms", cpus="0")
        recording = idlewave.Recording(path)
        samples, printed = recording.samples(), csv("noise", "show", path)
        self.assertGreater(recording.quantum_ns, 0)
        numpy.testing.assert_array_equal(samples["start_ns"], printed["start_ns"])
        numpy.testing.assert_allclose(samples["sample"], printed["duration_ns"], atol=1.0)

    def test_a_recording_that_still_runs_and_one_that_was_killed(self):
        path = self.folder / "live.h5"
        with subprocess.Popen([idlewave.command_path(), "record", "--duration", "60s", "--cpus", "0", "-o", path],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as writer:
            try:
                counts = [detours_of(path, 1)]
                counts.append(detours_of(path, counts[0] + 1))
            finally:
                writer.kill()
        self.assertGreater(counts[1], counts[0])
        self.assertGreaterEqual(detours_of(path, 1), counts[1])

    def test_damage_is_an_error_and_nothing_worse(self):
        whole = self.node.read_bytes()
        path = self.folder / "damaged.h5"
        refused = 0
        for place in range(0, len(whole), max(1, len(whole) // 150)):
            for damaged in (whole[:place], whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1:]):
                path.write_bytes(damaged)
                try:
                    idlewave.Recording(path).detours()
                except idlewave.FileError:
                    refused += 1
        self.assertGreater(refused, 150, "all that are cut short")

    def test_what_is_missing_is_named(self):
        path = self.folder / "incomplete.h5"
        for what, change in (("probe", lambda file: file.attrs.__delitem__("probe")),
                             ("duration_ns", lambda file: file["cpu/1"].__delitem__("duration_ns")),
                             ("source 9 of 3", lambda file: file["cpu/0/source"].__setitem__(0, 9))):
            shutil.copy(self.node, path)
            with h5py.File(path, "r+") as file:
                change(file)
            with self.subTest(what), self.assertRaisesRegex(idlewave.FileError, f"damaged.*{what}"):
                idlewave.Recording(path).detours()

    def test_other_files_are_refused(self):
        text = self.folder / "text.h5"
        text.write_text("no", encoding="utf-8")
        run = self.folder / "run.h5"
        idlewave.simulate(pattern="barrier", ranks=4, timeline=run)
        for path, message in ((text, "cannot be read as HDF5"), (self.folder / "none.h5", "there is no file"),
                              (run, "'idlewave.timeline/1', not 'idlewave.noise/1'")):
            with self.subTest(message), self.assertRaisesRegex(idlewave.FileError, message):
                idlewave.Recording(path)


class Timelines(Made):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = cls.folder / "run.h5"
        idlewave.simulate(pattern="halo1d", ranks=12, repeat=8, compute="3ms", noise="poisson:100Hz,exp:100us",
                          delay="rank=5,time=13.5ms", timeline=cls.path)
        cls.timeline = idlewave.Timeline(cls.path)

    def test_facts(self):
        self.assertEqual((self.timeline.ranks, self.timeline.origin), (12, "simulated"))
        self.assertGreater(self.timeline.end_ps, self.timeline.noiseless_ps)
        self.assertIn("12 ranks", repr(self.timeline))
        self.assertEqual(self.timeline.waves().waves[0].origin_rank, 5)
        self.assertIn("<strong>", self.timeline._repr_html_())

    def test_steps(self):
        steps = self.timeline.steps()
        self.assertEqual(len(steps), self.timeline.total_steps)
        self.assertEqual(steps["delay_ps"].sum(), 13_500_000_000)
        self.assertEqual(list(steps.loc[steps["delay_ps"] > 0, "rank"]), [5])
        length = steps[[f"{state}_ps" for state in ("delay", "compute", "noise", "comm", "wait")]].sum(axis=1)
        self.assertEqual((steps["begin_ps"] + length).max(), self.timeline.end_ps)
        for _, own in steps.groupby("rank"):
            self.assertEqual(list(own["step"]), list(range(len(own))))
            self.assertTrue(own["begin_ps"].is_monotonic_increasing)

    def test_a_window_of_ranks_keeps_their_numbers(self):
        path = self.folder / "window.h5"
        idlewave.simulate(pattern="halo1d", ranks=12, repeat=8, compute="3ms", timeline=path, timeline_ranks="4-6")
        self.assertEqual(sorted(idlewave.Timeline(path).steps()["rank"].unique()), [4, 5, 6])

    def test_the_raster_has_the_time_of_the_steps(self):
        raster, steps = self.timeline.raster(), self.timeline.steps()
        for state in ("compute", "wait", "noise"):
            seconds = raster[f"mean_{state}"].sum().item() * raster.attrs["bin_s"]
            self.assertAlmostEqual(seconds, steps[f"{state}_ps"].sum() / 1e12, delta=1e-4)
        self.assertEqual(list(raster["rank"].values), list(range(12)))
        coarse = self.timeline.raster(self.timeline.levels - 1)
        self.assertLessEqual(coarse.sizes["time"], 32)
        with self.assertRaisesRegex(idlewave.FileError, "has no level 99"):
            self.timeline.raster(99)


class Studies(Made):
    folder_of_study = SOURCE / "tests/data/study/two-systems"

    def copied(self, change):
        folder = self.folder / self.id().rsplit(".", maxsplit=1)[-1]
        shutil.copytree(self.folder_of_study, folder)
        path = folder / "results.jsonl"
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
        return idlewave.Study(folder)

    def test_the_frame_is_that_of_csv(self):
        frame, printed = idlewave.Study(self.folder_of_study).frame(), csv("report", self.folder_of_study)
        shared = [name for name in printed.columns if name in frame.columns]
        self.assertEqual([name for name in printed.columns if name not in shared], [])
        pandas.testing.assert_frame_equal(frame[shared], printed[shared], check_dtype=False, rtol=1e-12)

    def test_the_array(self):
        study = idlewave.Study(self.folder_of_study)
        cell = next(cell for cell in study.cells() if (cell["system"], cell["work"], cell["ranks"]) == ("loud", "tree", 64))
        point = study.xarray().sel(system="loud", work="tree", ranks=64).squeeze()
        self.assertEqual(point["median_ns"].item(), cell["makespan_ns"]["median"])
        self.assertAlmostEqual(point["mean_slowdown"].item(), cell["makespan_ns"]["mean"] / cell["noiseless_ns"] - 1.0)

    def test_settings_set_cells_apart(self):
        def twice(text):
            cells = [json.loads(line) for line in text.splitlines()]
            return "".join(json.dumps({**cell, "settings": f"pp={pp}"}) + "\n" for pp in (1, 2) for cell in cells)

        study, whole = self.copied(twice), len(idlewave.Study(self.folder_of_study).cells())
        self.assertEqual(len(study.cells()), 2 * whole)
        self.assertEqual(list(study.xarray()["settings"].values), ["pp=1", "pp=2"])

    def test_a_line_that_was_cut_off_does_not_count(self):
        whole = len(idlewave.Study(self.folder_of_study).cells())
        self.assertEqual(len(self.copied(lambda text: text[:-40]).cells()), whole - 1)

    def test_a_cell_that_was_run_twice_counts_once(self):
        whole = len(idlewave.Study(self.folder_of_study).cells())
        self.assertEqual(len(self.copied(lambda text: text + text.split("\n")[0] + "\n").cells()), whole)

    def test_a_cell_of_a_study_that_has_changed_counts_once(self):
        whole = len(idlewave.Study(self.folder_of_study).cells())

        def run_again(text):
            cell = json.loads(text.split("\n")[0])
            return text + json.dumps({**cell, "id": "0123456789abcdef", "trials": 77}) + "\n"

        study = self.copied(run_again)
        self.assertEqual(len(study.cells()), whole)
        self.assertEqual((study.frame()["trials"] == 77).sum(), 1)
        self.assertEqual(len(study.xarray()["ranks"]), 8)

    def test_other_lines_are_refused_with_their_place(self):
        old = self.copied(lambda text: text.replace("idlewave.cell/2", "idlewave.cell/1", 1))
        with self.assertRaisesRegex(idlewave.FileError, "results.jsonl', line 1: the schema is not 'idlewave.cell/2'"):
            old.frame()

    def test_a_line_without_a_key_is_refused(self):
        with self.assertRaisesRegex(idlewave.FileError, "line 1: key 'ranks' is missing"):
            self.copied(lambda text: text.replace('"ranks"', '"racks"', 1)).cells()

    def test_no_json(self):
        with self.assertRaisesRegex(idlewave.FileError, "line 1: invalid JSON"):
            self.copied(lambda text: "{\n" + text).cells()

    def test_nothing_is_finished_yet(self):
        study = self.copied(lambda text: "")
        self.assertEqual(len(study.frame()), 0)
        self.assertIn("No cell is finished yet", study._repr_html_())
        for use in (study.xarray, study.plot):
            with self.assertRaisesRegex(idlewave.IdlewaveError, "has no finished cells yet"):
                use()

    def test_a_folder_without_a_study(self):
        with self.assertRaisesRegex(idlewave.FileError, "study.yaml is missing"):
            idlewave.Study(self.folder)

    def test_display(self):
        study = idlewave.Study(self.folder_of_study)
        self.assertIn(f"{len(study.cells())} cells", repr(study))
        self.assertIn(">loud<", study._repr_html_())

    def test_bounds_are_marked(self):
        def with_bound(text):
            cell = json.loads(text.split("\n")[0])
            cell["recording"] = {"is_bound": True}
            return json.dumps(cell) + "\n"

        self.assertEqual(list(self.copied(with_bound).frame()["is_bound"]), [True])


if __name__ == "__main__":
    unittest.main()
