/* Which computations begin a step: steps of equal number on all ranks are believed first.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/timeline/step_gap.h"

#include "support/support.h"

enum { RANKS = 4, STEPS = 10, SHORT_ONES = 3 };

/* Each step: one computation of 20 ms, then three short ones of 3, 5 and 8 us. Returns how many. */
static size_t make(struct iwi_gap gaps[RANKS * STEPS * (1 + SHORT_ONES)])
{
    static const iw_time times_ps[1 + SHORT_ONES] = {20 * IW_PS_PER_MS, 3 * IW_PS_PER_US, 5 * IW_PS_PER_US,
                                                     8 * IW_PS_PER_US};
    size_t count = 0;

    for (uint32_t i = 0; i < RANKS * STEPS * (1 + SHORT_ONES); i++) {
        gaps[count++] = (struct iwi_gap){times_ps[i % (1 + SHORT_ONES)], i / (1 + SHORT_ONES) % RANKS};
    }
    return count;
}

static iw_time gap_of(struct iwi_gap *gaps, size_t count)
{
    iw_time gap_ps = -1;

    assert_ok(iwi_step_gap(NULL, gaps, count, RANKS, &gap_ps));
    return gap_ps;
}

static void the_border_is_where_times_jump(void **state)
{
    struct iwi_gap gaps[RANKS * STEPS * (1 + SHORT_ONES)];

    (void)state;
    assert_int_equal(gap_of(gaps, make(gaps)), 20 * IW_PS_PER_MS);
}

/* The CPU was taken away in four short ones: 4 ms, 500 times as long as the next shorter one, but on two
 * ranks only. */
static void what_not_all_ranks_have_begins_no_step(void **state)
{
    struct iwi_gap gaps[RANKS * STEPS * (1 + SHORT_ONES)];
    const size_t count = make(gaps);

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        gaps[1 + 8 * i].time_ps = 4 * IW_PS_PER_MS;
    }
    assert_int_equal(gap_of(gaps, count), 20 * IW_PS_PER_MS);
}

/* One rank has a step less, so that no border is even: the clearest one. */
static void without_an_even_border_the_clearest_counts(void **state)
{
    struct iwi_gap gaps[RANKS * STEPS * (1 + SHORT_ONES)];
    const size_t count = make(gaps);

    (void)state;
    gaps[0].time_ps = 2 * IW_PS_PER_US;
    gaps[1].time_ps = 2 * IW_PS_PER_US;
    assert_int_equal(gap_of(gaps, count), 20 * IW_PS_PER_MS);
}

static void computation_of_one_kind_begins_a_step_each_time(void **state)
{
    struct iwi_gap gaps[RANKS * STEPS];

    (void)state;
    for (uint32_t i = 0; i < RANKS * STEPS; i++) {
        gaps[i] = (struct iwi_gap){IW_PS_PER_MS + i * IW_PS_PER_US, i % RANKS};
    }
    assert_int_equal(gap_of(gaps, RANKS * STEPS), IW_PS_PER_MS);
    assert_int_equal(gap_of(gaps, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_border_is_where_times_jump),
        cmocka_unit_test(what_not_all_ranks_have_begins_no_step),
        cmocka_unit_test(without_an_even_border_the_clearest_counts),
        cmocka_unit_test(computation_of_one_kind_begins_a_step_each_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
