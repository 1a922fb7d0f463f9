/* Noise of three known laws, what each of them costs at which scale, and recordings of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_TRUTH_H
#define IWT_MADE_TRUTH_H

#include <idlewave/whatif.h>

enum { IWT_LAWS = 3 };

/* Sources "irq/often", "thread/now-and-then", "thread/rarely". */
extern const char *const iwt_law_names[IWT_LAWS];

struct iwt_scale {
    uint32_t ranks;
    iw_time compute_ps; /* of a step, which ends with a barrier */
    uint64_t steps;
    uint64_t trials; /* of one whatif */
    uint32_t redraws;
    uint64_t truth_trials;
};

/* What the laws themselves cost: the mean paired saving of each without it, by simulating the specs. */
struct iwt_truth {
    double now, saving[IWT_LAWS], error[IWT_LAWS]; /* standard errors */
};
struct iwt_truth iwt_find_truth(const struct iwt_scale *scale);

/* A recording of 32 CPUs by these laws, and whatif on it. */
iw_whatif *iwt_whatif(const struct iwt_scale *scale, uint64_t seed);

/* The saving that was found for a law. */
iw_estimate iwt_saving(const iw_whatif *whatif, size_t law);

#endif
