#!/usr/bin/env python3
"""Remakes the pictures of docs/gallery.md by the commands that stand beside them.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_pictures.py --bin DIR [--check] [NAME ...]
    NAME      replace only these, "wave.png"
    --check   change nothing: every picture of docs/pictures is in the gallery, and every command makes its picture

Blocks "sh picture" are run by bash, one after the other in one folder, with DIR first on PATH and examples/ beside them; what one
writes under the name of the next picture of the page becomes that picture.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
IMAGE = re.compile(r"!\[[^\]]*\]\(pictures/([^)\s]+)\)")


def blocks_of(text):
    """(name of the picture, commands or None) of each picture of the gallery."""
    found, commands = [], None
    for match in re.finditer(r"^```sh picture\n(.*?)^```$|" + IMAGE.pattern, text, re.M | re.S):
        if match.group(2) is None:
            commands = match.group(1)
        else:
            found.append((match.group(2), commands))
            commands = None
    return found


def make(commands, name, options, folder):
    """None, or what is wrong; the picture is folder/name."""
    environment = dict(os.environ, PATH=f"{options.bin.resolve()}:{os.environ['PATH']}", IDLEWAVE_CONFIG="")
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", commands], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stdout}"
    return None if (folder / name).exists() else f"the commands write no '{name}'"


def main(arguments):
    parser = argparse.ArgumentParser(description="Remakes the pictures of docs/gallery.md.")
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="directory of the built idlewave")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args(arguments)
    pictures = blocks_of((ROOT / "docs" / "gallery.md").read_text(encoding="utf-8"))
    errors = [f"docs/pictures/{path.name}: is not in docs/gallery.md" for path in sorted(PICTURES.iterdir())
              if path.name not in {name for name, _ in pictures} and not path.name.startswith("badge-")]
    with tempfile.TemporaryDirectory(prefix="idlewave-picture-") as scratch:
        os.symlink(ROOT / "examples", pathlib.Path(scratch) / "examples")
        for name, commands in pictures:
            problem = make(commands, name, options, pathlib.Path(scratch)) if commands else None
            if problem:
                errors.append(f"docs/gallery.md: {name}: {problem}")
            elif commands and not options.check and (not options.names or name in options.names):
                shutil.copyfile(pathlib.Path(scratch) / name, PICTURES / name)
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    print(f"make_pictures: {len(pictures)} pictures, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
