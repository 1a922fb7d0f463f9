#!/usr/bin/env python3
"""Pages by their text: structure, nothing from elsewhere, size, and that the check can fail.

SPDX-License-Identifier: BSD-3-Clause

Usage: page_test.py IW_MAKE_PAGE
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import page_check

MAKE_PAGE = sys.argv[1]
KINDS = ("study", "large", "single", "odd", "noise", "fleet", "short", "result", "ranks", "whatif")


def make(kind):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "page.html"
        subprocess.run([MAKE_PAGE, kind, path], check=True)
        return path.read_text(encoding="utf-8")


class Pages(unittest.TestCase):
    def test_every_page_is_whole(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                self.assertEqual(page_check.findings(make(kind)), [])

    def test_the_same_input_gives_the_same_bytes(self):
        self.assertEqual(make("study"), make("study"))

    def test_markup_in_names_stays_text(self):
        page = make("odd")
        self.assertNotIn("<script>throw", page)
        self.assertIn("&lt;script&gt;throw 1&lt;/script&gt; &quot;quotes&quot; &amp; &#39;more&#39; é ?", page)
        self.assertIn("漢字", page)

    def test_every_figure_has_its_plot(self):
        page = make("study")
        self.assertEqual(page.count('<svg viewBox="0 0 640'), page.count("<figure>"))

    def test_what_is_wrong_is_found(self):
        page = make("single")
        for old, new, finding in (
                ("</figure>", "", "closes"),
                ("<h1>", '<h1 id="origin">', "twice"),
                ("<h1>", '<img src="x.png"><h1>', "nothing from elsewhere"),
                ("<h1>", "<h1>see http://example.org ", "elsewhere"),
                ("<h1>", "<h1 onclick='x'>", "handler"),
                ("</body>", "<script>1</script></body>", "without scripts"),
                ('href="#times"', 'href="#tides"', "not there"),
                ("</body>", "x" * page_check.MOST_BYTES + "</body>", "too many")):
            with self.subTest(finding=finding):
                self.assertIn(old, page)
                found = page_check.findings(page.replace(old, new, 1))
                self.assertTrue(any(finding in sentence for sentence in found), found)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
