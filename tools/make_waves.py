#!/usr/bin/env python3
"""Remakes the tables of docs/explanation/waves.md, which are in docs/validation/data, from the experiments of examples/waves.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_waves.py BUILD_DIR [--only NAME] [--data DIR] [--pictures DIR]
    BUILD_DIR is a release build. Takes about 8 minutes. The pictures' DIR (default: a temporary one) keeps timelines and pictures.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import data_page

# each is a script of examples/waves
TITLES = {
    "flavours": "Idle waves: eight flavours",
    "distance": "Idle waves: partners, phases and messages",
    "cancellation": "Idle waves that meet",
    "decay": "Decay of idle waves in noise",
    "coverage": "How often intervals of idle waves hold their law",
    "elimination": "What a delay costs in the end",
    "beyond": "Idle waves beyond the paper",
}


def tables_of(name, idlewave, folder):
    script = data_page.ROOT / "examples" / "waves" / f"{name}.py"
    done = subprocess.run([sys.executable, "-B", str(script), "--idlewave", str(idlewave), "-o", str(folder)],
                          stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description="Remakes the tables of docs/explanation/waves.md.")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--only", choices=TITLES, help="one table")
    data_page.add_option(parser)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for name in [arguments.only] if arguments.only else TITLES:
            print(name, flush=True)
            text = tables_of(name, arguments.build / "cli" / "idlewave", arguments.pictures or pathlib.Path(scratch))
            data_page.write(arguments.data, f"waves-{name}", TITLES[name], "make_waves.py", "explanation/waves.md", text)


if __name__ == "__main__":
    main()
