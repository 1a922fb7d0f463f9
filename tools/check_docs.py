#!/usr/bin/env python3
"""Runs the console blocks of the documentation and compares what they print; checks relative links.

SPDX-License-Identifier: BSD-3-Clause

Usage: check_docs.py --bin DIR [--root ROOT] [--scratch DIR] [--only-links] [FILE ...]

A block opens with ```console. A line "$ COMMAND" is run by bash, with DIR first on PATH and ROOT/examples as examples/, in
a scratch directory that all blocks of a document share: a reader goes through them one after another too. A command that
ends in a backslash goes on in the next line. The lines below it are what it must print, stdout and stderr together. "..."
stands for anything: within a line for any text, alone on a line for any number of lines. A block whose first line is
"# exits N" must end with that code; all other commands must exit with 0. Without FILE: README.md, CONTRIBUTING.md,
examples/README.md and docs/**/*.md.
"""

import argparse
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TIMEOUT_SECONDS = 300
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")


class Command:
    def __init__(self, line_number, text):
        self.line_number = line_number
        self.text = text
        self.expected = []
        self.exit_code = 0


def fenced_blocks(text):
    """(line number of the fence, info string, lines) of each fenced block."""
    fence, info, start, lines = None, "", 0, []
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"^\s*(`{3,})(.*)$", line)
        if fence is None and match:
            fence, info, start, lines = match.group(1), match.group(2).strip(), number, []
        elif fence is not None and match and match.group(1) == fence and not match.group(2).strip():
            yield start, info, lines
            fence = None
        elif fence is not None:
            lines.append(line)
    if fence is not None:
        raise ValueError(f"line {start}: the block has no end")


def parse_commands(start, lines):
    """The commands of one console block, each with its expected output."""
    commands, exit_code, is_continued = [], 0, False
    for number, line in enumerate(lines, start + 1):
        exits = re.fullmatch(r"# exits (\d+)", line.strip())
        if exits and number == start + 1:
            exit_code = int(exits.group(1))
        elif is_continued:
            commands[-1].text += "\n" + line.removeprefix("> ")
        elif line.startswith("$ "):
            commands.append(Command(number, line[2:]))
        elif commands:
            commands[-1].expected.append(line.rstrip())
            continue
        else:
            raise ValueError(f"line {number}: a console block begins with a line '$ COMMAND'")
        is_continued = bool(commands) and commands[-1].text.endswith("\\")
    if not commands:
        raise ValueError(f"line {start}: the console block has no command")
    commands[-1].exit_code = exit_code
    return commands


def matches(expected, actual):
    """Whether the lines `actual` match the lines `expected` with their ellipses."""
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += "[^\n]*".join(re.escape(part) for part in line.split("...")) + "\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in actual)) is not None


# of long work: only slow machines print it
PROGRESS = re.compile(r"idlewave: [a-z ]+: (?:\d+ % done, \d+:\d\d left|note: that will take about .*)")


def run_command(command, directory, environment):
    """None, or what is wrong with the command."""
    try:
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command.text], cwd=directory, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"still running after {TIMEOUT_SECONDS} s"
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    actual = [line.rstrip() for line in lines if PROGRESS.fullmatch(line) is None]
    if done.returncode != command.exit_code:
        return f"exit code {done.returncode}, expected {command.exit_code}; it printed:\n" + "\n".join(actual)
    if not matches(command.expected, actual):
        diff = difflib.unified_diff(command.expected, actual, "documented", "printed", lineterm="", n=100)
        return "prints something else:\n" + "\n".join(diff)
    return None


def run_block(place, commands, directory, environment):
    """Errors of one block."""
    for command in commands:
        problem = run_command(command, directory, environment)
        if problem:
            return [f"{place}:{command.line_number}: '{command.text}': {problem}"]
    return []


def make_directory(options):
    directory = tempfile.mkdtemp(prefix="docs-", dir=options.scratch)
    examples = options.root / "examples"
    if examples.is_dir():
        os.symlink(examples.resolve(), os.path.join(directory, "examples"))
    return directory


def check_links(place, path, text):
    errors = []
    for target in LINK.findall(text):
        is_local = not re.match(r"[a-z]+:", target) and not target.startswith("#")
        if is_local and not (path.parent / target.split("#")[0]).exists():
            errors.append(f"{place}: the link target '{target}' does not exist")
    return errors


def check_file(path, options, environment):
    """(number of commands run, errors) of one document."""
    place = os.path.relpath(path, options.root)
    text = path.read_text(encoding="utf-8")
    errors, count = check_links(place, path, text), 0
    if options.only_links:
        return len(LINK.findall(text)), errors
    directory = make_directory(options)
    try:
        for start, info, lines in fenced_blocks(text):
            if info == "console":
                commands = parse_commands(start, lines)
                count += len(commands)
                errors += run_block(place, commands, directory, environment)
    except ValueError as problem:
        errors.append(f"{place}: {problem}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return count, errors


def default_files(root):
    files = [root / "README.md", root / "CONTRIBUTING.md", root / "examples" / "README.md"]
    return [path for path in files if path.exists()] + sorted((root / "docs").rglob("*.md"))


def main(arguments):
    here = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description="Runs the console blocks of the documentation.")
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="directory of the built idlewave")
    parser.add_argument("--root", type=pathlib.Path, default=here)
    parser.add_argument("--scratch", type=pathlib.Path, default=None)
    parser.add_argument("--only-links", action="store_true", help="run nothing")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args(arguments)

    environment = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1", COLUMNS="80", IDLEWAVE_CONFIG="")
    environment["PATH"] = f"{options.bin.resolve()}:{environment.get('PATH', '')}"
    count, errors = 0, []
    for path in options.files or default_files(options.root):
        commands, problems = check_file(path, options, environment)
        count += commands
        errors += problems
    for line in errors:
        print(f"error: {line}")
    print(f"check_docs: {count} {'links' if options.only_links else 'commands'}, {len(errors)} errors")
    return 1 if errors or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
