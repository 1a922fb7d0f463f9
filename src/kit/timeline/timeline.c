/* Timelines: takes the steps of a run, gives them back exactly and as a raster.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/timeline/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/opts.h"
#include "kit/timeline/timeline_raster.h"

/* ---- making one ---- */

static iw_status check_opts(const iw_log *log, const iw_timeline_opts *opts)
{
    const uint32_t ranks = opts->about.ranks;

    if (ranks == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "a timeline needs at least one rank");
    }
    if (opts->rows < IWI_TIMELINE_MIN_SIDE || opts->columns < IWI_TIMELINE_MIN_SIDE ||
        opts->rows > IWI_TIMELINE_MAX_SIDE || opts->columns > IWI_TIMELINE_MAX_SIDE) {
        return iwi_fail(log, IW_ERR_RANGE, "a raster has from %d to %d rows and columns, not %u x %u",
                        IWI_TIMELINE_MIN_SIDE, IWI_TIMELINE_MAX_SIDE, opts->rows, opts->columns);
    }
    if (ranks / opts->rows >= IWI_TIMELINE_MAX_RANKS_PER_ROW) {
        return iwi_fail(log, IW_ERR_RANGE, "%u rows are too few for a raster of %u ranks", opts->rows, ranks);
    }
    if (opts->first_rank >= ranks || opts->rank_count > ranks) {
        return iwi_fail(log, IW_ERR_RANGE, "%u ranks from rank %u on are not among %u ranks",
                        opts->rank_count, opts->first_rank, ranks);
    }
    if (opts->from_ps < 0 || opts->to_ps < 0 || (opts->to_ps != 0 && opts->to_ps <= opts->from_ps) ||
        opts->expected_ps < 0) {
        return iwi_fail(log, IW_ERR_RANGE, "the window of time ends before it begins, or times are negative");
    }
    return IW_OK;
}

void iwi_about_set_grid(iw_timeline_about *about)
{
    const bool has_gap = about->dims[0] == 0 || (about->dims[1] == 0 && about->dims[2] != 0);
    uint64_t ranks = 1;

    for (int i = 0; i < IW_TIMELINE_DIMS && ranks <= about->ranks; i++) {
        ranks *= about->dims[i] != 0 ? about->dims[i] : 1;
    }
    if (has_gap || ranks != about->ranks) {
        memset(about->dims, 0, sizeof about->dims);
        about->dims[0] = about->ranks;
    }
}

iw_status iw_timeline_new(const iw_log *log, const iw_timeline_opts *given, iw_timeline **timeline_p)
{
    iw_timeline_opts known = IW_TIMELINE_OPTS_INIT;
    const iw_timeline_opts *opts = &known;
    iw_timeline *timeline;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_TIMELINE_OPTS_INIT", given, &known));
    IW_TRY(check_opts(log, opts));
    timeline = iwi_new_array(log, 1, sizeof *timeline);
    if (timeline == NULL) {
        return IW_ERR_NOMEM;
    }
    timeline->about = opts->about;
    iwi_about_set_grid(&timeline->about);
    timeline->status = IW_OK;
    status = iwi_exact_open(log, opts, &timeline->exact);
    status = status == IW_OK ? iwi_raster_new(log, opts, &timeline->raster) : status;
    if (status != IW_OK) {
        iw_timeline_free(timeline);
        return status;
    }
    *timeline_p = timeline;
    return IW_OK;
}

void iw_timeline_free(iw_timeline *timeline)
{
    if (timeline == NULL) {
        return;
    }
    for (size_t i = 0; i < timeline->level_count; i++) {
        iwi_level_release(&timeline->levels[i]);
    }
    iwi_exact_release(&timeline->exact);
    iwi_raster_free(timeline->raster);
    free(timeline);
}

/* ---- steps come ---- */

/* The end of the step; negative if it is none that can be. */
static inline iw_time checked_end(const iw_step *step)
{
    const iw_time *states = step->state_ps;
    const iw_time any = step->begin_ps | states[0] | states[1] | states[2] | states[3] | states[4];
    iw_time end_ps = step->begin_ps;

    if (((uint64_t)any >> 60) == 0) { /* six of them cannot overflow */
        return iw_step_end(step);
    }
    for (int state = 0; state < IW_STATES; state++) {
        if (any < 0 || __builtin_add_overflow(end_ps, states[state], &end_ps)) {
            return -1;
        }
    }
    return end_ps;
}

static void take_step(void *arg, uint32_t rank, const iw_step *step)
{
    iw_timeline *timeline = arg;
    const uint32_t ranks = timeline->about.ranks;
    const iw_time end_ps = checked_end(step);
    uint32_t index;

    if (timeline->status != IW_OK) {
        return;
    }
    if (end_ps < 0 || end_ps > IWI_TIMELINE_MAX_END_PS || rank >= ranks) {
        timeline->status = IW_ERR_RANGE;
        return;
    }
    timeline->step_count++;
    timeline->end_ps = end_ps > timeline->end_ps ? end_ps : timeline->end_ps;
    index = iwi_exact_index(&timeline->exact, ranks, rank);
    if (index < timeline->exact.rank_count) {
        timeline->status = iwi_exact_add(&timeline->exact, index, step);
    }
    if (timeline->status == IW_OK) {
        timeline->status = iwi_raster_add(timeline->raster, rank, step, end_ps);
    }
}

iw_step_sink iw_timeline_sink(iw_timeline *timeline)
{
    return (iw_step_sink){take_step, timeline};
}

static iw_status tell_status(const iw_log *log, const iw_timeline *timeline)
{
    switch (timeline->status) {
    case IW_OK: return IW_OK;
    case IW_ERR_NOMEM: return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the steps of the timeline");
    default:
        return iwi_fail(log, timeline->status,
                        "step %" PRIu64 " of the timeline has a time that is negative or beyond 40 hours, or "
                        "is of a rank that there is not",
                        timeline->step_count);
    }
}

iw_status iw_timeline_finish(const iw_log *log, iw_timeline *timeline)
{
    IW_TRY(tell_status(log, timeline));
    if (timeline->raster == NULL) {
        return iwi_fail(log, IW_ERR_USAGE, "the timeline is finished already");
    }
    IW_TRY(iwi_raster_finish(log, timeline->raster, timeline->end_ps, &timeline->levels[0]));
    timeline->level_count = 1;
    iwi_raster_free(timeline->raster);
    timeline->raster = NULL;
    IW_TRY(iwi_levels_make(log, timeline));
    IW_TRY(iwi_exact_finish(log, &timeline->exact));
    if (timeline->exact.left_out > 0) {
        iwi_warn(log,
                 "the timeline keeps at most %" PRIu64 " steps exactly: the last %u of %u ranks are only in "
                 "its raster",
                 timeline->exact.max_steps, timeline->exact.left_out,
                 timeline->exact.left_out + timeline->exact.rank_count);
    }
    return IW_OK;
}

void iw_timeline_set_noiseless(iw_timeline *timeline, iw_time noiseless_ps)
{
    timeline->about.noiseless_ps = noiseless_ps;
}

/* ---- looking at it ---- */

const iw_timeline_about *iw_timeline_describe(const iw_timeline *timeline)
{
    return &timeline->about;
}

iw_time iw_timeline_end(const iw_timeline *timeline)
{
    return timeline->end_ps;
}

uint32_t iw_timeline_exact_ranks(const iw_timeline *timeline)
{
    return timeline->exact.rank_count;
}

uint32_t iw_timeline_exact_rank(const iw_timeline *timeline, uint32_t index)
{
    return (uint32_t)(((uint64_t)timeline->exact.first_rank + index) % timeline->about.ranks);
}

bool iw_timeline_exact_index(const iw_timeline *timeline, uint32_t rank, uint32_t *index_p)
{
    *index_p = iwi_exact_index(&timeline->exact, timeline->about.ranks, rank);
    return rank < timeline->about.ranks && *index_p < timeline->exact.rank_count;
}

const iw_step *iw_timeline_steps(const iw_timeline *timeline, uint32_t index, size_t *count_p,
                                 uint64_t *first_step_p)
{
    const struct iwi_exact *exact = &timeline->exact;

    *count_p = exact->starts[index + 1] - exact->starts[index];
    *first_step_p = exact->first_steps[index];
    return exact->steps + exact->starts[index];
}

bool iw_timeline_is_whole(const iw_timeline *timeline)
{
    return timeline->exact.rank_count == timeline->about.ranks &&
           timeline->exact.step_count == timeline->step_count;
}

size_t iw_timeline_level_count(const iw_timeline *timeline)
{
    return timeline->level_count;
}

iw_raster iw_timeline_level(const iw_timeline *timeline, size_t level)
{
    const struct iwi_level *from = &timeline->levels[level];
    iw_raster raster = {.rows = from->rows,
                        .columns = from->columns,
                        .ranks_per_row = from->ranks_per_row,
                        .bin_ps = from->bin_ps};

    for (int state = 0; state < IW_STATES; state++) {
        raster.mean[state] = from->mean[state];
        raster.max[state] = from->max[state];
    }
    return raster;
}
