/* Arithmetic of measured networks: intervals of medians, pieces of straight lines, slow links. Needs nothing
 * but the C library: also compiled into the parts that are built for each MPI, which measure where it is
 * needed most.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NET_FIT_H
#define IWI_NET_FIT_H

#include <idlewave/internal/net_measure.h>

#define IWI_MOST_NET_ROUNDS 200 /* values of a series */
#define IWI_MOST_NET_POINTS 56  /* sizes of a level */

/* Median of up to IWI_MOST_NET_ROUNDS values, count > 0, and its 95 % interval by order statistics: no law of
 * the values is assumed. Fewer than 6 values: from the least to the greatest. */
iw_estimate iwi_net_median(const double *values, size_t count);

/* Reaches the interval no further from its median than this share of it? */
bool iwi_net_is_narrow(const iw_estimate *value, double share);

/* iw_net_samples_free(), for the parts, which show nothing of their own. */
void iwi_net_samples_drop(iw_net_samples *samples);

/* The series of a quantity at a size; NULL: there is none. */
const iw_net_series *iwi_net_find(const iw_net_level_samples *level, iw_net_quantity quantity,
                                  uint64_t bytes);

/* ---- lines ---- */

/* Points first ... first + count - 1 lie on value + slope * (bytes - bytes[first]). */
struct iwi_net_line {
    size_t first, count;
    double value, slope;
};

/* Least squares of relative errors against `scale`; the slope is not negative. count > 0. */
struct iwi_net_line iwi_net_fit_line(const uint64_t *bytes, const double *values, const double *scale,
                                     size_t first, size_t count);

/* Changes medians (above 0, with their intervals) as little as it takes that none is below the one before;
 * those that are less sure give way. At most IWI_MOST_NET_POINTS. */
void iwi_net_rising(iw_estimate *values, size_t count);

/* Splits points, in the order of size, into the fewest lines that pass every point within `tolerance` (a
 * share) plus its own uncertainty; of those the closest. More than `most` lines: with a wider tolerance.
 * Returns how many. At most IWI_MOST_NET_POINTS points. */
size_t iwi_net_split(const uint64_t *bytes, const iw_estimate *values, size_t count, double tolerance,
                     size_t most, struct iwi_net_line *lines);

/* Sizes worth measuring next: between two lines, if their ends are not near to each other. `values` are half
 * round trips or exchanges. Returns how many, at most `most`. */
size_t iwi_net_refine(const uint64_t *bytes, const iw_estimate *values, size_t count, size_t most,
                      uint64_t *sizes);

#define IWI_NET_TOLERANCE 0.02
#define IWI_NET_NEAR 1.1       /* ratio of two sizes between which nothing is looked for ... */
#define IWI_NET_EXACT_BYTES 64 /* ... but up to this one: a change is found to the byte */

/* ---- links ---- */

/* Medians over all links inside hosts (or between hosts); 0 if there are none. `scratch`: room for `count`
 * values. */
void iwi_net_link_medians(const iw_net_link *links, size_t count, bool is_inside, double *scratch,
                          double *small_ns, double *large_ns);

/* Is it this much slower than its kind, by the figures given? */
bool iwi_net_is_slow(double ns, double value_ns);

#define IWI_NET_SLOW 1.5

#endif
