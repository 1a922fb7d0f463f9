/* What a timeline is made of.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TIMELINE_H
#define IWI_TIMELINE_H

#include <idlewave/timeline.h>

#include "core/base/base.h"

/* Positions in so many columns fit into 31 bits (timeline.c); halving them until 32 are left takes 10
 * levels beyond the first. */
enum { IWI_TIMELINE_MOST_SIDE = (1 << 15) - 1, IWI_TIMELINE_MOST_LEVELS = 16, IWI_TIMELINE_LEAST_SIDE = 16 };

/* Ranks of a row of the finest level, at most. */
enum { IWI_TIMELINE_MOST_RANKS_PER_ROW = UINT16_MAX };

/* Runs end before it, so that sums and small multiples of their times do not overflow: 40 hours. */
#define IWI_TIMELINE_MOST_END_PS (INT64_MAX / 64)

/* A step of the window's `index`-th rank. */
struct iwi_exact_entry {
    uint32_t index;
    iw_step step;
};

/* The window. While steps come they are entries in the order of arrival, together with some of ranks that
 * have been left out since; then sorted by rank. */
struct iwi_exact {
    uint32_t first_rank; /* of the program */
    uint32_t rank_count; /* of the window, fewer if ranks had to be left out */
    uint32_t left_out;
    iw_time from_ps, to_ps;
    uint64_t max_steps;
    uint64_t step_count;   /* of all that are in */
    uint64_t *first_steps; /* per rank: the number of its first one */
    uint64_t *counts;      /* per rank */
    struct iwi_exact_entry *entries;
    size_t entry_count, capacity;
    iw_step *steps;   /* rank after rank */
    uint64_t *starts; /* per rank and one more: where its steps begin */
};

struct iwi_level {
    uint32_t rows, columns, ranks_per_row;
    iw_time bin_ps;
    uint16_t *mean[IW_STATES], *max[IW_STATES];
};

struct iwi_raster_builder;

struct iw_timeline {
    iw_timeline_about about;
    iw_time end_ps;
    uint64_t step_count; /* of the run */
    iw_status status;    /* of taking steps */
    struct iwi_exact exact;
    struct iwi_raster_builder *raster; /* NULL when it is finished */
    struct iwi_level levels[IWI_TIMELINE_MOST_LEVELS];
    size_t level_count;
};

/* A grid that does not hold just the ranks is none: then they are a line. */
void iwi_about_set_grid(iw_timeline_about *about);

/* ---- timeline_exact.c ---- */

IW_NODISCARD iw_status iwi_exact_open(const iw_log *log, const iw_timeline_opts *opts,
                                      struct iwi_exact *exact);
IW_NODISCARD iw_status iwi_exact_add(struct iwi_exact *exact, uint32_t index, const iw_step *step);
/* Sorts. */
IW_NODISCARD iw_status iwi_exact_finish(const iw_log *log, struct iwi_exact *exact);
void iwi_exact_release(struct iwi_exact *exact);

/* Where in the window a rank is; may be beyond its end. */
static inline uint32_t iwi_exact_index(const struct iwi_exact *exact, uint32_t ranks, uint32_t rank)
{
    return rank >= exact->first_rank ? rank - exact->first_rank : rank + (ranks - exact->first_rank);
}

/* ---- coarser levels ---- */

/* Planes of zeros. */
IW_NODISCARD iw_status iwi_level_open(const iw_log *log, struct iwi_level *level);
void iwi_level_release(struct iwi_level *level);

/* What the level after this one looks like; false if this is the last. */
bool iwi_level_next(const struct iwi_level *level, uint32_t ranks, struct iwi_level *next);

/* Level 0 is there; makes the others. */
IW_NODISCARD iw_status iwi_levels_make(const iw_log *log, iw_timeline *timeline);

/* The widest columns of the finest level: the coarsest of 10 more levels has ceil(columns / 1024) of them,
 * 1024 times as wide, and its end is still a time. */
static inline iw_time iwi_level_most_bin(uint32_t columns)
{
    return INT64_MAX / 2 / ((iw_time)columns + 1024);
}

/* The finest level of so many ranks. */
struct iwi_level iwi_level_finest(uint32_t ranks, uint32_t max_rows);

static inline uint32_t iwi_level_ranks(const struct iwi_level *level, uint32_t ranks, uint32_t row)
{
    const uint64_t first = (uint64_t)row * level->ranks_per_row;

    return (uint32_t)iwi_min(level->ranks_per_row, (int64_t)(ranks - first));
}

#endif
