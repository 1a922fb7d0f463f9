"""Shows that tools/check_layers.py accepts a good tree and finds each kind of fault in a bad one.

SPDX-License-Identifier: BSD-3-Clause
"""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_layers  # noqa: E402

OPENING = "/* What this file is for.\n * SPDX-License-Identifier: BSD-3-Clause\n */\n"


def table(arrows):
    rows = [check_layers.LAYERS_MARKER, "", "| folder | may use | libraries | holds |", "|---|---|---|---|"]
    for folder, (uses, libraries) in arrows.items():
        rows.append(f"| `src/{folder}` | {', '.join(uses) or '-'} | {', '.join(libraries) or '-'} | things |")
    return "\n".join(rows) + "\n"


class CheckLayers(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        self.write("include/idlewave/status.h", OPENING + "#include <stdint.h>\n")
        self.write("src/core/base/base.h", OPENING + "#include <idlewave/status.h>\n")
        self.write("src/core/sim/engine.c", OPENING + '#include <stdio.h>\n#include "base/base.h"\n')
        self.write("src/core/sim/CMakeLists.txt", "iw_component(sim SOURCES engine.c USES base noise)\n")
        self.write("cli/main.c", OPENING + "#include <idlewave/status.h>\n")
        self.write("docs/architecture.md", table(check_layers.ARROWS))

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def assert_found(self, part):
        errors = check_layers.check(self.root).errors
        self.assertEqual(len(errors), 1, errors)
        self.assertIn(part, errors[0])

    def test_accepts_a_good_tree(self):
        findings = check_layers.check(self.root)
        self.assertEqual((findings.errors, findings.warnings), ([], []))
        self.assertEqual(check_layers.main([str(self.root)]), 0)

    def test_an_empty_tree_is_a_failure(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(check_layers.main([empty]), 1)

    def test_finds_an_include_against_the_arrows(self):
        self.write("src/core/sim/engine.h", OPENING)
        self.write("src/core/base/arena.c", OPENING + '#include "sim/engine.h"\n')
        self.assert_found("src/core/base/arena.c:4: src/core/base may not use src/sim")

    def test_finds_a_call_against_the_arrows_through_a_public_header(self):
        self.write("src/core/sim/run.c", OPENING + "iw_status iw_simulate(int ranks)\n{\n    return 0;\n}\n")
        self.write("src/core/base/arena.c", OPENING + "static int a(void)\n{\n    return iw_simulate(2);\n}\n")
        self.assert_found("src/core/base/arena.c: src/core/base may not use src/core/sim (iw_simulate())")

    def test_a_call_along_the_arrows_and_a_name_in_a_comment_are_fine(self):
        self.write("src/core/base/log.c", OPENING + "void iwi_warn(int a)\n{\n}\n")
        self.write("src/core/sim/run.c", OPENING + "iw_status iw_simulate(int ranks)\n{\n    iwi_warn(ranks);\n}\n")
        self.write("src/core/base/arena.c", OPENING + "/* As iw_simulate() wants it. */\n")
        self.assertEqual(check_layers.check(self.root).errors, [])

    def test_finds_an_include_that_is_not_a_path_below_src(self):
        self.write("src/core/base/arena.c", OPENING + '#include "base.h"\n')
        self.assert_found("not a path below src")

    def test_finds_a_folder_that_is_not_in_the_table(self):
        self.write("src/extra/thing.c", OPENING)
        self.assert_found("src/extra is not in the table")

    def test_finds_cmake_that_links_against_the_arrows(self):
        self.write("src/core/base/CMakeLists.txt", "iw_component(base SOURCES a.c USES\n  sim)\n")
        self.assert_found("USES sim: src/core/base may not use src/sim")

    def test_finds_mpi_outside_of_its_folder(self):
        self.write("src/core/sim/engine.c", OPENING + "#include <mpi.h>\n")
        self.assert_found("<mpi.h> may be included only under mpi/")

    def test_accepts_mpi_in_its_folder(self):
        self.write("mpi/transport.c", OPENING + "#include <mpi.h>\n")
        self.assertEqual(check_layers.check(self.root).errors, [])

    def test_finds_a_library_in_the_wrong_folder(self):
        self.write("src/core/sim/engine.c", OPENING + "#include <gsl/gsl_rng.h>\n")
        self.assert_found("src/core/sim may not use GSL")

    def test_finds_internal_headers_in_cli(self):
        self.write("cli/main.c", OPENING + '#include "base/base.h"\n')
        self.assert_found("cli may use only cli/ and <idlewave/...>")

    def test_finds_system_headers_in_public_headers(self):
        self.write("include/idlewave/status.h", OPENING + "#include <sys/types.h>\n")
        self.assert_found("only the C library")

    def test_finds_internal_headers_in_public_headers(self):
        self.write("include/idlewave/status.h", OPENING + '#include "base/base.h"\n')
        self.assert_found("public headers include <idlewave/...>")

    def test_finds_headers_that_are_not_installed_in_public_headers(self):
        self.write("include/idlewave/internal/link.h", OPENING + "#include <idlewave/status.h>\n")
        self.write("include/idlewave/sim.h", OPENING + "#include <idlewave/internal/link.h>\n")
        self.assert_found("include/idlewave/sim.h:4: public headers may not include <idlewave/internal/link.h>")

    def test_finds_a_missing_public_header(self):
        self.write("include/idlewave/status.h", OPENING + "#include <idlewave/none.h>\n")
        self.assert_found("there is no include/idlewave/none.h")

    def test_finds_a_row_that_differs_from_the_script(self):
        arrows = dict(check_layers.ARROWS, base=(("sim",), ("Random123",)))
        self.write("docs/architecture.md", table(arrows))
        self.assert_found("`src/core/base`: the table says")

    def test_finds_a_row_that_is_missing_or_too_many(self):
        arrows = dict(check_layers.ARROWS)
        del arrows["base"]
        self.write("docs/architecture.md", table(arrows))
        self.assert_found("lacks `src/core/base`")
        self.write("docs/architecture.md", table(dict(check_layers.ARROWS, more=((), ()))))
        self.assert_found("`src/more` is in the table but not")

    def test_finds_two_files_of_one_name(self):
        self.write("cli/verbs/engine.c", OPENING)
        self.assert_found("the name is taken by cli/verbs/engine.c")

    def test_finds_a_file_without_opening(self):
        self.write("src/core/base/arena.c", "int x;\n/* SPDX-License-Identifier: BSD-3-Clause */\n")
        self.assert_found("must open with a comment")
        self.write("src/core/base/arena.c", "/* Memory. */\n")
        self.assert_found("no SPDX")

    def test_caps_the_length_of_files(self):
        self.write("src/core/base/arena.c", OPENING + "\n" * (check_layers.HARD_LINES - 3))
        findings = check_layers.check(self.root)
        self.assertEqual((len(findings.errors), len(findings.warnings)), (0, 1))
        self.write("src/core/base/arena.c", OPENING + "\n" * (check_layers.HARD_LINES - 2))
        self.assert_found("801 lines")


if __name__ == "__main__":
    unittest.main()
