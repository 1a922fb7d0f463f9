/* Blocks cover the recording, and replicates draw as many blocks as there are.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/stats/block_bootstrap.h"

#include <math.h>
#include <stdlib.h>

#include "support/support.h"

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/rng.h"
#include "core/stats/sort_ns.h"
#include "features/recordings/compare/compare.h"

static void blocks_are_neither_short_nor_few(void **state)
{
    static const struct {
        int64_t length_ns, block_ns;
        size_t count;
    } cases[] = {
        {1000000000, 50000000, 20},            /* 1 s: at least 20 */
        {4000000000, 100000000, 40},           /* 100 ms */
        {60000000000, 600000000, 100},         /* a hundredth */
        {864000000000000, 8640000000000, 100}, /* 240 h */
        {7, 1, 7},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct iwi_blocks blocks = iwi_choose_blocks(cases[i].length_ns);

        assert_int_equal(blocks.block_ns, cases[i].block_ns);
        assert_int_equal(blocks.count, cases[i].count);
    }
}

static void every_instant_has_a_block(void **state)
{
    (void)state;
    for (int64_t length_ns = 1; length_ns < 500; length_ns++) {
        const struct iwi_blocks blocks = iwi_choose_blocks(length_ns);

        assert_int_equal(iwi_block_of(&blocks, 0), 0);
        assert_int_equal(iwi_block_of(&blocks, length_ns - 1), blocks.count - 1);
        assert_int_equal(iwi_block_of(&blocks, length_ns + 1000), blocks.count - 1);
    }
}

static void replicates_have_as_many_blocks_as_the_recording(void **state)
{
    struct iwi_resampling r, other;
    bool is_same = true;

    (void)state;
    assert_ok(iwi_resampling_new(NULL, 30, 100, 1, 1, &r));
    assert_ok(iwi_resampling_new(NULL, 30, 100, 1, 2, &other));
    for (size_t i = 0; i < 100; i++) {
        unsigned sum = 0;

        for (size_t block = 0; block < 30; block++) {
            sum += r.times[i * 30 + block];
            is_same = is_same && r.times[i * 30 + block] == other.times[i * 30 + block];
        }
        assert_int_equal(sum, 30);
    }
    assert_false(is_same);
    iwi_resampling_release(&r);
    iwi_resampling_release(&other);
}

/* The standard error of the mean of n values is their deviation / sqrt(n). */
static void the_interval_of_a_mean_is_as_wide_as_theory_says(void **state)
{
    enum { BLOCKS = 100, REPLICATES = 2000 };
    static double values[BLOCKS], ones[BLOCKS], means[REPLICATES];
    struct iwi_resampling r;
    struct iwi_interval interval;
    double expected, width;

    (void)state;
    for (size_t i = 0; i < BLOCKS; i++) {
        values[i] = (double)i;
        ones[i] = 1.0;
    }
    assert_ok(iwi_resampling_new(NULL, BLOCKS, REPLICATES, 1, 1, &r));
    iwi_add_ratios(&r, values, ones, 1.0, means);
    interval = iwi_percentile_interval(means, REPLICATES);
    expected = 2.0 * 1.96 * sqrt((BLOCKS * BLOCKS - 1) / 12.0 / BLOCKS);
    width = interval.high - interval.low;
    assert_true(fabs(width - expected) < 0.1 * expected);
    assert_true(interval.low < 49.5 && interval.high > 49.5);
    iwi_resampling_release(&r);
}

static void what_is_no_number_has_no_interval(void **state)
{
    double values[] = {1.0, NAN, 2.0};

    (void)state;
    assert_true(isnan(iwi_percentile_interval(values, 3).low));
}

static void sorting_by_digits_sorts(void **state)
{
    enum { MOST = 1000 };
    static int64_t values[MOST], expected[MOST], scratch[MOST];

    (void)state;
    for (unsigned bits = 1; bits <= 63; bits++) {
        const size_t count = MOST - bits;

        for (size_t i = 0; i < count; i++) {
            const struct iwi_draw_id id = {bits, 0, IWI_DRAW_TEST, 0, 0};

            values[i] = expected[i] = (int64_t)(iwi_draw(id, i) >> (64 - bits));
        }
        iwi_sort(expected, count, iwi_compare_i64);
        iwi_sort_ns(values, scratch, count);
        assert_memory_equal(values, expected, count * sizeof values[0]);
    }
    iwi_sort_ns(values, scratch, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_neither_short_nor_few),
        cmocka_unit_test(every_instant_has_a_block),
        cmocka_unit_test(replicates_have_as_many_blocks_as_the_recording),
        cmocka_unit_test(the_interval_of_a_mean_is_as_wide_as_theory_says),
        cmocka_unit_test(what_is_no_number_has_no_interval),
        cmocka_unit_test(sorting_by_digits_sorts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
