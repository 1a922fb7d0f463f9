/* What the reader of GOAL text says about faults.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "goal_testing.h"

#define IN_RANK(statement) "num_ranks 2\nrank 0 {\n" statement "\n}\nrank 1 {\n}\n"

struct fault {
    const char *text;
    iw_status status;
    const char *message;
};

static void assert_faults(const struct fault *faults, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_refused(faults[i].text, faults[i].status, faults[i].message);
    }
}

#define ASSERT_FAULTS(faults) assert_faults(faults, sizeof(faults) / sizeof(faults)[0])

static void wrong_tokens_are_named_with_what_was_expected(void **state)
{
    static const struct fault faults[] = {
        {"ranks 2\n", IW_ERR_FORMAT, "'t.goal:1': expected 'num_ranks' or 'rank', found 'ranks'"},
        {"num_ranks x\n", IW_ERR_FORMAT, "'t.goal:1': expected the number of ranks, found 'x'"},
        {"num_ranks 2\nrank {", IW_ERR_FORMAT, "'t.goal:2': expected the number of a rank, found '{'"},
        {"num_ranks 2\nrank 0\ncalc", IW_ERR_FORMAT, "'t.goal:3': expected '{', found 'calc'"},
        {IN_RANK("5: calc 1"), IW_ERR_FORMAT, "'t.goal:3': expected an operation, a label or '}', found '5'"},
        {IN_RANK("x: 7"), IW_ERR_FORMAT, "'t.goal:3': expected 'calc', 'send' or 'recv', found '7'"},
        {IN_RANK("x:\ncalc 7"), IW_ERR_FORMAT,
         "'t.goal:3': expected 'calc', 'send' or 'recv', found the end of the line"},
        {IN_RANK("x: Calc 7"), IW_ERR_FORMAT, "'t.goal:3': expected 'calc', 'send' or 'recv', found 'Calc'"},
        {IN_RANK("calc -7"), IW_ERR_FORMAT, "'t.goal:3': expected the length of the calc, found '-'"},
        {IN_RANK("calc 7 nic 1"), IW_ERR_FORMAT,
         "'t.goal:3': expected 'cpu' or the end of the line, found 'nic'"},
        {IN_RANK("calc 7 8"), IW_ERR_FORMAT, "'t.goal:3': expected the end of the line, found '8'"},
        {IN_RANK("send 8 to 1"), IW_ERR_FORMAT, "'t.goal:3': expected 'b', found 'to'"},
        {IN_RANK("send 8bytes to 1"), IW_ERR_FORMAT, "'t.goal:3': expected 'to', found 'ytes'"},
        {IN_RANK("send 8b from 1"), IW_ERR_FORMAT, "'t.goal:3': expected 'to', found 'from'"},
        {IN_RANK("recv 8b to 1"), IW_ERR_FORMAT, "'t.goal:3': expected 'from', found 'to'"},
        {IN_RANK("send 8b to x"), IW_ERR_FORMAT, "'t.goal:3': expected the destination rank, found 'x'"},
        {IN_RANK("recv 8b from x"), IW_ERR_FORMAT, "'t.goal:3': expected the source rank, found 'x'"},
        {IN_RANK("send 8b to 1 tug 1"), IW_ERR_FORMAT,
         "'t.goal:3': expected 'tag', 'cpu', 'nic' or the end of the line, found 'tug'"},
        {IN_RANK("send 8b to 1 tag x"), IW_ERR_FORMAT, "'t.goal:3': expected the tag, found 'x'"},
        {IN_RANK("send 8b to 1 tag 1 tag 2"), IW_ERR_FORMAT, "'t.goal:3': rank 0: 'tag' is given twice"},
        {IN_RANK("recv 8b from - 1"), IW_ERR_FORMAT, "'t.goal:3': expected 1 after '-', found byte 0x20"},
        {IN_RANK("calc5"), IW_ERR_FORMAT,
         "'t.goal:3': expected ':', 'requires' or 'irequires' after a label, found the end of the line"},
        {IN_RANK("x needs y"), IW_ERR_FORMAT,
         "'t.goal:3': expected ':', 'requires' or 'irequires' after a label, found 'needs'"},
        {IN_RANK("x requires"), IW_ERR_FORMAT, "'t.goal:3': expected a label, found the end of the line"},
        {IN_RANK("x requires y z"), IW_ERR_FORMAT, "'t.goal:3': expected the end of the line, found 'z'"},
        {IN_RANK("calc 1 / 2"), IW_ERR_FORMAT, "'t.goal:3': expected the end of the line, found '/'"},
        {IN_RANK("calc 1 \x01"), IW_ERR_FORMAT, "'t.goal:3': expected the end of the line, found byte 0x01"},
        {IN_RANK("calc 1 \xff"), IW_ERR_FORMAT, "found byte 0xff"},
    };

    (void)state;
    ASSERT_FAULTS(faults);
}

static void numbers_too_large_are_out_of_range(void **state)
{
    static const struct fault faults[] = {
        {"num_ranks 4294967295\n", IW_ERR_RANGE, "'t.goal:1': the number of ranks is larger than 4294967294"},
        {"num_ranks 99999999999999999999999\n", IW_ERR_RANGE, "the number of ranks is larger than"},
        {"num_ranks 1048577\n", IW_ERR_RANGE, "num_ranks 1048577 is too many for a file of 18 bytes"},
        {"num_ranks 0\n", IW_ERR_RANGE, "'t.goal:1': num_ranks is 0"},
        {"num_ranks 2\nrank 4294967295 {\n}\n", IW_ERR_RANGE, "'t.goal:2': the number of a rank is larger"},
        {IN_RANK("calc 864000000000001"), IW_ERR_RANGE,
         "the length of the calc is larger than 864000000000000"},
        {IN_RANK("calc 18446744073709551616"), IW_ERR_RANGE, "the length of the calc is larger"},
        {IN_RANK("send 1099511627777b to 1"), IW_ERR_RANGE, "the message size is larger than 1099511627776"},
        {IN_RANK("send 1b to 1 tag 4294967296"), IW_ERR_RANGE, "the tag is larger than 4294967295"},
        {IN_RANK("send 1b to 1 tag -2"), IW_ERR_RANGE, "the tag is negative (only -1 has a meaning)"},
        {IN_RANK("recv 1b from -2"), IW_ERR_RANGE, "the source rank is negative"},
    };

    (void)state;
    ASSERT_FAULTS(faults);
}

static void the_largest_numbers_are_accepted(void **state)
{
    (void)state;
    assert_reads_as("num_ranks 1\nrank 0 {\ncalc 864000000000000 cpu 254\n"
                    "send 1099511627776b to 0 tag 4294967294 nic 254\n}\n",
                    "num_ranks 1\n\nrank 0 {\nl1: calc 864000000000000 cpu 254\n"
                    "l2: send 1099511627776b to 0 tag 4294967294 nic 254\n}\n");
}

static void operations_that_make_no_sense_are_named_by_rank_and_label(void **state)
{
    static const struct fault faults[] = {
        {IN_RANK("x: send 1b to 2"), IW_ERR_FORMAT,
         "'t.goal:3': rank 0 operation 'x': peer 2 is not a rank below num_ranks 2"},
        {IN_RANK("send 1b to 2"), IW_ERR_FORMAT,
         "'t.goal:3': rank 0: peer 2 is not a rank below num_ranks 2"},
        {"rank 0 {\ny: recv 1b from 1\nx: recv 1b from 9\n}\nnum_ranks 2\n", IW_ERR_FORMAT,
         "'t.goal:3': rank 0 operation 'x': peer 9 is not a rank below num_ranks 2"},
        {IN_RANK("x: send 1b to -1"), IW_ERR_FORMAT, "rank 0 operation 'x': a send needs a destination rank"},
        {IN_RANK("x: calc 1 cpu 255"), IW_ERR_FORMAT, "rank 0 operation 'x': cpu 255 is above 254"},
        {IN_RANK("x: send 1b to 1 nic 256"), IW_ERR_FORMAT, "rank 0 operation 'x': nic 256 is above 254"},
        {IN_RANK("x: calc 1\nx requires x"), IW_ERR_FORMAT,
         "'t.goal:4': rank 0 operation 'x': it depends on itself"},
        {IN_RANK("x: calc 1\n\n\nx requires y"), IW_ERR_FORMAT,
         "'t.goal:6': rank 0: label 'y' is not defined in this rank"},
        {IN_RANK("y: calc 1\nx requires y"), IW_ERR_FORMAT, "'t.goal:4': rank 0: label 'x' is not defined"},
    };

    (void)state;
    ASSERT_FAULTS(faults);
}

static void cycles_are_named_by_rank_and_labels(void **state)
{
    static const struct fault faults[] = {
        {IN_RANK("a: calc 1\nb: calc 1\na requires b\nb requires a"), IW_ERR_FORMAT,
         "'t.goal:2': rank 0: 2 operations wait for each other: 'a -> b -> a'"},
        {IN_RANK("s: calc 1\na: calc 1\nb: calc 1\nc: calc 1\na requires s\nb requires a\nc irequires b\n"
                 "a irequires c"),
         IW_ERR_FORMAT, "rank 0: 3 operations wait for each other: 'a -> c -> b -> a'"},
        {IN_RANK("a: calc 1\nb: calc 1\nc: calc 1\nd: calc 1\ne: calc 1\nf: calc 1\ng: calc 1\na requires b\n"
                 "b requires c\nc requires d\nd requires e\ne requires f\nf requires g\ng requires a"),
         IW_ERR_FORMAT, "7 operations wait for each other: 'a -> b -> c -> d -> e -> f .. a'"},
    };

    (void)state;
    ASSERT_FAULTS(faults);
}

static void forward_dependencies_without_a_cycle_are_fine(void **state)
{
    (void)state;
    assert_reads_as("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nc: calc 1\na requires c\na requires b\n"
                    "b requires c\n}\n",
                    "num_ranks 1\n\nrank 0 {\nl1: calc 1\nl2: calc 1\nl3: calc 1\nl1 requires l2\n"
                    "l1 requires l3\nl2 requires l3\n}\n");
}

static void a_file_that_ends_early_is_truncated(void **state)
{
    static const struct fault faults[] = {
        {"", IW_ERR_TRUNCATED, "'t.goal:1': the file ends without 'num_ranks'"},
        {"// only this\n", IW_ERR_TRUNCATED, "'t.goal:2': the file ends without 'num_ranks'"},
        {"num_ranks", IW_ERR_TRUNCATED, "expected the number of ranks, found the end of the file"},
        {"num_ranks 1\nrank 0 {\ncalc 5\n", IW_ERR_TRUNCATED,
         "'t.goal:4': the file ends inside the block of rank 0 that begins in line 2"},
        {"num_ranks 1\nrank 0 {\nsend 5b to", IW_ERR_TRUNCATED,
         "'t.goal:3': expected the destination rank, found the end of the file"},
        {"num_ranks 1\n/* rank 0 {\n", IW_ERR_TRUNCATED,
         "'t.goal:2': the comment that begins here is not closed"},
        {"num_ranks 1\n/*", IW_ERR_TRUNCATED, "'t.goal:2': the comment that begins here is not closed"},
        {"num_ranks 1\n/*/", IW_ERR_TRUNCATED, "the comment that begins here is not closed"},
    };

    (void)state;
    ASSERT_FAULTS(faults);
}

static void blocks_must_fit_num_ranks(void **state)
{
    static const struct fault faults[] = {
        {"num_ranks 2\nrank 0 {\n}\nrank 2 {\n}\n", IW_ERR_FORMAT,
         "'t.goal:4': rank 2 is not below num_ranks 2"},
        {"num_ranks 3\nrank 1 {\n}\nrank 1 {\n}\n", IW_ERR_FORMAT, "'t.goal:4': rank 1 has a second block"},
        {"num_ranks 3\nnum_ranks 4\n", IW_ERR_FORMAT, "'t.goal:2': num_ranks is 4 here but was 3 before"},
    };

    (void)state;
    ASSERT_FAULTS(faults);
}

static void the_unit_of_time_is_checked(void **state)
{
    static const char text[] = "num_ranks 1\nrank 0 {\n}\n";
    struct iwi_goal_source source = {"t.goal", text, sizeof text - 1, 0, NULL, false};
    struct iwi_schedule *schedule;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_status(iwi_goal_read_memory(&l.log, &source, &schedule), IW_ERR_RANGE);
    iwt_assert_logged(&l, "the unit of GOAL's calc lengths is 0 ps");
    source.unit_ps = IW_PS_PER_S + 1;
    assert_status(iwi_goal_read_memory(&l.log, &source, &schedule), IW_ERR_RANGE);
}

static void long_words_are_cut_in_messages(void **state)
{
    char text[400] = "num_ranks 1\nrank 0 {\n";

    (void)state;
    memset(text + strlen(text), 'x', 300);
    assert_refused(text, IW_ERR_TRUNCATED, "expected ':', 'requires' or 'irequires' after a label");
    text[0] = 'x';
    memset(text, 'y', 200);
    assert_refused(text, IW_ERR_FORMAT, "yyyyyyyyyy'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_tokens_are_named_with_what_was_expected),
        cmocka_unit_test(numbers_too_large_are_out_of_range),
        cmocka_unit_test(the_largest_numbers_are_accepted),
        cmocka_unit_test(operations_that_make_no_sense_are_named_by_rank_and_label),
        cmocka_unit_test(cycles_are_named_by_rank_and_labels),
        cmocka_unit_test(forward_dependencies_without_a_cycle_are_fine),
        cmocka_unit_test(a_file_that_ends_early_is_truncated),
        cmocka_unit_test(blocks_must_fit_num_ranks),
        cmocka_unit_test(the_unit_of_time_is_checked),
        cmocka_unit_test(long_words_are_cut_in_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
