/* The exact steps of a timeline as a matrix of ranks and steps, on the grid of the ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include <idlewave/wave.h>

#include "core/base/base.h"
#include "features/wave/wave_view.h"

static void set_grid(struct iwi_wave_view *view, const iw_timeline_about *about)
{
    while (view->dimensions < IW_TIMELINE_DIMS && about->dims[view->dimensions] > 0) {
        view->extents[view->dimensions] = about->dims[view->dimensions];
        view->dimensions++;
    }
    for (uint32_t i = view->dimensions, stride = 1; i-- > 0; stride *= view->extents[i]) {
        view->strides[i] = stride;
    }
}

/* Where sigma is not known the wave may go two ranks in a step: looking too far does less harm than losing
 * it. */
static void set_reach(struct iwi_wave_view *view, const iw_timeline_about *about, const iw_wave_opts *opts)
{
    const uint32_t distance = opts->distance > 0 ? opts->distance : about->distance;
    const uint32_t sigma = opts->sigma > 0 ? opts->sigma : about->sigma;
    uint64_t reach;

    view->expected_reach = (uint64_t)sigma * distance;
    view->distance = distance > 0 ? distance : 1;
    reach = (uint64_t)view->distance * (sigma > 0 ? sigma : 2);
    view->reach = reach < view->rank_count ? (uint32_t)reach : view->rank_count; /* others are not known */
}

static iw_status set_ranks(const iw_log *log, struct iwi_wave_view *view)
{
    view->rank = iwi_new_array(log, view->rank_count, sizeof *view->rank);
    if (view->rank == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < view->rank_count; i++) {
        struct iwi_wave_rank *rank = &view->rank[i];

        rank->steps = iw_timeline_steps(view->timeline, i, &rank->count, &rank->first);
        rank->touched = UINT64_MAX;
        view->step_count += rank->count;
    }
    return IW_OK;
}

static iw_status check_steps(const iw_log *log, const struct iwi_wave_view *view)
{
    size_t most = 0;

    for (uint32_t i = 0; i < view->rank_count; i++) {
        most = view->rank[i].count > most ? view->rank[i].count : most;
    }
    if (most < 3) {
        return iwi_fail(
            log, IW_ERR_UNSUPPORTED,
            "no rank has more than %zu step%s, too few to distinguish a wave from ordinary waiting%s", most,
            most == 1 ? "" : "s",
            view->is_traced ? "; a shorter gap between steps (`gap_ps`) finds more" : "");
    }
    return IW_OK;
}

iw_status iwi_wave_view_init(const iw_log *log, const iw_timeline *timeline, const iw_wave_opts *opts,
                             struct iwi_wave_view *view_p)
{
    const iw_timeline_about *about = iw_timeline_describe(timeline);
    struct iwi_wave_view view;
    iw_status status;

    memset(&view, 0, sizeof view);
    view.timeline = timeline;
    view.ranks = about->ranks;
    view.rank_count = iw_timeline_exact_ranks(timeline);
    if (view.rank_count == 0) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "the timeline has only a raster and no exact steps: waves cannot be measured");
    }
    if (opts->distance > 1 && opts->distance > view.ranks / 2) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "a partner distance of %" PRIu32 " is too large: half of %" PRIu32
                        " ranks is %" PRIu32,
                        opts->distance, view.ranks, view.ranks / 2);
    }
    view.is_periodic = about->is_periodic || opts->is_periodic;
    view.is_traced = strcmp(about->origin, "traced") == 0;
    set_grid(&view, about);
    set_reach(&view, about, opts);
    IW_TRY(set_ranks(log, &view));
    status = check_steps(log, &view);
    if (status == IW_OK) {
        status = iwi_wave_join(log, &view);
    }
    if (status != IW_OK) {
        iwi_wave_view_release(&view);
        return status;
    }
    *view_p = view;
    return IW_OK;
}

void iwi_wave_view_release(struct iwi_wave_view *view)
{
    free(view->rank);
    free(view->joined);
    view->rank = NULL;
    view->joined = NULL;
}

struct iwi_wave_rank *iwi_view_rank(const struct iwi_wave_view *view, uint32_t rank)
{
    uint32_t index;

    return iw_timeline_exact_index(view->timeline, rank, &index) ? &view->rank[index] : NULL;
}

const iw_step *iwi_view_step(const struct iwi_wave_view *view, uint32_t rank, uint64_t number)
{
    const struct iwi_wave_rank *of_rank = iwi_view_rank(view, rank);

    return of_rank != NULL ? iwi_rank_step(of_rank, number) : NULL;
}

bool iwi_view_neighbour(const struct iwi_wave_view *view, uint32_t rank, uint32_t dimension, int64_t offset,
                        uint32_t *rank_p)
{
    const int64_t extent = view->extents[dimension], stride = view->strides[dimension];
    const int64_t place = rank / stride % extent;
    int64_t moved = place + offset;

    if (view->is_periodic) {
        moved = (moved % extent + extent) % extent;
    }
    if (moved < 0 || moved >= extent) {
        return false;
    }
    *rank_p = (uint32_t)(rank + (moved - place) * stride);
    return true;
}
