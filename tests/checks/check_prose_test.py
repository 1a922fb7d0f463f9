"""Shows that tools/check_prose.py finds phrases in what people read, leaves the rest alone, and scores sentences.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_prose  # noqa: E402


class CheckProse(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)

    def run_on(self, name, text, *options, allowed=()):
        """(exit code, output) of check_prose.py on a tree with that file alone."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        out = io.StringIO()
        with contextlib.redirect_stdout(out), unittest.mock.patch.object(check_prose, "ALLOWED", allowed), \
                unittest.mock.patch.object(sys, "argv", ["check_prose.py", "--root", str(self.root), *options]):
            code = check_prose.main()
        path.unlink()
        return code, out.getvalue()

    def test_phrases_of_pages_and_of_strings_are_found(self):
        code, out = self.run_on("docs/page.md", "# Title\n\nThe run goes\non with two ranks a node.\n")
        self.assertEqual(code, 1)
        self.assertIn("docs/page.md:3: 'goes on with'", out)
        self.assertIn("'two ranks a node': per NOUN", out)
        code, out = self.run_on("src/core/a.c", 'void f(void)\n{\n    say("which rung it "\n        "was");\n}\n')
        self.assertEqual(code, 1)
        self.assertIn("src/core/a.c:3: 'rung'", out)

    def test_code_comments_and_tests_are_left_alone(self):
        for name, text in (("docs/page.md", "# Title\n\n```console\n$ echo the rung\n```\nIt is `the rung here`.\n"),
                           ("src/core/a.c", '/* the rung goes on */\n// say("the rung of all")\nint a;\n'),
                           ("src/core/tests/a.c", 'void f(void) { say("the rung it was"); }\n'),
                           ("src/core/key.c", 'const char *key = "rung";\n')):
            self.assertEqual(self.run_on(name, text)[0], 0, name)

    def test_exceptions_are_needed(self):
        text = "# Title\n\nThe rung of a file.\n"
        self.assertEqual(self.run_on("a.md", text, allowed=(("The rung of a file", "a key"),))[0], 0)
        code, out = self.run_on("a.md", "# Title\n", allowed=(("The rung of a file", "a key"),))
        self.assertEqual(code, 1)
        self.assertIn("nothing needs the exception", out)

    def test_sentences_are_scored(self):
        plain = "The run took as long as without noise."
        long = " ".join(["word"] * 30) + "."
        nested = "The rank that waits for the one which waits where all wait is idle."
        self.assertEqual([check_prose.score(text) for text in (plain, long, nested)], [0, 5, 6])
        self.assertEqual(check_prose.score("This is the rung."), 10)
        _, out = self.run_on("a.md", f"# Title\n\n{plain} {nested}\n", "--worst", "1")
        self.assertIn("1 with a score, 6 in all", out)
        self.assertIn(nested, out)


if __name__ == "__main__":
    unittest.main()
