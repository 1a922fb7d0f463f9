/* Recordings of known laws on 10,000 and 1,000,000 ranks: whatif ranks them right, and its intervals cover
 * the truth. Argument: which of them, by ranks; none: the truth for 100 ranks that the short test relies on.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <stdlib.h>

#include "synthetic_truth.h"

static const struct iwt_scale ten_thousand = {
    .ranks = 10000, .compute_ps = IW_PS_PER_MS, .steps = 4, .trials = 6, .redraws = 6, .truth_trials = 2000};
static const struct iwt_scale million = {.ranks = 1000000,
                                         .compute_ps = IW_PS_PER_MS / 10,
                                         .steps = 1,
                                         .trials = 2,
                                         .redraws = 4,
                                         .truth_trials = 160};

/* The law that costs most is another one on each scale. */
static void the_truth_for_a_hundred_ranks_is_the_truth(void **state)
{
    const struct iwt_truth truth = iwt_find_truth(&iwt_hundred);

    (void)state;
    for (size_t law = 0; law < IWT_LAWS; law++) {
        assert_true(fabs(truth.saving[law] - iwt_hundred_truth.saving[law]) <= 2.0 * truth.error[law]);
    }
    assert_int_equal(iwt_order_of(truth.saving).law[0], 0);
}

/* With many trials the whole order is right, on any recording that holds enough of all sources. */
static void assert_order(const struct iwt_scale *scale, const struct iwt_truth *truth, uint64_t trials)
{
    const struct iwt_order right = iwt_order_of(truth->saving);
    struct iwt_scale careful = *scale;
    double savings[IWT_LAWS];
    iw_whatif *whatif;

    careful.trials = trials;
    careful.redraws = 0;
    whatif = iwt_whatif(&careful, 1);
    for (size_t law = 0; law < IWT_LAWS; law++) {
        savings[law] = iwt_saving(whatif, law).value;
        print_message("  %-20s saves %.4f %% on one recording in %" PRIu64 " trials\n", iwt_law_names[law],
                      100.0 * savings[law], trials);
    }
    assert_memory_equal(&right, &(struct iwt_order[]){iwt_order_of(savings)}, sizeof right);
    iw_whatif_free(whatif);
}

static void check_scale(const struct iwt_scale *scale, size_t repetitions, size_t winner, double least,
                        double most, uint64_t careful_trials)
{
    const struct iwt_truth truth = iwt_find_truth(scale);
    struct iwt_tally tally;

    assert_int_equal(iwt_order_of(truth.saving).law[0], winner);
    assert_order(scale, &truth, careful_trials);
    tally = iwt_repeat(scale, &truth, repetitions);
    iwt_print(scale, &truth, &tally);
    iwt_assert_covered(&tally, least, most);
    assert_true(tally.first_right * 100 >= repetitions * 95);
}

static void intervals_cover_the_truth_on_ten_thousand_ranks(void **state)
{
    (void)state;
    check_scale(&ten_thousand, 200, 1, 0.90, 0.99, 300);
}

/* Ten seconds each, so fewer of them: of 30 repetitions at 95 % at least 25 cover with a probability of
 * 99 %. */
static void intervals_cover_the_truth_on_a_million_ranks(void **state)
{
    (void)state;
    check_scale(&million, 30, 2, 0.83, 1.0, 40);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_truth_for_a_hundred_ranks_is_the_truth),
        cmocka_unit_test(intervals_cover_the_truth_on_ten_thousand_ranks),
        cmocka_unit_test(intervals_cover_the_truth_on_a_million_ranks),
    };
    const unsigned long ranks = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;

    cmocka_set_test_filter(ranks == 100 ? "the_truth*" : ranks == 10000 ? "*ten_thousand*" : "*million*");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
