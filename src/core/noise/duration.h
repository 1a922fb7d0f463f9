/* How long random detours last: the DIST of "poisson:RATE,DIST". One row of a table each (duration.c).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DURATION_H
#define IWI_DURATION_H

#include <idlewave/time.h>

#include "core/base/rng.h"

struct iwi_duration_ops;

struct iwi_duration {
    const struct iwi_duration_ops *ops;
    iw_time scale_ps; /* T, MEAN, MIN or MEDIAN */
    double shape;     /* A or SIGMA; else unused */
};

/* `text` is "exp:10us"; messages name `spec`, the whole of which it is a part. */
IW_NODISCARD iw_status iwi_duration_parse(const iw_log *log, const char *spec, const char *text,
                                          struct iwi_duration *duration_p);

/* INFINITY for pareto with A <= 1. */
double iwi_duration_mean_ps(const struct iwi_duration *duration);
/* Of what is drawn: finite for any pareto, since durations are at most IW_TIME_INPUT_MAX. */
double iwi_duration_drawn_mean_ps(const struct iwi_duration *duration);

/* Duration number `index` of a stream, rounded to the picosecond, at most IW_TIME_INPUT_MAX. */
iw_time iwi_duration_draw(const struct iwi_duration *duration, struct iwi_draw_id draw, uint64_t index);

/* How long a detour has been under way at an instant that meets it, and how long it still will be: a longer
 * one is met more often, in proportion to its length, and is met anywhere in it. From two uniform numbers;
 * the mean of what is drawn must be finite. */
struct iwi_under_way {
    iw_time age_ps, left_ps;
};

struct iwi_under_way iwi_duration_under_way(const struct iwi_duration *duration, double u, double v);

#endif
