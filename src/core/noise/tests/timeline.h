/* The reference for finish(t, d): every instant of a short timeline is looked at, one by one.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Shares nothing with the code under test but the random draws.
 */
#ifndef IWT_TIMELINE_H
#define IWT_TIMELINE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/noise.h>

#include "core/base/order.h"
#include "core/base/rng.h"
#include "core/noise/stream.h"
#include "support/support.h"

enum { HORIZON = 4000, MOST_DETOURS = 12000, MOST_RAW = 8, FREE = -1 };

struct detour {
    iw_time start, end;
    int source;
};

/* Add detours, settle, then ask. */
struct timeline {
    struct detour detours[MOST_DETOURS];
    size_t count;
    int owner[HORIZON]; /* source that has each instant, or FREE */
};

static inline void timeline_add(struct timeline *line, int source, iw_time start, iw_time end)
{
    if (end > 0 && start < HORIZON) {
        assert_true(line->count < MOST_DETOURS);
        line->detours[line->count++] = (struct detour){start, end, source};
    }
}

static inline int by_start_then_source(const void *a, const void *b)
{
    const struct detour *x = a, *y = b;

    return x->start != y->start ? (x->start > y->start) - (x->start < y->start) : x->source - y->source;
}

/* Each instant goes to the detour that took it first. */
static inline void timeline_settle(struct timeline *line)
{
    iwi_sort(line->detours, line->count, by_start_then_source);
    for (int x = 0; x < HORIZON; x++) {
        line->owner[x] = FREE;
    }
    for (size_t i = 0; i < line->count; i++) {
        const struct detour *d = &line->detours[i];

        for (iw_time x = d->start > 0 ? d->start : 0; x < d->end && x < HORIZON; x++) {
            if (line->owner[x] == FREE) {
                line->owner[x] = d->source;
            }
        }
    }
}

/* -1 if the timeline is too short to tell. */
static inline iw_time timeline_finish(const struct timeline *line, iw_time t, iw_time d, iw_time *lost)
{
    while (d > 0) {
        if (t >= HORIZON) {
            return -1;
        }
        if (line->owner[t] == FREE) {
            d--;
        } else {
            lost[line->owner[t]]++;
        }
        t++;
    }
    return t;
}

/* ---- random test cases ---- */

struct picker {
    uint64_t seed, index;
};

static inline int64_t pick(struct picker *picker, int64_t low, int64_t high)
{
    const struct iwi_draw_id id = {.seed = picker->seed, .purpose = IWI_DRAW_TEST};

    return low + (int64_t)iwi_draw_below(id, picker->index++, (uint64_t)(high - low + 1));
}

static inline uint64_t draw_below(struct iwi_stream_id id, uint32_t purpose, uint32_t source, uint32_t rank,
                                  uint64_t index, uint64_t n)
{
    const struct iwi_draw_id draw = {id.seed, id.trial, purpose, source, rank};

    return iwi_draw_below(draw, index, n);
}

/* ---- the kinds of source: spec into the noise, detours into the timeline ---- */

static inline iw_noise *new_noise(void)
{
    iw_noise *noise = NULL;

    assert_ok(iw_noise_new(NULL, &noise));
    return noise;
}

static inline void add_spec(iw_noise *noise, const char *spec)
{
    struct iwt_log log;

    iwt_log_init(&log);
    if (iw_noise_add(&log.log, noise, spec) != IW_OK) {
        fail_msg("%s", log.text);
    }
}

static inline void add_periodic(iw_noise *noise, int64_t period, int64_t duration)
{
    char spec[100];

    snprintf(spec, sizeof spec, "periodic:%.6fHz,%dps", 1e12 / (double)period, (int)duration);
    add_spec(noise, spec);
}

static inline void periodic_detours(struct timeline *line, int source, int64_t period, int64_t duration,
                                    int64_t phase)
{
    for (int64_t start = phase % period - period; start < HORIZON; start += period) {
        timeline_add(line, source, start, start + duration);
    }
}

static inline void add_poisson(iw_noise *noise, int64_t gap, int64_t mean)
{
    char spec[100];

    snprintf(spec, sizeof spec, "poisson:%.6fHz,exp:%dps", 1e12 / (double)gap, (int)mean);
    add_spec(noise, spec);
}

/* A timeline that begins at `origin`; exponential durations have exponential ages and rests. */
static inline void poisson_detours(struct timeline *line, int source, int64_t gap, int64_t mean,
                                   struct iwi_stream_id id, uint32_t rank, uint64_t first, int64_t origin)
{
    const struct iwi_draw_id gaps = {id.seed, id.trial, IWI_DRAW_GAP, (uint32_t)source, rank};
    const struct iwi_draw_id durations = {id.seed, id.trial, IWI_DRAW_DURATION, (uint32_t)source, rank};
    const struct iwi_draw_id under_way = {id.seed, id.trial, IWI_DRAW_UNDER_WAY, (uint32_t)source, rank};
    const double met = (double)mean / (double)gap, chance = iwi_draw_unit(under_way, first);
    double up_to = 0;
    int64_t start = origin;

    for (uint64_t k = 0; mean > 0 && k < 50; k++) { /* the k-th is there if P(less than k) < chance */
        if (k > 0 && up_to < chance) {
            const double age = -log(iwi_draw_unit(under_way, first + 2 * k - 1)) * (double)mean;
            const double left = -log(iwi_draw_unit(under_way, first + 2 * k)) * (double)mean;

            timeline_add(line, source, origin - llround(age), origin + llround(left));
        }
        up_to += exp(-met + (double)k * log(met) - lgamma((double)k + 1));
    }
    for (uint64_t n = first; start < HORIZON; n++) {
        start += llround(-log(iwi_draw_unit(gaps, n)) * (double)gap);
        timeline_add(line, source, start, start + llround(-log(iwi_draw_unit(durations, n)) * (double)mean));
    }
}

struct raw_trace {
    iw_time start[MOST_RAW], duration[MOST_RAW];
    size_t count;
    iw_time length;
};

/* Unsorted, overlapping, with empty detours, at times up to the very end; at least one instant stays free. */
static inline struct raw_trace random_trace(struct picker *picker, int64_t longest)
{
    struct raw_trace raw = {.count = (size_t)pick(picker, 0, MOST_RAW), .length = pick(picker, 2, longest)};
    const iw_time kept_free = pick(picker, 0, raw.length - 1);

    for (size_t i = 0; i < raw.count; i++) {
        const iw_time start = pick(picker, 0, raw.length - 1);
        const iw_time room = start <= kept_free ? kept_free - start : raw.length - start;

        raw.start[i] = start;
        raw.duration[i] = pick(picker, 0, 3) > 0 ? pick(picker, 0, room) / 8 : room;
    }
    return raw;
}

static inline void add_raw(iw_noise *noise, const struct raw_trace *raw)
{
    assert_ok(iw_noise_add_trace(NULL, noise, "trace", raw->start, raw->duration, raw->count, raw->length));
}

static inline bool raw_is_busy(const struct raw_trace *raw, iw_time position)
{
    for (size_t i = 0; i < raw->count; i++) {
        if (position >= raw->start[i] && position < raw->start[i] + raw->duration[i]) {
            return true;
        }
    }
    return false;
}

/* Runs of busy instants are one detour each, but none goes beyond a repetition. */
static inline void trace_detours(struct timeline *line, int source, const struct raw_trace *raw,
                                 int64_t offset)
{
    for (int64_t base = -offset; base < HORIZON; base += raw->length) {
        for (iw_time from = 0, to; from < raw->length; from = to + 1) {
            for (to = from; to < raw->length && raw_is_busy(raw, to); to++) {
            }
            if (to > from) {
                timeline_add(line, source, base + from, base + to);
            }
        }
    }
}

/* ---- comparing ---- */

struct stream {
    const iw_noise *noise;
    struct iwi_stream_id id;
    int64_t state[6 * IW_NOISE_MAX_SOURCES];
    iw_time next;
};

static inline struct stream open_stream(const iw_noise *noise, struct iwi_stream_id id)
{
    struct stream s = {.noise = noise, .id = id};

    assert_true(iwi_noise_words(noise) <= 6 * IW_NOISE_MAX_SOURCES);
    s.next = iwi_noise_begin(noise, id, s.state);
    return s;
}

static inline iw_time stream_finish(struct stream *s, iw_time t, iw_time d, iw_time *by_source)
{
    return iwi_finish(s->noise, s->id, s->state, &s->next, t, d,
                      by_source == NULL ? NULL : &(struct iwi_lost){.by_source = by_source});
}

/* Works and waits at random from t on, with and without counting what each source takes. The next start may
 * lie before the end of the last work (another CPU of the rank), never before its start. Returns how many
 * operations were compared. */
static inline int compare_stream(struct stream *s, const struct timeline *line, struct picker *picker,
                                 iw_time t, int64_t longest)
{
    struct stream quick = *s;
    int compared = 0;

    for (;;) {
        const iw_time d = pick(picker, 0, pick(picker, 0, longest));
        iw_time got[IW_NOISE_MAX_SOURCES] = {0}, expected[IW_NOISE_MAX_SOURCES] = {0}, sum = 0;
        const iw_time end = timeline_finish(line, t, d, expected);

        if (end < 0) {
            return compared;
        }
        assert_int_equal(stream_finish(s, t, d, got), end);
        assert_int_equal(stream_finish(&quick, t, d, NULL), end);
        assert_memory_equal(got, expected, sizeof got);
        for (int i = 0; i < IW_NOISE_MAX_SOURCES; i++) {
            sum += got[i];
        }
        assert_int_equal(sum, end - t - d);
        compared++;
        switch (pick(picker, 0, 3)) {
        case 0: t = pick(picker, t, end); break;
        case 1: t = end + pick(picker, 0, 200); break;
        default: t = end;
        }
    }
}

#endif
