"""Writes the pages of docs/validation/data: tables that the scripts make_*.py and real_*.py remake, apart from the prose about them.

Tables of more than MOST_CELLS cells become files NAME.csv beside the page, which links them; the page keeps the short ones.

SPDX-License-Identifier: BSD-3-Clause
"""

import csv
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "validation" / "data"
MOST_CELLS = 30
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def add_option(parser):
    parser.add_argument("--data", type=pathlib.Path, default=FOLDER, metavar="DIR", help="where pages go (default docs/validation/data)")


def cells_of(text):
    """The head and the rows of a Markdown table, as plain text."""
    lines = [line for number, line in enumerate(text.splitlines()) if number != 1]
    return [[re.sub(r"`|\*\*", "", cell).strip() for cell in line.strip().strip("|").split("|")] for line in lines]


def without_long_tables(folder, name, text):
    """The text with a link in place of each long table, which becomes a CSV file in `folder`."""
    for old in [*folder.glob(f"{name}.csv"), *folder.glob(f"{name}-[0-9]*.csv")]:
        old.unlink()
    is_long = lambda found: sum(map(len, cells_of(found)[1:])) > MOST_CELLS
    count = sum(map(is_long, TABLE.findall(text)))
    names = iter([f"{name}.csv"] if count == 1 else [f"{name}-{number}.csv" for number in range(1, count + 1)])

    def stored(match):
        if not is_long(match.group()):
            return match.group()
        file, rows = next(names), cells_of(match.group())
        with open(folder / file, "w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)
        return f"[{file}]({file}): {len(rows) - 1} rows.\n"

    return TABLE.sub(stored, text)


def write(folder, name, title, tool, about, text):
    """The page `name`, with a link to the page of docs/ that is `about` it, and its long tables beside it."""
    link = os.path.relpath(ROOT / "docs" / about, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    text = without_long_tables(folder, name, text.strip() + "\n")
    page = f"# {title}\n\nWritten by `tools/{tool}`; edits will be lost. [{pathlib.Path(about).name}]({link}) explains it.\n\n{text}"
    (folder / f"{name}.md").write_text(page, encoding="utf-8")
