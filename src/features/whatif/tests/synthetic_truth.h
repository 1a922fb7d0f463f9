/* How often the intervals of whatif cover the truth, for both tests of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_SYNTHETIC_TRUTH_H
#define IWT_SYNTHETIC_TRUTH_H

#include <math.h>

#include "made_truth.h"
#include "support/support.h"

static const struct iwt_scale iwt_hundred = {.ranks = 100,
                                             .compute_ps = 10 * IW_PS_PER_MS,
                                             .steps = 30,
                                             .trials = 16,
                                             .redraws = 8,
                                             .truth_trials = 20000};

/* What iwt_find_truth() gives for it; synthetic_truth_long_test.c looks whether it still does. */
static const struct iwt_truth iwt_hundred_truth = {
    .now = 0.014202, .saving = {0.0076488, 0.0035762, 0.00034535}, .error = {7.2e-6, 8.4e-6, 4.7e-6}};

/* Numbers of the laws, the one that costs most first. */
struct iwt_order {
    size_t law[IWT_LAWS];
};

static inline struct iwt_order iwt_order_of(const double *savings)
{
    struct iwt_order order = {{0, 1, 2}};

    for (size_t i = 0; i < IWT_LAWS; i++) {
        for (size_t k = 0; k + 1 < IWT_LAWS; k++) {
            const size_t left = order.law[k], right = order.law[k + 1];

            if (savings[left] < savings[right]) {
                order.law[k] = right;
                order.law[k + 1] = left;
            }
        }
    }
    return order;
}

struct iwt_tally {
    size_t repetitions, covered[IWT_LAWS], first_right, all_right;
    double half_width[IWT_LAWS], mean[IWT_LAWS];
};

/* Each repetition: a new recording by another seed, and whatif on it. */
static inline struct iwt_tally iwt_repeat(const struct iwt_scale *scale, const struct iwt_truth *truth,
                                          size_t repetitions)
{
    const struct iwt_order right = iwt_order_of(truth->saving);
    struct iwt_tally tally = {.repetitions = repetitions};

    for (size_t i = 0; i < repetitions; i++) {
        iw_whatif *whatif = iwt_whatif(scale, 1000 + i);
        double savings[IWT_LAWS];
        struct iwt_order order;

        for (size_t law = 0; law < IWT_LAWS; law++) {
            const iw_estimate saving = iwt_saving(whatif, law);

            savings[law] = saving.value;
            tally.covered[law] += saving.low <= truth->saving[law] && truth->saving[law] <= saving.high;
            tally.half_width[law] += 0.5 * (saving.high - saving.low) / (double)repetitions;
            tally.mean[law] += saving.value / (double)repetitions;
        }
        order = iwt_order_of(savings);
        tally.first_right += order.law[0] == right.law[0];
        tally.all_right += order.law[0] == right.law[0] && order.law[1] == right.law[1];
        iw_whatif_free(whatif);
    }
    return tally;
}

static inline void iwt_print(const struct iwt_scale *scale, const struct iwt_truth *truth,
                             const struct iwt_tally *tally)
{
    const double count = (double)tally->repetitions;

    print_message("%u ranks, %zu repetitions: the most costly right in %.1f %%, all in %.1f %%\n",
                  scale->ranks, tally->repetitions, 100.0 * (double)tally->first_right / count,
                  100.0 * (double)tally->all_right / count);
    for (size_t law = 0; law < IWT_LAWS; law++) {
        print_message("  %-20s saves %.4f %% (+- %.4f); covered %5.1f %%, mean %.4f %%, half width %.4f %%\n",
                      iwt_law_names[law], 100.0 * truth->saving[law], 100.0 * truth->error[law],
                      100.0 * (double)tally->covered[law] / count, 100.0 * tally->mean[law],
                      100.0 * tally->half_width[law]);
    }
}

static inline void iwt_assert_covered(const struct iwt_tally *tally, double least, double most)
{
    for (size_t law = 0; law < IWT_LAWS; law++) {
        const double share = (double)tally->covered[law] / (double)tally->repetitions;

        assert_true(share >= least && share <= most);
    }
}

#endif
