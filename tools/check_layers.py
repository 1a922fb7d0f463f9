#!/usr/bin/env python3
"""Checks that units of the tree use each other one way only, and the shape of source files.

SPDX-License-Identifier: BSD-3-Clause

Usage: check_layers.py [ROOT] [--objects BUILD] [--edges]
    exit 0: all rules hold; 1: findings, one per line.
    --objects   the same rules by the linker's symbols: nm over the objects of a build, instead of the sources
    --edges     also print how many names each unit uses of each other

A unit is a room of core or kit, a feature, the verb of a feature, `cli` (cli/options and cli/process), `command` (the rest of
cli). Layers: core <- kit <- features <- cli <- verbs <- command. docs/architecture.md has the tables, behind markers:
  layers    what a room of core may use; what one of the kit may use beside core; which features a feature may use beside core
            and kit; third-party libraries that a unit may include
  verbs     what a verb may use beside core, kit, cli, its feature and what that may use
  headers   which unit a public header belongs to; those of core belong to all of it

Rules:
  * the tables name every unit, nothing else, and no circle;
  * an #include follows the tables; so does USES in CMakeLists.txt; so does every use of a function iw_... or iwi_..., through
    whichever header it is declared (functions are found by their definitions; check_names.py sees that there is one each);
  * with --objects so does every symbol, and no circle appears. PLUG_POINTS are exempt: tables that lower layers declare and
    higher ones fill;
  * a feature includes of another feature only features/NAME/NAME.h;
  * cli and verbs see <idlewave/...>, cli/ and headers of verbs, nothing private of src;
  * public headers see the C library and each other along the tables, so stable ones, all of core, no experimental ones; those in
    idlewave/internal are not installed, so no installed header includes them;
  * a quoted #include is a path below src, or below cli in cli and verbs; tests, which may use everything, also include files
    of their own folder by name;
  * a third-party library is included only by its units; <mpi.h> only under mpi/;
  * names of .c and .h files are unique in src and cli together, but for those of tests;
  * every file opens with a comment that carries its SPDX line;
  * no file is longer than MOST_LINES.
"""

import argparse
import collections
import pathlib
import posixpath
import re
import subprocess
import sys

THIRD_PARTY = {  # how the header's name begins: library
    "bpf/": "libbpf",
    "event-parse.h": "libtraceevent",
    "gelf.h": "libelf",
    "gsl/": "GSL",
    "hdf5.h": "HDF5",
    "hwloc": "hwloc",
    "jansson.h": "jansson",
    "kbuffer.h": "libtraceevent",
    "otf2/": "OTF2",
    "protobuf-c/": "protobuf-c",
    "Random123/": "Random123",
    "trace-cmd.h": "libtracecmd",
    "yajl/": "yajl",
    "yaml.h": "libyaml",
    "zlib.h": "zlib",
}

C_LIBRARY = {
    "assert.h", "complex.h", "ctype.h", "errno.h", "fenv.h", "float.h", "inttypes.h", "iso646.h", "limits.h",
    "locale.h", "math.h", "setjmp.h", "signal.h", "stdalign.h", "stdarg.h", "stdatomic.h", "stdbool.h", "stddef.h",
    "stdint.h", "stdio.h", "stdlib.h", "stdnoreturn.h", "string.h", "tgmath.h", "threads.h", "time.h", "uchar.h",
    "wchar.h", "wctype.h",
}

PLUG_POINTS = {
    "iwi_kinds": "declared by kit/doc, filled by src/features/tables.c",
    "iwi_net_readers": "declared by kit/files, filled by src/features/tables.c",
    "iwi_trace_readers": "declared by kit/files, filled by src/features/tables.c",
    "poll": "of cli/process/sleeping_polls.c: takes the place of libc's",
    "verbs": "declared by cli/options, filled by cli/verbs.c",
    "verbs_left_out": "the same",
}

INTERNAL = "idlewave/internal/"
UMBRELLA = "idlewave/idlewave.h"  # includes all that are installed
MOST_LINES = 800
TABLES_FILE = "docs/architecture.md"
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
FUNCTION = re.compile(r"^(?!#|typedef\b|static\b)[A-Za-z_][\w \t*()]*?[ \t*](iwi?_\w+)\([^;{}]*\)\s*\n?\{", re.M)
NAME = re.compile(r"\biwi?_\w+")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
UNIT = re.compile(r"`src/((?:core|kit|features)/[a-z_0-9]+)/?`")
OBJECT_RULE = re.compile(r"^build (\S+\.o): C_COMPILER", re.M)
OBJECT = re.compile(r"(?P<folder>.+)/CMakeFiles/[^/]+\.dir/(?P<file>.+)\.o")
SYMBOL = re.compile(r"(.*?): (\S+) (\S)")


class Findings:
    def __init__(self):
        self.errors = []

    def error(self, place, text):
        self.errors.append(f"{place}: {text}")


# ---- units and what they may use ----


def unit_of(path):
    """The unit of a file below src or cli; None: of none, or a test."""
    parts = pathlib.PurePosixPath(path).parts
    if "tests" in parts or parts[0] not in ("src", "cli"):
        return None
    if parts[0] == "cli":
        return "cli" if len(parts) > 2 and parts[1] in ("options", "process") else "command"
    if parts[1:-1] == ("features",):
        return "tables"
    if len(parts) < 4:
        return "/".join(parts[1:-1])
    unit = "/".join(parts[1:3])
    return f"{unit}/verb" if parts[1] == "features" and parts[3] == "verb" else unit


def layer_of(unit):
    return "verb" if unit.endswith("/verb") else unit.split("/")[0]


BELOW = {  # layers of which everything may be used
    "core": (),
    "kit": ("core",),
    "features": ("core", "kit"),
    "tables": ("core", "kit", "features"),
    "cli": ("core", "kit", "features"),
    "verb": ("core", "kit", "cli"),
    "command": ("core", "kit", "features", "cli", "verb"),
}


class Tables:
    """What docs/architecture.md says."""

    def __init__(self, text):
        self.uses, self.libraries, self.verbs, self.headers = {}, {}, {}, {}
        for cells in rows_after(text, "layers"):
            match = UNIT.fullmatch(cells[0])
            if match:
                layer = match.group(1).split("/")[0]
                self.uses[match.group(1)] = [f"{layer}/{name}" for name in words(cells[1])]
                self.libraries[match.group(1)] = words(cells[2])
        for cells in rows_after(text, "verbs"):
            for name in words(cells[0]):
                self.verbs[f"features/{name}/verb"] = [f"features/{name}" for name in words(cells[1])]
        for cells in rows_after(text, "headers"):
            for header in words(cells[1]):
                self.headers[f"idlewave/{header}.h"] = cells[0].strip("`").removeprefix("src/")

    def allowed(self, unit):
        """Units that it may use by a table."""
        own = unit.removesuffix("/verb")
        if unit.endswith("/verb"):
            return [own, *self.uses.get(own, ()), *self.verbs.get(unit, ())]
        return self.uses.get(unit, ())

    def may_use(self, unit, other):
        return other in (unit, "core") or layer_of(other) in BELOW[layer_of(unit)] or other in self.allowed(unit)

    def knows(self, unit):
        return unit in ("tables", "cli", "command") or unit.removesuffix("/verb") in self.uses


def words(cell):
    return re.findall(r"\w[\w/-]*", cell)


def rows_after(text, name):
    """Cells of each row of the table behind a marker."""
    _, found, rest = text.partition(f"<!-- {name}: checked by tools/check_layers.py -->")
    for number, line in enumerate(rest.lstrip().splitlines() if found else ()):
        if not line.startswith("|"):
            break
        if number > 1:  # head and rule
            yield [cell.strip() for cell in line.strip("|").split("|")]


def circle_in(edges):
    """Units of a circle in {unit: units that it uses}, or None."""
    state = {}

    def visit(unit, path):
        if state.get(unit) == "done":
            return None
        if unit in path:
            return [*path[path.index(unit):], unit]
        for other in sorted(edges.get(unit, ())):
            found = visit(other, [*path, unit])
            if found:
                return found
        state[unit] = "done"
        return None

    for unit in sorted(edges):
        found = visit(unit, [])
        if found:
            return found
    return None


def check_tables(findings, root, tables):
    folders = {path.relative_to(root / "src").as_posix()
               for layer in ("core", "kit", "features") for path in (root / "src" / layer).glob("*") if path.is_dir()}
    for unit in sorted(folders - set(tables.uses)):
        findings.error(TABLES_FILE, f"the table of units lacks `src/{unit}`")
    for unit in sorted(set(tables.uses) - folders):
        findings.error(TABLES_FILE, f"there is no src/{unit}")
    for unit in [*tables.uses, *tables.verbs]:
        if not tables.knows(unit):
            findings.error(TABLES_FILE, f"the table of verbs names {unit}, which is no feature")
        for other in tables.allowed(unit):
            if not tables.knows(other):
                findings.error(TABLES_FILE, f"{unit} may use {other}, which is no unit")
    circle = circle_in({unit: tables.allowed(unit) for unit in [*tables.uses, *tables.verbs]})
    if circle:
        findings.error(TABLES_FILE, f"the tables have a circle: {' -> '.join(circle)}")
    headers = {path.relative_to(root / "include").as_posix() for path in (root / "include").rglob("*.h")}
    for header in sorted(headers - set(tables.headers) - {UMBRELLA}):
        findings.error(TABLES_FILE, f"the table of public headers lacks {header}")
    for header, unit in sorted(tables.headers.items()):
        if header not in headers:
            findings.error(TABLES_FILE, f"there is no include/{header}")
        elif unit != "core" and not tables.knows(unit):
            findings.error(TABLES_FILE, f"<{header}> belongs to {unit}, which is no unit")


# ---- includes ----


def sources(root, *folders):
    """C files below the folders, as sorted paths relative to root."""
    found = []
    for folder in folders:
        for pattern in ("*.c", "*.h"):
            found += (root / folder).rglob(pattern)
    return sorted(path.relative_to(root) for path in found)


def includes(root, path):
    """(line number, is_quoted, header) of each #include."""
    text = (root / path).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


def library_of(header):
    for prefix, library in THIRD_PARTY.items():
        if header.startswith(prefix):
            return library
    return None


def check_public_header(findings, root, tables, place, is_quoted, header):
    own = place.split(":")[0].removeprefix("include/")
    unit = tables.headers.get(own)
    if is_quoted:
        findings.error(place, f'public headers include <idlewave/...>, not "{header}"')
    elif header.startswith(INTERNAL) and not own.startswith(INTERNAL):
        findings.error(place, f"public headers may not include <{header}>: it is not installed")
    elif header.startswith("idlewave/"):
        if not (root / "include" / header).exists():
            findings.error(place, f"there is no include/{header}")
        elif unit and own != UMBRELLA:
            check_use_of_header(findings, tables, place, unit, header)
    elif header not in C_LIBRARY:
        findings.error(place, f"public headers may use only the C library, not <{header}>")


def check_use_of_header(findings, tables, place, unit, header):
    owner = tables.headers.get(header)
    if header == UMBRELLA and layer_of(unit) not in ("cli", "verb", "command"):
        findings.error(place, f"include what is used, not <{header}>")
    elif owner and not tables.may_use(unit, owner):
        findings.error(place, f"{unit} may not use {owner} (<{header}>)")


def check_system_include(findings, tables, place, unit, header):
    library = library_of(header)
    if library and library not in tables.libraries.get(unit, ()):
        findings.error(place, f"{unit} may not use {library} (<{header}>)")
    elif header.startswith("idlewave/"):
        check_use_of_header(findings, tables, place, unit, header)


def check_quoted_include(findings, root, tables, place, unit, header):
    is_above = layer_of(unit) in ("cli", "verb", "command")
    target = f"cli/{header}" if is_above and (root / "cli" / header).exists() else f"src/{header}"
    if ".." in header or not (root / target).exists():
        findings.error(place, f'"{header}" is not a path below src{" or cli" if is_above else ""}')
        return
    other = unit_of(target)
    if other is None:
        findings.error(place, f'only tests may use tests ("{header}")')
    elif is_above and layer_of(other) in ("core", "kit", "features", "tables"):
        findings.error(place, f'{unit} may use only <idlewave/...>, cli/ and verbs, not "{header}"')
    elif other == "tables":
        if layer_of(unit) not in ("features", "tables"):
            findings.error(place, f'{unit} may not use tables of features ("{header}")')
    elif not tables.may_use(unit, other):
        findings.error(place, f'{unit} may not use {other} ("{header}")')
    elif layer_of(unit) == layer_of(other) == "features" and unit != other and header != one_header(other):
        findings.error(place, f'{unit} may include only "{one_header(other)}" of {other}, not "{header}"')


def one_header(feature):
    """What other features may include of it."""
    return f"{feature}/{feature.split('/')[1]}.h"


def check_include_of_test(findings, root, place, path, header):
    beside = (root / path.parent / header).exists() and "/" not in header
    if ".." in header or not (beside or any((root / top / header).exists() for top in ("src", "cli", "tests", "."))):
        findings.error(place, f'"{header}" is not a path below src, cli or tests, nor a file beside')


def check_includes(findings, root, tables):
    for path in sources(root, "include", "src", "cli", "mpi", "nccl", "bench"):
        top = path.parts[0]
        unit = unit_of(path)
        is_test = "tests" in path.parts
        if unit and not tables.knows(unit):
            findings.error(path, f"{unit} is not in the table of units")
            continue
        for number, is_quoted, header in includes(root, path):
            place = f"{path.as_posix()}:{number}"
            if header == "mpi.h" and top != "mpi":
                findings.error(place, "<mpi.h> may be included only under mpi/")
            elif top == "include":
                check_public_header(findings, root, tables, place, is_quoted, header)
            elif is_test and is_quoted:
                check_include_of_test(findings, root, place, path, header)
            elif unit and is_quoted:
                check_quoted_include(findings, root, tables, place, unit, header)
            elif unit:
                check_system_include(findings, tables, place, unit, header)


# ---- names in the text, and in CMake ----


def code_of(root, path):
    """The text without comments and strings, line by line as it was."""
    text = (root / path).read_text(encoding="utf-8")
    return NO_CODE.sub(lambda match: "\n" * match.group().count("\n"), text)


def add_use(edges, tables, findings, place, unit, other, name):
    if unit == other or name in PLUG_POINTS:
        return
    edges[unit][other].add(name)
    if not tables.may_use(unit, other):
        findings.error(place, f"{unit} may not use {other} ({name})")


def check_calls(findings, root, tables):
    """Every function of another unit that a file names; returns {unit: {other: names}}."""
    codes = {path: code_of(root, path) for path in sources(root, "src", "cli") if unit_of(path)}
    codes = {path: code for path, code in codes.items() if tables.knows(unit_of(path))}
    home = {name: unit_of(path) for path, code in codes.items() for name in FUNCTION.findall(code)}
    edges = collections.defaultdict(lambda: collections.defaultdict(set))
    for path, code in codes.items():
        for name in sorted(set(NAME.findall(code)) & set(home)):
            add_use(edges, tables, findings, path, unit_of(path), home[name], f"{name}()")
    return edges


def check_cmake_uses(findings, root, tables):
    """USES of iw_component() must follow the same tables."""
    by_name = {unit.split("/")[1]: unit for unit in tables.uses}
    for path in sorted((root / "src").glob("*/*/CMakeLists.txt")):
        unit = "/".join(path.relative_to(root).parts[1:3])
        match = re.search(r"\bUSES((?:\s+[a-z_0-9]+)+)", path.read_text(encoding="utf-8"))
        for name in match.group(1).split() if match else ():
            is_layer = name in ("core", "kit")
            is_fine = name in BELOW[layer_of(unit)] if is_layer else tables.may_use(unit, by_name.get(name, name))
            if not is_fine:
                findings.error(path.relative_to(root), f"USES {name}: {unit} may not use {by_name.get(name, name)}")


# ---- symbols ----


def objects_of(root, build):
    """{object: unit} of what this build makes of src and cli, without tests. Old objects of files that have moved are left
    out: Ninja's rules, or else the sources, say what there is."""
    rules = build / "build.ninja"
    listed = (OBJECT_RULE.findall(rules.read_text(encoding="utf-8")) if rules.exists() else
              [path.relative_to(build).as_posix() for top in ("src", "cli") for path in (build / top).rglob("*.o")])
    found = {}
    for name in listed:
        match = OBJECT.fullmatch(name)
        if not match or name.split("/")[0] not in ("src", "cli") or not (build / name).exists():
            continue
        source = posixpath.normpath(f"{match['folder']}/{match['file'].replace('__/', '../')}")
        if unit_of(source) and ((root / source).exists() or (build / source).exists()):
            found[name] = unit_of(source)
    return found


def check_objects(findings, root, tables, build):
    """Every symbol that an object takes from another unit; returns {unit: {other: names}} and the number of objects."""
    units = objects_of(root, build)
    edges = collections.defaultdict(lambda: collections.defaultdict(set))
    if not units:
        findings.error(build, "no objects")
        return edges, 0
    listed = subprocess.run(["nm", "-A", "-P", *units], cwd=build, check=True, capture_output=True, text=True).stdout
    home, used = {}, collections.defaultdict(set)
    for match in map(SYMBOL.match, listed.splitlines()):
        if match and match.group(3) in "TDBRVWCGSiu":
            home[match.group(2)] = units[match.group(1)]
        elif match and match.group(3) in "Uvw":
            used[match.group(1)].add(match.group(2))
    for name in sorted(used):
        for symbol in sorted(used[name] & set(home)):
            add_use(edges, tables, findings, name, units[name], home[symbol], symbol)
    circle = circle_in({unit: set(others) for unit, others in edges.items()})
    if circle:
        findings.error(build, f"units use each other in a circle: {' -> '.join(circle)}")
    return edges, len(units)


def edge_lines(edges):
    for unit in sorted(edges):
        yield f"{unit}: " + ", ".join(f"{other} {len(names)}" for other, names in sorted(edges[unit].items()))


# ---- the shape of files ----


def check_names(findings, root):
    first = {}
    for path in sources(root, "src", "cli"):
        other = path if "tests" in path.parts else first.setdefault(path.name, path)
        if other != path:
            findings.error(path, f"the name is taken by {other}")


def check_shape(findings, root):
    """Opening comment and length of each file."""
    for path in sources(root, "include", "src", "cli", "mpi", "nccl", "bench", "tests"):
        lines = (root / path).read_text(encoding="utf-8").splitlines()
        if not lines or not lines[0].startswith("/*"):
            findings.error(path, "must open with a comment that says what the file is for")
        if not any("SPDX-License-Identifier: BSD-3-Clause" in line for line in lines[:20]):
            findings.error(path, "has no SPDX-License-Identifier line at its top")
        if len(lines) > MOST_LINES:
            findings.error(path, f"{len(lines)} lines, more than {MOST_LINES}: split it")


# ---- all of it ----


def read_tables(root):
    path = root / TABLES_FILE
    return Tables(path.read_text(encoding="utf-8") if path.exists() else "")


def check(root):
    """All rules over the sources: findings, and edges between units by names in the text."""
    findings = Findings()
    tables = read_tables(root)
    check_tables(findings, root, tables)
    check_includes(findings, root, tables)
    edges = check_calls(findings, root, tables)
    check_cmake_uses(findings, root, tables)
    check_names(findings, root)
    check_shape(findings, root)
    return findings, edges


def main(arguments):
    parser = argparse.ArgumentParser(description="checks layers and the shape of sources")
    default = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=default)
    parser.add_argument("--objects", type=pathlib.Path, metavar="BUILD")
    parser.add_argument("--edges", action="store_true")
    given = parser.parse_args(arguments)
    if given.objects:
        findings = Findings()
        edges, checked = check_objects(findings, given.root, read_tables(given.root), given.objects)
    else:
        findings, edges = check(given.root)
        checked = len(sources(given.root, "include", "src", "cli"))
    for line in edge_lines(edges) if given.edges else ():
        print(line)
    for line in findings.errors:
        print(f"error: {line}")
    kind = "objects" if given.objects else "files"
    print(f"check_layers: {checked} {kind}, {sum(map(len, edges.values()))} edges, {len(findings.errors)} errors")
    return 1 if findings.errors or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
