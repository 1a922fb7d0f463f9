/* Recorded noise: the detours of a file or of arrays, repeated after the length of the recording.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The trace stands at position (t + offset) mod length. Words: the number of the current piece; together with
 * its start in wall-clock time it says where this repetition of the trace began.
 */
#include <idlewave/noise.h>

#include <stdlib.h>

#include "base/base.h"
#include "noise/source.h"
#include "noise/trace_view.h"

enum { PIECE };

/* So many pieces are looked at one by one before a binary search is worth it. */
enum { NEAR_PIECES = 8 };

static void release(struct iwi_source *source)
{
    free(source->u.trace.start_ps);
    free(source->u.trace.duration_ps);
    free(source->u.trace.free_before_ps);
}

static double share(const struct iwi_source *source)
{
    const struct iwi_trace *trace = &source->u.trace;

    return trace->count > 0 ? 1 - (double)trace->free_ps / (double)trace->length_ps : 0;
}

static iw_time piece_end(const struct iwi_trace *trace, size_t piece)
{
    return trace->start_ps[piece] + trace->duration_ps[piece];
}

/* The first piece that ends after a position; count if none. */
static size_t piece_after(const struct iwi_trace *trace, iw_time position)
{
    size_t low = 0, high = trace->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (piece_end(trace, middle) > position) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* How many pieces begin before `work` of undisturbed time has passed since position 0. */
static size_t pieces_within(const struct iwi_trace *trace, iw_time work)
{
    size_t low = 0, high = trace->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (trace->free_before_ps[middle] >= work) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* The first piece that ends after `position` of the repetition that began at `base`. */
static iw_time place(const struct iwi_trace *trace, int64_t *words, iw_time base, iw_time position)
{
    size_t piece = piece_after(trace, position);

    if (piece == trace->count) {
        base += trace->length_ps;
        piece = 0;
    }
    words[PIECE] = (int64_t)piece;
    return base + trace->start_ps[piece];
}

static iw_time offset(const struct iwi_trace *trace, const struct iwi_origin *origin)
{
    const iw_time length = trace->length_ps;
    iw_time position;

    if (length == 0) {
        return 0;
    }
    position = (iw_time)iwi_draw_below(origin->draw, origin->index, (uint64_t)length);
    position -= origin->shift_ps % length;
    return position < 0 ? position + length : position;
}

static iw_time begin(const struct iwi_source *source, const struct iwi_origin *origin, int64_t *words)
{
    const struct iwi_trace *trace = &source->u.trace;
    const iw_time position = offset(trace, origin);

    words[PIECE] = 0;
    return trace->count > 0 ? place(trace, words, origin->at_ps - position, position) : IWI_NEVER;
}

static iw_time step(const struct iwi_source *source, struct iwi_draw_id draw, int64_t *words, iw_time start)
{
    const struct iwi_trace *trace = &source->u.trace;
    const size_t piece = (size_t)words[PIECE];

    (void)draw;
    if (piece + 1 < trace->count) {
        words[PIECE]++;
        return start + (trace->start_ps[piece + 1] - trace->start_ps[piece]);
    }
    words[PIECE] = 0;
    return start + (trace->start_ps[0] + trace->length_ps - trace->start_ps[piece]);
}

static iw_time end(const struct iwi_source *source, const int64_t *words, iw_time start)
{
    return start + source->u.trace.duration_ps[words[PIECE]];
}

static iw_time seek(const struct iwi_source *source, struct iwi_draw_id draw, int64_t *words, iw_time start,
                    iw_time t)
{
    const struct iwi_trace *trace = &source->u.trace;
    iw_time base;

    if (trace->count == 0) {
        return IWI_NEVER;
    }
    for (int i = 0; i < NEAR_PIECES; i++) {
        if (end(source, words, start) > t) {
            return start;
        }
        start = step(source, draw, words, start);
    }
    if (start > t) {
        return start;
    }
    base = start - trace->start_ps[words[PIECE]];
    base += (t - base) / trace->length_ps * trace->length_ps;
    return place(trace, words, base, t - base);
}

/* Where `work` > 0 of undisturbed time since position 0 of the repetition beginning at `base` is reached:
 * whole repetitions first, so that the rest is in (0, free_ps]; then the pieces that begin within the rest.
 */
static iw_time reach(const struct iwi_trace *trace, iw_time base, iw_time work)
{
    const iw_time repetitions = (work - 1) / trace->free_ps, rest = work - repetitions * trace->free_ps;
    const size_t piece = pieces_within(trace, rest);
    const iw_time busy = piece < trace->count ? trace->start_ps[piece] - trace->free_before_ps[piece]
                                              : trace->length_ps - trace->free_ps;
    iw_time whole, result;

    if (__builtin_mul_overflow(repetitions, trace->length_ps, &whole) || whole > IWI_LATEST ||
        __builtin_add_overflow(base + rest + busy, whole, &result)) {
        return IWI_LATEST;
    }
    return result;
}

static iw_time finish(const struct iwi_source *source, int64_t *words, iw_time *next, iw_time t, iw_time d)
{
    const struct iwi_trace *trace = &source->u.trace;
    const struct iwi_draw_id unused = {0, 0, 0, 0, 0};
    iw_time start, now = t, left = d;
    int64_t at[1];

    *next = start = seek(source, unused, words, *next, t);
    at[PIECE] = words[PIECE];
    for (int i = 0; i < NEAR_PIECES; i++) {
        if (start >= now + left) {
            return now + left;
        }
        if (start > now) {
            left -= start - now;
        }
        now = end(source, at, start);
        start = step(source, unused, at, start);
    }
    if (start >= now + left) {
        return now + left;
    }
    left -= start - now;
    return iwi_max(t + d,
                   reach(trace, start - trace->start_ps[at[PIECE]], trace->free_before_ps[at[PIECE]] + left));
}

bool iwi_noise_trace_view(const iw_noise *noise, struct iwi_trace_view *view_p)
{
    const struct iwi_trace *trace = &noise->sources[0].u.trace;

    if (noise->count != 1 || noise->sources[0].ops != &iwi_source_trace) {
        return false;
    }
    *view_p = (struct iwi_trace_view){trace->start_ps, trace->duration_ps, trace->count, trace->length_ps};
    return true;
}

iw_time iwi_noise_trace_offset(const iw_noise *noise, struct iwi_stream_id id)
{
    struct iwi_origin origin = {.draw = iwi_source_draw(noise, 0, id),
                                .shift_ps = iwi_noise_shift(noise, id)};
    struct iwi_trace_view view;

    origin.draw.purpose = IWI_DRAW_OFFSET;
    return iwi_noise_trace_view(noise, &view) ? offset(&noise->sources[0].u.trace, &origin) : 0;
}

const struct iwi_source_ops iwi_source_trace = {
    .usage = "FILE",
    .example = "node.noise",
    .parse = iwi_trace_load,
    .release = release,
    .share = share,
    .is_recorded = true,
    .words = 1,
    .begin = begin,
    .step = step,
    .seek = seek,
    .end = end,
    .finish = finish,
};
