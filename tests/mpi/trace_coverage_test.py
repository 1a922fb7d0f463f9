#!/usr/bin/env python3
"""Every MPI_ and MPIX_ function of the installed library is wrapped, or is local and left out on purpose.

SPDX-License-Identifier: BSD-3-Clause

Usage: see run_mpi.test_arguments().
"""

import pathlib
import re
import subprocess
import sys
import unittest

import trace_run

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "mpi/trace"
sys.path.insert(0, str(SOURCE))
import generate  # noqa: E402: its folder is known only now
GENERATED = trace_run.ARGUMENTS.idlewave.resolve().parent.parent / "mpi/trace" / trace_run.MPI


def symbols(library):
    """Functions that it defines."""
    text = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in text.splitlines() if re.search(r" [TW] ", line)}


def libraries(*programs):
    """The libraries of the MPI that the fixtures need."""
    found = set()
    for name in programs:
        program = trace_run.PROGRAMS / name
        if program.exists():
            text = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
            found.update(re.findall(r"lib(?:mpi|mpich)\w*\.so\S* => (\S+)", text))
    return sorted(found)


ENTRIES = generate.read_table(SOURCE / "calls.txt")


def classes():
    """{name: class} of the functions of mpi.h."""
    pairs = generate.classify(generate.read_header(GENERATED / "mpi.i"), ENTRIES)
    return {function.name: entry.kind for function, entry in pairs}


class Coverage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.classes = classes()
        cls.wrapped = symbols(trace_run.TRACER)
        cls.c_functions = set().union(*map(symbols, libraries("trace_p2p")))
        cls.defined = set().union(*map(symbols, libraries("trace_p2p", "trace_mpifh", "trace_mpi_f08")))

    def test_all_functions_of_the_library_are_in_the_table(self):
        functions = {name for name in self.c_functions
                     if re.fullmatch(r"MPIX?_(?:[A-Z](?:[a-z]|_)|GPU)\w*", name) and not name.endswith(("_f", "_f08"))}
        self.assertGreater(len(functions), 300)
        entries = {name: generate.entry_of(ENTRIES, name) for name in functions}
        self.assertEqual(sorted(name for name, entry in entries.items() if entry is None), [])
        # a function in the library but not in its header cannot be wrapped (MPI has removed it, for instance)
        unseen = {name for name in functions - set(self.classes) if entries[name].kind != "local"}
        self.assertEqual(sorted(unseen), [])

    def test_a_function_of_a_newer_mpi_is_opaque(self):
        results = {"MPI_Wishes": "int", "MPIX_Wishes_c": "int", "MPI_Wishes_time": "double"}
        functions = {name: generate.Function(name, result, [("int", "")]) for name, result in results.items()}
        found = {function.name: entry for function, entry in generate.classify(functions, ENTRIES)}
        self.assertEqual({name: generate.opaque_text(entry) for name, entry in found.items()},
                         {"MPI_Wishes": "unknown", "MPIX_Wishes_c": "unknown", "MPI_Wishes_time": None})
        lines = generate.wrap_c(functions["MPI_Wishes"], found["MPI_Wishes"])
        self.assertIn("    int code = PMPI_Wishes(a0);", lines)

    def test_all_functions_that_are_not_local_are_wrapped(self):
        missing = sorted(name for name, kind in self.classes.items() if kind != "local" and name not in self.wrapped)
        self.assertEqual(missing, [])

    def test_no_local_function_is_wrapped(self):
        extra = sorted(name for name, kind in self.classes.items() if kind == "local" and name in self.wrapped)
        self.assertEqual(extra, [])

    def test_fortran_functions_that_bypass_c_are_wrapped(self):
        missing = []
        for name, kind in self.classes.items():
            low = name.lower()
            if kind == "local" or low.endswith("_c"):
                continue
            families = [f"{low}_f08_"]
            if trace_run.MPI == "openmpi":
                families += [low, f"{low}_", f"{low}__", name.upper()]
            missing += [symbol for symbol in families if symbol in self.defined and symbol not in self.wrapped]
        self.assertEqual(sorted(missing), [])


if __name__ == "__main__":
    trace_run.require("nm", "ldd")
    trace_run.main()
