#!/usr/bin/env python3
"""Checks that folders use each other one way only, and the shape of source files.

SPDX-License-Identifier: BSD-3-Clause

Usage: check_layers.py [ROOT]        exit 0: all rules hold; 1: findings, one a line; warnings do not count.

Rules:
  * an #include follows an arrow of ARROWS; so does USES in src/*/CMakeLists.txt;
  * so does every use of a function: who calls iw_... or iwi_... of another folder needs the arrow to it, through whichever
    header it is declared (functions are found by their definitions; check_names.py sees that there is one each);
  * the table in docs/architecture.md after the marker LAYERS_MARKER says the same as ARROWS;
  * cli sees <idlewave/...> and itself; public headers see the C library and each other, those in idlewave/internal (not
    installed: for our own command and plugins) all of them;
  * a third-party library is included only by its folder; <mpi.h> only under mpi/;
  * names of .c and .h files are unique in src and cli together;
  * every file opens with a comment that carries its SPDX line;
  * files stay under SOFT_LINES (warning) and HARD_LINES (error).
"""

import pathlib
import re
import sys

# folder of src: (folders it may use, third-party libraries it may include)
ARROWS = {
    "base": ((), ("Random123",)),
    "numeric": ((), ()),
    "schema": (("base",), ("jansson",)),
    "noise": (("base", "numeric"), ()),
    "inject": (("base", "noise"), ()),
    "launch": (("base",), ()),
    "measure": (("base", "noise"), ("hwloc", "libtraceevent")),
    "program": (("base",), ()),
    "stats": (("base", "numeric"), ()),
    "net": (("base", "numeric", "program", "stats"), ()),
    "bench": (("base", "numeric", "stats"), ()),
    "analysis": (("base", "noise", "numeric", "stats", "team"), ()),
    "wave": (("base", "stats"), ()),
    "visits": (("base", "numeric", "stats"), ()),
    "straggler": (("base", "numeric"), ()),
    "training": (("base", "noise", "numeric", "program", "stats"), ()),
    "format": (
        ("base", "launch", "net", "noise", "program", "schema", "straggler", "training", "visits", "wave"),
        ("HDF5", "jansson", "libtracecmd", "libyaml", "OTF2", "protobuf-c", "yajl", "zlib"),
    ),
    "team": (("base",), ()),
    "sim": (("base", "net", "noise", "numeric", "program", "team"), ()),
    "model": (("analysis", "base", "noise", "numeric", "stats"), ()),
    "whatif": (("analysis", "base", "format", "model", "noise", "numeric", "program", "sim", "stats"), ()),
    "blame": (("base", "format", "noise", "numeric", "program"), ()),
    "waits": (("base", "numeric", "stats", "visits"), ()),
    "study": (("base", "format", "net", "noise", "program", "sim", "stats", "training", "whatif"), ("jansson",)),
    "verify": (("analysis", "base", "measure", "noise", "numeric"), ()),
    "check": (("base", "verify"), ()),
    "watch": (("base", "measure", "noise"), ("libbpf", "libelf")),
    "report": (
        ("analysis", "base", "bench", "check", "format", "model", "net", "noise", "program", "schema", "sim", "stats",
         "training", "verify", "wave", "whatif"),
        ("jansson",),
    ),
}

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

INTERNAL = "idlewave/internal/"
SOFT_LINES = 400
HARD_LINES = 800
LAYERS_MARKER = "<!-- layers: checked by tools/check_layers.py -->"
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
FUNCTION = re.compile(r"^(?!#|typedef\b|static\b)[A-Za-z_][\w \t*()]*?[ \t*](iwi?_\w+)\([^;{}]*\)\s*\n?\{", re.M)
NAME = re.compile(r"\biwi?_\w+")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


class Findings:
    def __init__(self):
        self.errors = []
        self.warnings = []

    def error(self, place, text):
        self.errors.append(f"{place}: {text}")

    def warn(self, place, text):
        self.warnings.append(f"{place}: {text}")


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


def check_public_header(findings, root, place, is_quoted, header):
    if is_quoted:
        findings.error(place, f'public headers include <idlewave/...>, not "{header}"')
    elif header.startswith(INTERNAL) and not place.startswith(f"include/{INTERNAL}"):
        findings.error(place, f"public headers may not include <{header}>: it is not installed")
    elif header.startswith("idlewave/"):
        if not (root / "include" / header).exists():
            findings.error(place, f"there is no include/{header}")
    elif header not in C_LIBRARY:
        findings.error(place, f"public headers may use only the C library, not <{header}>")


def check_cli(findings, root, place, is_quoted, header):
    if is_quoted:
        if not (root / "cli" / header).exists() or ".." in header:
            findings.error(place, f'cli may use only cli/ and <idlewave/...>, not "{header}"')
    elif library_of(header):
        findings.error(place, f"cli may not use {library_of(header)} (<{header}>)")


def check_source(findings, root, place, folder, is_quoted, header):
    """One #include in src/<folder>."""
    if not is_quoted:
        library = library_of(header)
        if library and library not in ARROWS[folder][1]:
            findings.error(place, f"src/{folder} may not use {library} (<{header}>)")
        return
    target = header.split("/")[0]
    if ".." in header or not (root / "src" / header).exists():
        findings.error(place, f'"{header}" is not a path below src')
    elif target != folder and target not in ARROWS[folder][0]:
        findings.error(place, f'src/{folder} may not use src/{target} ("{header}")')


def library_of(header):
    for prefix, library in THIRD_PARTY.items():
        if header.startswith(prefix):
            return library
    return None


def check_includes(findings, root):
    for path in sources(root, "include", "src", "cli", "mpi", "nccl", "bench"):
        top = path.parts[0]
        folder = path.parts[1] if top == "src" else None
        if top == "src" and folder not in ARROWS:
            findings.error(path, f"src/{folder} is not in the table of folders")
            continue
        for number, is_quoted, header in includes(root, path):
            place = f"{path}:{number}"
            if header == "mpi.h" and top != "mpi":
                findings.error(place, "<mpi.h> may be included only under mpi/")
            elif top == "include":
                check_public_header(findings, root, place, is_quoted, header)
            elif top == "cli":
                check_cli(findings, root, place, is_quoted, header)
            elif top == "src":
                check_source(findings, root, place, folder, is_quoted, header)


def code_of(root, path):
    """The text without comments and strings, line by line as it was."""
    text = (root / path).read_text(encoding="utf-8")
    return NO_CODE.sub(lambda match: "\n" * match.group().count("\n"), text)


def check_calls(findings, root):
    """Every function of another folder of src that a file names."""
    codes = {path: code_of(root, path) for path in sources(root, "src") if path.parts[1] in ARROWS}
    folder_of = {name: path.parts[1] for path, code in codes.items() for name in FUNCTION.findall(code)}
    for path, code in codes.items():
        folder = path.parts[1]
        for name in sorted(set(NAME.findall(code))):
            target = folder_of.get(name, folder)
            if target != folder and target not in ARROWS[folder][0]:
                findings.error(path, f"src/{folder} may not use src/{target} ({name}())")


def check_cmake_uses(findings, root):
    """USES of iw_component() must follow the same arrows."""
    for path in sorted((root / "src").glob("*/CMakeLists.txt")):
        folder = path.parent.name
        place = path.relative_to(root)
        match = re.search(r"\bUSES((?:\s+[a-z_0-9]+)+)", path.read_text(encoding="utf-8"))
        used = match.group(1).split() if match else []
        for other in used:
            if other not in ARROWS.get(folder, ((),))[0]:
                findings.error(place, f"USES {other}: src/{folder} may not use src/{other}")


def documented_arrows(text):
    """The rows of the table after the marker: folder -> (folders, libraries)."""
    rows = {}
    if LAYERS_MARKER not in text:
        return rows
    for line in text.split(LAYERS_MARKER, 1)[1].lstrip().splitlines():
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        match = re.fullmatch(r"`src/([a-z_0-9]+)/?`", cells[0])
        if match and len(cells) >= 3:
            names = [tuple(re.findall(r"\w[\w-]*", cell)) for cell in cells[1:3]]
            rows[match.group(1)] = (names[0], names[1])
    return rows


def check_table(findings, root):
    path = root / "docs" / "architecture.md"
    rows = documented_arrows(path.read_text(encoding="utf-8")) if path.exists() else {}
    place = "docs/architecture.md"
    for folder in sorted(set(ARROWS) | set(rows)):
        expected = tuple(sorted(names) for names in ARROWS.get(folder, ((), ())))
        said = tuple(sorted(names) for names in rows.get(folder, ((), ())))
        if folder not in rows:
            findings.error(place, f"the table of folders lacks `src/{folder}`")
        elif folder not in ARROWS:
            findings.error(place, f"`src/{folder}` is in the table but not in tools/check_layers.py")
        elif expected != said:
            findings.error(place, f"`src/{folder}`: the table says {said}, tools/check_layers.py {expected}")


def check_names(findings, root):
    first = {}
    for path in sources(root, "src", "cli"):
        other = first.setdefault(path.name, path)
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
        if len(lines) > HARD_LINES:
            findings.error(path, f"{len(lines)} lines, more than {HARD_LINES}: split it")
        elif len(lines) > SOFT_LINES:
            findings.warn(path, f"{len(lines)} lines, more than {SOFT_LINES}: consider splitting it")


def check(root):
    findings = Findings()
    check_includes(findings, root)
    check_calls(findings, root)
    check_cmake_uses(findings, root)
    check_table(findings, root)
    check_names(findings, root)
    check_shape(findings, root)
    return findings


def main(arguments):
    default = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(arguments[0]) if arguments else default
    findings = check(root)
    for line in findings.warnings:
        print(f"warning: {line}")
    for line in findings.errors:
        print(f"error: {line}")
    checked = len(sources(root, "include", "src", "cli"))
    print(f"check_layers: {checked} files, {len(findings.errors)} errors, {len(findings.warnings)} warnings")
    return 1 if findings.errors or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
