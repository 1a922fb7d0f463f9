#!/usr/bin/env python3
"""Runs the console blocks of the documentation and compares what they print; checks links.

SPDX-License-Identifier: BSD-3-Clause

Usage: check_docs.py --bin DIR [--quick] [--root ROOT] [--scratch DIR] [FILE ...]
       check_docs.py --links [--root ROOT]

A block opens with ```console. A line "$ COMMAND" is run by bash, with DIR first on PATH and ROOT/examples as examples/, in
a scratch directory that all blocks of a document share: a reader goes through them one after another too. A command that
ends in a backslash continues in the next line. The lines below it are what it must print, stdout and stderr together. "..."
stands for anything: within a line for any text, alone on a line for any number of lines. A block whose first line is
"# exits N" must end with that code; all other commands must exit with 0. Without FILE: README.md, CONTRIBUTING.md,
examples/README.md and docs/**/*.md.

A block that opens with ```console captured shows what its commands once printed on some machine, to be read. They are run,
but what they print is not compared with the block, and they may exit with 2 to 5: the verdict depends on the machine. If a comment
"<!-- prints", lines as above, "-->" follows the block, both the captured output of its last command and what that command
prints now must match these lines. With --quick, comments "<!-- quick: THIS -> THAT -->" behind a captured block change its commands:
a recording of 2 s shows as well as one of 10 s that the page is right. A block "console captured mpi" needs a compiler and a launcher of MPI; without these it and
what follows on its page is skipped.

--links looks at all Markdown files of the tree: every relative link leads to a file, every #anchor to a heading, and every
page below docs/ is reached from README.md.
"""

import argparse
import difflib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

TIMEOUT_SECONDS = 300
QUICK = re.compile(r"<!-- quick: (.*) -> (.*) -->")
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")


class Command:
    def __init__(self, line_number, text):
        self.line_number = line_number
        self.text = text
        self.shown = []       # below the command on the page
        self.expected = None  # what is compared; None: the lines shown
        self.exit_codes = (0,)
        self.needs = ()       # programs


def fenced_blocks(text):
    """(line number of the fence, info string, lines) of each fenced block, and of each comment "<!-- prints" or "<!-- quick"."""
    fence, info, start, lines = None, "", 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if fence is None and line.startswith("<!-- quick"):
            yield number, "quick", [line]
            continue
        match = re.match(r"^\s*(`{3,})(.*)$", line)
        if fence is None and (match or line == "<!-- prints"):
            fence, info = (match.group(1), match.group(2).strip()) if match else ("-->", "prints")
            start, lines = number, []
        elif fence is not None and line.strip() == fence:
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
            commands[-1].shown.append(line.rstrip())
            continue
        else:
            raise ValueError(f"line {number}: a console block begins with a line '$ COMMAND'")
        is_continued = bool(commands) and commands[-1].text.endswith("\\")
    if not commands:
        raise ValueError(f"line {start}: the console block has no command")
    commands[-1].exit_codes = (exit_code,)
    return commands


def hasten(start, line, commands):
    """Changes commands as a comment "<!-- quick" says."""
    match = QUICK.fullmatch(line)
    if match is None:
        raise ValueError(f"line {start}: expected '<!-- quick: THIS -> THAT -->'")
    this, that = match.groups()
    if not any(this in command.text for command in commands):
        raise ValueError(f"line {start}: no command of the block has '{this}'")
    for command in commands:
        command.text = command.text.replace(this, that)


def console_blocks(text, is_quick=False):
    """The commands of each console block."""
    blocks, is_captured = [], False
    for start, info, lines in fenced_blocks(text):
        if info in ("console", "console captured", "console captured mpi"):
            blocks.append(parse_commands(start, lines))
            is_captured = info != "console"
            for command in blocks[-1] if is_captured else []:
                command.expected, command.exit_codes = ["..."], (0, 2, 3, 4, 5)
                command.needs = ("mpicc", "mpirun") if info.endswith("mpi") else ()
        elif info in ("prints", "quick") and not is_captured:
            raise ValueError(f"line {start}: '<!-- {info}' does not follow a block 'console captured'")
        elif info == "quick":
            if is_quick:
                hasten(start, lines[0], blocks[-1])
        elif info == "prints":
            command = blocks[-1][-1]
            command.expected = [line.rstrip() for line in lines]
            if not matches(command.expected, command.shown):
                raise ValueError(f"line {start}: the captured output does not match what '<!-- prints' says")
    return blocks


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
PROGRESS = re.compile(r"idlewave: [a-z ]+: (?:\d+ % done, \d+:\d\d left|note: about .*)")


# `idlewave ... | head -n 3`: whoever still writes when head ends gets SIGPIPE, on a busy machine now and then
READER_HAS_ENOUGH = 128 + signal.SIGPIPE


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
    if done.returncode not in command.exit_codes and done.returncode != READER_HAS_ENOUGH:
        return f"exit code {done.returncode}, expected {command.exit_codes[0]}; it printed:\n" + "\n".join(actual)
    expected = command.shown if command.expected is None else command.expected
    if not matches(expected, actual):
        diff = difflib.unified_diff(expected, actual, "documented", "printed", lineterm="", n=100)
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


def check_file(path, options, environment):
    """(number of commands run, errors) of one document."""
    place = os.path.relpath(path, options.root)
    errors, count = [], 0
    directory = make_directory(options)
    try:
        for commands in console_blocks(path.read_text(encoding="utf-8"), options.quick):
            count += len(commands)
            missing = [name for name in commands[0].needs if shutil.which(name, path=environment["PATH"]) is None]
            if missing:
                print(f"SKIPPED: {place}: there is no {' and no '.join(missing)}")
                break
            errors += run_block(place, commands, directory, environment)
    except ValueError as problem:
        errors.append(f"{place}: {problem}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return count, errors


def default_files(root):
    files = [root / "README.md", root / "CONTRIBUTING.md", root / "examples" / "README.md"]
    return [path for path in files if path.exists()] + sorted((root / "docs").rglob("*.md"))


# ---- links ----

def prose_of(path):
    """The page without its blocks, whose lines are no headings and hold no links."""
    return re.sub(r"^\s*(`{3,}).*?^\s*\1\s*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors_of(text):
    """The anchors of a page's headings, as GitHub makes them."""
    anchors = set()
    for heading in re.findall(r"^#+ +(.*?)\s*$", text, re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", LINK.sub(r"\1", heading).lower()).replace(" ", "-")
        count = 0
        while (f"{name}-{count}" if count else name) in anchors:
            count += 1
        anchors.add(f"{name}-{count}" if count else name)
    return anchors


def pages_of(root):
    """All Markdown files of the tree, and the text of each."""
    pages = {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in ("build", "node_modules") and not name.startswith("."))
        for name in names:
            if name.endswith(".md"):
                path = pathlib.Path(os.path.normpath(os.path.join(folder, name)))
                pages[path] = prose_of(path)
    return pages


def links_of(path, text):
    """(target as written, file, anchor) of each link that stays in the tree."""
    for _, target in LINK.findall(text):
        if not re.match(r"[a-z]+:", target):
            file, _, anchor = target.partition("#")
            yield target, pathlib.Path(os.path.normpath(path.parent / file)) if file else path, anchor


def check_links(root):
    """(number of links, errors): links that lead nowhere, and pages of docs/ that no way from README.md leads to."""
    pages = pages_of(root)
    count, errors, goes_to = 0, [], {}
    for path, text in pages.items():
        goes_to[path] = set()
        for target, file, anchor in links_of(path, text):
            count += 1
            goes_to[path].add(file)
            if not file.exists():
                errors.append(f"{path.relative_to(root)}: the link target '{target}' does not exist")
            elif anchor and file in pages and anchor not in anchors_of(pages[file]):
                errors.append(f"{path.relative_to(root)}: the link target '{target}' has no such heading")
    reached, waiting = set(), [root / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in pages and page not in reached:
            reached.add(page)
            waiting += goes_to[page]
    for path in pages:
        if path.is_relative_to(root / "docs") and path not in reached:
            errors.append(f"{path.relative_to(root)}: no link leads here from README.md")
    return count, errors


def main(arguments):
    here = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description="Runs the console blocks of the documentation, or checks links.")
    parser.add_argument("--bin", type=pathlib.Path, help="directory of the built idlewave")
    parser.add_argument("--root", type=pathlib.Path, default=here)
    parser.add_argument("--scratch", type=pathlib.Path, default=None)
    parser.add_argument("--quick", action="store_true", help="with the changes for quick runs")
    parser.add_argument("--links", action="store_true", help="check links, run nothing")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args(arguments)
    if not options.links and options.bin is None:
        parser.error("one of --bin and --links is needed")

    count, errors = check_links(options.root) if options.links else (0, [])
    if not options.links:
        environment = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1", COLUMNS="80", IDLEWAVE_CONFIG="",
                           OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           ASAN_OPTIONS="detect_leaks=0")  # MPI libraries leak
        environment["PATH"] = f"{options.bin.resolve()}:{environment.get('PATH', '')}"
        for path in options.files or default_files(options.root):
            commands, problems = check_file(path, options, environment)
            count += commands
            errors += problems
    for line in errors:
        print(f"error: {line}")
    print(f"check_docs: {count} {'links' if options.links else 'commands'}, {len(errors)} errors")
    return 1 if errors or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
