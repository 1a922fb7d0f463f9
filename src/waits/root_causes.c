/* Who caused each wait: not only whom a rank waited for, but whom that one waited for in turn.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * At any instant a waiting rank points to the one that it waits for. That one computes (then it is the
 * cause), transfers (then the network is), or waits for the next. Two instants of one wait may have different
 * causes.
 */
#include <stdlib.h>
#include <string.h>

#include "waits/waited_run.h"

/* ---- pauses ---- */

static int compare_pauses(const void *left, const void *right)
{
    const struct iwi_pause *a = left, *b = right;

    return a->rank != b->rank ? (a->rank > b->rank ? 1 : -1)
                              : (a->begin_ps > b->begin_ps) - (a->begin_ps < b->begin_ps);
}

static iw_status sort_pauses(struct iwi_waited_run *run)
{
    const size_t count = run->visits->pause_count;

    run->pauses = iwi_new_array(run->log, count, sizeof *run->pauses);
    run->reach_ps = iwi_new_array(run->log, count, sizeof *run->reach_ps);
    run->first_pause = iwi_new_array(run->log, (size_t)run->rank_count + 1, sizeof *run->first_pause);
    if (run->pauses == NULL || run->reach_ps == NULL || run->first_pause == NULL) {
        return IW_ERR_NOMEM;
    }
    if (count > 0) {
        memcpy(run->pauses, run->visits->pauses, count * sizeof *run->pauses);
        qsort(run->pauses, count, sizeof *run->pauses, compare_pauses);
    }
    for (size_t i = 0; i < count; i++) {
        const bool is_first = i == 0 || run->pauses[i].rank != run->pauses[i - 1].rank;

        run->first_pause[run->pauses[i].rank + 1]++;
        run->reach_ps[i] =
            is_first ? run->pauses[i].end_ps : iwi_max(run->reach_ps[i - 1], run->pauses[i].end_ps);
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        run->first_pause[r + 1] += run->first_pause[r];
    }
    return IW_OK;
}

/* The first pause of a rank that may end after an instant. */
static size_t pause_after(const struct iwi_waited_run *run, uint32_t rank, iw_time at_ps)
{
    size_t low = run->first_pause[rank], high = run->first_pause[rank + 1];

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (run->reach_ps[middle] <= at_ps) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A rank is late by the pauses that it had since it last met anybody: others wait for them when it comes, not
 * while they last. Of a wait as much is blamed on them as they took, on each cause by its part. */
static void blame_pauses(struct iwi_waited_run *run, uint32_t rank, iw_time since_ps, iw_time end_ps,
                         double waited)
{
    double paused[IWI_PAUSE_CAUSES] = {0.0}, all = 0.0;
    iw_time at_ps = since_ps; /* pauses may lie in each other: the first that an instant lies in names it */

    for (size_t i = pause_after(run, rank, since_ps); i < run->first_pause[rank + 1]; i++) {
        const struct iwi_pause *pause = &run->pauses[i];
        const iw_time from_ps = iwi_max(at_ps, pause->begin_ps), to_ps = iwi_min(end_ps, pause->end_ps);

        if (pause->begin_ps >= end_ps) {
            break;
        }
        if (to_ps > from_ps) {
            paused[pause->cause] += (double)(to_ps - from_ps);
            all += (double)(to_ps - from_ps);
            at_ps = to_ps;
        }
    }
    for (unsigned cause = 0; all > 0.0 && cause < IWI_PAUSE_CAUSES; cause++) {
        run->caused_by_pause[cause] += paused[cause] * (waited < all ? waited / all : 1.0);
    }
}

/* ---- one cause ---- */

static uint32_t block_at(const struct iwi_waited_run *run, iw_time at_ps)
{
    uint32_t low = 0, high = run->block_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (run->block_end_ps[middle] <= at_ps) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < run->block_count ? low : run->block_count - 1;
}

/* Adds a piece of time to the iterations of a rank that it lies in. */
static void add_to_iterations(const struct iwi_waited_run *run, double *of_rank, uint32_t rank,
                              iw_time begin_ps, iw_time end_ps)
{
    const iw_time *borders;

    if (run->iterations.count == 0) {
        return;
    }
    borders = iwi_iteration_borders(run, rank);
    for (size_t i = iwi_iteration_at(run, rank, begin_ps); i < run->iterations.count && begin_ps < end_ps;
         i++) {
        const iw_time to_ps =
            i + 1 < run->iterations.count ? iwi_max(begin_ps, iwi_min(end_ps, borders[i + 1])) : end_ps;

        of_rank[rank * run->iterations.count + i] += (double)(to_ps - begin_ps);
        begin_ps = to_ps;
    }
}

static void accuse(struct iwi_waited_run *run, uint32_t rank, iw_time since_ps, iw_time begin_ps,
                   iw_time end_ps)
{
    run->caused[rank] += (double)(end_ps - begin_ps);
    add_to_iterations(run, run->caused_in_iteration, rank, begin_ps, end_ps);
    blame_pauses(run, rank, since_ps, end_ps, (double)(end_ps - begin_ps));
    for (uint32_t b = block_at(run, begin_ps); begin_ps < end_ps; b++) {
        const iw_time to_ps = b + 1 < run->block_count ? iwi_min(end_ps, run->block_end_ps[b]) : end_ps;

        run->caused_in_block[(size_t)rank * run->block_count + b] += (double)(to_ps - begin_ps);
        begin_ps = to_ps;
    }
}

/* ---- following ---- */

static const struct iwi_segment *segment_at(const struct iwi_waited_run *run, uint32_t rank, iw_time at_ps)
{
    size_t low = run->first_segment[rank], high = run->first_segment[rank + 1];

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (run->segments[middle].end_ps <= at_ps) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return &run->segments[low];
}

/* Up to where the rank goes on alone; *segment_p becomes the next segment. */
static iw_time end_of_own(const struct iwi_segment **segment_p, const struct iwi_segment *last,
                          iw_time end_ps)
{
    const struct iwi_segment *segment = *segment_p;

    while (segment < last && segment->begin_ps < end_ps && iwi_is_own(segment->doing)) {
        segment++;
    }
    *segment_p = segment;
    return segment < last ? iwi_min(end_ps, segment->begin_ps) : end_ps;
}

/* Somebody waits for `rank` during that time. Nobody waits in a circle unless clocks are wrong: who is asked
 * for too long is the cause. */
static void follow(struct iwi_waited_run *run, uint32_t rank, iw_time begin_ps, iw_time end_ps,
                   uint32_t depth)
{
    const struct iwi_segment *segment = segment_at(run, rank, begin_ps);
    const struct iwi_segment *last = &run->segments[run->first_segment[rank + 1]];

    while (begin_ps < end_ps) {
        const bool is_inside = segment < last && segment->begin_ps <= begin_ps;
        iw_time to_ps = end_ps;

        if (!is_inside || iwi_is_own(segment->doing) || depth >= run->rank_count) {
            const iw_time since_ps = is_inside ? segment->since_ps : begin_ps;

            to_ps = end_of_own(&segment, last, end_ps);
            to_ps = to_ps > begin_ps ? to_ps : end_ps;
            accuse(run, rank, since_ps, begin_ps, to_ps);
        } else {
            to_ps = iwi_min(end_ps, segment->end_ps);
            if (segment->doing == IWI_DOES_TRANSFER) {
                run->through_transfer_ps += (double)(to_ps - begin_ps);
            } else {
                follow(run, run->awaited[segment->visit].rank, begin_ps, to_ps, depth + 1);
            }
            segment++;
        }
        begin_ps = to_ps;
    }
}

static iw_status make_room(struct iwi_waited_run *run)
{
    const size_t cells = run->iterations.count * run->rank_count;

    run->caused = iwi_new_array(run->log, run->rank_count, sizeof *run->caused);
    run->caused_in_block =
        iwi_new_array(run->log, (size_t)run->rank_count * run->block_count, sizeof *run->caused_in_block);
    run->caused_in_iteration = iwi_new_array(run->log, cells, sizeof *run->caused_in_iteration);
    run->waited_in_iteration = iwi_new_array(run->log, cells, sizeof *run->waited_in_iteration);
    return run->caused != NULL && run->caused_in_block != NULL && run->caused_in_iteration != NULL &&
                   run->waited_in_iteration != NULL
               ? sort_pauses(run)
               : IW_ERR_NOMEM;
}

iw_status iwi_waited_blame(struct iwi_waited_run *run)
{
    IW_TRY(make_room(run));
    for (uint32_t r = 0; r < run->rank_count; r++) {
        for (size_t i = run->first_segment[r]; i < run->first_segment[r + 1]; i++) {
            const struct iwi_segment *segment = &run->segments[i];

            if (segment->doing == IWI_DOES_WAIT) {
                add_to_iterations(run, run->waited_in_iteration, r, segment->begin_ps, segment->end_ps);
                follow(run, run->awaited[segment->visit].rank, segment->begin_ps, segment->end_ps, 1);
            }
        }
    }
    return IW_OK;
}
