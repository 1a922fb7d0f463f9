/* Clocks of ranks: what collectives say of them, and the clocks that fit best.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The clock of rank r shows t + offset_r + drift_r (t - middle) at time t. For a group g and a rank r of it,
 * a *link* says how far the ends of r are from the middle ends of the group: offset_r - c_g, with a constant
 * c_g of the group that nobody knows. The clocks are those that minimise, over all links,
 *
 *     sum of weight (value_of_r - c_g - value of the link)^2
 */
#ifndef IWI_CLOCK_LINKS_H
#define IWI_CLOCK_LINKS_H

#include "features/explain/arrivals/visits.h"

enum { IWI_CLOCK_SLOPE_LEAST = 4 }; /* ends for a slope */

struct iwi_rank_clock {
    double offset_ps, drift;
};

struct iwi_clock_link {
    uint32_t group, rank;
    double offset_ps, drift;
    double weight, drift_weight; /* drift_weight 0: too few ends for a slope */
};

struct iwi_clock_links {
    struct iwi_clock_link *of; /* by group */
    size_t count, capacity;
};

/* One end of a collective. */
struct iwi_clock_end {
    uint32_t group, rank;
    double at_ps,
        off_ps; /* when, from the middle of the run; how far from the middle end of its collective */
};

/* Resistant line through ends: the medians of the first and of the last third give the slope, the median of
 * what is left the height at 0. Too few: no slope. `room`: as many doubles. */
struct iwi_rank_clock iwi_clock_line(const struct iwi_clock_end *ends, size_t count, bool want_drift,
                                     double *room);

/* The values of ranks; the first rank of each set has 0. set_of[rank]: sets by their first rank. */
IW_NODISCARD iw_status iwi_clock_solve(const iw_log *log, const struct iwi_clock_links *links, size_t ranks,
                                       size_t groups, const uint32_t *set_of, struct iwi_rank_clock *clocks);

#endif
