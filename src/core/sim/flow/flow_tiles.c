/* Passes with short shifts, several at once, stretch after stretch of the elements.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A pass needs, besides the stretch, the elements just before it as they were after the pass before: the edge
 * that the stretch before has left. The first stretch follows the last one, whose edges are computed ahead on
 * a copy: on a partition, that of the member before, which sends them.
 */
#include <string.h>

#include "core/base/base.h"
#include "core/sim/flow/flow_stream.h"

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
    iw_time *edge = stream->edges;

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

iw_status iwi_pass_tiles(const struct iwi_run *run, uint64_t number, size_t *count_p)
{
    struct iwi_pass passes[IWI_PASSES];
    size_t edges;
    const size_t count = tile_passes(run, number, passes, &edges);

    *count_p = count < 2 ? 0 : count;
    return *count_p > 0 ? pass_all(run->flow, passes, count, edges) : IW_OK;
}
