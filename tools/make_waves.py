#!/usr/bin/env python3
"""Remakes the tables of docs/explanation/waves.md from the experiments of examples/waves.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_waves.py BUILD_DIR [--page FILE] [--pictures DIR]
    BUILD_DIR is a release build. Takes about 5 minutes. Text between "<!-- begin NAME -->" and "<!-- end NAME -->" is
    replaced by the tables of examples/waves/NAME.py; all else stays. DIR (default: a temporary one) keeps timelines and pictures.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def tables_of(name, idlewave, folder):
    done = subprocess.run([sys.executable, "-B", str(ROOT / "examples" / "waves" / f"{name}.py"), "--idlewave", str(idlewave),
                           "-o", str(folder)], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description="Remakes the tables of docs/explanation/waves.md.")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs" / "explanation" / "waves.md")
    parser.add_argument("--pictures", type=pathlib.Path)
    arguments = parser.parse_args()
    text = arguments.page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.pictures or pathlib.Path(scratch)
        for name in re.findall(r"<!-- begin (\w+) -->", text):
            print(name, flush=True)
            table = tables_of(name, arguments.build / "cli" / "idlewave", folder)
            text = re.sub(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)",
                          lambda match, table=table: f"{match[1]}{table}\n{match[2]}", text, flags=re.S)
            arguments.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
