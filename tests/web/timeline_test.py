#!/usr/bin/env python3
"""Pages of timelines in headless Chromium: what is drawn where, zoom, pan, what is under the pointer.

SPDX-License-Identifier: BSD-3-Clause

Usage: timeline_test.py IW_MAKE_PAGE CHROMIUM OUT_DIR [--pictures]

Pages go to OUT_DIR; with --pictures screenshots too, to be looked at. Exit 77: there is no Chromium.
"""

import functools
import pathlib
import subprocess
import sys
import unittest

import page_check
from chromium import Browser

WANT_PICTURES = "--pictures" in sys.argv
MAKE_PAGE, CHROMIUM, OUT = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
KINDS = {"timeline": 18, "timeline-large": 4096, "timeline-raster": 100000}  # and their ranks
NARROW = 390
MOST_BYTES = 4_000_000
MS = 1e9  # ps
MARGIN = {"left": 34, "right": 12, "top": 8, "bottom": 40}  # as web/timeline.js; 7 more for each digit of the ranks
BLUE, RED, WHITE = (31, 95, 196), (212, 32, 32), (255, 255, 255)


@functools.lru_cache(maxsize=None)
def make(kind):
    path = OUT / f"{kind}.html"
    subprocess.run([MAKE_PAGE, kind, path], check=True)
    return path


class Timelines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        OUT.mkdir(parents=True, exist_ok=True)
        cls.browser = Browser(CHROMIUM).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def open(self, kind, **how):
        self.ranks = KINDS[kind]
        self.browser.open(make(kind), **how)
        self.settle()

    def settle(self):
        self.browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def data(self, name):
        return self.browser.evaluate(f"document.getElementById('timeline').dataset.{name}")

    def view(self):
        """Begin and end of the time in ps, lowest rank, highest rank and one."""
        return [float(number) for number in self.data("view").split()]

    def assert_quiet(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [])

    def place(self, time_ps, rank):
        """Where the middle of a rank is at a time, within the canvas."""
        width, height = self.browser.evaluate("[timeline.clientWidth, timeline.clientHeight]")
        begin, end, low, high = self.view()
        left = MARGIN["left"] + 7 * len(str(self.ranks))
        return (left + (time_ps - begin) / (end - begin) * (width - left - MARGIN["right"]),
                MARGIN["top"] + (high - rank - 0.5) / (high - low) * (height - MARGIN["top"] - MARGIN["bottom"]))

    def colour(self, time_ps, rank):
        x, y = self.place(time_ps, rank)
        return tuple(self.browser.evaluate(
            f"(() => {{ const scale = timeline.width / timeline.clientWidth; return [...timeline.getContext('2d')"
            f".getImageData(Math.round({x} * scale), Math.round({y} * scale), 1, 1).data].slice(0, 3); }})()"))

    def on_screen(self, time_ps, rank):
        x, y = self.place(time_ps, rank)
        left, top = self.browser.evaluate("timeline.scrollIntoView({block: 'center'}); "
                                          "(({left, top}) => [left, top])(timeline.getBoundingClientRect())")
        return left + x, top + y

    def mouse(self, kind, x, y, **more):
        self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def press(self, key):
        self.browser.evaluate("timeline.focus({preventScroll: true})")
        self.browser.call("Input.dispatchKeyEvent", type="keyDown", key=key)
        self.browser.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def click(self, what):
        self.browser.evaluate(f"document.querySelector('[data-do={what}]').click()")
        self.settle()

    def hide_fronts(self):
        self.browser.evaluate("document.getElementById('timeline-fronts').click()")
        self.settle()

    # ---- every page ----

    def test_pages_draw_everything_without_a_word(self):
        for kind in KINDS:
            for scheme, width in (("light", 1280), ("dark", 1280), ("light", NARROW)):
                with self.subTest(kind=kind, scheme=scheme, width=width):
                    self.open(kind, width=width, scheme=scheme)
                    if WANT_PICTURES:
                        name = "narrow" if width == NARROW else scheme
                        self.browser.screenshot(OUT / f"{kind}-{name}.png")
                    self.assert_quiet()
                    self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width)
                    self.assertGreaterEqual(float(self.data("drawMs")), 0.0)  # it was drawn

    def test_pages_are_whole_and_alone(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                page = make(kind).read_text(encoding="utf-8")
                structure = page_check.Structure()
                structure.feed(page)
                structure.close()
                self.assertEqual(structure.findings + structure.open, [])
                self.assertNotIn("://", page)
                self.assertLess(len(page.encode()), MOST_BYTES)
                self.assertIn("Timeline of &lt;run&gt; &amp; &quot;more&quot;.h5", page)

    def test_pages_print(self):
        self.open("timeline", scheme="dark")
        path = OUT / "timeline.pdf"
        self.browser.print(path)
        self.assertTrue(path.read_bytes().startswith(b"%PDF"))
        self.assert_quiet()
        self.assertNotEqual(self.colour(8 * MS, 5), BLUE)  # dark again after printing
        self.browser.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.colour(8 * MS, 5), BLUE)
        self.assertEqual(self.colour(1 * MS, 6), WHITE)

    # ---- the paper's picture ----

    def test_work_is_white_a_delay_blue_waiting_red(self):
        self.open("timeline")
        self.assertEqual(self.data("exact"), "true")
        self.hide_fronts()
        self.assertEqual(self.colour(8 * MS, 5), BLUE)
        self.assertEqual(self.colour(15 * MS, 6), RED)
        self.assertEqual(self.colour(47 * MS, 16), RED)
        self.assertEqual(self.colour(1 * MS, 6), WHITE)
        self.assertEqual(self.colour(58 * MS, 1), WHITE)

    def test_dark_is_dark(self):
        self.open("timeline", scheme="dark")
        self.assertLess(max(self.colour(1 * MS, 6)), 64)
        red, green, blue = self.colour(8 * MS, 5)
        self.assertGreater(blue, max(red, green))

    def test_fronts_are_drawn_over_it_and_can_be_hidden(self):
        self.open("timeline")
        self.assertLess(max(self.colour(6.12 * MS, 6)), 60)  # a black dot where the idle time begins
        self.hide_fronts()
        self.assertGreater(max(self.colour(6.12 * MS, 6)), 200)

    def test_the_pointer_tells_rank_step_and_states(self):
        self.open("timeline")
        self.mouse("mouseMoved", *self.on_screen(8 * MS, 5))
        text = self.browser.evaluate("document.getElementById('timeline-tip').textContent")
        self.assertRegex(text, r"^rank 5, 8\.?\d* ms\nstep 2: 3\.1 ms to 19\.7 ms\n")
        for part in ("delay 13.5 ms", "work 3 ms", "messages 20 us", "idle 80 us"):
            self.assertIn(part, text)
        self.mouse("mouseMoved", 2, 2)
        self.assertTrue(self.browser.evaluate("document.getElementById('timeline-tip').hidden"))

    # ---- moving about ----

    def test_the_wheel_zooms_where_the_pointer_is(self):
        self.open("timeline")
        x, y = self.on_screen(20 * MS, 9)
        begin, end, low, high = self.view()
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=-200)
        self.settle()
        new = self.view()
        self.assertLess(new[1] - new[0], 0.8 * (end - begin))
        self.assertLess(new[3] - new[2], 0.8 * (high - low))
        place = self.on_screen(20 * MS, 9)
        self.assertAlmostEqual(place[0], x, delta=2)
        self.assertAlmostEqual(place[1], y, delta=2)
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=-200, modifiers=8)  # Shift: only the time
        self.settle()
        self.assertEqual(self.view()[2:], new[2:])
        self.assertLess(self.view()[1] - self.view()[0], 0.8 * (new[1] - new[0]))

    def test_dragging_moves(self):
        self.open("timeline")
        self.click("in")
        before = self.view()
        x, y = self.on_screen(40 * MS, 9)
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseMoved", x - 100, y, button="left", buttons=1)
        self.mouse("mouseReleased", x - 100, y, button="left", clickCount=1)
        self.settle()
        self.assertGreater(self.view()[0], before[0])
        self.assertEqual(self.view()[2:], before[2:])
        self.assertAlmostEqual(self.on_screen(40 * MS, 9)[0], x - 100, delta=2)

    def test_the_keyboard_does_it_too(self):
        self.open("timeline")
        whole = self.view()
        self.press("+")
        self.press("+")
        small = self.view()
        self.assertLess(small[1] - small[0], 0.7 * (whole[1] - whole[0]))
        for key, index, sign in (("ArrowRight", 0, 1), ("ArrowLeft", 0, -1), ("ArrowUp", 2, 1), ("ArrowDown", 2, -1)):
            before = self.view()
            self.press(key)
            self.assertGreater(sign * (self.view()[index] - before[index]), 0, key)
        self.press("-")
        self.assertGreater(self.view()[1] - self.view()[0], small[1] - small[0])
        self.press("0")
        self.assertEqual(self.view(), whole)
        for _ in range(60):
            self.press("ArrowRight")
            self.press("+")
        begin, end, low, high = self.view()
        self.assertTrue(0 <= begin < end <= whole[1] and 0 <= low < high <= 18, self.view())
        self.assert_quiet()

    # ---- many ranks ----

    def test_large_runs_are_cells_until_there_is_room_for_steps(self):
        self.open("timeline-large")
        self.assertEqual(self.data("exact"), "false")
        self.assertEqual(self.view()[2:], [0, 4096])
        self.click("wave")
        begin, end, low, high = self.view()
        self.assertTrue(low > 1100 and high < 1650, self.view())
        while self.data("exact") == "false":
            self.click("in")
        self.assertGreater(self.view()[1] - self.view()[0], 1 * MS)
        self.assertIn("every step", self.browser.evaluate("document.getElementById('timeline-shown').textContent"))
        if WANT_PICTURES:
            self.browser.screenshot(OUT / "timeline-large-zoomed.png")
        self.assert_quiet()

    def test_one_late_rank_of_100000_is_seen(self):
        self.open("timeline-raster")
        for channel in ("max", "mean"):
            self.browser.evaluate(f"(() => {{ const box = document.getElementById('timeline-channel'); "
                                  f"box.value = '{channel}'; box.dispatchEvent(new Event('change')); }})()")
            self.settle()
            x, y = self.place(8 * MS, 50000)
            blue = self.browser.evaluate(
                f"[...timeline.getContext('2d').getImageData({round(x)}, {round(y) - 2}, 1, 5).data]"
                ".reduce((found, value, i, all) => found || (i % 4 === 2 && value > all[i - 2] + 40), false)")
            self.assertTrue(blue, channel)
        self.mouse("mouseMoved", *self.on_screen(30 * MS, 20000))
        self.assertRegex(self.browser.evaluate("document.getElementById('timeline-tip').textContent"),
                         r"^rank \d+, 30.*\nranks \d+ to \d+: ")

    def test_without_waves_there_is_nothing_to_switch(self):
        self.open("timeline-raster")
        self.assertTrue(self.browser.evaluate("document.querySelector('[data-do=wave]').hidden"))
        self.assertIn("Waves not searched", self.browser.evaluate("document.body.textContent"))


if __name__ == "__main__":
    if not pathlib.Path(CHROMIUM).exists():
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
