#!/usr/bin/env python3
"""Makes the replay library's wrappers from the tracer's table of calls and the prototypes of the installed mpi.h.

SPDX-License-Identifier: BSD-3-Clause

Usage: generate.py MPI PREPROCESSED_HEADER TABLE OUTPUT_FOLDER

Writes wrap_c.c (C binding) and wrap_f.c (those Fortran symbols that do not come through C): what starts and ends MPI, and
all blocking collectives but those of neighbours, after which a compute phase may begin.
"""

import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
HEAD = '/* Made by mpi/replay/generate.py. */\n#include <idlewave/status.h>\n\n#include "mpi/replay/with_mpi.h"\n'
BEFORE = {"MPI_Finalize": "iwi_replay_before_finalize();", "MPI_Abort": "iwi_replay_before_abort();"}
AFTER = {name: "iwi_replay_after_init({code});" for name in ("MPI_Init", "MPI_Init_thread")}


def load_tracer():
    spec = importlib.util.spec_from_file_location("trace_generate", HERE.parent / "trace/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TRACE = load_tracer()


def is_wrapped(function, entry):
    return (function.name in BEFORE or function.name in AFTER or
            (entry.kind == "collective" and "neighbor" not in entry.detail and function.name.startswith("MPI_")))


def after_of(function, binding):
    """The line behind the call."""
    if function.name in AFTER:
        return AFTER[function.name].format(code="*ierr" if binding.is_fortran else "code")
    return f"iwi_replay_after_collective({binding.comm()});" if function.name not in BEFORE else ""


def wrap_c(function, entry):
    declared = ", ".join(f"{kind} a{i}{dims}" for i, (kind, dims) in enumerate(function.parameters)) or "void"
    passed = ", ".join(f"a{i}" for i in range(len(function.parameters)))
    lines = [BEFORE.get(function.name, ""), f"const int code = P{function.name}({passed});", "",
             after_of(function, TRACE.CBinding(function, entry)), "return code;"]
    return [f"IW_API int {function.name}({declared})", "{"] + TRACE.indent(lines) + ["}", ""]


def wrap_f(function, entry, families):
    """Fortran's MPI_Init and MPI_Init_thread have no argc and argv."""
    parameters = function.parameters[2:] if function.name in AFTER else function.parameters
    function = TRACE.Function(function.name, function.result, parameters)
    name = function.name.lower()
    plain = [f"a{i}" for i in range(len(parameters))] + ["ierr"]
    declared = ", ".join([f"void *{argument}" for argument in plain[:-1]] + ["MPI_Fint *ierr"])
    lines = ["MPI_Fint own_error = MPI_SUCCESS;", "", "ierr = ierr != NULL ? ierr : &own_error; /* optional in mpi_f08 */",
             BEFORE.get(function.name, ""), f"next({', '.join(plain)});", after_of(function, TRACE.FBinding(function, entry))]
    made = [f"typedef void next_{name}({declared});", "", f"static void any_{name}(next_{name} *next, {declared})", "{"]
    made += TRACE.indent(lines) + ["}", ""]
    for family in families:
        made += TRACE.entry_f(name, family, declared, plain)
    return made


def main(arguments):
    if len(arguments) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    header, table, folder = (pathlib.Path(path) for path in arguments[1:])
    try:
        pairs = TRACE.classify(TRACE.read_header(header), TRACE.read_table(table))
    except TRACE.Wrong as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 1
    wrapped = [pair for pair in pairs if is_wrapped(*pair)]
    folder.mkdir(parents=True, exist_ok=True)
    lines = [HEAD]
    for function, entry in wrapped:
        lines += wrap_c(function, entry)
    (folder / "wrap_c.c").write_text("\n".join(lines), encoding="utf-8")
    lines = [HEAD + '\n#include <stddef.h>\n\n#include "mpi/trace/fortran.h"\n',
             "#define INT(pointer) (*(const MPI_Fint *)(pointer))", ""]
    for function, entry in wrapped:
        families = TRACE.families_of(arguments[0], function)
        if families:
            lines += wrap_f(function, entry, families)
    (folder / "wrap_f.c").write_text("\n".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
