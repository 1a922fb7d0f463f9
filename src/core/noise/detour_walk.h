/* Walking through a trace that repeats after its length; inline, for the sources that are made of traces.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The trace stands at position (t + offset) mod length. The place of a walk is the number of the current
 * piece
 * (*piece) and its start in wall-clock time, which say where this repetition of the trace began.
 */
#ifndef IWI_DETOUR_WALK_H
#define IWI_DETOUR_WALK_H

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/noise/source.h"

/* So many pieces are looked at one by one before a binary search is worth it. */
enum { IWI_NEAR_PIECES = 8 };

static inline iw_time iwi_detour_trace_piece_end(const struct iwi_detour_trace *trace, size_t piece)
{
    return trace->start_ps[piece] + trace->duration_ps[piece];
}

/* The first piece that ends after a position; count if none. */
static inline size_t iwi_detour_trace_piece_after(const struct iwi_detour_trace *trace, iw_time position)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, trace->count, iwi_detour_trace_piece_end(trace, at) <= position);
    return at;
}

/* How many pieces begin before `work` of undisturbed time has passed since position 0. */
static inline size_t iwi_detour_trace_pieces_within(const struct iwi_detour_trace *trace, iw_time work)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, trace->count, trace->free_before_ps[at] < work);
    return at;
}

/* The first piece that ends after `position` of the repetition that began at `base`. */
static inline iw_time iwi_detour_trace_place(const struct iwi_detour_trace *trace, int64_t *piece,
                                             iw_time base, iw_time position)
{
    size_t found = iwi_detour_trace_piece_after(trace, position);

    if (found == trace->count) {
        base += trace->length_ps;
        found = 0;
    }
    *piece = (int64_t)found;
    return base + trace->start_ps[found];
}

static inline iw_time iwi_detour_trace_offset(const struct iwi_detour_trace *trace,
                                              const struct iwi_stream_origin *origin)
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

/* Where copy 1, 2, ... of a node's recorded CPUs begins. */
static inline struct iwi_stream_origin iwi_origin_of_copy(const struct iwi_stream_origin *origin,
                                                          uint32_t copy)
{
    struct iwi_stream_origin own = *origin;

    own.draw.purpose = IWI_DRAW_COPY;
    own.index = copy;
    return own;
}

static inline iw_time iwi_detour_trace_begin(const struct iwi_detour_trace *trace,
                                             const struct iwi_stream_origin *origin, int64_t *piece)
{
    const iw_time position = iwi_detour_trace_offset(trace, origin);

    *piece = 0;
    return trace->count > 0 ? iwi_detour_trace_place(trace, piece, origin->at_ps - position, position)
                            : IWI_NEVER;
}

static inline iw_time iwi_detour_trace_step(const struct iwi_detour_trace *trace, int64_t *piece,
                                            iw_time start)
{
    const size_t now = (size_t)*piece;

    if (now + 1 < trace->count) {
        ++*piece;
        return start + (trace->start_ps[now + 1] - trace->start_ps[now]);
    }
    *piece = 0;
    return start + (trace->start_ps[0] + trace->length_ps - trace->start_ps[now]);
}

static inline iw_time iwi_detour_trace_seek(const struct iwi_detour_trace *trace, int64_t *piece,
                                            iw_time start, iw_time t)
{
    iw_time base;

    if (trace->count == 0) {
        return IWI_NEVER;
    }
    for (int i = 0; i < IWI_NEAR_PIECES; i++) {
        if (start + trace->duration_ps[*piece] > t) {
            return start;
        }
        start = iwi_detour_trace_step(trace, piece, start);
    }
    if (start > t) {
        return start;
    }
    base = start - trace->start_ps[*piece];
    base += (t - base) / trace->length_ps * trace->length_ps;
    return iwi_detour_trace_place(trace, piece, base, t - base);
}

/* Where `work` > 0 of undisturbed time since position 0 of the repetition beginning at `base` is reached:
 * whole repetitions first, so that the rest is in (0, free_ps]; then the pieces that begin within the rest.
 */
static inline iw_time iwi_detour_trace_reach(const struct iwi_detour_trace *trace, iw_time base, iw_time work)
{
    const iw_time repetitions = (work - 1) / trace->free_ps, rest = work - repetitions * trace->free_ps;
    const size_t piece = iwi_detour_trace_pieces_within(trace, rest);
    const iw_time busy = piece < trace->count ? trace->start_ps[piece] - trace->free_before_ps[piece]
                                              : trace->length_ps - trace->free_ps;
    iw_time whole, result;

    if (__builtin_mul_overflow(repetitions, trace->length_ps, &whole) || whole > IWI_LATEST ||
        __builtin_add_overflow(base + rest + busy, whole, &result)) {
        return IWI_LATEST;
    }
    return result;
}

static inline iw_time iwi_detour_trace_finish(const struct iwi_detour_trace *trace, int64_t *piece,
                                              iw_time *next, iw_time t, iw_time d)
{
    iw_time start, now = t, left = d;
    int64_t at;

    *next = start = iwi_detour_trace_seek(trace, piece, *next, t);
    at = *piece;
    for (int i = 0; i < IWI_NEAR_PIECES; i++) {
        if (start >= now + left) {
            return now + left;
        }
        if (start > now) {
            left -= start - now;
        }
        now = start + trace->duration_ps[at];
        start = iwi_detour_trace_step(trace, &at, start);
    }
    if (start >= now + left) {
        return now + left;
    }
    left -= start - now;
    return iwi_max(
        t + d, iwi_detour_trace_reach(trace, start - trace->start_ps[at], trace->free_before_ps[at] + left));
}

#endif
