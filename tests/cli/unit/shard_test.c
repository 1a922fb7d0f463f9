/* Shards from the command line and from Slurm.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/verb/shard.h"

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static void the_third_of_eight_is_index_two(void **state)
{
    struct shard shard;
    char fault[SHARD_FAULT_SIZE];

    (void)state;
    assert_true(shard_parse("3/8", &shard, fault));
    assert_int_equal(shard.index, 2);
    assert_int_equal(shard.count, 8);
    assert_true(shard_parse("1/1", &shard, fault));
    assert_int_equal(shard.index, 0);
}

static void what_is_no_shard_is_refused_with_a_reason(void **state)
{
    static const char *const wrong[] = {
        "",    "3",         "/",     "3/",   "/8",
        "0/8", "9/8",       "3/8x",  " 3/8", "-1/8",
        "3/0", "1/1000001", "3/8/9", "x/8",  "99999999999999999999/99999999999999999999"};
    struct shard shard = {7, 7};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char fault[SHARD_FAULT_SIZE] = "";

        if (shard_parse(wrong[i], &shard, fault)) {
            fail_msg("'%s' was taken", wrong[i]);
        }
        assert_true(strlen(fault) > 10);
        assert_int_equal(shard.index, 7);
    }
}

static void assert_slurm(struct shard_slurm slurm, uint32_t index, uint32_t count)
{
    struct shard shard;
    char fault[SHARD_FAULT_SIZE] = "";

    if (!shard_of_slurm(&slurm, &shard, fault)) {
        fail_msg("task %s: %s", slurm.id, fault);
    }
    assert_int_equal(shard.index, index);
    assert_int_equal(shard.count, count);
}

static void arrays_may_begin_at_zero_or_one_or_anywhere(void **state)
{
    (void)state;
    assert_slurm((struct shard_slurm){"0", "0", "7", "8", "1"}, 0, 8);
    assert_slurm((struct shard_slurm){"7", "0", "7", "8", "1"}, 7, 8);
    assert_slurm((struct shard_slurm){"1", "1", "8", "8", "1"}, 0, 8);
    assert_slurm((struct shard_slurm){"8", "1", "8", "8", "1"}, 7, 8);
    assert_slurm((struct shard_slurm){"12", "11", "13", "3", "1"}, 1, 3);
}

static void arrays_may_have_steps(void **state)
{
    (void)state;
    assert_slurm((struct shard_slurm){"1", "1", "7", "4", "2"}, 0, 4);
    assert_slurm((struct shard_slurm){"7", "1", "7", "4", "2"}, 3, 4);
}

static void count_and_step_may_be_missing(void **state)
{
    (void)state;
    assert_slurm((struct shard_slurm){"2", "1", "8", NULL, NULL}, 1, 8);
}

/* sbatch --array=3 after task 3 failed: it runs all that is missing. */
static void a_task_that_is_run_again_alone_is_the_whole_study(void **state)
{
    (void)state;
    assert_slurm((struct shard_slurm){"3", "3", "3", "1", "1"}, 0, 1);
}

static void assert_slurm_refused(struct shard_slurm slurm, const char *reason)
{
    struct shard shard;
    char fault[SHARD_FAULT_SIZE] = "";

    assert_false(shard_of_slurm(&slurm, &shard, fault));
    assert_non_null(strstr(fault, reason));
}

static void lists_with_holes_are_refused(void **state)
{
    (void)state;
    assert_slurm_refused((struct shard_slurm){"7", "1", "7", "3", "1"}, "has gaps");
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    assert_slurm_refused((struct shard_slurm){"x", "1", "8", "8", "1"}, "--shard I/N");
    assert_slurm_refused((struct shard_slurm){"1", NULL, NULL, NULL, NULL}, "--shard I/N");
    assert_slurm_refused((struct shard_slurm){"9", "1", "8", "8", "1"}, "--shard I/N");
    assert_slurm_refused((struct shard_slurm){"2", "1", "7", "4", "2"}, "not in the Slurm array");
    assert_slurm_refused((struct shard_slurm){"1", "1", "8", "8", "0"}, "--shard I/N");
}

static void the_variables_are_read_from_the_environment(void **state)
{
    struct shard_slurm slurm;

    (void)state;
    assert_int_equal(setenv("SLURM_ARRAY_TASK_ID", "5", 1), 0);
    assert_int_equal(unsetenv("SLURM_ARRAY_TASK_MIN"), 0);
    slurm = shard_slurm_variables();
    assert_string_equal(slurm.id, "5");
    assert_null(slurm.min);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_third_of_eight_is_index_two),
        cmocka_unit_test(what_is_no_shard_is_refused_with_a_reason),
        cmocka_unit_test(arrays_may_begin_at_zero_or_one_or_anywhere),
        cmocka_unit_test(arrays_may_have_steps),
        cmocka_unit_test(count_and_step_may_be_missing),
        cmocka_unit_test(a_task_that_is_run_again_alone_is_the_whole_study),
        cmocka_unit_test(lists_with_holes_are_refused),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(the_variables_are_read_from_the_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
