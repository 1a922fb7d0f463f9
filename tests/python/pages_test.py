#!/usr/bin/env python3
"""The examples on the pages about Python print what they show.

SPDX-License-Identifier: BSD-3-Clause

Usage: pages_test.py SOURCE_DIR      `import idlewave` must work, with all packages; IDLEWAVE_COMMAND names the command
Blocks marked `pycon` run, those of a page one after the other in an empty folder; `...` stands for anything.
"""

import doctest
import os
import pathlib
import re
import sys
import tempfile
import unittest

import idlewave
import idlewave.figures

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
PAGES = ("docs/how-to/python.md", "docs/reference/python.md")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples(text):
    """The blocks of a page; lines between them are left empty, so that numbers of lines are those of the page."""
    lines, is_in = [], False
    for line in text.split("\n"):
        is_fence = re.match(r"```", line) is not None
        lines.append(line if is_in and not is_fence else "")
        is_in = not is_in and line == "```pycon" if is_fence else is_in
    return "\n".join(lines)


class Pages(unittest.TestCase):
    def check(self, page):
        text = examples((SOURCE / page).read_text(encoding="utf-8"))
        test = doctest.DocTestParser().get_doctest(text, {}, page, str(SOURCE / page), 0)
        self.assertGreater(len(test.examples), 3, "too few examples were found")
        said = []
        old = os.getcwd()
        with tempfile.TemporaryDirectory(prefix="iw_pages_") as folder:
            os.chdir(folder)
            try:
                failed = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append).failed
            finally:
                os.chdir(old)
        self.assertEqual(failed, 0, "".join(said))

    def test_how_to(self):
        self.check(PAGES[0])

    def test_reference(self):
        self.check(PAGES[1])

    def test_every_public_name_is_in_the_reference(self):
        text = (SOURCE / PAGES[1]).read_text(encoding="utf-8")
        names = set(idlewave.__all__) | set(idlewave.kinds.__all__)
        names |= {f"noise.{name}" for name, value in vars(idlewave.noise).items() if getattr(value, "__module__", "") == "idlewave.noise"}
        names |= {name for kind in (idlewave.Study, idlewave.Recording, idlewave.Timeline, idlewave.Result) for name in vars(kind)
                  if not name.startswith("_") and name.islower()}
        names |= {name for name, value in vars(idlewave.figures).items()
                  if getattr(value, "__module__", "") == "idlewave.figures" and not name.startswith("_") and name != "plot"}
        self.assertEqual(sorted(name for name in names if not re.search(rf"`[^`\n]*\b{name}\b", text)), [])

    def test_a_wrong_example_is_found(self):
        text = examples("a\n```pycon\n>>> 1 + 1\n3\n```\n```python\n>>> no\n```\n")
        test = doctest.DocTestParser().get_doctest(text, {}, "page", "page", 0)
        self.assertEqual(len(test.examples), 1)
        self.assertEqual(doctest.DocTestRunner().run(test, out=lambda text: None).failed, 1)


if __name__ == "__main__":
    unittest.main()
