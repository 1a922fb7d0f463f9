#!/usr/bin/env python3
"""Figures by matplotlib: what they draw, in which colours.

SPDX-License-Identifier: BSD-3-Clause

Usage: figures_test.py SOURCE_DIR [--pictures DIR]    `import idlewave` must work, with matplotlib and what frames need; IDLEWAVE_COMMAND
names the command. --pictures writes each figure as PNG, to look at.
"""

import itertools
import pathlib
import subprocess
import sys
import tempfile
import unittest

from matplotlib.colors import to_hex

import idlewave
from idlewave import figures
from idlewave.palette import colours, series, source_colours

PICTURES = pathlib.Path(sys.argv.pop()) if "--pictures" in sys.argv else None
if PICTURES:
    sys.argv.remove("--pictures")
SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
INK = colours()


def face(artist):
    return to_hex(artist.get_facecolor())


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="iw_figures_")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)

    def drawn(self, name, figure):
        """The figure, drawn to its end."""
        png = figure._repr_png_()
        self.assertTrue(png.startswith(b"\x89PNG"))
        if PICTURES:
            PICTURES.mkdir(parents=True, exist_ok=True)
            (PICTURES / f"{name}.png").write_bytes(png)
        return figure

    def test_trials(self):
        result = idlewave.simulate(pattern="allreduce", ranks=256, noise="periodic:100Hz,200us", trials=40)
        axes = self.drawn("trials", result.plot()).axes[0]
        self.assertEqual(sum(bar.get_height() for bar in axes.patches[:10]), 40)
        self.assertEqual(face(axes.patches[0]), INK["noise"])
        noiseless, mean = (line.get_xdata()[0] for line in axes.lines)
        self.assertAlmostEqual(noiseless, result.noiseless_ns / 1e3)
        self.assertAlmostEqual(mean, result.makespan_ns.mean / 1e3)
        self.assertEqual(axes.get_xlabel(), "makespan in us")

    def test_trials_that_are_not_kept(self):
        result = idlewave.simulate(pattern="barrier", ranks=2, noise="periodic:100Hz,20us", trials=1001)
        with self.assertRaisesRegex(idlewave.IdlewaveError, "more than 1,000"):
            result.plot()

    def test_critical_path(self):
        result = idlewave.simulate(pattern="allreduce", ranks=256, noise="periodic:100Hz,200us", trials=10, explain=True)
        axes = self.drawn("critical-path", figures.critical_path(result)).axes[0]
        self.assertAlmostEqual(sum(bar.get_width() for bar in axes.patches), 100.0)
        self.assertEqual([face(bar) for bar in axes.patches].count(INK["noise"]), 1)
        with self.assertRaisesRegex(idlewave.IdlewaveError, "explain=True"):
            figures.critical_path(idlewave.simulate(pattern="barrier", ranks=4))

    def test_changes(self):
        node = self.folder / "whatif.h5"
        idlewave.noise.synth("irq/tick=periodic:100Hz,20us", "thread/daemon=poisson:5Hz,exp:300us", output=node, duration="5s")
        result = idlewave.whatif(noise=node, pattern="allreduce", ranks=64, compute="1ms", trials=8, redraws=4)
        axes = self.drawn("whatif", result.plot()).axes[0]
        self.assertAlmostEqual(axes.patches[0].get_width(), 100.0 * result.changes[0].saving.value)
        self.assertEqual(face(axes.patches[0]), INK["noise"])
        ends = [(change.saving.low, change.saving.high) for change in result.changes]
        drawn = [tuple(line.get_xdata()) for line in axes.lines]
        self.assertEqual(len(drawn), len(ends))
        for line, (low, high), change in zip(drawn, ends, result.changes):
            self.assertEqual(line, (100.0 * low, 100.0 * (change.saving.value if high is None else high)))
        self.assertEqual([line.get_marker() for line in axes.lines], [figures.AT_LEAST if high is None else "|" for _, high in ends])

    def test_answers_of_a_model(self):
        result = idlewave.model("exp:10%", compute="1ms", net="none", L="2us", ranks="3..3000 step x10", check=True, check_ranks=300)
        axes = self.drawn("model", result.plot()).axes[0]
        labels = [line.get_label() for line in axes.lines]
        self.assertEqual(labels, ["with noise, at least", "at most", "without noise", "simulated"])
        self.assertAlmostEqual(axes.lines[0].get_ydata()[0], result.rows[0].at_least_ns.value / 1e6)
        self.assertEqual(to_hex(axes.lines[0].get_color()), INK["noise"])

    def test_a_study(self):
        study = idlewave.Study(SOURCE / "tests/data/study/two-systems")
        figure = self.drawn("study", study.plot())
        self.assertEqual([axes.get_title(loc="left") for axes in figure.axes], list(study.frame()["work"].unique()))
        frame = study.frame()
        loud = frame[(frame["system"] == "loud") & (frame["work"] == "tree")]
        axes = study.plot(work="tree", statistic="mean").axes[0]
        self.assertEqual(list(axes.lines[0].get_ydata()), list(1.0 + loud["mean_slowdown"]))
        self.assertEqual([text.get_text() for text in axes.get_legend().get_texts()], ["loud", "quiet"])
        with self.assertRaisesRegex(idlewave.IdlewaveError, "unknown work 'nothing'"):
            study.plot(work="nothing")

    def test_many_systems_differ_in_more_than_colour(self):
        text = (SOURCE / "examples/paper/fixed-frequency.yaml").read_text(encoding="utf-8")
        path = self.folder / "many.yaml"
        path.write_text(text.replace("trials: 1000", "trials: 6").replace("2^1..2^15", "[2, 64]"), encoding="utf-8")
        lines = self.drawn("many", idlewave.study(path, output=self.folder / "many").plot()).axes[0].lines
        self.assertEqual(len(lines), 12)
        looks = [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines]
        self.assertEqual(len(set(looks)), 12)
        for one, other in itertools.combinations(looks, 2):
            self.assertNotEqual(one[1:], other[1:], "told apart without colours")
        self.assertEqual(looks[0][0], series()[0])
        self.assertNotIn(INK["noise"], [look[0] for look in looks])

    def test_a_recording(self):
        node = self.folder / "node.h5"
        names = [f"daemon_{chr(97 + i)}" for i in range(8)]
        idlewave.noise.synth(*(f"thread/{name}=poisson:{20 - i}Hz,exp:{90 - 5 * i}us" for i, name in enumerate(names)),
                             output=node, duration="5s", cpus=2)
        recording = idlewave.Recording(node)
        above, below = self.drawn("recording", recording.plot()).axes
        groups = above.collections
        self.assertEqual(groups[-1].get_label(), "2 others")
        self.assertEqual(sum(len(group.get_offsets()) for group in groups), len(recording.detours()))
        largest = [row.name for row in recording.show().sources[:6]]
        self.assertEqual([group.get_label() for group in groups[:-1]], largest)
        self.assertEqual([face(group)[:7] for group in groups[:-1]], source_colours(largest))
        self.assertEqual(face(below.patches[0]), INK["noise"])
        self.drawn("recording-dark", recording.plot(theme="dark"))

    def test_a_recording_without_detours(self):
        node = self.folder / "silent.h5"
        idlewave.noise.synth("poisson:0.001Hz,exp:1us", output=node, duration="1s")
        self.assertEqual(len(idlewave.Recording(node).detours()), 0)
        self.drawn("silent", idlewave.Recording(node).plot())

    def test_a_timeline(self):
        path = self.folder / "run.h5"
        idlewave.simulate(pattern="halo1d", ranks=40, repeat=30, compute="3ms", delay="rank=5,time=13.5ms",
                          noise="poisson:100Hz,exp:100us", timeline=path)
        axes = self.drawn("timeline", idlewave.Timeline(path).plot()).axes[0]
        picture = axes.images[0].get_array()
        self.assertEqual(to_hex(picture[5][10]), INK["delay"])
        self.assertEqual(to_hex(picture[20][10]), INK["compute"])
        later = [to_hex(cell) for cell in picture[6]]
        self.assertGreater(later.count(INK["wait"]), 100)
        self.assertEqual([text.get_text() for text in axes.get_legend().get_texts()], ["delay", "compute", "noise", "comm", "wait"])

    def test_themes(self):
        study = idlewave.Study(SOURCE / "tests/data/study/two-systems")
        dark = self.drawn("study-dark", study.plot(theme="dark"))
        self.assertEqual(face(dark), colours("dark")["ground"])
        with self.assertRaisesRegex(ValueError, "light or dark"):
            study.plot(theme="blue")

    def test_what_has_no_figure(self):
        with self.assertRaisesRegex(idlewave.IdlewaveError, "Forecast has no figure; figures exist for Study, "):
            idlewave.forecast(pattern="barrier", ranks=4).plot()

    def test_figures_leave_settings_and_screens_alone(self):
        code = ("import sys, matplotlib, idlewave; old = dict(matplotlib.rcParams); "
                f"idlewave.Study({str(SOURCE / 'tests/data/study/two-systems')!r}).plot()._repr_png_(); "
                "assert dict(matplotlib.rcParams) == old; assert 'matplotlib.pyplot' not in sys.modules")
        subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    unittest.main()
