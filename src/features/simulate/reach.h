/* Inside of iw_reach_of(): what a job meets of the recordings of a set, and what may be unseen.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_REACH_H
#define IWI_REACH_H

#include "features/simulate/noise_set.h"
#include "kit/facts/length_bins.h"
#include "kit/facts/longest.h"

/* Which pieces of detours count: those of parts that `is_removed` has as `value`; NULL: all. */
struct iwi_part_filter {
    const bool *is_removed;
    bool value;
};

/* A job, as noise meets it. */
struct iwi_exposure {
    uint32_t ranks;
    double quiet_s;   /* its time without noise */
    bool is_together; /* all nodes are hit at the same time */
    bool is_joined;   /* so are all ranks of a node */
    struct iwi_part_filter filter;
};

/* For a value, a slowdown or a saving, that comes from what the filter lets pass. */
iw_reach iwi_reach_for(const iw_noise_set *set, const struct iwi_exposure *exposure, double value);

/* What other recordings of the same nodes would say of a slowdown. */
struct iwi_file_spread {
    double variance;   /* relative; 0: nothing is recorded */
    double least_part; /* of the slowdown: what is left if few events came by luck (length_bins.h) */
    double often_part, often_variance; /* of the slowdown, without the longest few detours, 0: not known; its
                                          variance, 0: a beat that never varies */
    double often_share;                /* of the time of a CPU, what these take; 0: not known */
};

/* By drawing their stretches (of a folder: its nodes) anew. */
IW_NODISCARD iw_status iwi_recording_spread(const iw_log *log, const iw_noise_set *set,
                                            const struct iwi_exposure *exposure, double slowdown,
                                            uint64_t seed, struct iwi_file_spread *spread_p);

/* The interval of a mean slowdown, at least IW_CERTAINTY_LEAST_TRIALS of them, that counts the recording and
 * what is unseen of it; .high INFINITY: it is a lower bound. *most_p, unless it is NULL: its
 * upper end, of a bound too. */
IW_NODISCARD iw_status iwi_count_recording(const iw_log *log, const iw_noise_set *set,
                                           const struct iwi_exposure *exposure, const double *slowdowns,
                                           size_t count, uint64_t seed, iw_estimate *slowdown_p,
                                           double *most_p);

#endif
