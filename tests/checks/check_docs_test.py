"""Shows that tools/check_docs.py runs blocks, matches ellipses, and fails on documents that lie.

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
import check_docs  # noqa: E402


class CheckDocs(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        (self.root / "bin").mkdir()
        (self.root / "examples").mkdir()
        (self.root / "examples" / "small.txt").write_text("from the examples\n", encoding="utf-8")
        tool = self.root / "bin" / "idlewave"
        tool.write_text("#!/bin/sh\necho one; echo two; echo three\necho warned >&2\nexit ${1:-0}\n", encoding="utf-8")
        tool.chmod(0o755)

    def run_on(self, text, *options):
        """(exit code, output) of check_docs.py on a README.md with this text."""
        (self.root / "README.md").write_text(text, encoding="utf-8")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = check_docs.main(["--root", str(self.root), "--bin", str(self.root / "bin"),
                                    "--scratch", str(self.root), *options])
        return code, out.getvalue()

    def run_block(self, lines):
        return self.run_on("# Title\n\n```console\n" + lines + "```\n")

    def assert_fails(self, lines, part):
        code, output = self.run_block(lines)
        self.assertEqual(code, 1, output)
        self.assertIn(part, output)

    def test_accepts_exact_output_with_stderr(self):
        code, output = self.run_block("$ idlewave\none\ntwo\nthree\nwarned\n")
        self.assertEqual(code, 0, output)

    def test_accepts_ellipses_for_lines_and_within_lines(self):
        for lines in ("...\n", "one\n...\n", "...\nthree\nwarned\n", "o...\n...w...\n...\nwarn...\n",
                      "one\n...\ntwo\n...\n"):
            code, output = self.run_block("$ idlewave\n" + lines)
            self.assertEqual(code, 0, output)

    def test_refuses_other_output(self):
        self.assert_fails("$ idlewave\none\ntwo\n", "README.md:4: 'idlewave': prints something else")
        self.assert_fails("$ idlewave\n...\nfour\n...\n", "prints something else")
        self.assert_fails("$ idlewave\n", "prints something else")

    def test_an_ellipsis_within_a_line_stays_in_the_line(self):
        self.assert_fails("$ idlewave\none...three\nwarned\n", "prints something else")

    def test_refuses_another_exit_code(self):
        self.assert_fails("$ idlewave 2\n...\n", "exit code 2, expected 0")
        self.assert_fails("# exits 2\n$ idlewave\n...\n", "exit code 0, expected 2")

    def test_accepts_the_exit_code_that_the_block_announces(self):
        code, output = self.run_block("# exits 2\n$ true\n$ idlewave 2\n...\n")
        self.assertEqual(code, 0, output)

    def test_accepts_that_a_reader_has_enough(self):
        code, output = self.run_block("$ yes | head -n 1\ny\n")
        self.assertEqual(code, 0, output)

    def test_commands_of_a_block_share_a_directory_and_go_on_over_lines(self):
        code, output = self.run_block("$ echo a \\\n> b > kept\n$ cat kept examples/small.txt\na b\nfrom the examples\n")
        self.assertEqual(code, 0, output)

    def test_quick_runs_have_other_commands(self):
        page = "```console captured\n$ echo 10s > kept\n```\n<!-- quick: 10s -> 2s -->\n\n```console\n$ cat kept\n{}\n```\n"
        for options, line in (((), "10s"), (("--quick",), "2s")):
            code, output = self.run_on(page.format(line), *options)
            self.assertEqual(code, 0, output)

    def test_refuses_changes_for_quick_runs_that_change_nothing(self):
        for comment, part in (("<!-- quick: 20s -> 2s -->", "no command of the block has '20s'"), ("<!-- quick -->", "expected '<!-- quick: ")):
            code, output = self.run_on(f"```console captured\n$ echo long 10s\n```\n{comment}\n", "--quick")
            self.assertEqual(code, 1, output)
            self.assertIn(part, output)

    def test_blocks_of_a_document_share_a_directory(self):
        code, output = self.run_on("```console\n$ echo a > kept\n```\n\ntext\n\n```console\n$ cat kept\na\n```\n")
        self.assertEqual(code, 0, output)

    def test_other_blocks_are_not_run(self):
        code, output = self.run_on("```sh\n$ false\n```\n```console\n$ true\n```\n")
        self.assertEqual(code, 0, output)

    def test_refuses_documents_without_commands_and_broken_blocks(self):
        self.assertEqual(self.run_on("no block\n")[0], 1)
        self.assert_fails("text first\n$ true\n", "begins with a line")
        self.assertIn("has no end", self.run_on("```console\n$ true\n")[1])

    def test_what_was_captured_is_run_and_not_compared(self):
        code, output = self.run_on("```console captured\n$ idlewave\nten\n$ idlewave\neleven\n```\n")
        self.assertEqual(code, 0, output)

    def test_what_was_captured_may_have_another_verdict_but_not_fail(self):
        code, output = self.run_on("```console captured\n$ idlewave 2\nten\n```\n")
        self.assertEqual(code, 0, output)
        code, output = self.run_on("```console captured\n$ idlewave 1\nten\n```\n")
        self.assertIn("exit code 1, expected 0", output)

    def test_what_needs_mpi_is_skipped_without_it_and_so_is_the_rest(self):
        page = "```console captured mpi\n$ mpirun -n 2 idlewave 1\nten\n```\n```console\n$ false\n```\n"
        with unittest.mock.patch.object(check_docs.shutil, "which", return_value=None):
            code, output = self.run_on(page)
        self.assertEqual(code, 0, output)
        self.assertIn("SKIPPED: README.md: there is no mpicc and no mpirun", output)
        for name in ("mpicc", "mpirun"):
            (self.root / "bin" / name).write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
            (self.root / "bin" / name).chmod(0o755)
        self.assertIn("exit code 1, expected 0", self.run_on(page)[1])

    def test_what_a_captured_command_prints_has_the_form_that_the_comment_says(self):
        page = "```console captured\n$ true\n$ idlewave\none hundred\nwarned\n```\n\n<!-- prints\n{}\n-->\n"
        code, output = self.run_on(page.format("one...\n..."))
        self.assertEqual(code, 0, output)
        code, output = self.run_on(page.format("one hundred\n..."))
        self.assertIn("README.md:3: 'idlewave': prints something else", output)
        code, output = self.run_on(page.format("one\n..."))
        self.assertIn("the captured output does not match", output)
        code, output = self.run_on("```console\n$ true\n```\n\n<!-- prints\n...\n-->\n")
        self.assertIn("does not follow a block 'console captured'", output)


class CheckLinks(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        self.write("README.md", "# Title\n[all](docs/README.md) [way out](https://example.org/none)\n")
        self.write("docs/README.md", "# All\n[one](pages/one.md#second-part) [up](../README.md)\n")
        self.write("docs/pages/one.md", "# One\n## Second `part`\n```\n[no link](nowhere.md)\n```\n[self](#one)\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_links(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = check_docs.main(["--root", str(self.root), "--links"])
        return code, out.getvalue()

    def assert_fails(self, part):
        code, output = self.run_links()
        self.assertEqual(code, 1, output)
        self.assertIn(part, output)

    def test_accepts_pages_that_are_reached_and_links_that_lead_somewhere(self):
        code, output = self.run_links()
        self.assertEqual(code, 0, output)
        self.assertIn("4 links", output)

    def test_refuses_links_that_lead_nowhere(self):
        self.write("src/room/README.md", "[b](../../docs/none.md#x)\n")
        self.assert_fails("src/room/README.md: the link target '../../docs/none.md#x' does not exist")

    def test_refuses_anchors_without_a_heading(self):
        self.write("docs/pages/one.md", "# One\n## Third part\n")
        self.assert_fails("'pages/one.md#second-part' has no such heading")

    def test_refuses_pages_that_nothing_leads_to(self):
        self.write("docs/pages/two.md", "# Two\n[one](one.md) [three](three.md)\n")
        self.write("docs/pages/three.md", "# Three\n[two](two.md)\n")
        self.assert_fails("docs/pages/two.md: no link leads here from README.md")
        self.assert_fails("docs/pages/three.md: no link")

    def test_pages_outside_of_docs_need_no_link(self):
        self.write("src/room/README.md", "# A room\n")
        self.assertEqual(self.run_links()[0], 0)


if __name__ == "__main__":
    unittest.main()
