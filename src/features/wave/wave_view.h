/* Between the parts of iw_waves_find().
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WAVE_VIEW_H
#define IWI_WAVE_VIEW_H

#include <stdbool.h>

#include <idlewave/timeline.h>
#include <idlewave/wave.h>

/* The exact steps of a timeline as a matrix of ranks and steps, on the grid of the ranks. */
struct iwi_wave_view {
    const iw_timeline *timeline;
    uint32_t ranks;      /* of the program */
    uint32_t rank_count; /* of the window */
    uint32_t dimensions; /* of the grid */
    uint32_t extents[IW_TIMELINE_DIMS], strides[IW_TIMELINE_DIMS];
    bool is_periodic, is_traced;
    uint32_t distance;       /* d: partners are up to so far away, or a guess */
    uint32_t reach;          /* ranks that a wave can go in a step: sigma d, or a guess */
    uint64_t expected_reach; /* sigma d; 0: one of them is not known */
    struct iwi_wave_rank {
        const iw_step *steps;
        size_t count;
        uint64_t first;      /* number of the first one */
        uint64_t touched;    /* number of that in which a delay or a wave first comes, or UINT64_MAX */
        iw_time ordinary_ps; /* waiting in an ordinary step */
    } * rank;                /* by index in the window */
    iw_step *joined;         /* steps of all ranks if some were too small to be ones; else NULL */
    iw_time joined_below_ps; /* of computation; 0: none were */
    size_t step_count;       /* of all ranks of the window */
    iw_time exec_ps, period_ps, least_delay_ps;
    iw_time threshold_ps; /* waiting beyond the ordinary by more is idle time */
    bool has_threshold;   /* it was asked for */
    iw_time floor_ps;     /* and once there is idle time, what is above this goes on with it */
    bool is_quiet;        /* ordinary waiting hardly varies */
    double noise_ps;      /* in a step, mean; traces do not tell noise from computation */
    bool is_silent;       /* simulated without noise: nobody waits but for messages and delays */
};

/* IW_ERR_UNSUPPORTED: nothing exact, or fewer than 3 steps. IW_ERR_RANGE: a distance above half of the
 * ranks. */
IW_NODISCARD iw_status iwi_wave_view_init(const iw_log *log, const iw_timeline *timeline,
                                          const iw_wave_opts *opts, struct iwi_wave_view *view_p);
void iwi_wave_view_release(struct iwi_wave_view *view);

/* Steps with so little computation that they are none of their own, between two calls of a simulated trace
 * for instance, become part of the one before. */
IW_NODISCARD iw_status iwi_wave_join(const iw_log *log, struct iwi_wave_view *view);

/* NULL outside of the window. */
struct iwi_wave_rank *iwi_view_rank(const struct iwi_wave_view *view, uint32_t rank);
const iw_step *iwi_view_step(const struct iwi_wave_view *view, uint32_t rank, uint64_t number);

/* NULL: the window does not have it. */
static inline const iw_step *iwi_rank_step(const struct iwi_wave_rank *rank, uint64_t number)
{
    return number >= rank->first && number - rank->first < rank->count ? &rank->steps[number - rank->first]
                                                                       : NULL;
}

/* The rank `offset` further along a dimension; false: there is none, beyond the end of an open one. */
bool iwi_view_neighbour(const struct iwi_wave_view *view, uint32_t rank, uint32_t dimension, int64_t offset,
                        uint32_t *rank_p);

/* When a rank has done its own work of a step, and only others can keep it. */
static inline iw_time iwi_step_ready(const iw_step *step)
{
    return step->begin_ps + step->state_ps[IW_STATE_DELAY] + step->state_ps[IW_STATE_COMPUTE] +
           step->state_ps[IW_STATE_NOISE];
}

/* What is ordinary: fills the rest of the view. */
IW_NODISCARD iw_status iwi_wave_ordinary(const iw_log *log, const iw_wave_opts *opts,
                                         struct iwi_wave_view *view);

/* The period that lengths of steps, more than none, tell; reorders them. */
iw_time iwi_period_of(double *lengths, size_t count);

/* Sets when delays and waves first come to each rank. */
void iwi_wave_touch(const struct iwi_wave_view *view, const iw_waves *waves);

/* The same once more, as far as it can be told from the steps that waves run through. */
IW_NODISCARD iw_status iwi_wave_refine(const iw_log *log, const iw_waves *waves, struct iwi_wave_view *view);

/* Where waves begin. */
struct iwi_wave_origin {
    uint32_t rank;
    uint64_t step, step_count; /* the first one, and how many in a row are late */
    iw_time delay_ps;          /* of all of these */
};

/* All delays of at least view->least_delay_ps, longest first. *origins_p is to be freed by free(). */
IW_NODISCARD iw_status iwi_wave_origins(const iw_log *log, const struct iwi_wave_view *view,
                                        struct iwi_wave_origin **origins_p, size_t *count_p);

/* Neither delayed nor waiting for a wave. */
bool iwi_step_is_ordinary(const struct iwi_wave_view *view, const struct iwi_wave_rank *rank,
                          const iw_step *step);

/* What noise does, against the same run without: the last fields of `waves`; when waves first come must be
 * set. */
void iwi_wave_silence(const struct iwi_wave_view *view, iw_waves *waves);

/* Follows the wave that `origin` sends along a dimension into a direction. front_count 0: there is none. */
IW_NODISCARD iw_status iwi_wave_follow(const iw_log *log, const struct iwi_wave_view *view,
                                       const struct iwi_wave_origin *origin, uint32_t dimension,
                                       int direction, iw_wave *wave_p);

/* How each wave ends; all must be known. */
void iwi_wave_ends(const struct iwi_wave_view *view, iw_waves *waves);

/* Speed and decay of each; the ends must be known. */
IW_NODISCARD iw_status iwi_wave_fits(const iw_log *log, const struct iwi_wave_view *view, iw_waves *waves);

/* waves->desync. */
IW_NODISCARD iw_status iwi_wave_desync(const iw_log *log, const struct iwi_wave_view *view, iw_waves *waves);

#endif
