/* The 95 % interval of a simulated mean: chance of the trials, and chance of the recording.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_INTERVAL_H
#define IWI_INTERVAL_H

#include <stddef.h>

#include <idlewave/result.h>

/* One number a trial, at least 2. Differences of pairs are such numbers too. */
struct iwi_sample {
    const double *trials;
    size_t trial_count;
    const double *redraws; /* [redraw][trial]: the same from recordings drawn anew, in trials of their own */
    size_t redraw_count;   /* fewer than 2: the recording is taken for the whole truth */
    size_t per_redraw;     /* at least 2 */
    size_t blocks;         /* pieces that recordings are drawn in, at least 2 */
    double file_variance;  /* without redraws: what the recording adds to the variance of the mean, and the */
    double file_freedom;   /* degrees of freedom of that; 0: it is taken for the whole truth */
    double file_below;     /* without redraws: the lower end is at least so much lower */
    double file_floor;     /* but not below this part of what the trials say */
    double file_sure;      /* nor below this, which no trial is without */
    double one_hit;        /* the most that one detour can add to a number; 0: not known */
    double most_unmet;     /* what hits that no trial met add to the mean at most; used with one_hit */
};

iw_estimate iwi_paired_interval(const struct iwi_sample *sample);

#endif
