"""Shows that tools/mutate.py finds places that can change, changes just these, and counts what became of them.

SPDX-License-Identifier: BSD-3-Clause
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import mutate  # noqa: E402

SOURCE = """#define LIMIT 3 // 4 > 5
/* a comment with 6 < 7,
   of two lines */
static int sum(const int *values, int count)
{
    int total = 0;

    for (int i = 0; i < count; i++) {
        total += values[i]; // 8 + 9
    }
    assert(total > 10);
    report("11 < 12", total);
    free(values);
    return total > LIMIT && count != 1 ? total * 2 : -total;
}
"""


class Mutate(unittest.TestCase):
    def setUp(self):
        self.found = mutate.places_of("a.c", SOURCE)

    def test_changes_what_runs_only(self):
        changes = {(one.line, one.kind, one.old, one.new) for one in self.found}
        self.assertEqual(changes, {
            (6, "constant", "0", "1"), (8, "constant", "0", "1"), (8, "comparison", "<", "<="), (9, "sign", "+=", "-="),
            (12, "dropped call", 'report("11 < 12", total);', ";"), (14, "comparison", ">", ">="), (14, "logic", "&&", "||"),
            (14, "comparison", "!=", "=="), (14, "constant", "1", "2"), (14, "constant", "2", "3"), (14, "sign", "*", "/")})

    def test_changes_one_line(self):
        for one in self.found:
            before, after = SOURCE.splitlines(), mutate.changed(SOURCE, one).splitlines()
            self.assertEqual([number + 1 for number in range(len(before)) if before[number] != after[number]], [one.line])
        call = next(one for one in self.found if one.kind == "dropped call")
        self.assertEqual(mutate.changed_line(call), "    ;")

    def test_the_table_counts_equivalent_mutants_apart(self):
        rows = [{**one._asdict(), "folder": "src/x", "outcome": outcome}
                for one, outcome in zip(self.found, ("killed", "killed", "survived", "survived", "invalid", "same code"))]
        argued = rows[2]["text"].strip(), mutate.changed_line(self.found[2]).strip()
        text, survivors = mutate.table(rows, {("a.c", *argued): "nobody can see it"})
        self.assertIn("| src/x | 4 | 2 | 1 | 1 | 67 % |", text)
        self.assertEqual(len(survivors), 1)

    def test_each_case_of_the_command_line_is_a_test(self):
        cases = {"name": "cli/wave", "command": ["run_case.py", "--idlewave", "bin/idlewave", "a/tests/cli/wave/one.test", "a/tests/cli/wave/two.test"]}
        self.assertEqual([(part["name"], part["of"], part["command"]) for part in mutate.parts_of(cases)], [
            ("cli/wave/one", "cli/wave", ["run_case.py", "--idlewave", "bin/idlewave", "a/tests/cli/wave/one.test"]),
            ("cli/wave/two", "cli/wave", ["run_case.py", "--idlewave", "bin/idlewave", "a/tests/cli/wave/two.test"])])
        unit = {"name": "heap_test", "command": ["base_tests", "heap_test"]}
        self.assertEqual(mutate.parts_of(unit), [{**unit, "of": "heap_test"}])


if __name__ == "__main__":
    unittest.main()
