/* Open MPI's rules files: what they say, where they are silent, what is wrong with them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/trace/trace_open.h"

#include <string.h>

#include "support/support.h"

static const struct iwi_algorithm_overrides no_wishes = {NULL, 0};

static struct iwi_operation chosen(const struct iwi_rule_set *set, enum iwi_op_kind kind, uint32_t ranks,
                                   uint64_t bytes)
{
    struct iwi_operation op = {.ranks = ranks, .bytes = bytes};

    iwi_rules_choose(set, &no_wishes, kind, &op);
    return op;
}

static const char *name_of(const struct iwi_rule_set *set, enum iwi_op_kind kind, uint32_t ranks,
                           uint64_t bytes)
{
    return chosen(set, kind, ranks, bytes).algorithm->name;
}

static struct iwi_rule_set read_text(const char *text)
{
    struct iwi_rule_set set;

    assert_ok(iwi_ompi_rules_read_memory(NULL, "rules", text, strlen(text), &set));
    return set;
}

static const char two_collectives[] = "2 # collectives\n"
                                      "7 # bcast\n"
                                      "2 # communicator sizes\n"
                                      "8 # ranks\n"
                                      "2 # message sizes\n"
                                      "0 6 0 0\n"
                                      "1024 3 0 512 # pipeline in segments\n"
                                      "64\n1\n0 1 0 0\n"
                                      "0 # allgather\n"
                                      "1 4 2\n"
                                      "0 4 0 0\n"
                                      "4096 0 0 0 # as Open MPI decides itself\n";

static void rules_hold_from_their_sizes_on(void **state)
{
    struct iwi_rule_set set = read_text(two_collectives);

    (void)state;
    assert_string_equal(name_of(&set, IWI_BCAST, 8, 1023), "binomial");
    assert_string_equal(name_of(&set, IWI_BCAST, 63, 1024), "chain");
    assert_int_equal(chosen(&set, IWI_BCAST, 63, 1024).segment_bytes, 512);
    assert_string_equal(name_of(&set, IWI_BCAST, 64, 1024), "linear");
    iwi_ompi_rules_release(&set);
}

static void the_first_sizes_also_stand_for_all_below(void **state)
{
    struct iwi_rule_set set = read_text(two_collectives);

    (void)state;
    assert_string_equal(name_of(&set, IWI_BCAST, 2, 0), "binomial");
    iwi_ompi_rules_release(&set);
}

static void sizes_of_block_operations_count_all_ranks(void **state)
{
    struct iwi_rule_set set = read_text(two_collectives);

    (void)state;
    assert_string_equal(name_of(&set, IWI_ALLGATHER, 512, 7), "ring"); /* 3584 bytes in all */
    /* 4096 in all: left to the fixed decisions, which for 8 bytes on 512 ranks take recursive doubling */
    assert_string_equal(name_of(&set, IWI_ALLGATHER, 512, 8), "recursive-doubling");
    iwi_ompi_rules_release(&set);
}

static void what_the_file_does_not_name_is_decided_as_in_4_1(void **state)
{
    struct iwi_rule_set set = read_text("0\n");

    (void)state;
    assert_string_equal(name_of(&set, IWI_BARRIER, 256, 0), "tree");
    iwi_ompi_rules_release(&set);
}

static void version_2_has_a_fifth_number(void **state)
{
    struct iwi_rule_set set = read_text("rule-file-version-2\n1 2 1 4 2\n0 4 0 0 1\n9 6 0 0 1\n");

    (void)state;
    assert_string_equal(name_of(&set, IWI_ALLREDUCE, 4, 8), "ring");
    assert_string_equal(name_of(&set, IWI_ALLREDUCE, 4, 9), "rabenseifner");
    iwi_ompi_rules_release(&set);
}

static void collectives_that_traces_do_not_know_are_left_out_with_a_warning(void **state)
{
    static const char text[] = "1 4 1 2 1 0 1 0 0"; /* alltoallv */
    struct iwi_rule_set set;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_ok(iwi_ompi_rules_read_memory(&l.log, "rules", text, strlen(text), &set));
    iwt_assert_logged(&l, "rules of v-forms");
    assert_int_equal(set.count, 0);
    iwi_ompi_rules_release(&set);
}

static void assert_refused(const char *text, iw_status status, const char *message)
{
    struct iwi_rule_set set;
    struct iwt_log l;

    iwt_log_init(&l);
    assert_status(iwi_ompi_rules_read_memory(&l.log, "rules", text, strlen(text), &set), status);
    assert_int_equal(l.errors, 1);
    iwt_assert_logged(&l, message);
}

static void errors_name_the_line(void **state)
{
    (void)state;
    assert_refused("", IW_ERR_TRUNCATED, "'rules:1': the file ends before the number of collectives");
    assert_refused("1\n7\n", IW_ERR_TRUNCATED, "'rules:3': the file ends before the number of communicator");
    assert_refused("1\nbcast\n", IW_ERR_FORMAT, "'rules:2': the number of a collective must be a whole");
    assert_refused("99\n", IW_ERR_FORMAT, "'rules:1': the number of collectives is above 22");
    assert_refused("1\n22\n", IW_ERR_FORMAT, "is above 21");
    assert_refused("1 7 1 8 1\n0 10 0 0\n", IW_ERR_FORMAT,
                   "'rules:2': Open MPI has no algorithm 10 of bcast");
    assert_refused("0\n\n7\n", IW_ERR_FORMAT, "'rules:3': unexpected text after the last of 0 collectives");
    assert_refused("rule-file-version-3\n0\n", IW_ERR_FORMAT, "version of the file is above 2");
    assert_refused("99999999999999999999999\n", IW_ERR_FORMAT, "is above 22");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_hold_from_their_sizes_on),
        cmocka_unit_test(the_first_sizes_also_stand_for_all_below),
        cmocka_unit_test(sizes_of_block_operations_count_all_ranks),
        cmocka_unit_test(what_the_file_does_not_name_is_decided_as_in_4_1),
        cmocka_unit_test(version_2_has_a_fifth_number),
        cmocka_unit_test(collectives_that_traces_do_not_know_are_left_out_with_a_warning),
        cmocka_unit_test(errors_name_the_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
