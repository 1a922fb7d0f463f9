/* Periodic noise, "periodic:RATE,DURATION": detours begin at phase + n * period for all integers n.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The start of any one detour says where all others are, so no words are needed.
 */
#include <idlewave/noise.h>

#include "core/base/base.h"
#include "core/noise/source.h"
#include "core/noise/spec.h"

static iw_status parse(const iw_log *log, const char *spec, const char *arguments,
                       struct iwi_noise_source *source)
{
    struct iwi_periodic *p = &source->u.periodic;
    char fields[2][IWI_FIELD_SIZE], period[24];

    IW_TRY(iwi_spec_split(log, spec, arguments, source->ops->usage, source->ops->example, 2, fields));
    IW_TRY(iwi_spec_rate(log, spec, fields[0], &p->period_ps));
    IW_TRY(iwi_spec_time(log, spec, fields[1], &p->duration_ps));
    if (p->duration_ps >= p->period_ps) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'%s': the detours fill the whole period of %s, so no time is left to work; write a "
                        "shorter duration, or a lower rate",
                        spec, iw_format_time(p->period_ps, period, sizeof period));
    }
    return IW_OK;
}

static double share(const struct iwi_noise_source *source, uint32_t cores_per_node)
{
    (void)cores_per_node;
    return (double)source->u.periodic.duration_ps / (double)source->u.periodic.period_ps;
}

/* The first detour that ends after 0, of those that begin at phase + n * period: the one before phase may
 * still be under way. */
static inline iw_time first_from(struct iwi_periodic p, iw_time phase)
{
    return phase - (phase + p.duration_ps > p.period_ps ? p.period_ps : 0);
}

static iw_time begin(const struct iwi_noise_source *source, const struct iwi_stream_origin *origin,
                     int64_t *words)
{
    const struct iwi_periodic p = source->u.periodic;
    iw_time phase = (iw_time)iwi_draw_below(origin->draw, origin->index, (uint64_t)p.period_ps);

    (void)words;
    if (origin->shift_ps > 0) {
        phase = (phase + origin->shift_ps % p.period_ps) % p.period_ps;
    }
    return origin->at_ps + first_from(p, phase);
}

static void begin_all(const struct iwi_noise_source *source, struct iwi_draw_id draw, uint32_t rank_count,
                      uint32_t lanes, iw_time *next)
{
    const struct iwi_periodic p = source->u.periodic;

    for (uint32_t r = 0; r < rank_count; r++) {
        const struct iwi_draw_id id = {draw.seed, draw.trial, draw.purpose, draw.source, draw.rank + r};
        struct iwi_draw_block block = iwi_draw_block(id, 0);

        for (uint32_t lane = 0; lane < lanes; lane++) {
            const uint64_t trial = draw.trial + lane;

            if (lane > 0 && trial % IWI_DRAW_TRIALS == 0) {
                block =
                    iwi_draw_block((struct iwi_draw_id){id.seed, trial, id.purpose, id.source, id.rank}, 0);
            }
            *next++ = first_from(
                p, (iw_time)iwi_scale_below(block.v[trial % IWI_DRAW_TRIALS], (uint64_t)p.period_ps));
        }
    }
}

static iw_time step(const struct iwi_noise_source *source, struct iwi_draw_id draw, int64_t *words,
                    iw_time start)
{
    (void)draw;
    (void)words;
    return start + source->u.periodic.period_ps;
}

static iw_time end(const struct iwi_noise_source *source, const int64_t *words, iw_time start)
{
    (void)words;
    return start + source->u.periodic.duration_ps;
}

static inline iw_time first_ending_after(struct iwi_periodic p, iw_time start, iw_time t)
{
    const iw_time behind = t - (start + p.duration_ps);

    if (behind < 0) {
        return start;
    }
    if (behind < p.period_ps) { /* spares the division in the common case */
        return start + p.period_ps;
    }
    return start + (behind / p.period_ps + 1) * p.period_ps;
}

static iw_time seek(const struct iwi_noise_source *source, struct iwi_draw_id draw, int64_t *words,
                    iw_time start, iw_time t)
{
    (void)draw;
    (void)words;
    return first_ending_after(source->u.periodic, start, t);
}

/* The quotient by floating point is at most 1 off; so vectors of them take no division. Nor may they branch:
 * what is not over yet moves on by no period. */
IWI_VECTOR_VERSIONS static void seek_all(const struct iwi_noise_source *source, int64_t *words,
                                         iw_time *starts, const iw_time *ts, size_t count)
{
    const struct iwi_periodic p = source->u.periodic;
    const double periods_per_ps = 1 / (double)p.period_ps;
    iw_time *restrict start = starts;
    const iw_time *restrict t = ts;

    (void)words;
    for (size_t k = 0; k < count; k++) {
        const iw_time behind = t[k] - (start[k] + p.duration_ps), is_over = -(iw_time)(behind >= 0);
        iw_time passed = (iw_time)((double)behind * periods_per_ps);

        passed -= passed * p.period_ps > behind;
        passed += (passed + 1) * p.period_ps <= behind;
        start[k] += is_over & ((passed + 1) * p.period_ps);
    }
}

/* The work left when a detour begins at `start` meets it and, after each further (period - duration) of work,
 * one more: k = ceil(left / free) detours, and the end is start + k * duration + left. */
static iw_time finish(const struct iwi_noise_source *source, int64_t *words, iw_time *next, iw_time t,
                      iw_time d)
{
    const struct iwi_periodic p = source->u.periodic;
    const iw_time start = first_ending_after(p, *next, t), free = p.period_ps - p.duration_ps;
    iw_time left = d, lost = p.duration_ps, done;

    (void)words;
    *next = start;
    if (t + d <= start) {
        return t + d;
    }
    if (start > t) {
        left -= start - t;
    }
    if ((left > free && __builtin_mul_overflow((left - 1) / free + 1, p.duration_ps, &lost)) ||
        __builtin_add_overflow(start + left, lost, &done)) {
        return iwi_max(t + d, IWI_LATEST);
    }
    return done;
}

const struct iwi_source_ops iwi_source_periodic = {
    .name = "periodic",
    .usage = "periodic:RATE,DURATION",
    .example = "periodic:10Hz,220us",
    .parse = parse,
    .share = share,
    .is_even = true,
    .begin = begin,
    .begin_all = begin_all,
    .step = step,
    .seek = seek,
    .seek_all = seek_all,
    .end = end,
    .finish = finish,
};
