/* Memoryless noise, "poisson:RATE,DIST": detours begin after exponential gaps and last as DIST says.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Detours may overlap; time is lost to their union, so the long-run share is 1 - exp(-mean duration / mean
 * gap) (an instant is free if none of the Poisson many detours that could cover it does). Nothing is under
 * way when a timeline begins: detours that would have begun before are left out. Detours after IWI_LATEST as
 * well.
 *
 * Words: the number of the next event to draw, and the end of the current one. Event n of compute phase p
 * (with IW_SYNC_PHASE) is number (p + 1) * 2^32 + n, so that each phase has new ones.
 */
#include <idlewave/noise.h>

#include <math.h>

#include "base/base.h"
#include "noise/source.h"
#include "noise/spec.h"

enum { EVENT, END };

/* Detours are walked one by one; with less than this free, work would take over a thousand times as long. */
static const double least_free_share = 1e-3;

static double free_share(const struct iwi_poisson *p)
{
    return exp(-iwi_duration_mean_ps(&p->duration) / (double)p->mean_gap_ps);
}

static iw_status parse(const iw_log *log, const char *spec, const char *arguments, struct iwi_source *source)
{
    struct iwi_poisson *p = &source->u.poisson;
    char fields[2][IWI_FIELD_SIZE];

    IW_TRY(iwi_spec_split(log, spec, arguments, source->ops->usage, source->ops->example, 2, fields));
    IW_TRY(iwi_spec_rate(log, spec, fields[0], &p->mean_gap_ps));
    IW_TRY(iwi_duration_parse(log, spec, fields[1], &p->duration));
    if (exp(-iwi_duration_drawn_mean_ps(&p->duration) / (double)p->mean_gap_ps) < least_free_share) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s': the detours leave less than 0.1%% of the time to work%s",
                        spec,
                        isinf(iwi_duration_mean_ps(&p->duration)) && p->duration.shape <= 1
                            ? ", though none is longer than ten days: write a larger A (above 1 the mean is "
                              "finite) or a lower rate"
                            : ": write a lower rate or shorter durations");
    }
    if (isinf(iwi_duration_mean_ps(&p->duration))) {
        iwi_warn(log,
                 "'%s': the mean duration is infinite for A <= 1, so the share of time lost grows with the "
                 "length of a run: write A > 1 for a share that settles",
                 spec);
    }
    return IW_OK;
}

static double share(const struct iwi_source *source, uint32_t ranks_per_node)
{
    (void)ranks_per_node;
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

static iw_time begin(const struct iwi_source *source, const struct iwi_origin *origin, int64_t *words)
{
    const uint64_t series = origin->draw.purpose == IWI_DRAW_PHASE ? origin->index + 1 : 0;

    words[EVENT] = (int64_t)(series << 32);
    return next_event(&source->u.poisson, origin->draw, words, origin->at_ps + origin->shift_ps);
}

static iw_time step(const struct iwi_source *source, struct iwi_draw_id draw, int64_t *words, iw_time start)
{
    return next_event(&source->u.poisson, draw, words, start);
}

static iw_time seek(const struct iwi_source *source, struct iwi_draw_id draw, int64_t *words, iw_time start,
                    iw_time t)
{
    while (words[END] <= t) {
        start = next_event(&source->u.poisson, draw, words, start);
    }
    return start;
}

static iw_time end(const struct iwi_source *source, const int64_t *words, iw_time start)
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
