/* Memoryless noise, "poisson:RATE,DIST": detours begin after exponential gaps and last as DIST says.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Detours may overlap; time is lost to their union, so the long-run share is 1 - exp(-mean duration / mean
 * gap) (an instant is free if none of the Poisson many detours that could cover it does).
 *
 * A timeline is stationary: when it begins, a Poisson number of detours is under way, mean duration / mean
 * gap in the mean, each met anywhere in a length that is drawn in proportion to itself (duration.h). Where
 * the mean duration is infinite (pareto with A <= 1) there is no stationary state, and nothing is under way.
 * Synchronised nodes see one timeline, each later by its shift: so it begins where the largest shift reaches
 * back to. Detours after IWI_LATEST are left out.
 *
 * Words: the number of the next event to draw, and the end of the current one. Event n of compute phase p
 * (with IW_SYNC_PHASE) is number (p + 1) * 2^32 + n, so that each phase has new ones. While the current
 * detour is the n-th of those that were under way at the beginning, the first word is the complement of that
 * number. These have draws of their own (IWI_DRAW_UNDER_WAY): with the same upper half, index 0 for their
 * number, 2 k - 1 and 2 k for the k-th.
 */
#include <idlewave/noise.h>

#include <math.h>

#include "core/base/base.h"
#include "core/noise/source.h"
#include "core/noise/spec.h"

enum { EVENT, END };

/* More never come: the mean is below 7. */
enum { MOST_UNDER_WAY = 100 };

/* What a detour that is under way has left, at most, in mean gaps. Where durations have no variance (pareto
 * with A <= 2) what is left has no mean, and all that begins meanwhile is walked one by one on every rank
 * that waits for it. */
static const double most_gaps_left = 1000;

/* Detours are walked one by one; with less than this free, work would take over a thousand times as long. */
static const double least_free_share = 1e-3;

static double free_share(const struct iwi_poisson *p)
{
    return exp(-iwi_duration_mean_ps(&p->duration) / (double)p->mean_gap_ps);
}

static iw_status parse(const iw_log *log, const char *spec, const char *arguments,
                       struct iwi_noise_source *source)
{
    struct iwi_poisson *p = &source->u.poisson;
    char fields[2][IWI_FIELD_SIZE];

    IW_TRY(iwi_spec_split(log, spec, arguments, source->ops->usage, source->ops->example, 2, fields));
    IW_TRY(iwi_spec_rate(log, spec, fields[0], &p->mean_gap_ps));
    IW_TRY(iwi_duration_parse(log, spec, fields[1], &p->duration));
    p->mean_under_way = isinf(iwi_duration_mean_ps(&p->duration))
                            ? 0.0
                            : iwi_duration_drawn_mean_ps(&p->duration) / (double)p->mean_gap_ps;
    if (exp(-iwi_duration_drawn_mean_ps(&p->duration) / (double)p->mean_gap_ps) < least_free_share) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s': the detours leave less than 0.1%% of the time to work%s",
                        spec,
                        isinf(iwi_duration_mean_ps(&p->duration)) && p->duration.shape <= 1
                            ? ", although none is longer than ten days: write a larger A (the mean is finite "
                              "above 1) or a lower rate"
                            : ": write a lower rate or shorter durations");
    }
    if (isinf(iwi_duration_mean_ps(&p->duration))) {
        iwi_warn(log,
                 "'%s': the mean duration is infinite for A <= 1, so the share of time lost grows with the "
                 "length of a run; write A > 1 for a share that converges",
                 spec);
    }
    return IW_OK;
}

static double share(const struct iwi_noise_source *source, uint32_t cores_per_node)
{
    (void)cores_per_node;
    return 1 - free_share(&source->u.poisson);
}

/* The start of the next event, a gap after `from`. */
static iw_time next_event(const struct iwi_poisson *p, struct iwi_draw_id draw, int64_t *words, iw_time from)
{
    const uint64_t event = (uint64_t)words[EVENT];
    double gap_ps;

    draw.purpose = IWI_DRAW_GAP;
    gap_ps = -log(iwi_draw_unit(draw, event)) * (double)p->mean_gap_ps;
    if (from >= IWI_LATEST || gap_ps >= (double)(IWI_LATEST - from)) {
        words[END] = IWI_NEVER;
        return IWI_NEVER;
    }
    from += llround(gap_ps);
    words[EVENT] = (int64_t)(event + 1);
    words[END] = from + iwi_duration_draw(&p->duration, draw, event);
    return from;
}

/* By inversion: the number is small, since parse() refuses noise that leaves next to no time. */
static uint32_t count_under_way(const struct iwi_poisson *p, struct iwi_draw_id draw, uint64_t first)
{
    const double u = iwi_draw_unit(draw, first);
    double term = exp(-p->mean_under_way), sum = term;
    uint32_t count = 0;

    while (u > sum && count < MOST_UNDER_WAY) {
        count++;
        term *= p->mean_under_way / count;
        sum += term;
    }
    return count;
}

static struct iwi_under_way cut(const struct iwi_poisson *p, struct iwi_under_way one)
{
    const double most_ps = most_gaps_left * (double)p->mean_gap_ps;

    if ((double)one.left_ps > most_ps) {
        one.left_ps = (iw_time)most_ps;
    }
    return one;
}

/* The detours under way when the series that begins with event `first` does, the oldest first. */
static uint32_t under_way(const struct iwi_poisson *p, struct iwi_draw_id draw, uint64_t first,
                          struct iwi_under_way *met)
{
    uint32_t count;

    if (p->mean_under_way <= 0) {
        return 0;
    }
    draw.purpose = IWI_DRAW_UNDER_WAY;
    count = count_under_way(p, draw, first);
    for (uint32_t k = 1; k <= count; k++) {
        const struct iwi_under_way one =
            cut(p, iwi_duration_under_way(&p->duration, iwi_draw_unit(draw, first + 2 * (uint64_t)k - 1),
                                          iwi_draw_unit(draw, first + 2 * (uint64_t)k)));
        uint32_t at = k - 1;

        for (; at > 0 && met[at - 1].age_ps < one.age_ps; at--) {
            met[at] = met[at - 1];
        }
        met[at] = one;
    }
    return count;
}

/* Number `number` of those under way at `from`, or behind the last of them the first that begins then. */
static iw_time take_under_way(const struct iwi_poisson *p, struct iwi_draw_id draw, int64_t *words,
                              uint64_t first, uint32_t number, iw_time from)
{
    struct iwi_under_way met[MOST_UNDER_WAY];

    if (number >= under_way(p, draw, first, met)) {
        words[EVENT] = (int64_t)first;
        return next_event(p, draw, words, from);
    }
    words[EVENT] = ~(int64_t)(first + number);
    words[END] = from + met[number].left_ps;
    return from - met[number].age_ps;
}

/* When the timeline began, of one under way that began at `start`. */
static iw_time beginning(const struct iwi_poisson *p, struct iwi_draw_id draw, uint64_t first,
                         uint32_t number, iw_time start)
{
    struct iwi_under_way met[MOST_UNDER_WAY];

    return number < under_way(p, draw, first, met) ? start + met[number].age_ps : start;
}

static iw_time step(const struct iwi_noise_source *source, struct iwi_draw_id draw, int64_t *words,
                    iw_time start)
{
    const struct iwi_poisson *p = &source->u.poisson;
    const uint64_t event = (uint64_t)~words[EVENT], first = event >> 32 << 32;
    const uint32_t number = (uint32_t)event;

    if (words[EVENT] >= 0) {
        return next_event(p, draw, words, start);
    }
    return take_under_way(p, draw, words, first, number + 1, beginning(p, draw, first, number, start));
}

static iw_time seek(const struct iwi_noise_source *source, struct iwi_draw_id draw, int64_t *words,
                    iw_time start, iw_time t)
{
    while (words[END] <= t) {
        start = step(source, draw, words, start);
    }
    return start;
}

static iw_time begin(const struct iwi_noise_source *source, const struct iwi_stream_origin *origin,
                     int64_t *words)
{
    const struct iwi_poisson *p = &source->u.poisson;
    const uint64_t first = (origin->draw.purpose == IWI_DRAW_PHASE ? origin->index + 1 : 0) << 32;
    const iw_time from = origin->at_ps + origin->shift_ps - origin->skew_ps;
    const iw_time start = take_under_way(p, origin->draw, words, first, 0, from);

    return seek(source, origin->draw, words, start, origin->at_ps);
}

static iw_time end(const struct iwi_noise_source *source, const int64_t *words, iw_time start)
{
    (void)source;
    (void)start;
    return words[END];
}

const struct iwi_source_ops iwi_source_poisson = {
    .name = "poisson",
    .usage = "poisson:RATE,DIST",
    .example = "poisson:10Hz,exp:220us",
    .parse = parse,
    .share = share,
    .words = 2,
    .begin = begin,
    .step = step,
    .seek = seek,
    .end = end,
};
