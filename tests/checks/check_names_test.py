"""Shows that tools/check_names.py accepts a good tree and finds each kind of name that means two things.

SPDX-License-Identifier: BSD-3-Clause
"""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_names  # noqa: E402


class CheckNames(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        self.write("include/idlewave/noise.h", "struct iw_noise;\niw_status iw_noise_new(struct iw_noise **noise_p);\n")
        self.write("src/core/noise/noise.c", "struct iw_noise {\n    int a;\n};\n\niw_status iw_noise_new(struct iw_noise **n)\n{\n}\n")
        self.write("src/core/noise/stream.h", "struct iwi_stream {\n    int a;\n};\n")
        self.write("src/core/noise/stream.c", "struct cursor {\n    int a;\n};\n\nstatic int run(void)\n{\n}\n")
        self.write("src/core/sim/flow.c", "struct cursor {\n    int b;\n};\n\nstatic int run(void)\n{\n}\n")

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def assert_found(self, *parts):
        errors, _ = check_names.check(self.root)
        self.assertEqual(len(errors), 1, errors)
        for part in parts:
            self.assertIn(part, errors[0])

    def assert_nothing_found(self):
        self.assertEqual(check_names.check(self.root)[0], [])

    def test_accepts_local_names_in_several_files(self):
        self.assert_nothing_found()
        self.assertEqual(check_names.main([str(self.root)]), 0)

    def test_an_empty_tree_is_a_failure(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(check_names.main([empty]), 1)

    def test_finds_a_tag_of_two_headers(self):
        self.write("src/core/sim/flow.h", "struct iwi_stream {\n    int b;\n};\n")
        self.assert_found("'iwi_stream'", "struct in src/core/noise/stream.h", "struct in src/core/sim/flow.h")

    def test_finds_an_enum_with_the_name_of_a_struct(self):
        self.write("src/core/noise/kinds.h", "enum iwi_stream { IWI_ONE };\n")
        self.assert_found("'iwi_stream'", "enum in src/core/noise/kinds.h")

    def test_finds_a_function_of_two_files(self):
        self.write("src/core/sim/other.c", "iw_status iw_noise_new(int a)\n{\n}\n")
        self.assert_found("'iw_noise_new'", "function in src/core/noise/noise.c", "function in src/core/sim/other.c")

    def test_finds_an_inline_function_beside_another(self):
        self.write("src/core/noise/walk.h", "static inline int iwi_finish(int a)\n{\n}\n")
        self.write("src/kit/files/finish.c", "int iwi_finish(void)\n{\n}\n")
        self.assert_found("'iwi_finish'")

    def test_finds_a_function_with_the_name_of_another_folders_tag(self):
        self.write("src/core/sim/other.c", "int iwi_stream(void)\n{\n}\n")
        self.assert_found("'iwi_stream'", "function in src/core/sim/other.c")

    def test_a_function_may_have_the_name_of_the_tag_it_fills(self):
        self.write("src/core/noise/stream.c", "struct iwi_stream iwi_stream(void)\n{\n}\n")
        self.assert_nothing_found()

    def test_finds_a_local_function_that_hides_one_of_a_header(self):
        self.write("cli/process/exec.h", "int become(const char *program);\n")
        self.write("cli/process/exec.c", "int become(const char *program)\n{\n}\n")
        self.write("cli/verbs/under.c", "static void become(void)\n{\n}\n")
        self.assert_found("'become'", "function in cli/verbs/under.c")

    def test_finds_names_that_differ_by_their_prefix_alone(self):
        self.write("src/core/sim/noise.h", "struct iwi_noise {\n    int a;\n};\n")
        self.assert_found("iw_noise and iwi_noise differ by their prefix alone")

    def test_what_is_in_comments_and_strings_is_no_definition(self):
        self.write("src/core/sim/text.c", '/* struct iwi_stream {\n} */\nstatic const char *text = "struct iwi_stream {";\n')
        self.assert_nothing_found()

    def test_one_file_may_define_a_function_once_for_each_case(self):
        self.write("src/core/sim/two.c", "#if A\nint iwi_two(void)\n{\n}\n#else\nint iwi_two(void)\n{\n}\n#endif\n")
        self.assert_nothing_found()

    def test_exceptions_are_passed_over(self):
        self.write("cli/main.c", "int main(void)\n{\n}\n")
        self.write("mpi/trace/finish_main.c", "int main(void)\n{\n}\n")
        self.assert_nothing_found()

    def test_finds_an_option_of_the_command_in_a_text_of_the_library(self):
        self.write("cli/opts.c", 'ROW("rules", OPT_CHOICE, rules, NULL, "which"),\nOPT_ROW(struct mine, "mpi", OPT_STRING),\n')
        self.write("src/core/sim/plan.c", '/* as --rules says */\nfail("use --rules idlewave, srun --mpi=pmix or h5repack --low");\n')
        self.assert_found("src/core/sim/plan.c:2", "--rules")

    def test_descriptions_of_keys_may_name_options(self):
        self.write("cli/opts.c", 'ROW("rules", OPT_CHOICE, rules, NULL, "which"),\n')
        self.write("src/core/sim/plan.c", 'IWI_VALUE(plan, rules, .about = "of `--rules`, "\n"or `none`"),\n')
        self.assert_nothing_found()
        self.write("src/core/sim/plan.c", 'IWI_VALUE(plan, rules, .about = "of them"),\nfail("use --rules");\n')
        self.assert_found("src/core/sim/plan.c:2", "--rules")

    def test_verbs_are_part_of_the_command(self):
        self.write("src/features/wave/verb/cmd_wave.c", 'ROW("rules", OPT_CHOICE, rules, NULL, "which"),\nsay("use --rules");\n')
        self.assert_nothing_found()
        self.write("src/core/sim/plan.c", 'fail("use --rules");\n')
        self.assert_found("src/core/sim/plan.c:1", "--rules")

    def test_finds_a_local_function_of_a_verb_that_hides_one_of_the_command(self):
        self.write("cli/process/exec.h", "int become(const char *program);\n")
        self.write("cli/process/exec.c", "int become(const char *program)\n{\n}\n")
        self.write("src/features/wave/verb/under.c", "static void become(void)\n{\n}\n")
        self.assert_found("'become'", "function in src/features/wave/verb/under.c")

    def test_what_stands_in_for_a_feature_that_is_left_out_does_not_count(self):
        self.write("cli/process/show.c", "int show(void)\n{\n}\n")
        header = "#if {}\nint show(void);\n#else\nstatic inline int show(void)\n{{\n}}\n#endif\n"
        self.write("cli/process/show.h", header.format("IW_FEATURE_FLEET"))
        self.assert_nothing_found()
        self.write("cli/process/show.h", header.format("IW_HAVE_FLEET"))
        self.assert_found("'show'")

    def test_names_of_tests_do_not_count(self):
        self.write("src/core/noise/tests/stream_test.c", "struct iwi_stream {\n    int a;\n};\n")
        self.assert_nothing_found()

    def test_finds_a_setting_that_no_header_has(self):
        self.write("include/idlewave/sim.h", "typedef struct iw_sim_opts {\n    int rules; /* or rendezvous */\n} iw_sim_opts;\n")
        self.write("src/core/sim/plan.c", 'fail("use `rules` idlewave, leave `sim.rendezvous` out");\n')
        self.assert_found("src/core/sim/plan.c:1", "`sim.rendezvous`")


if __name__ == "__main__":
    unittest.main()
