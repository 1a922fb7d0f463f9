/* Idle waves in a timeline: delays, the waves that they send, their ends and speeds.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/timeline.h>
#include <idlewave/wave.h>

#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/base/order.h"
#include "features/wave/wave_view.h"

/* By step and rank of the delay, dimension, then upwards first. */
IWI_COMPARE(compare_waves, iw_wave, IWI_RISING(origin_step), IWI_RISING(origin_rank), IWI_RISING(dimension),
            IWI_FALLING(direction))

/* Whether the first rank that a wave reaches is one of this longer delay's. */
static bool is_part_of(const iw_wave *wave, const iw_wave *longer)
{
    if (wave->dimension != longer->dimension || wave->direction != longer->direction) {
        return false;
    }
    for (size_t i = 0; i < longer->front_count; i++) {
        if (longer->fronts[i].rank == wave->fronts[0].rank &&
            longer->fronts[i].step == wave->fronts[0].step) {
            return true;
        }
    }
    return false;
}

/* A wave that is there already, sent by a longer delay, is not told twice. It is the nearer delay's if it
 * begins with this one: of two neighbours that are equally late each sends a wave away from the other. */
static bool is_new(iw_waves *waves, iw_wave *wave)
{
    for (size_t i = 0; i < waves->wave_count; i++) {
        iw_wave *longer = &waves->waves[i];

        if (is_part_of(wave, longer)) {
            if (longer->fronts[0].rank == wave->fronts[0].rank &&
                longer->fronts[0].distance > wave->fronts[0].distance) {
                const iw_wave farther = *longer;

                *longer = *wave;
                *wave = farther;
            }
            return false;
        }
    }
    return true;
}

size_t iw_waves_origins(const iw_waves *waves)
{
    size_t count = 0;

    for (size_t i = 0; i < waves->wave_count; i++) {
        const iw_wave *wave = &waves->waves[i];

        count +=
            i == 0 || wave->origin_rank != wave[-1].origin_rank || wave->origin_step != wave[-1].origin_step;
    }
    return count;
}

/* How many fronts of a wave are on ranks that the other one had not reached before. */
static size_t count_before(const iw_wave *wave, const iw_wave *other)
{
    for (size_t i = 0; i < wave->front_count; i++) {
        for (size_t k = 0; k < other->front_count; k++) {
            if (other->fronts[k].rank == wave->fronts[i].rank &&
                other->fronts[k].step < wave->fronts[i].step) {
                return i;
            }
        }
    }
    return wave->front_count;
}

/* Both waves of a delay along a dimension. In a ring they meet halfway. In a trace, where ranks wait for
 * other reasons too, none goes on behind the other: both are of one delay, so nothing is left. */
static iw_status follow_both(const iw_log *log, const struct iwi_wave_view *view,
                             const struct iwi_wave_origin *origin, uint32_t dimension, iw_wave both[2])
{
    iw_status status;

    IW_TRY(iwi_wave_follow(log, view, origin, dimension, 1, &both[0]));
    status = iwi_wave_follow(log, view, origin, dimension, -1, &both[1]);
    if (status != IW_OK) {
        free(both[0].fronts);
        return status;
    }
    if (view->is_traced) {
        const size_t first = count_before(&both[0], &both[1]), second = count_before(&both[1], &both[0]);

        both[0].front_count = first;
        both[1].front_count = second;
    }
    return IW_OK;
}

/* All waves of one delay, as far as there is room. */
static iw_status follow_origin(const iw_log *log, const struct iwi_wave_view *view,
                               const struct iwi_wave_origin *origin, size_t max_waves, iw_waves *waves,
                               bool *is_cut_p)
{
    for (uint32_t dimension = 0; dimension < view->dimensions; dimension++) {
        iw_wave both[2];

        IW_TRY(follow_both(log, view, origin, dimension, both));
        for (size_t i = 0; i < 2; i++) {
            const bool has_one = both[i].front_count > 0 && is_new(waves, &both[i]);

            if (has_one && waves->wave_count < max_waves) {
                waves->waves[waves->wave_count++] = both[i];
                continue;
            }
            *is_cut_p = *is_cut_p || has_one;
            free(both[i].fronts);
        }
    }
    return IW_OK;
}

struct followed {
    size_t delays;
    bool is_cut; /* the last of these sends more waves than there is room for */
};

/* The longest delays first, as far as there is room for their waves. */
static iw_status follow_all(const iw_log *log, const struct iwi_wave_view *view, size_t max_waves,
                            iw_waves *waves, struct followed *followed_p)
{
    struct iwi_wave_origin *origins = NULL;
    iw_status status = iwi_wave_origins(log, view, &origins, &waves->delay_count);
    struct followed followed = {0, false};

    while (status == IW_OK && followed.delays < waves->delay_count && waves->wave_count < max_waves) {
        status = follow_origin(log, view, &origins[followed.delays++], max_waves, waves, &followed.is_cut);
    }
    free(origins);
    if (status == IW_OK && waves->wave_count > 0) {
        iwi_sort(waves->waves, waves->wave_count, compare_waves);
    }
    waves->quiet_count = followed.delays - iw_waves_origins(waves);
    *followed_p = followed;
    return status;
}

static void clear(iw_waves *waves)
{
    for (size_t i = 0; i < waves->wave_count; i++) {
        free(waves->waves[i].fronts);
        waves->waves[i].fronts = NULL;
    }
    waves->wave_count = waves->delay_count = waves->quiet_count = 0;
}

static void describe(const struct iwi_wave_view *view, iw_waves *waves)
{
    waves->exec_ps = view->exec_ps;
    waves->period_ps = view->period_ps;
    waves->comm_ps = view->period_ps - view->exec_ps;
    waves->threshold_ps = view->threshold_ps;
    waves->least_delay_ps = view->least_delay_ps;
    waves->makespan_ps = iw_timeline_end(view->timeline);
    waves->joined_below_ps = view->joined_below_ps;
    if (view->period_ps > 0) {
        waves->expected_speed =
            (double)view->expected_reach / ((double)view->period_ps / (double)IW_PS_PER_S);
    }
}

/* Twice: what is ordinary ahead of waves can be told when they are known. */
static iw_status follow_twice(const iw_log *log, struct iwi_wave_view *view, size_t max_waves,
                              iw_waves *waves)
{
    struct followed followed;

    IW_TRY(follow_all(log, view, max_waves, waves, &followed));
    if (waves->wave_count > 0) {
        IW_TRY(iwi_wave_refine(log, waves, view));
        clear(waves);
        IW_TRY(follow_all(log, view, max_waves, waves, &followed));
        iwi_wave_touch(view, waves);
    }
    if (followed.delays < waves->delay_count) {
        iwi_warn(log, "followed only the waves of the %zu longest of %zu delays", followed.delays,
                 waves->delay_count);
    } else if (followed.is_cut) {
        iwi_warn(log, "followed %zu waves only, the most that are possible", max_waves);
    }
    return IW_OK;
}

static iw_status find(const iw_log *log, struct iwi_wave_view *view, const iw_wave_opts *opts,
                      iw_waves *waves)
{
    const size_t max_waves = opts->max_waves > 0 ? opts->max_waves : 1;

    waves->waves = iwi_new_array(log, max_waves, sizeof *waves->waves);
    if (waves->waves == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(follow_twice(log, view, max_waves, waves));
    describe(view, waves);
    iwi_wave_silence(view, waves);
    iwi_wave_ends(view, waves);
    IW_TRY(iwi_wave_fits(log, view, waves));
    return iwi_wave_desync(log, view, waves);
}

iw_status iw_waves_find(const iw_log *log, const iw_timeline *timeline, const iw_wave_opts *given,
                        iw_waves **waves_p)
{
    iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    struct iwi_wave_view view;
    iw_waves *waves;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_WAVE_OPTS_INIT", given, &opts));
    waves = iwi_new_array(log, 1, sizeof *waves);
    if (waves == NULL) {
        return IW_ERR_NOMEM;
    }
    status = iwi_wave_view_init(log, timeline, &opts, &view);
    if (status == IW_OK) {
        status = iwi_wave_ordinary(log, &opts, &view);
        if (status == IW_OK) {
            status = find(log, &view, &opts, waves);
        }
        waves->about = *iw_timeline_describe(timeline);
        waves->exact_ranks = iw_timeline_exact_ranks(timeline);
        waves->first_exact_rank = waves->exact_ranks > 0 ? iw_timeline_exact_rank(timeline, 0) : 0;
        waves->is_whole = iw_timeline_is_whole(timeline);
        iwi_wave_view_release(&view);
    }
    if (status != IW_OK) {
        iw_waves_free(waves);
        return status;
    }
    *waves_p = waves;
    return IW_OK;
}

void iw_waves_free(iw_waves *waves)
{
    if (waves == NULL) {
        return;
    }
    clear(waves);
    free(waves->waves);
    free(waves->desync);
    free(waves);
}
