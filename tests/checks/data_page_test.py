"""Shows that tools/data_page.py writes pages that lead to their prose, and that each script's pages are there.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import data_page  # noqa: E402
import make_scale  # noqa: E402
import make_waves  # noqa: E402


class DataPage(unittest.TestCase):
    def test_a_table_has_a_head_and_a_line_for_each_row(self):
        self.assertEqual(data_page.table(("a", "b"), [(1, "x"), (2, "y")]), "| a | b |\n|---|---|\n| 1 | x |\n| 2 | y |")

    def test_a_page_names_its_script_and_leads_to_its_prose(self):
        with tempfile.TemporaryDirectory() as holder:
            folder = pathlib.Path(holder) / "data"
            data_page.write(folder, "name", "A title", "make_waves.py", "explanation/waves.md", "| a |\n|---|\n\n")
            text = (folder / "name.md").read_text(encoding="utf-8")
        self.assertTrue(text.startswith("# A title\n\nWritten by `tools/make_waves.py`; "), text)
        self.assertTrue(text.endswith("\n\n| a |\n|---|\n"), text)
        link = re.search(r"\[waves.md\]\((.*)\)", text).group(1)
        self.assertTrue(os.path.exists(data_page.FOLDER / link), link)

    def test_long_tables_become_files_beside_the_page(self):
        short = data_page.table(("a", "b"), [(1, "x")])
        long = data_page.table(("`a`", "b"), [(number, "1, **out**") for number in range(30)])
        with tempfile.TemporaryDirectory() as holder:
            folder = pathlib.Path(holder)
            (folder / "name-3.csv").write_text("of another time")
            data_page.write(folder, "name", "A title", "make_waves.py", "explanation/waves.md", f"{short}\n\n{long}")
            text, rows = (folder / "name.md").read_text(), (folder / "name.csv").read_text().splitlines()
            data_page.write(folder, "name", "A title", "make_waves.py", "explanation/waves.md", f"{long}\n\nMore:\n\n{long}")
            files = sorted(path.name for path in folder.glob("*.csv"))
        self.assertTrue(text.endswith(f"\n\n{short}\n\n[name.csv](name.csv): 30 rows.\n"), text)
        self.assertEqual((rows[:2], len(rows)), (["a,b", '0,"1, out"'], 31))
        self.assertEqual(files, ["name-1.csv", "name-2.csv"])

    def test_the_pages_of_the_scripts_are_there(self):
        names = [f"waves-{name}" for name in make_waves.TITLES] + [f"scale-{name}" for name in make_scale.TABLES]
        for name in names:
            self.assertTrue((data_page.FOLDER / f"{name}.md").exists(), name)


if __name__ == "__main__":
    unittest.main()
