#!/usr/bin/env python3
"""Checks that one name means one thing: tags and functions of the library, the command and the MPI plugins.

SPDX-License-Identifier: BSD-3-Clause

Usage: check_names.py [ROOT]        exit 0: all rules hold; 1: findings, one a line.

A name is shared if it begins with iw_ or iwi_, or within cli, mpi or src if a header there has it. Verbs of features,
src/features/*/verb, are part of cli; tests do not count. Rules:
  * a shared name is defined in one file, as one thing: struct, union, enum or function; a function may have the name of the
    tag that it fills, in the same folder;
  * nothing local to a file (a static function, a tag in a .c file) has a shared name;
  * no two names differ by iw_ and iwi_ alone;
  * no text of the library names an option of the command: it says `setting`, as a public header spells it, and the
    command puts its option there (cli/process/ui.c).
Local names may be the same in several files. What stands in for a feature that is left out (#else of #if IW_FEATURE_...) does
not count. EXCEPTIONS lists names that are defined twice for a reason.
"""

import collections
import pathlib
import re
import sys

FOLDERS = ("include", "src", "cli", "mpi", "nccl")
EXCEPTIONS = {
    "main": "each program has one",
    "MPI_Pcontrol": "the tracer and the replay library each wrap it; no process loads both",
}

OPTION_EXCEPTIONS = {
    "src/kit/figure/palette.c": "variables of style sheets begin so too",
}

OPTION_ROW = re.compile(r'\bROW\("([\w-]+)"|\bOPT_ROW\([^,()]+,\s*"([\w-]+)"')
# Not 'var(--ink)' of style sheets; 'srun --mpi=pmix' has a '=', which options of ours are written without.
OPTION = re.compile(r"(?<![\w-])(?<!var\()--([A-Za-z][\w-]*)(?![\w=-])")
SETTING = re.compile(r"`([\w.]+)`")
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"((?:\\.|[^"\\\n])*)"', re.S)
ABOUT = re.compile(r'\.about =\s*("(?:\\.|[^"\\\n])*"\s*)+')
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
STAND_IN = re.compile(r"(^#if IW_FEATURE_\w+\n(?:(?!#if|#else).*\n)*?#else\n)((?:(?!#if|#endif).*\n)*)(?=#endif)", re.M)
TAG = re.compile(r"\b(struct|union|enum)\s+(\w+)\s*\{")
FUNCTION = re.compile(r"^(?!#|typedef\b)[A-Za-z_][\w \t*()]*?[ \t*](\w+)\(([^;{}]*)\)\s*\n?\{", re.M)
DECLARED = re.compile(r"\b(\w+)\([^;{}()]*\)[^;{}()]*;")
PREFIX = re.compile(r"^iwi?_")


def code_of(file):
    """The text without comments and strings, line by line as it was."""
    text = file.read_text(encoding="utf-8")
    code = NO_CODE.sub(lambda match: "\n" * match.group().count("\n"), text)
    return STAND_IN.sub(lambda match: match.group(1) + "\n" * match.group(2).count("\n"), code)


def read(root):
    """{path: code} of all C files."""
    files = {}
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*.[ch]")):
            path = file.relative_to(root)
            if "tests" not in path.parts:
                files[path.as_posix()] = code_of(file)
    return files


def definitions(files):
    """{name: {(kind, path)}} of tags and functions."""
    found = collections.defaultdict(set)
    for path, code in files.items():
        for kind, name in TAG.findall(code):
            found[name].add((kind, path))
        for match in FUNCTION.finditer(code):
            if match.group(1) not in ("if", "for", "while", "switch", "__attribute__"):
                found[match.group(1)].add(("function", path))
    return found


def scope(path):
    """Where a name without prefix may be met: the folder at the top, of verbs the command."""
    return "cli" if is_of_command(path) else path.split("/")[0]


def is_of_command(path):
    return path.startswith("cli/") or "/verb/" in path


def unit_of(path):
    """cli/options, src/core/sim, src/features/wave"""
    parts = path.split("/")[:-1]
    return "/".join(parts[:3] if parts[0] == "src" else parts[:2])


def declared_names(files):
    """{top folder: names that its headers have}."""
    names = collections.defaultdict(set)
    for path, code in files.items():
        if path.endswith(".h"):
            names[scope(path)] |= {name for _, name in TAG.findall(code)}
            names[scope(path)] |= {match.group(1) for match in FUNCTION.finditer(code)}
            names[scope(path)] |= set(DECLARED.findall(code))
    return names


def is_one_thing(places):
    """At most one tag, and at most one function, which then is of the tag's folder."""
    tags = [path for kind, path in places if kind != "function"]
    functions = [path for kind, path in places if kind == "function"]
    folders = {unit_of(path) for path in tags + functions}
    return len(tags) <= 1 and len(functions) <= 1 and len(folders) == 1


def check_definitions(files, found):
    declared = declared_names(files)
    for name, places in sorted(found.items()):
        groups = collections.defaultdict(list)
        for kind, path in sorted(places):
            groups["" if PREFIX.match(name) else scope(path)].append((kind, path))
        for top, group in groups.items():
            is_shared = PREFIX.match(name) or name in declared[top]
            if is_shared and name not in EXCEPTIONS and not is_one_thing(group):
                listed = ", ".join(f"{kind} in {path}" for kind, path in group)
                yield f"'{name}' means more than one thing: {listed}"


def check_prefixes(found):
    by_rest = collections.defaultdict(set)
    for name in found:
        if PREFIX.match(name):
            by_rest[PREFIX.sub("", name)].add(name)
    for names in sorted(by_rest.values(), key=sorted):
        if len(names) > 1:
            yield f"{' and '.join(sorted(names))} differ by their prefix alone"


def strings_of(text):
    """(line, content) of each string literal, but descriptions of keys, which are for programmers."""
    text = ABOUT.sub(lambda match: "\n" * match.group().count("\n"), text)
    for match in TOKEN.finditer(text):
        if match.group(1) is not None:
            yield text.count("\n", 0, match.start()) + 1, match.group(1)


def option_names(root):
    """What the tables of the command call its options."""
    names = set()
    for file in [*(root / "cli").rglob("*.c"), *(root / "src").rglob("verb/*.c")]:
        for match in OPTION_ROW.finditer(file.read_text(encoding="utf-8")):
            names.add(match.group(1) or match.group(2))
    return names


def check_texts(root):
    options = option_names(root)
    spelled = set()
    for header in (root / "include").rglob("*.h"):
        spelled |= set(re.findall(r"\w+", NO_CODE.sub("", header.read_text(encoding="utf-8"))))
    for file in sorted((root / "src").rglob("*.[ch]")):
        path = file.relative_to(root).as_posix()
        if is_of_command(path) or "/tests/" in path:
            continue
        for line, text in strings_of(file.read_text(encoding="utf-8")):
            for name in OPTION.findall(text) if path not in OPTION_EXCEPTIONS else ():
                if name in options:
                    yield f"{path}:{line}: the library names the option --{name} of the command"
            for name in SETTING.findall(text):
                if name.split(".")[-1] not in spelled:
                    yield f"{path}:{line}: no public header has a setting `{name}`"


def check(root):
    files = read(root)
    found = definitions(files)
    return [*check_definitions(files, found), *check_prefixes(found), *check_texts(root)], len(files)


def main(arguments):
    default = pathlib.Path(__file__).resolve().parent.parent
    errors, count = check(pathlib.Path(arguments[0]) if arguments else default)
    for line in errors:
        print(f"error: {line}")
    print(f"check_names: {count} files, {len(errors)} errors")
    return 1 if errors or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
