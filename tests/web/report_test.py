#!/usr/bin/env python3
"""Pages in headless Chromium, opened from file:// with the network off.

SPDX-License-Identifier: BSD-3-Clause

Usage: report_test.py IW_MAKE_PAGE CHROMIUM OUT_DIR [--pictures]

Pages and PDFs go to OUT_DIR; with --pictures screenshots (light, dark, narrow) too, to be looked at. Exit 77: there is
no Chromium.
"""

import functools
import pathlib
import subprocess
import sys
import unittest

from chromium import Browser

WANT_PICTURES = "--pictures" in sys.argv
MAKE_PAGE, CHROMIUM, OUT = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
KINDS = ("study", "single", "odd", "noise", "fleet", "short", "result", "ranks", "bench")
NARROW = 390
LEAST_LETTERS_PX = 9.9

PLOTS_WITHOUT_SHAPES = """[...document.querySelectorAll('.plot')].filter(
    (p) => !p.querySelector('svg path, svg rect, svg line')).length"""
CLIPPED = """[...document.querySelectorAll('.plot > svg')].filter((s) => {
    const r = s.getBoundingClientRect(); return r.right > document.documentElement.clientWidth + 1 || r.height < 80;
}).length"""
# Letters as they are on the screen, in pixels: the size of the smallest text of all plots.
LEAST_LETTERS = """Math.min(...[...document.querySelectorAll('.plot > svg text')].map((t) =>
    parseFloat(getComputedStyle(t).fontSize) * Math.abs(t.getScreenCTM().a)))"""
# Texts of an axis that lie on each other: pairs of ticks, by their boxes.
CROWDED = """[...document.querySelectorAll('.plot > svg')].flatMap((svg) => {
    const boxes = [...svg.querySelectorAll('text[text-anchor="middle"]')].map((t) => t.getBoundingClientRect())
      .filter((b) => b.width > 0);
    return boxes.filter((a, i) => boxes.some((b, k) => k > i && a.left < b.right && b.left < a.right &&
      a.top < b.bottom - 4 && b.top < a.bottom - 4));
}).length"""
OPEN_TABLES = "document.querySelectorAll('details[open] table').length"
FOCUSED_SUMMARY = "[...document.querySelectorAll('summary')].indexOf(document.activeElement)"


@functools.lru_cache(maxsize=None)
def make(kind):
    path = OUT / f"{kind}.html"
    subprocess.run([MAKE_PAGE, kind, path], check=True)
    return path


class InTheBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        OUT.mkdir(parents=True, exist_ok=True)
        cls.browser = Browser(CHROMIUM).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def assert_quiet(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [])

    def test_pages_draw_everything_without_a_word(self):
        for kind in KINDS:
            for scheme, width in (("light", 1280), ("dark", 1280), ("light", NARROW)):
                with self.subTest(kind=kind, scheme=scheme, width=width):
                    self.browser.open(make(kind), width=width, scheme=scheme)
                    name = "narrow" if width == NARROW else scheme
                    if WANT_PICTURES:
                        self.browser.screenshot(OUT / f"{kind}-{name}.png")
                    self.assert_quiet()
                    self.assertEqual(self.browser.evaluate(PLOTS_WITHOUT_SHAPES), 0)
                    self.assertEqual(self.browser.evaluate(CLIPPED), 0)
                    self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width)
                    self.assertGreaterEqual(self.browser.evaluate(LEAST_LETTERS), LEAST_LETTERS_PX)
                    self.assertEqual(self.browser.evaluate(CROWDED), 0)

    def test_dark_is_dark(self):
        path = make("study")
        grounds = []
        for scheme in ("light", "dark"):
            self.browser.open(path, scheme=scheme)
            grounds.append(self.browser.evaluate("getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(grounds, ["rgb(255, 255, 255)", "rgb(20, 24, 29)"])

    def test_pages_print(self):
        for kind in ("study", "noise", "result"):
            for scheme in ("light", "dark"):
                self.browser.open(make(kind), scheme=scheme)
                path = OUT / f"{kind}-{scheme}.pdf"
                self.browser.print(path)
                self.assertTrue(path.read_bytes().startswith(b"%PDF"))
                self.assert_quiet()

    def test_plots_follow_the_width_of_the_window(self):
        width = "document.querySelector('.plot > svg').getBoundingClientRect().width"
        self.browser.open(make("single"))
        wide = self.browser.evaluate(width)
        self.browser.call("Emulation.setDeviceMetricsOverride", width=500, height=900, deviceScaleFactor=1, mobile=False)
        self.assertGreater(wide, 600)
        self.assertLess(self.browser.evaluate(width), 500)

    def test_marks_say_their_numbers_under_the_mouse(self):
        self.browser.open(make("study"))
        titles = self.browser.evaluate("[...document.querySelectorAll('.plot title')].map((t) => t.textContent)")
        self.assertTrue(any("ranks: median" in title for title in titles))
        self.assertTrue(any("95 % CI" in title for title in titles))

    def test_the_keyboard_reaches_and_opens_every_table(self):
        for kind in ("study", "noise", "result"):
            with self.subTest(kind=kind):
                self.browser.open(make(kind))
                tables = self.browser.evaluate("document.querySelectorAll('details').length")
                self.assertGreater(tables, 0)
                self.assertEqual(self.open_tables(tables), tables)
                self.assertEqual(self.browser.evaluate(OPEN_TABLES), tables)

    def open_tables(self, tables):
        """Goes round the page with Tab, opens what can be opened; returns how many there were."""
        reached = set()
        for _ in range(4 * tables + 40):
            self.browser.press("Tab")
            summary = self.browser.evaluate(FOCUSED_SUMMARY)
            if summary in reached:
                break
            if summary >= 0:
                reached.add(summary)
                self.browser.press("Enter")
        return len(reached)


if __name__ == "__main__":
    if not pathlib.Path(CHROMIUM).exists():
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
