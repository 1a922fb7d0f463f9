/* The flow engine's streaming rounds: every rank does the same with a partner given by its number.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One pass over the elements (ranks x lanes) serves the receive of a round and the send of the next. A plain
 * pass streams all arrays through the cache. Where there are more elements than the cache holds, several
 * passes are made at once over parts that it does hold: tiles:   passes with short shifts, stretch after
 * stretch. A pass needs, besides the stretch, the elements just before it as they were after the pass before:
 * the edge that the stretch before has left. The first stretch follows the last one, whose edges are computed
 * ahead on a copy. columns: passes with shifts that are multiples of one number Q. Elements that differ by
 * multiples of Q are closed in themselves: some such columns are copied together, passed, and copied back.
 * Which way is taken never changes a result.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "sim/flow_pass.h"

enum {
    TILE = 8192,               /* elements of a stretch: a power of two */
    EDGES = 2048,              /* at most so many elements of all edges of a stretch */
    PASSES = 32,               /* at most so many at once */
    COLUMN_ELEMENTS = 1 << 15, /* copied together */
    MIN_WIDTH = 8              /* columns side by side: a line of the cache */
};

struct iwi_stream {
    iw_time now[2][EDGES + TILE]; /* of a stretch, after its edge */
    iw_time edges[EDGES];
    iw_time kept[4][EDGES]; /* the end of the arrays, while the edges of the first stretch are computed */
    int64_t *kept_words;
    iw_time columns[7][COLUMN_ELEMENTS];
};

/* The passes of a streaming run, numbered from 0: pass p receives round first + p - 1 (not pass 0) and sends
 * round first + p (not the last). */
struct run {
    struct iwi_flow *flow;
    const struct iwi_operation *op;
    uint64_t first, last_pass;
    bool is_rendezvous;
};

static struct iwi_pass bare_pass_at(const struct run *run, uint64_t number)
{
    const struct iwi_flow *flow = run->flow;
    const iw_net *net = flow->job->net;
    struct iwi_pass pass = {.has_receive = number > 0, .has_send = number < run->last_pass};
    struct iwi_round round;

    if (pass.has_receive) {
        run->op->algorithm->round(run->op, run->first + number - 1, &round);
        pass.in = iwi_cost_of(net, round.bytes);
        pass.reduce = iwi_bytes_cost(flow->job->program->reduce, round.reduce_bytes);
        pass.is_flip = round.is_flip;
        pass.shift = flow->is_alike ? 0 : (size_t)round.shift << flow->lane_shift;
        pass.flip = flow->is_alike ? 0 : (size_t)round.flip << flow->lane_shift;
    }
    if (pass.has_send) {
        run->op->algorithm->round(run->op, run->first + number, &round);
        pass.out = iwi_cost_of(net, round.bytes);
    }
    pass.is_rendezvous = pass.has_receive ? pass.in.is_rendezvous : pass.out.is_rendezvous;
    pass.notice = iwi_cost_notice(net, flow->job->rendezvous);
    pass.handshake = iwi_cost_handshake(net, flow->job->rendezvous);
    return pass;
}

/* The gaps that began one pass earlier are over before this pass receives and sends: the CPU was busy longer.
 */
static bool is_free_of_gaps(const struct iwi_pass *before, const struct iwi_pass *pass)
{
    return before->in.gap <= before->in.recv_cpu + before->reduce + before->out.send_cpu &&
           before->out.gap <= before->out.send_cpu + pass->in.recv_cpu + pass->reduce;
}

/* The first two passes meet the gaps of what was before the run; what is after it meets those of the last
 * two. */
static bool has_gaps(const struct run *run, uint64_t number, const struct iwi_pass *pass)
{
    const struct iwi_pass before = bare_pass_at(run, number - (number > 0)),
                          after = bare_pass_at(run, number + (number < run->last_pass));

    return number < 2 || pass->is_rendezvous ||
           (number + 1 >= run->last_pass && !run->flow->is_last_operation) ||
           !is_free_of_gaps(&before, pass) || (number < run->last_pass && !is_free_of_gaps(pass, &after));
}

static struct iwi_pass pass_at(const struct run *run, uint64_t number)
{
    struct iwi_pass pass = bare_pass_at(run, number);

    pass.has_gaps = has_gaps(run, number, &pass);
    return pass;
}

static size_t reach(const struct iwi_pass *pass)
{
    return !pass->has_receive ? 0 : pass->is_flip ? pass->flip : pass->shift;
}

static struct iwi_span stretch_of(const struct iwi_flow *flow, size_t first, size_t count)
{
    return (struct iwi_span){.count = count,
                             .send_gap = flow->send_gap + first,
                             .recv_gap = flow->recv_gap + first,
                             .next_detour = flow->next_detour + first,
                             .first = first,
                             .width_shift = 63};
}

static void swap(iw_time **a, iw_time **b)
{
    iw_time *kept = *a;

    *a = *b;
    *b = kept;
}

static void plain_pass(struct iwi_flow *flow, const struct iwi_pass *pass)
{
    const struct iwi_span all = stretch_of(flow, 0, flow->count);

    if (pass->is_rendezvous) {
        iwi_pass_rendezvous(flow, &all, pass, flow->cpu, flow->posted, flow->other, flow->posted_other);
        swap(&flow->posted, &flow->posted_other);
    } else {
        iwi_pass_closed(flow, &all, pass, flow->cpu, flow->other);
    }
    swap(&flow->cpu, &flow->other);
}

/* ---- tiles ---- */

/* Elements first ... first + count - 1 through all passes; edges in and out. */
static void pass_stretch(struct iwi_flow *flow, const struct iwi_pass *passes, size_t pass_count,
                         size_t first, size_t count)
{
    struct iwi_stream *stream = flow->stream;
    const struct iwi_span span = stretch_of(flow, first, count);
    const iw_time *now = flow->cpu + first;
    iw_time *edge = stream->edges;

    for (size_t p = 0; p < pass_count; p++) {
        iw_time *out = p + 1 < pass_count ? stream->now[p & 1] + EDGES : flow->cpu + first;
        iw_time *before = stream->now[(p + 1) & 1] + EDGES; /* where `now` is, unless p is 0 */
        const size_t shift = passes[p].shift;

        if (p == 0 && passes[0].has_receive) {
            memcpy(before, now, count * sizeof *now);
            now = before;
        }
        if (passes[p].has_receive && !passes[p].is_flip) {
            memcpy(before - shift, edge, shift * sizeof *edge);
            memcpy(edge, before + count - (shift < count ? shift : count),
                   (shift < count ? shift : count) * sizeof *edge);
            edge += shift;
            iwi_pass_run(flow, &span, &passes[p], 0, count, now, before - shift, out);
        } else {
            iwi_pass_closed(flow, &span, &passes[p], now, out);
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
        iw_time *in_place = arrays[a] + first;

        memcpy(is_back ? in_place : stream->kept[a], is_back ? stream->kept[a] : in_place,
               count * sizeof *in_place);
    }
    if (flow->words > 0) {
        int64_t *in_place = flow->noise_words + first * flow->words;

        memcpy(is_back ? in_place : stream->kept_words, is_back ? stream->kept_words : in_place,
               count * flow->words * sizeof *in_place);
    }
}

static void pass_tiles(struct iwi_flow *flow, const struct iwi_pass *passes, size_t pass_count, size_t edges)
{
    if (edges > 0) {
        memset(flow->stream->edges, 0,
               edges * sizeof(iw_time)); /* too early, and used only where it does not matter */
        keep_end(flow, edges, false);
        pass_stretch(flow, passes, pass_count, flow->count - edges, edges);
        keep_end(flow, edges, true);
    }
    for (size_t first = 0; first < flow->count; first += TILE) {
        pass_stretch(flow, passes, pass_count, first,
                     flow->count - first < TILE ? flow->count - first : TILE);
    }
}

/* How many passes from `number` on can be made on tiles, and the sum of their shifts. */
static size_t tile_passes(const struct run *run, uint64_t number, struct iwi_pass *passes, size_t *edges_p)
{
    size_t count = 0;

    *edges_p = 0;
    while (count < PASSES && number + count <= run->last_pass) {
        passes[count] = pass_at(run, number + count);
        if (passes[count].is_flip ? passes[count].flip >= TILE : *edges_p + passes[count].shift > EDGES) {
            break;
        }
        *edges_p += passes[count].shift;
        count++;
    }
    return count;
}

/* ---- columns ---- */

struct columns {
    size_t rows, width, stride; /* of elements */
    bool has_gaps, is_rendezvous;
};

/* Which copy is which; of cpu and posted there are two, for odd and even passes. */
enum { CPU, POSTED = 2, NEXT_DETOUR = 4, SEND_GAP, RECV_GAP, COPIES };

static void copy_array(iw_time *array, iw_time *copy, struct columns shape, bool is_back)
{
    for (size_t row = 0; row < shape.rows; row++) {
        memcpy(is_back ? array : copy, is_back ? copy : array, shape.width * sizeof *copy);
        array += shape.stride;
        copy += shape.width;
    }
}

/* Columns `first` and on; `odd` is 1 after an odd number of passes. */
static void copy_columns(struct iwi_flow *flow, struct columns shape, size_t first, size_t odd, bool is_back)
{
    iw_time(*copies)[COLUMN_ELEMENTS] = flow->stream->columns;

    copy_array(flow->cpu + first, copies[CPU + odd], shape, is_back);
    copy_array(flow->next_detour + first, copies[NEXT_DETOUR], shape, is_back);
    if (shape.has_gaps) {
        copy_array(flow->send_gap + first, copies[SEND_GAP], shape, is_back);
        copy_array(flow->recv_gap + first, copies[RECV_GAP], shape, is_back);
    }
    if (shape.is_rendezvous) {
        copy_array(flow->posted + first, copies[POSTED + odd], shape, is_back);
    }
}

static void pass_columns(struct iwi_flow *flow, struct iwi_pass *passes, size_t pass_count,
                         struct columns shape)
{
    iw_time(*copies)[COLUMN_ELEMENTS] = flow->stream->columns;
    struct iwi_span span = {.count = shape.rows * shape.width,
                            .next_detour = copies[NEXT_DETOUR],
                            .send_gap = copies[SEND_GAP],
                            .recv_gap = copies[RECV_GAP],
                            .stride = shape.stride,
                            .width_shift = (uint32_t)__builtin_ctzll(shape.width)};

    for (size_t p = 0; p < pass_count; p++) {
        passes[p].shift = passes[p].shift / shape.stride * shape.width;
        passes[p].flip = passes[p].flip / shape.stride * shape.width;
    }
    for (span.first = 0; span.first < shape.stride; span.first += shape.width) {
        copy_columns(flow, shape, span.first, 0, false);
        for (size_t p = 0; p < pass_count; p++) {
            const size_t now = p & 1, out = !now;

            if (shape.is_rendezvous) {
                iwi_pass_rendezvous(flow, &span, &passes[p], copies[CPU + now], copies[POSTED + now],
                                    copies[CPU + out], copies[POSTED + out]);
            } else {
                iwi_pass_closed(flow, &span, &passes[p], copies[CPU + now], copies[CPU + out]);
            }
        }
        copy_columns(flow, shape, span.first, pass_count & 1, true);
    }
}

/* How many passes from `number` on can be made on columns, and their shape. */
static size_t column_passes(const struct run *run, uint64_t number, struct iwi_pass *passes,
                            struct columns *shape)
{
    const size_t elements = run->flow->count;
    size_t count = 0;

    *shape = (struct columns){0};
    while (count < PASSES && number + count <= run->last_pass) {
        passes[count] = pass_at(run, number + count);
        if (!passes[count].has_receive) {
            break;
        }
        if (count == 0) {
            shape->stride =
                reach(&passes[0]) & -reach(&passes[0]); /* its largest factor that is a power of two */
            shape->rows = elements / shape->stride;
            if (elements % shape->stride != 0 || shape->stride < MIN_WIDTH ||
                shape->rows * MIN_WIDTH > COLUMN_ELEMENTS) {
                break;
            }
        }
        if (reach(&passes[count]) % shape->stride != 0) {
            break;
        }
        shape->has_gaps |= passes[count].has_gaps;
        shape->is_rendezvous = passes[count].is_rendezvous;
        count++;
    }
    shape->width = MIN_WIDTH;
    while (shape->width * 2 <= shape->stride && shape->rows * shape->width * 2 <= COLUMN_ELEMENTS) {
        shape->width *= 2;
    }
    return count;
}

/* ---- all of a run ---- */

static iw_status reserve(struct iwi_flow *flow, bool is_rendezvous)
{
    if (is_rendezvous && flow->posted == NULL) {
        flow->posted = iwi_flow_new_array(flow->log, flow->count, sizeof(iw_time));
    }
    if (is_rendezvous && flow->posted_other == NULL) {
        flow->posted_other = iwi_flow_new_array(flow->log, flow->count, sizeof(iw_time));
    }
    if (flow->other == NULL) {
        flow->other = iwi_flow_new_array(flow->log, flow->count, sizeof(iw_time));
    }
    if (flow->stream == NULL) {
        flow->stream = iwi_new_array(flow->log, 1, sizeof *flow->stream);
        if (flow->stream != NULL && flow->words > 0) {
            flow->stream->kept_words = iwi_new_array(flow->log, EDGES * flow->words, sizeof(int64_t));
        }
    }
    return flow->other == NULL || flow->stream == NULL ||
                   (flow->words > 0 && flow->stream->kept_words == NULL) ||
                   (is_rendezvous && (flow->posted == NULL || flow->posted_other == NULL))
               ? IW_ERR_NOMEM
               : IW_OK;
}

void iwi_stream_free(struct iwi_stream *stream)
{
    if (stream != NULL) {
        free(stream->kept_words);
        free(stream);
    }
}

/* Makes the pass `number` and those after it that can be made with it; returns how many. */
static uint64_t make_passes(const struct run *run, uint64_t number)
{
    struct iwi_flow *flow = run->flow;
    struct iwi_pass passes[PASSES];
    struct columns shape;
    size_t edges, count = 0;

    if (flow->count > 2 * TILE) {
        count = run->is_rendezvous ? 0 : tile_passes(run, number, passes, &edges);
        if (count > 1) {
            pass_tiles(flow, passes, count, edges);
            return count;
        }
        count = column_passes(run, number, passes, &shape);
        if (count > 1) {
            pass_columns(flow, passes, count, shape);
            return count;
        }
    }
    passes[0] = pass_at(run, number);
    plain_pass(flow, &passes[0]);
    return 1;
}

iw_status iwi_flow_stream(struct iwi_flow *flow, const struct iwi_operation *op, uint64_t first, uint64_t end)
{
    struct run run = {flow, op, first, end - first, false};
    uint64_t number = 0;

    run.is_rendezvous = bare_pass_at(&run, 0).is_rendezvous;
    IW_TRY(reserve(flow, run.is_rendezvous));
    while (number <= run.last_pass) {
        const uint64_t count = make_passes(&run, number);

        iwi_tick(flow->job->ticker, count - (number == 0 ? 1 : 0));
        number += count;
    }
    return IW_OK;
}
