/* Passes with short shifts, several at once, stretch after stretch of the elements.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A pass needs, besides the stretch, the elements just before it as they were after the pass before: the edge
 * that the stretch before has left. The first stretch follows the last one, whose edges are computed ahead on
 * a copy: on a partition, that of the member before, which sends them.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/engine.h"
#include "core/sim/flow/flow_exchange.h"
#include "core/sim/flow/flow_stream.h"

/* Passes with short shifts of messages by rendezvous, several at once, window after window of the elements.
 *
 * Such a pass needs the elements on both sides. A window is copied with a margin as wide as all shifts
 * together, around the end where it must be; each pass spoils as much of the margin as its shift, and what is
 * inside is right in the end and copied back. Margins are copied from what the elements were before any
 * window was passed.
 */

/* A window of `count` elements from `first` on, and `margin` on both sides. */
struct window {
    size_t first, count, margin;
};

/* The arrays of the flow by the number of their copy; NULL: none. */
struct arrays {
    iw_time *of[IWI_COPIES];
};

static struct arrays arrays_of(const struct iwi_flow *flow)
{
    return (struct arrays){.of = {[IWI_COPY_CPU] = flow->cpu,
                                  [IWI_COPY_POSTED] = flow->posted,
                                  [IWI_COPY_NEXT_DETOUR] = flow->next_detour,
                                  [IWI_COPY_SEND_GAP] = flow->send_gap,
                                  [IWI_COPY_RECV_GAP] = flow->recv_gap}};
}

static void copy_times(iw_time *to, const iw_time *from, size_t count)
{
    memcpy(to, from, count * sizeof *to);
}

static void load(struct iwi_flow *flow, struct window window)
{
    struct iwi_stream *stream = flow->stream;
    const struct arrays arrays = arrays_of(flow);
    const size_t end = window.first + window.count, after = flow->count - end;
    const size_t ahead = after < window.margin ? after : window.margin;

    for (size_t a = 0; a < IWI_COPIES; a++) {
        const iw_time *array = arrays.of[a];
        iw_time *copy = stream->copies[a];

        if (array == NULL) {
            continue;
        }
        copy_times(copy, window.first == 0 ? array + flow->count - window.margin : stream->kept[a],
                   window.margin);
        copy_times(copy + window.margin, array + window.first, window.count + ahead);
        copy_times(copy + window.margin + window.count + ahead, stream->first[a], window.margin - ahead);
        if (window.count >= window.margin) { /* else it is the last one */
            copy_times(stream->kept[a], array + end - window.margin, window.margin);
        }
    }
}

static void store(struct iwi_flow *flow, struct window window, size_t odd)
{
    const struct arrays arrays = arrays_of(flow);

    for (size_t a = 0; a < IWI_COPIES; a++) {
        const bool is_double = a == IWI_COPY_CPU || a == IWI_COPY_POSTED;

        if (arrays.of[a] != NULL) {
            copy_times(arrays.of[a] + window.first,
                       flow->stream->copies[is_double ? a + odd : a] + window.margin, window.count);
        }
    }
}

static void pass_window(struct iwi_flow *flow, const struct iwi_pass *passes, size_t pass_count,
                        struct window window)
{
    iw_time(*copies)[IWI_COPIED] = flow->stream->copies;
    const struct iwi_span span = {.count = window.count + 2 * window.margin,
                                  .next_detour = copies[IWI_COPY_NEXT_DETOUR],
                                  .send_gap = copies[IWI_COPY_SEND_GAP],
                                  .recv_gap = copies[IWI_COPY_RECV_GAP],
                                  .first = window.first + (window.first < window.margin ? flow->count : 0) -
                                           window.margin,
                                  .width_shift = 63};

    load(flow, window);
    for (size_t p = 0; p < pass_count; p++) {
        const size_t now = p & 1, out = !now;

        iwi_pass_rendezvous(flow, &span, &passes[p], copies[IWI_COPY_CPU + now],
                            copies[IWI_COPY_POSTED + now], copies[IWI_COPY_CPU + out],
                            copies[IWI_COPY_POSTED + out]);
    }
    store(flow, window, pass_count & 1);
}

/* How many passes from `number` on can be made on windows, and the sum of their shifts. */
static size_t window_passes(const struct iwi_run *run, uint64_t number, struct iwi_pass *passes,
                            size_t *margin_p)
{
    const size_t most = IWI_WINDOW / 16; /* twice of it is computed in vain */
    size_t count = 0;

    *margin_p = 0;
    while (count < IWI_PASSES && number + count <= run->last_pass) {
        passes[count] = iwi_run_pass(run, number + count);
        if (passes[count].is_flip ? passes[count].flip >= IWI_WINDOW
                                  : *margin_p + passes[count].shift > most) {
            break;
        }
        *margin_p += passes[count].shift;
        count++;
    }
    return count;
}

static size_t pass_windows(const struct iwi_run *run, uint64_t number)
{
    struct iwi_flow *flow = run->flow;
    struct iwi_pass passes[IWI_PASSES];
    struct window window = {0};
    const size_t count = window_passes(run, number, passes, &window.margin);
    const struct arrays arrays = arrays_of(flow);

    /* words of noise cannot be computed in vain: there is only one of each */
    if (count < 2 || flow->words > 0) {
        return 0;
    }
    for (size_t a = 0; a < IWI_COPIES; a++) {
        if (arrays.of[a] != NULL) {
            copy_times(flow->stream->first[a], arrays.of[a], window.margin);
        }
    }
    for (; window.first < flow->count; window.first += window.count) {
        const size_t left = flow->count - window.first, most = IWI_WINDOW - 2 * window.margin;

        window.count = left < most ? left : most;
        pass_window(flow, passes, count, window);
    }
    return count;
}

static struct iwi_span stretch_of(const struct iwi_flow *flow, size_t first, size_t count)
{
    return (struct iwi_span){.count = count,
                             .send_gap = flow->send_gap == NULL ? NULL : flow->send_gap + first,
                             .recv_gap = flow->recv_gap == NULL ? NULL : flow->recv_gap + first,
                             .next_detour = flow->next_detour + first,
                             .first = first,
                             .width_shift = 63};
}

/* Elements first ... first + count - 1 through all passes; edges in and out. */
static void pass_stretch(struct iwi_flow *flow, const struct iwi_pass *passes, size_t pass_count,
                         size_t first, size_t count)
{
    struct iwi_stream *stream = flow->stream;
    const struct iwi_span span = stretch_of(flow, first, count);
    const iw_time *now = flow->cpu + first;
    const iw_time begun = *now;
    iw_time *edge = stream->edges;

    iwi_flow_fetch(flow, first, stream->lasted, count);

    for (size_t p = 0; p < pass_count; p++) {
        iw_time *out = p + 1 < pass_count ? stream->now[p & 1] + IWI_EDGES : flow->cpu + first;
        iw_time *before = stream->now[(p + 1) & 1] + IWI_EDGES; /* where `now` is, unless p is 0 */
        const size_t shift = passes[p].shift, left = shift < count ? shift : count;

        if (p == 0 && passes[0].has_receive) {
            memcpy(before, now, count * sizeof *now);
            now = before;
        }
        if (passes[p].has_receive && !passes[p].is_flip) {
            memcpy(before - shift, edge, shift * sizeof *edge);
            memcpy(edge, before + count - left, left * sizeof *edge);
            edge += shift;
            iwi_pass_run(flow, &span, &passes[p], 0, count, now, before - shift, out);
        } else {
            iwi_pass_closed(flow, &span, &passes[p], now, now, out);
        }
        now = out;
    }
    stream->lasted = *now - begun;
}

/* What a stretch changes, to and fro. */
static void keep_end(struct iwi_flow *flow, size_t count, bool is_back)
{
    struct iwi_stream *stream = flow->stream;
    const size_t first = flow->count - count;
    iw_time *arrays[] = {flow->cpu, flow->send_gap, flow->recv_gap, flow->next_detour};

    for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; a++) {
        if (arrays[a] != NULL) {
            iw_time *in_place = arrays[a] + first;

            memcpy(is_back ? in_place : stream->kept[a], is_back ? stream->kept[a] : in_place,
                   count * sizeof *in_place);
        }
    }
    if (flow->words > 0) {
        int64_t *in_place = flow->noise_words + first * flow->words;

        memcpy(is_back ? in_place : stream->kept_words, is_back ? stream->kept_words : in_place,
               count * flow->words * sizeof *in_place);
    }
}

/* The edges of the end of this block go to the member behind it; those of the member before come. */
static iw_status exchange_edges(struct iwi_flow *flow, size_t edges, struct iwi_transfer *sent)
{
    const uint32_t me = flow->member->number, members = flow->partition->members;
    struct iwi_stream *stream = flow->stream;
    struct iwi_transfer received;

    memcpy(stream->first[0], stream->edges, edges * sizeof(iw_time));
    IW_TRY(iwi_member_receive(flow->member, (me + members - 1) % members, stream->edges,
                              edges * sizeof(iw_time), &received));
    IW_TRY(
        iwi_member_send(flow->member, (me + 1) % members, stream->first[0], edges * sizeof(iw_time), sent));
    return iwi_member_wait(flow->member, &received, 1);
}

static iw_status pass_all(struct iwi_flow *flow, const struct iwi_pass *passes, size_t pass_count,
                          size_t edges)
{
    const bool exchanges = flow->partition != NULL && edges > 0;
    struct iwi_transfer sent;

    if (edges > 0) {
        /* too early, and used only for elements that nobody looks at */
        memset(flow->stream->edges, 0, edges * sizeof(iw_time));
        keep_end(flow, edges, false);
        pass_stretch(flow, passes, pass_count, flow->count - edges, edges);
        keep_end(flow, edges, true);
    }
    if (exchanges) {
        IW_TRY(exchange_edges(flow, edges, &sent));
    }
    for (size_t first = 0; first < flow->count; first += IWI_TILE) {
        pass_stretch(flow, passes, pass_count, first,
                     flow->count - first < IWI_TILE ? flow->count - first : IWI_TILE);
    }
    return exchanges ? iwi_member_wait(flow->member, &sent, 1) : IW_OK;
}

/* How many passes from `number` on can be made on tiles, and the sum of their shifts. */
static size_t tile_passes(const struct iwi_run *run, uint64_t number, struct iwi_pass *passes,
                          size_t *edges_p)
{
    const struct iwi_flow *flow = run->flow;
    const size_t granule =
        flow->partition == NULL ? flow->count : (size_t)flow->partition->granule << flow->lane_shift;
    const size_t flips = granule < IWI_TILE ? granule : IWI_TILE; /* shorter ones stay inside a stretch */
    size_t count = 0;

    *edges_p = 0;
    while (count < IWI_PASSES && number + count <= run->last_pass) {
        passes[count] = iwi_run_pass(run, number + count);
        if (passes[count].is_flip ? passes[count].flip >= flips
                                  : *edges_p + passes[count].shift > IWI_EDGES) {
            break;
        }
        *edges_p += passes[count].shift;
        count++;
    }
    return count;
}

/* Each makes the pass `number` and as many after it as can be made with it, and tells how many: 0 or at
 * least 2. Tiles and windows: passes with short shifts; columns: with shifts that are multiples of one
 * number; on a partition tiles, and columns that members pass each other. */
static iw_status pass_tiles(const struct iwi_run *run, uint64_t number, size_t *count_p)
{
    struct iwi_pass passes[IWI_PASSES];
    size_t edges;
    const size_t count = tile_passes(run, number, passes, &edges);

    *count_p = count < 2 ? 0 : count;
    return *count_p > 0 ? pass_all(run->flow, passes, count, edges) : IW_OK;
}

/* The flow engine's streaming rounds: every rank does the same with a partner given by its number.
 *
 * One pass over the elements (ranks x lanes) serves the receive of a round and the send of the next. A plain
 * pass streams all arrays through the cache. Where there are more elements than the cache holds, several
 * passes are made at once over parts that it does hold. Which way is taken never changes a result.
 */

static void swap(iw_time **a, iw_time **b)
{
    iw_time *kept = *a;

    *a = *b;
    *b = kept;
}

/* Every rank has sent a message, and the network, which has no levels, delays it: the lanes of a rank are
 * drawn together. */
static void delay_all(struct iwi_flow *flow)
{
    const struct iwi_job *job = flow->job;

    for (size_t i = 0; i < flow->count;) {
        const uint64_t trial = job->first_trial + (i & (flow->lanes - 1));
        const uint32_t rank = (uint32_t)(i >> flow->lane_shift), number = flow->sends_before[i];
        const struct iwi_draw_block bits =
            iwi_net_noise_bits(job->seed, trial, rank, number, IWI_CARRIED_DATA);
        const size_t end = ((size_t)rank + 1) << flow->lane_shift;

        for (size_t k = trial % IWI_DRAW_TRIALS; k < IWI_DRAW_TRIALS && i < end; k++, i++) {
            flow->left[i] = flow->cpu[i] + iwi_delay_of(job->net_noise, bits.v[k]);
            flow->sends_before[i] = number + 1;
        }
    }
}

/* A pass can be made in place, stretch after stretch, where what a stretch was before is kept until those who
 * receive from it have been passed. Returns how many elements are kept: 0 where it cannot. */
static size_t kept_in_place(const struct iwi_flow *flow, const struct iwi_pass *pass)
{
    const size_t shift = pass->has_receive ? pass->shift : IWI_TILE;

    if (flow->partition != NULL || flow->left != NULL || pass->is_rendezvous ||
        (pass->has_receive && pass->is_flip) || flow->count <= IWI_WINDOW || shift > flow->count / 2) {
        return 0;
    }
    return shift % IWI_TILE == 0 ? shift : 0;
}

/* kept[k mod shift] is what element k - shift was before the pass. */
static void pass_in_place(struct iwi_flow *flow, const struct iwi_pass *pass, iw_time *kept, size_t shift)
{
    memcpy(kept, flow->cpu + flow->count - shift, shift * sizeof *kept);
    for (size_t first = 0; first < flow->count; first += IWI_TILE) {
        const size_t count = flow->count - first < IWI_TILE ? flow->count - first : IWI_TILE;
        const struct iwi_span span = stretch_of(flow, first, count);
        iw_time *now = flow->stream->now[0], *from = kept + first % shift;

        memcpy(now, flow->cpu + first, count * sizeof *now);
        iwi_pass_run(flow, &span, pass, 0, count, now, from, flow->cpu + first);
        memcpy(from, now, count * sizeof *now);
    }
}

static iw_status plain_pass(struct iwi_flow *flow, const struct iwi_pass *pass)
{
    const size_t kept = kept_in_place(flow, pass);

    if (kept > 0) {
        iw_time *room = iwi_new_array(flow->log, kept, sizeof *room);

        if (room == NULL) {
            return IW_ERR_NOMEM;
        }
        pass_in_place(flow, pass, room, kept);
        free(room);
        return IW_OK;
    }
    if (flow->other == NULL) {
        flow->other = iwi_rank_array_new(flow->log, flow->count, sizeof(iw_time));
        if (flow->other == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    const struct iwi_span all = {.count = flow->count,
                                 .send_gap = flow->send_gap,
                                 .recv_gap = flow->recv_gap,
                                 .next_detour = flow->next_detour,
                                 .width_shift = 63};

    if (flow->paths != NULL) {
        return iwi_pass_explained(flow, &all, pass);
    }
    if (flow->partition != NULL) {
        IW_TRY(iwi_exchange_pass(flow, &all, pass));
    } else if (pass->is_rendezvous) {
        iwi_pass_rendezvous(flow, &all, pass, flow->cpu, flow->posted, flow->other, flow->posted_other);
    } else {
        iwi_pass_closed(flow, &all, pass, flow->cpu, flow->left != NULL ? flow->left : flow->cpu,
                        flow->other);
    }
    if (pass->is_rendezvous) {
        swap(&flow->posted, &flow->posted_other);
    }
    swap(&flow->cpu, &flow->other);
    if (flow->left != NULL && pass->has_send) {
        delay_all(flow);
    }
    return IW_OK;
}

static iw_status reserve(struct iwi_flow *flow, bool is_rendezvous)
{
    if (is_rendezvous && flow->posted == NULL) {
        flow->posted = iwi_rank_array_new(flow->log, flow->count, sizeof(iw_time));
    }
    if (is_rendezvous && flow->posted_other == NULL) {
        flow->posted_other = iwi_rank_array_new(flow->log, flow->count, sizeof(iw_time));
    }
    if (flow->pass_levels == NULL && flow->job->levels.count > 0) {
        flow->pass_levels = iwi_new_array(flow->log, IWI_PASS_LEVELS, sizeof *flow->pass_levels);
        if (flow->pass_levels == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    if (flow->left == NULL && flow->sends_before != NULL) {
        flow->left = iwi_rank_array_new(flow->log, flow->count, sizeof(iw_time));
        if (flow->left == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    if (flow->stream == NULL) {
        flow->stream = iwi_new_array(flow->log, 1, sizeof *flow->stream);
        if (flow->stream != NULL && flow->words > 0) {
            flow->stream->kept_words = iwi_new_array(flow->log, IWI_EDGES * flow->words, sizeof(int64_t));
        }
    }
    return flow->stream == NULL || (flow->words > 0 && flow->stream->kept_words == NULL) ||
                   (is_rendezvous && (flow->posted == NULL || flow->posted_other == NULL))
               ? IW_ERR_NOMEM
               : IW_OK;
}

/* Elements of the smallest block: all members decide alike. */
static size_t least_elements(const struct iwi_flow *flow)
{
    return flow->partition == NULL ? flow->count : (size_t)flow->partition->smallest << flow->lane_shift;
}

/* Makes the pass `number` and those after it that can be made with it, and tells how many. */
static iw_status make_passes(const struct iwi_run *run, uint64_t number, size_t *count_p)
{
    struct iwi_flow *flow = run->flow;
    const bool is_whole = flow->partition == NULL;

    *count_p = 0;
    if (least_elements(flow) > IWI_WINDOW && flow->left == NULL && flow->paths == NULL) {
        if (!run->is_rendezvous) {
            IW_TRY(pass_tiles(run, number, count_p));
        } else if (is_whole) {
            *count_p = pass_windows(run, number);
        }
        if (*count_p == 0 && is_whole) {
            *count_p = iwi_pass_columns(run, number);
        } else if (*count_p == 0) {
            IW_TRY(iwi_exchange_columns(run, number, count_p));
        }
    }
    if (*count_p == 0) {
        const struct iwi_pass pass = iwi_run_pass(run, number);

        IW_TRY(plain_pass(flow, &pass));
        *count_p = 1;
    }
    return IW_OK;
}

static iw_time busy_time(const struct iwi_pass *pass, const struct iwi_cost *in, const struct iwi_cost *out)
{
    return (pass->has_receive ? in->recv_cpu + pass->reduce : 0) + (pass->has_send ? out->send_cpu : 0);
}

/* What a pass costs every rank, for its steps. */
static void watch_pass(const struct iwi_run *run, const struct iwi_span *all, const struct iwi_pass *pass)
{
    struct iwi_flow *flow = run->flow;
    struct iwi_level_run level = {.count = 0};

    for (uint32_t rank = 0; rank < flow->ranks; rank++) {
        const struct iwi_cost *in = &pass->in, *out = &pass->out;

        if (pass->levels != NULL) {
            level = iwi_level_run_at(flow, all, pass, rank, flow->count);
            in = &pass->levels->in[level.in];
            out = &pass->levels->out[level.out];
        }
        iwi_step_busy(&flow->watch, rank, busy_time(pass, in, out));
    }
}

/* Detours that hit a rank are not told from waiting: only runs with more steps than can be looked at one by
 * one come here, one lane at a time. */
static void watch_passes(const struct iwi_run *run)
{
    const struct iwi_span all = {.count = run->flow->count, .width_shift = 63};

    for (uint64_t number = 0; number <= run->last_pass && run->flow->watch.open != NULL; number++) {
        const struct iwi_pass pass = iwi_run_pass(run, number);

        watch_pass(run, &all, &pass);
    }
}

iw_status iwi_flow_stream(struct iwi_flow *flow, const struct iwi_operation *op, uint64_t first, uint64_t end)
{
    struct iwi_run run = {flow, op, first, end - first, false};
    uint64_t number = flow->start.pass;

    flow->start.pass = 0;
    run.is_rendezvous = iwi_run_pass(&run, 0).is_rendezvous;
    IW_TRY(reserve(flow, run.is_rendezvous));
    while (number <= run.last_pass) {
        size_t count;

        IW_TRY(make_passes(&run, number, &count));
        IW_TRY(iwi_flow_keep_paths(flow));
        IW_TRY(iwi_tick(flow->job->ticker, count - (number == 0 ? 1 : 0)));
        number += count;
        if (number <= run.last_pass) {
            IW_TRY(iwi_flow_visit(flow, first, number));
        }
    }
    watch_passes(&run);
    return flow->partition != NULL ? iwi_exchange_finish_pass(flow) : IW_OK;
}
