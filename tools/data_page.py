"""Writes the pages of docs/validation/data: tables that the scripts make_*.py remake, apart from the prose about them.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "validation" / "data"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def add_option(parser):
    parser.add_argument("--data", type=pathlib.Path, default=FOLDER, metavar="DIR", help="where pages go (default docs/validation/data)")


def write(folder, name, title, tool, about, text):
    """The page `name`, with a link to the page of docs/ that is `about` it."""
    link = os.path.relpath(ROOT / "docs" / about, FOLDER)
    page = f"# {title}\n\nWritten by `tools/{tool}`; edits will be lost. [{pathlib.Path(about).name}]({link}) explains it.\n\n{text.strip()}\n"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(page, encoding="utf-8")
