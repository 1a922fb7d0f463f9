/* Walking through a trace that repeats after its length; inline, for the sources that are made of traces.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The trace stands at position (t + offset) mod length. The place of a walk is the start of the current piece
 * in wall-clock time, which engines have beside them, and the words below. They say all that most calls ask
 * for: the trace itself, which ranks read all over, is read once for each piece.
 */
#ifndef IWI_DETOUR_WALK_H
#define IWI_DETOUR_WALK_H

#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/noise/source.h"

enum {
    IWI_WALK_PIECE,     /* the number of the current piece */
    IWI_WALK_END,       /* its end in wall-clock time */
    IWI_WALK_FOLLOWING, /* the start of the one behind it */
    IWI_WALK_WORDS
};

/* So many pieces are looked at one by one before a binary search is worth it; and are in a line of the cache,
 * the next of which is asked for in time. */
enum { IWI_NEAR_PIECES = 8, IWI_LINE_PIECES = 4 };

static inline iw_time iwi_detour_trace_piece_end(const struct iwi_detour_trace *trace, size_t piece)
{
    return trace->pieces[piece].start_ps + trace->pieces[piece].duration_ps;
}

/* The first piece that ends after a position; count if none. */
static inline size_t iwi_detour_trace_piece_after(const struct iwi_detour_trace *trace, iw_time position)
{
    const uint32_t *mark = &trace->index[position / trace->index_ps];
    size_t at;

    IWI_FIRST_NOT(at, mark[0], mark[1], iwi_detour_trace_piece_end(trace, at) <= position);
    return at;
}

/* Undisturbed time between a piece and the one behind it. */
static inline iw_time iwi_detour_trace_gap(const struct iwi_detour_trace *trace, size_t piece)
{
    return trace->pieces[piece + 1].start_ps - iwi_detour_trace_piece_end(trace, piece);
}

/* Undisturbed time in [0, start). */
static inline iw_time iwi_detour_trace_free_before(const struct iwi_detour_trace *trace, size_t piece)
{
    iw_time free_ps = trace->free_before_ps[piece / IWI_PIECES_PER_SUM];

    for (size_t at = piece / IWI_PIECES_PER_SUM * IWI_PIECES_PER_SUM; at < piece; at++) {
        free_ps += iwi_detour_trace_gap(trace, at);
    }
    return free_ps;
}

/* How many pieces begin before `work` > 0 of undisturbed time has passed since position 0. */
static inline size_t iwi_detour_trace_pieces_within(const struct iwi_detour_trace *trace, iw_time work)
{
    const size_t sums = (trace->count + IWI_PIECES_PER_SUM - 1) / IWI_PIECES_PER_SUM;
    iw_time free_ps;
    size_t sum, piece;

    IWI_FIRST_NOT(sum, 0, sums, trace->free_before_ps[sum] < work);
    if (sum == 0) {
        return 0;
    }
    free_ps = trace->free_before_ps[sum - 1];
    for (piece = (sum - 1) * IWI_PIECES_PER_SUM; piece + 1 < trace->count; piece++) {
        free_ps += iwi_detour_trace_gap(trace, piece);
        if (free_ps >= work) {
            break;
        }
    }
    return piece + 1;
}

/* The walk is at that piece, which begins at `start`. */
static inline iw_time iwi_detour_trace_enter(const struct iwi_detour_trace *trace, int64_t *walk,
                                             size_t piece, iw_time start)
{
    const struct iwi_detour_piece *now = &trace->pieces[piece];
    const bool is_last = piece + 1 == trace->count;
    const iw_time following = is_last ? trace->pieces[0].start_ps + trace->length_ps : now[1].start_ps;

    __builtin_prefetch(now + IWI_LINE_PIECES);
    walk[IWI_WALK_PIECE] = (int64_t)piece;
    walk[IWI_WALK_END] = start + now->duration_ps;
    walk[IWI_WALK_FOLLOWING] = start + (following - now->start_ps);
    return start;
}

/* The first piece that ends after `position` of the repetition that began at `base`. */
static inline iw_time iwi_detour_trace_place(const struct iwi_detour_trace *trace, int64_t *walk,
                                             iw_time base, iw_time position)
{
    size_t found = iwi_detour_trace_piece_after(trace, position);

    if (found == trace->count) {
        base += trace->length_ps;
        found = 0;
    }
    return iwi_detour_trace_enter(trace, walk, found, base + trace->pieces[found].start_ps);
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

/* At `position`, as time begins at at_ps. */
static inline iw_time iwi_detour_trace_begin_at(const struct iwi_detour_trace *trace, iw_time at_ps,
                                                iw_time position, int64_t *walk)
{
    if (trace->count == 0) {
        walk[IWI_WALK_PIECE] = 0;
        walk[IWI_WALK_END] = walk[IWI_WALK_FOLLOWING] = IWI_NEVER;
        return IWI_NEVER;
    }
    return iwi_detour_trace_place(trace, walk, at_ps - position, position);
}

static inline iw_time iwi_detour_trace_begin(const struct iwi_detour_trace *trace,
                                             const struct iwi_stream_origin *origin, int64_t *walk)
{
    return iwi_detour_trace_begin_at(trace, origin->at_ps, iwi_detour_trace_offset(trace, origin), walk);
}

static inline size_t iwi_detour_trace_behind(const struct iwi_detour_trace *trace, int64_t piece)
{
    return (size_t)piece + 1 < trace->count ? (size_t)piece + 1 : 0;
}

static inline iw_time iwi_detour_trace_step(const struct iwi_detour_trace *trace, int64_t *walk)
{
    return iwi_detour_trace_enter(trace, walk, iwi_detour_trace_behind(trace, walk[IWI_WALK_PIECE]),
                                  walk[IWI_WALK_FOLLOWING]);
}

/* Has what iwi_detour_trace_seek() reads brought into the cache. */
static inline void iwi_detour_trace_fetch(const struct iwi_detour_trace *trace, const int64_t *walk)
{
    __builtin_prefetch(&trace->pieces[iwi_detour_trace_behind(trace, walk[IWI_WALK_PIECE])]);
}

static inline iw_time iwi_detour_trace_seek(const struct iwi_detour_trace *trace, int64_t *walk,
                                            iw_time start, iw_time t)
{
    iw_time base;

    for (int i = 0; i < IWI_NEAR_PIECES; i++) {
        if (walk[IWI_WALK_END] > t) {
            return start;
        }
        start = iwi_detour_trace_step(trace, walk);
    }
    if (start > t) {
        return start;
    }
    base = start - trace->pieces[walk[IWI_WALK_PIECE]].start_ps;
    base += (t - base) / trace->length_ps * trace->length_ps;
    return iwi_detour_trace_place(trace, walk, base, t - base);
}

/* Where `work` > 0 of undisturbed time since position 0 of the repetition beginning at `base` is reached:
 * whole repetitions first, so that the rest is in (0, free_ps]; then the pieces that begin within the rest.
 */
static inline iw_time iwi_detour_trace_reach(const struct iwi_detour_trace *trace, iw_time base, iw_time work)
{
    const iw_time repetitions = (work - 1) / trace->free_ps, rest = work - repetitions * trace->free_ps;
    const size_t piece = iwi_detour_trace_pieces_within(trace, rest);
    const iw_time busy = piece < trace->count
                             ? trace->pieces[piece].start_ps - iwi_detour_trace_free_before(trace, piece)
                             : trace->length_ps - trace->free_ps;
    iw_time whole, result;

    if (__builtin_mul_overflow(repetitions, trace->length_ps, &whole) || whole > IWI_LATEST ||
        __builtin_add_overflow(base + rest + busy, whole, &result)) {
        return IWI_LATEST;
    }
    return result;
}

static inline iw_time iwi_detour_trace_finish(const struct iwi_detour_trace *trace, int64_t *walk,
                                              iw_time *next, iw_time t, iw_time d)
{
    int64_t at[IWI_WALK_WORDS] = {0};
    iw_time start, now = t, left = d;

    *next = start = iwi_detour_trace_seek(trace, walk, *next, t);
    memcpy(at, walk, sizeof at);
    for (int i = 0; i < IWI_NEAR_PIECES; i++) {
        if (start >= now + left) {
            return now + left;
        }
        if (start > now) {
            left -= start - now;
        }
        now = at[IWI_WALK_END];
        start = at[IWI_WALK_FOLLOWING];
        if (start < now + left) {
            (void)iwi_detour_trace_step(trace, at);
        }
    }
    if (start >= now + left) {
        return now + left;
    }
    left -= start - now;
    return iwi_max(t + d, iwi_detour_trace_reach(
                              trace, start - trace->pieces[at[IWI_WALK_PIECE]].start_ps,
                              iwi_detour_trace_free_before(trace, (size_t)at[IWI_WALK_PIECE]) + left));
}

#endif
