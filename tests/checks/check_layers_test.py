"""Shows that tools/check_layers.py accepts a good tree and finds each kind of fault in a bad one.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_layers  # noqa: E402

OPENING = "/* What this file is for.\n * SPDX-License-Identifier: BSD-3-Clause\n */\n"
UNITS = {
    "core/base": ("-", "Random123"),
    "core/sim": ("base", "-"),
    "kit/text": ("-", "-"),
    "kit/doc": ("text", "jansson"),
    "features/simulate": ("-", "-"),
    "features/study": ("simulate", "-"),
    "features/wave": ("-", "-"),
}
VERBS = {"wave": "simulate, simulate/verb"}
HEADERS = {"core": "status, internal/link", "kit/doc": "doc", "features/simulate": "result", "features/wave": "wave"}
FILES = {
    "include/idlewave/status.h": "#include <stdint.h>\n",
    "include/idlewave/doc.h": "#include <idlewave/status.h>\n",
    "include/idlewave/result.h": "#include <idlewave/doc.h>\n",
    "include/idlewave/wave.h": "#include <idlewave/doc.h>\n",
    "include/idlewave/idlewave.h": "#include <idlewave/wave.h>\n",
    "include/idlewave/internal/link.h": "#include <idlewave/status.h>\n",
    "src/core/base/base.h": "#include <idlewave/status.h>\nvoid iwi_warn(int a);\n",
    "src/core/base/log.c": '#include "core/base/base.h"\nvoid iwi_warn(int a)\n{\n    (void)a;\n}\n',
    "src/core/sim/engine.h": "int iw_simulate(int ranks);\n",
    "src/core/sim/engine.c": '#include "core/base/base.h"\n#include "core/sim/engine.h"\n'
                             "int iw_simulate(int ranks)\n{\n    iwi_warn(ranks);\n    return 0;\n}\n",
    "src/core/sim/tests/engine_test.c": '#include "rig.h"\n#include "features/study/study_parts.h"\n',
    "src/core/sim/tests/rig.h": "",
    "src/kit/text/words.h": "void iwi_doc_printf(int a);\n",
    "src/kit/text/words.c": '#include "kit/text/words.h"\nvoid iwi_doc_printf(int a)\n{\n    (void)a;\n}\n',
    "src/kit/doc/document.h": "#include <idlewave/doc.h>\nextern const int *const iwi_kinds[];\n",
    "src/kit/doc/document.c": '#include <jansson.h>\n#include "kit/doc/document.h"\n#include "kit/text/words.h"\n',
    "src/features/tables.h": "extern const int iwi_wave_kind;\n",
    "src/features/tables.c": '#include "features/tables.h"\n',
    "src/features/simulate/simulate.h": "void iwi_set(int a);\n",
    "src/features/simulate/set_parts.h": "",
    "src/features/simulate/set.c": '#include "features/simulate/simulate.h"\n#include "kit/text/words.h"\n'
                                   "void iwi_set(int a)\n{\n    iwi_doc_printf(a);\n}\n",
    "src/features/simulate/verb/shared.h": "int shared(void);\n",
    "src/features/simulate/verb/cmd_simulate.c": '#include "options/opt.h"\n#include <idlewave/idlewave.h>\n',
    "src/features/study/study_parts.h": "",
    "src/features/study/study.c": '#include "features/simulate/simulate.h"\n#include <idlewave/result.h>\n'
                                  "int iw_study(void)\n{\n    iwi_set(1);\n    return 0;\n}\n",
    "src/features/wave/wave.c": '#include <idlewave/wave.h>\n#include "features/tables.h"\n',
    "src/features/wave/verb/cmd_wave.c": '#include "features/simulate/verb/shared.h"\n#include <idlewave/result.h>\n',
    "cli/options/opt.h": "",
    "cli/options/opt.c": '#include "options/opt.h"\n#include <idlewave/result.h>\n',
    "cli/main.c": '#include <idlewave/idlewave.h>\n#include "options/opt.h"\n',
    "mpi/transport.c": "#include <mpi.h>\n",
}


def table(name, head, rows):
    lines = [f"<!-- {name}: checked by tools/check_layers.py -->", "", head, "|---" * head.count("|")]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n\n"


def page(units=UNITS, verbs=VERBS, headers=HEADERS):
    return (table("layers", "| unit | may use | libraries | holds |",
                  [(f"`src/{unit}`", *cells, "things") for unit, cells in units.items()]) +
            table("verbs", "| verb of | may also use |", verbs.items()) +
            table("headers", "| unit | headers |", [(f"`src/{unit}`", names) for unit, names in headers.items()]))


class Tree(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        for path, text in FILES.items():
            self.write(path, OPENING + text)
        self.write("src/features/study/CMakeLists.txt", "iw_component(study USES core kit simulate)\n")
        self.write("docs/architecture.md", page())

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def add(self, path, text):
        """Puts lines behind those of the good tree."""
        before = OPENING + FILES[path] if path in FILES else OPENING
        self.write(path, before + text)

    def assert_only(self, errors, part):
        self.assertEqual(len(errors), 1, errors)
        self.assertIn(part, errors[0])


class Sources(Tree):
    def assert_found(self, part):
        self.assert_only(check_layers.check(self.root)[0].errors, part)

    def test_accepts_a_good_tree(self):
        findings, _ = check_layers.check(self.root)
        self.assertEqual(findings.errors, [])
        self.assertEqual(quiet_main(str(self.root))[0], 0)

    def test_an_empty_tree_is_a_failure(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(quiet_main(empty)[0], 1)

    # ---- the tables ----

    def test_finds_a_unit_that_is_not_in_the_table(self):
        (self.root / "src/kit/extra").mkdir()
        self.assert_found("the table of units lacks `src/kit/extra`")

    def test_finds_a_row_without_a_folder(self):
        self.write("docs/architecture.md", page(dict(UNITS, **{"kit/more": ("-", "-")})))
        self.assert_found("there is no src/kit/more")

    def test_finds_a_use_of_what_is_no_unit(self):
        self.write("docs/architecture.md", page(dict(UNITS, **{"kit/doc": ("text, none", "jansson")})))
        self.assert_found("kit/doc may use kit/none, which is no unit")

    def test_finds_a_verb_without_a_feature(self):
        self.write("docs/architecture.md", page(verbs=dict(VERBS, none="simulate")))
        self.assertIn("the table of verbs names features/none/verb", check_layers.check(self.root)[0].errors[0])

    def test_finds_a_circle_in_the_tables(self):
        self.write("docs/architecture.md", page(dict(UNITS, **{"features/simulate": ("study", "-")})))
        self.assert_found("the tables have a circle: features/simulate -> features/study -> features/simulate")

    def test_finds_a_public_header_of_no_unit(self):
        self.write("include/idlewave/new.h", OPENING)
        self.assert_found("the table of public headers lacks idlewave/new.h")

    def test_finds_a_row_without_a_public_header(self):
        self.write("docs/architecture.md", page(headers=dict(HEADERS, **{"kit/doc": "doc, none"})))
        self.assert_found("there is no include/idlewave/none.h")

    def test_finds_a_public_header_of_what_is_no_unit(self):
        self.write("docs/architecture.md", page(headers=dict(HEADERS, **{"kit/doc": "", "kit/none": "doc"})))
        self.assertIn("<idlewave/doc.h> belongs to kit/none", check_layers.check(self.root)[0].errors[0])

    # ---- includes ----

    def test_finds_an_include_from_core_to_kit(self):
        self.add("src/core/sim/engine.c", '#include "kit/text/words.h"\n')
        self.assert_found('core/sim may not use kit/text ("kit/text/words.h")')

    def test_finds_an_include_within_core_against_the_table(self):
        self.add("src/core/base/log.c", '#include "core/sim/engine.h"\n')
        self.assert_found("src/core/base/log.c:9: core/base may not use core/sim")

    def test_finds_an_include_within_the_kit_against_the_table(self):
        self.add("src/kit/text/words.c", '#include "kit/doc/document.h"\n')
        self.assert_found("kit/text may not use kit/doc")

    def test_finds_an_include_from_the_kit_to_a_feature(self):
        self.add("src/kit/text/words.c", '#include "features/simulate/simulate.h"\n')
        self.assert_found("kit/text may not use features/simulate")

    def test_finds_an_include_from_the_kit_to_the_tables_of_features(self):
        self.add("src/kit/doc/document.c", '#include "features/tables.h"\n')
        self.assert_found("kit/doc may not use tables of features")

    def test_finds_a_feature_that_uses_another_without_leave(self):
        self.add("src/features/wave/wave.c", '#include "features/simulate/simulate.h"\n')
        self.assert_found("features/wave may not use features/simulate")

    def test_finds_a_private_header_of_another_feature(self):
        self.add("src/features/study/study.c", '#include "features/simulate/set_parts.h"\n')
        self.assert_found('features/study may include only "features/simulate/simulate.h" of features/simulate')

    def test_finds_a_feature_that_uses_a_verb(self):
        self.add("src/features/simulate/set.c", '#include "features/simulate/verb/shared.h"\n')
        self.assert_found("features/simulate may not use features/simulate/verb")

    def test_finds_a_verb_that_uses_another_without_leave(self):
        self.write("src/features/wave/verb/cmd_wave.h", OPENING)
        self.add("src/features/simulate/verb/cmd_simulate.c", '#include "features/wave/verb/cmd_wave.h"\n')
        self.assert_found("features/simulate/verb may not use features/wave/verb")

    def test_finds_a_private_header_in_a_verb_and_in_cli(self):
        self.add("src/features/simulate/verb/cmd_simulate.c", '#include "features/simulate/simulate.h"\n')
        self.assert_found("features/simulate/verb may use only <idlewave/...>, cli/ and verbs")
        self.add("src/features/simulate/verb/cmd_simulate.c", "")
        self.add("cli/main.c", '#include "core/base/base.h"\n')
        self.assert_found("command may use only <idlewave/...>, cli/ and verbs")

    def test_finds_options_that_use_a_verb(self):
        self.add("cli/options/opt.c", '#include "features/simulate/verb/shared.h"\n')
        self.assert_found("cli may not use features/simulate/verb")

    def test_finds_an_include_that_is_not_a_path_below_src(self):
        self.add("src/core/base/log.c", '#include "base.h"\n')
        self.assert_found("not a path below src")

    def test_finds_an_include_of_a_test(self):
        self.add("src/core/sim/engine.c", '#include "core/sim/tests/rig.h"\n')
        self.assert_found("only tests may use tests")

    def test_finds_an_include_of_a_test_that_is_nowhere(self):
        self.add("src/core/sim/tests/engine_test.c", '#include "base.h"\n')
        self.assert_found("nor a file beside")

    def test_finds_a_folder_that_is_no_layer(self):
        self.write("src/extra/thing.c", OPENING)
        self.assert_found("extra is not in the table of units")

    def test_finds_mpi_outside_of_its_folder(self):
        self.add("src/core/sim/engine.c", "#include <mpi.h>\n")
        self.assert_found("<mpi.h> may be included only under mpi/")

    def test_finds_a_library_in_the_wrong_unit(self):
        self.add("src/kit/text/words.c", "#include <jansson.h>\n")
        self.assert_found("kit/text may not use jansson")
        self.add("src/kit/text/words.c", "")
        self.add("cli/main.c", "#include <yaml.h>\n")
        self.assert_found("command may not use libyaml")

    # ---- public headers ----

    def test_finds_a_public_header_of_a_unit_that_may_not_be_used(self):
        self.add("src/features/wave/wave.c", "#include <idlewave/result.h>\n")
        self.assert_found("features/wave may not use features/simulate (<idlewave/result.h>)")

    def test_finds_a_public_header_of_a_feature_in_core(self):
        self.add("src/core/sim/engine.c", "#include <idlewave/doc.h>\n")
        self.assert_found("core/sim may not use kit/doc (<idlewave/doc.h>)")

    def test_finds_the_header_of_all_in_a_library(self):
        self.add("src/features/wave/wave.c", "#include <idlewave/idlewave.h>\n")
        self.assert_found("include what is used")

    def test_finds_public_headers_against_the_table(self):
        self.add("include/idlewave/wave.h", "#include <idlewave/result.h>\n")
        self.assert_found("include/idlewave/wave.h:5: features/wave may not use features/simulate")
        self.add("include/idlewave/wave.h", "")
        self.add("include/idlewave/status.h", "#include <idlewave/doc.h>\n")
        self.assert_found("core may not use kit/doc")

    def test_finds_system_headers_in_public_headers(self):
        self.add("include/idlewave/status.h", "#include <sys/types.h>\n")
        self.assert_found("only the C library")

    def test_finds_private_headers_in_public_headers(self):
        self.add("include/idlewave/status.h", '#include "core/base/base.h"\n')
        self.assert_found("public headers include <idlewave/...>")

    def test_finds_headers_that_are_not_installed_in_public_headers(self):
        self.add("include/idlewave/status.h", "#include <idlewave/internal/link.h>\n")
        self.assert_found("include/idlewave/status.h:5: public headers may not include <idlewave/internal/link.h>")

    def test_finds_a_missing_public_header(self):
        self.add("include/idlewave/status.h", "#include <idlewave/none.h>\n")
        self.assert_found("there is no include/idlewave/none.h")

    # ---- names and CMake ----

    def test_finds_a_call_against_the_table_through_whichever_header(self):
        self.add("src/core/base/log.c", "static int a(void)\n{\n    return iw_simulate(2);\n}\n")
        self.assert_found("src/core/base/log.c: core/base may not use core/sim (iw_simulate())")

    def test_finds_a_call_of_a_verb_against_the_table(self):
        self.add("src/features/simulate/verb/cmd_simulate.c", "static int a(void)\n{\n    return iw_study();\n}\n")
        self.assert_found("features/simulate/verb may not use features/study (iw_study())")

    def test_a_name_in_a_comment_is_fine(self):
        self.add("src/core/base/log.c", "/* As iw_simulate() wants it. */\n")
        self.assertEqual(check_layers.check(self.root)[0].errors, [])

    def test_finds_cmake_that_links_against_the_table(self):
        self.write("src/core/base/CMakeLists.txt", "iw_component(base SOURCES a.c USES\n  sim)\n")
        self.assert_found("USES sim: core/base may not use core/sim")
        self.write("src/core/base/CMakeLists.txt", "iw_component(base USES kit)\n")
        self.assert_found("USES kit: core/base may not use kit")

    # ---- files ----

    def test_finds_two_files_of_one_name(self):
        self.write("cli/verbs/engine.c", OPENING)
        self.assert_found("the name is taken by cli/verbs/engine.c")

    def test_finds_a_file_without_opening(self):
        self.write("src/core/base/arena.c", "int x;\n/* SPDX-License-Identifier: BSD-3-Clause */\n")
        self.assert_found("must open with a comment")
        self.write("src/core/base/arena.c", "/* Memory. */\n")
        self.assert_found("no SPDX")

    def test_caps_the_length_of_files(self):
        self.write("src/core/base/arena.c", OPENING + "\n" * (check_layers.MOST_LINES - 3))
        findings, _ = check_layers.check(self.root)
        self.assertEqual(findings.errors, [])
        self.write("src/core/base/arena.c", OPENING + "\n" * (check_layers.MOST_LINES - 2))
        self.assert_found("801 lines")


@unittest.skipUnless(shutil.which("cc") and shutil.which("nm"), "cc or nm is missing")
class Objects(Tree):
    """By symbols: small programs, compiled as a build of CMake names its objects."""

    def setUp(self):
        super().setUp()
        self.build = self.root / "build"
        self.make("core/base", "log.c", "void iwi_warn(int a) { (void)a; }")
        self.make("core/sim", "engine.c", "void iwi_warn(int a); int iw_simulate(int r) { iwi_warn(r); return 0; }")

    def make(self, unit, name, code, target="x", source=None):
        source = source or f"src/{unit}/{name}"
        self.write(source, OPENING + code + "\n")
        top = "cli" if target == "idlewave_cli" else f"src/{unit}"
        under = f"__/{source}" if target == "idlewave_cli" and source.startswith("src/") else name
        made = self.build / top / "CMakeFiles" / f"{target}.dir" / f"{under}.o"
        made.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-c", "-o", made, self.root / source], check=True)

    def check(self):
        findings = check_layers.Findings()
        edges, count = check_layers.check_objects(findings, self.root, check_layers.read_tables(self.root), self.build)
        return findings.errors, edges, count

    def test_accepts_and_counts_edges_along_the_tables(self):
        errors, edges, count = self.check()
        self.assertEqual((errors, count), ([], 2))
        self.assertEqual(edges["core/sim"]["core/base"], {"iwi_warn"})

    def test_prints_the_edges(self):
        code, text = quiet_main(str(self.root), "--objects", str(self.build), "--edges")
        self.assertEqual(code, 0)
        self.assertIn("core/sim: core/base 1\n", text)

    def test_a_build_without_objects_is_a_failure(self):
        self.assertEqual(quiet_main(str(self.root), "--objects", str(self.root / "docs"))[0], 1)

    def test_finds_a_symbol_against_the_tables_whatever_its_name(self):
        self.make("features/wave", "counts.c", "int counts[3] = {1};")
        self.make("kit/text", "more.c", "extern int counts[]; int more(void) { return counts[0]; }")
        self.assert_only(self.check()[0], "kit/text may not use features/wave (counts)")

    def test_finds_a_circle(self):
        self.make("core/base", "up.c", "int iw_simulate(int r); int up(void) { return iw_simulate(1); }")
        errors = self.check()[0]
        self.assertEqual(len(errors), 2, errors)
        self.assertIn("core/base may not use core/sim (iw_simulate)", errors[0])
        self.assertIn("in a circle: core/base -> core/sim -> core/base", errors[1])

    def test_finds_a_verb_that_uses_a_feature_without_leave(self):
        self.make("features/study", "cells.c", "int cells(void) { return 1; }")
        self.make("features/wave/verb", "cmd_cells.c", "int cells(void); int run(void) { return cells(); }",
                  target="idlewave_cli")
        self.assert_only(self.check()[0], "features/wave/verb may not use features/study (cells)")

    def test_tables_that_higher_layers_fill_are_exempt(self):
        self.make("features", "tables.c", "const int *const iwi_kinds[] = {0};")
        self.make("kit/doc", "kinds.c", "extern const int *const iwi_kinds[]; const int *kind(void) { return iwi_kinds[0]; }")
        self.assertEqual(self.check()[0], [])

    def test_tests_and_objects_of_files_that_have_gone_do_not_count(self):
        self.make("core/base/tests", "up_test.c", "int iw_simulate(int r); int up(void) { return iw_simulate(1); }")
        self.make("core/base", "old.c", "int iw_simulate(int r); int old(void) { return iw_simulate(1); }")
        (self.root / "src/core/base/old.c").unlink()
        self.assertEqual(self.check()[0], [])

    def test_with_ninja_its_rules_say_which_objects_there_are(self):
        self.make("core/base", "old.c", "int iw_simulate(int r); int old(void) { return iw_simulate(1); }")
        names = ["src/core/base/CMakeFiles/x.dir/log.c.o", "src/core/sim/CMakeFiles/x.dir/engine.c.o"]
        self.write("build/build.ninja", "".join(f"build {name}: C_COMPILER__x {name}\n" for name in names))
        self.assertEqual(self.check()[0::2], ([], 2))


def quiet_main(*arguments):
    """(exit code, what it printed)"""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = check_layers.main(list(arguments))
    return code, out.getvalue()


if __name__ == "__main__":
    unittest.main()
