#!/usr/bin/env python3
"""Writes two pages for reading: what every verb prints, and every error and warning, from the command-line cases.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_outputs.py [--root ROOT] FOLDER

FOLDER/outputs.md has the text that each case expects on stdout, below its command; JSON, CSV, HTML and GOAL are left out. FOLDER/errors.md
has what cases expect on stderr, with the command and the exit code. Both are in the order of verbs in the main help.
"""

import argparse
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "cli"))
import run_case

DATA = re.compile(r"^\s*[{\[<]|^[\w.]+(,[\w.]*){3,}$|^num_ranks ", re.M)
VERBS = ("check record watch verify fleet trace explain replay bench net simulate whatif study model training wave "
         "noise report schedule get config help").split()


class Case(run_case.Case):
    def __init__(self, path):
        super().__init__(path)
        self.name = f"{path.parent.name}: {path.stem}"
        self.verb = path.parent.name.split("-")[0]

    def stdout(self):
        text = self.sections.get("stdout", "").strip("\n")
        return "" if DATA.match(text) or not re.search(r"[a-z]+ [a-z]+", text) else text

    def stderr(self):
        lines = [line for line in self.sections.get("stderr", "").splitlines() if line and not line.startswith("RETRIED:")]
        return "\n".join(lines + [f"(exit code {self.sections.get('exit', '0').strip()})"]) if lines else ""


def cases_of(root):
    found = [Case(path) for top in ("src", "tests") for path in sorted((root / top).rglob("cli/*/*.test"))]
    known = {verb: number for number, verb in enumerate(VERBS)}
    return sorted(found, key=lambda case: (known.get(case.verb, len(known)), case.name))


def page(title, introduction, cases, text_of):
    lines, verb = [f"# {title}", "", introduction, ""], None
    for case in cases:
        text = text_of(case)
        if not text:
            continue
        if case.verb != verb:
            verb = case.verb
            lines += [f"## {verb}", ""]
        purpose = re.sub(r"([<*_$\[`])", r"\\\1", " ".join(case.sections["purpose"].split()))
        lines += [f"### {case.name}", "", purpose, "", "```text", "$ " + case.sections["command"].strip(), text, "```", ""]
    return "\n".join(lines)


def write_pages(root, folder):
    """The names of the pages in `folder`."""
    cases = cases_of(root)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "outputs.md").write_text(page(
        "What every verb prints", "Made from the tests: each command with the text that it must print. Numbers that differ between "
        "machines are hidden.", cases, Case.stdout), encoding="utf-8")
    (folder / "errors.md").write_text(page(
        "Errors and warnings", "Made from the tests: each command with the messages that it must print on stderr.", cases, Case.stderr),
        encoding="utf-8")
    return ["outputs", "errors"]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args(arguments)
    write_pages(options.root.resolve(), options.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
