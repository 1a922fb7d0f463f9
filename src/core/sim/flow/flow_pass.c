/* Passes of streaming rounds over vectors of elements.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In blocks all is computed as if there were no detour; only elements whose work would pass their next detour
 * take the slow path. The work of one element is one chain in time, so one comparison at its end covers all
 * of it. Compilers make vector code of the two loops of a block, which is why they are two.
 */
#include "core/sim/flow/flow_pass.h"

#include "core/base/base.h"
#include "core/sim/flow/flow_step.h"

enum { BLOCK = IWI_PICKED_MOST };

/* The element of the flow that element k of the span is. */
static size_t place_of(const struct iwi_flow *flow, const struct iwi_span *span, size_t k)
{
    const size_t row = k >> span->width_shift;
    const size_t at = span->first + row * span->stride + (k - (row << span->width_shift));

    return at < flow->count ? at : at - flow->count;
}

void iwi_span_seek(struct iwi_flow *flow, const struct iwi_span *span, size_t k, const iw_time *ts,
                   size_t count)
{
    if (flow->words == 0 && flow->has_closed_form) { /* the element does not matter: there may be none */
        iwi_flow_seek(flow, 0, span->next_detour + k, ts, count);
        return;
    }
    for (size_t n = 0; n < count;) {
        const size_t i = place_of(flow, span, k + n), width = (size_t)1 << span->width_shift;
        const size_t in_row = width - ((k + n) & (width - 1));
        const size_t side_by_side = flow->count - i < in_row ? flow->count - i : in_row;
        const size_t now = side_by_side < count - n ? side_by_side : count - n;

        iwi_flow_seek(flow, i, span->next_detour + k + n, ts + n, now);
        n += now;
    }
}

iw_time iwi_span_work(struct iwi_flow *flow, const struct iwi_span *span, size_t k, iw_time t, iw_time d,
                      iw_time touch)
{
    const size_t i = place_of(flow, span, k);

    if (t + d + touch <= span->next_detour[k]) {
        return t + d;
    }
    return iwi_flow_work_slow(flow, flow->first_rank + (uint32_t)(i >> flow->lane_shift), i,
                              &span->next_detour[k], t, d + touch, iwi_flow_cpu_path(flow, i)) -
           touch;
}

/* Of a block, if there were no detour: when each receive is served, each send starts, and all is done. */
struct block {
    iw_time served[BLOCK], start[BLOCK], done[BLOCK];
};

/* The same as in the pass; a constant where it matters. */
struct kind {
    bool has_receive, has_send, has_gaps;
};

/* Element k, exactly: what becomes of place n of the block. */
static void pass_element(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                         size_t k, iw_time now, iw_time from, struct block *block, size_t n, struct kind kind)
{
    if (kind.has_receive) {
        const iw_time arrived = iwi_max(now, from + pass->in.wire);

        block->served[n] = kind.has_gaps ? iwi_max(arrived, span->recv_gap[k]) : arrived;
        now = iwi_span_work(flow, span, k, block->served[n], pass->in.recv_cpu, pass->in.recv_touch);
        now = iwi_span_work(flow, span, k, now, pass->reduce, 0);
    }
    if (kind.has_send) {
        block->start[n] = kind.has_gaps ? iwi_max(now, span->send_gap[k]) : now;
        now = iwi_span_work(flow, span, k, block->start[n], pass->out.send_cpu, pass->out.send_touch);
    }
    block->done[n] = now;
}

/* A block of which some elements meet a detour, unless it was over before their work began. */
static void pass_some(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                      size_t k, const iw_time *now, const iw_time *from, struct block *block,
                      struct kind kind)
{
    iwi_span_seek(flow, span, k, kind.has_receive ? block->served : block->start, BLOCK);
    IWI_FOR_PICKED (n, iwi_pick_behind(span->next_detour + k, block->done, pass->touch, BLOCK)) {
        pass_element(flow, span, pass, k + n, now[n], from[n], block, n, kind);
    }
}

IWI_STEP void keep_block(const struct iwi_span *span, const struct iwi_pass *pass, size_t k,
                         iw_time *restrict out, const struct block *block, const struct kind kind,
                         const size_t count)
{
    iw_time *restrict send_gap = kind.has_gaps ? span->send_gap + k : NULL;
    iw_time *restrict recv_gap = kind.has_gaps ? span->recv_gap + k : NULL;
    const iw_time in_gap = pass->in.gap, out_gap = pass->out.gap;

    for (size_t n = 0; n < count; n++) {
        if (kind.has_receive && kind.has_gaps) {
            recv_gap[n] = block->served[n] + in_gap;
        }
        if (kind.has_send && kind.has_gaps) {
            send_gap[n] = block->start[n] + out_gap;
        }
        out[n] = block->done[n];
    }
}

/* Elements k ... k + BLOCK - 1. `kind` is a constant in every caller. */
IWI_STEP void pass_block(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                         size_t k, const iw_time *now, const iw_time *from, iw_time *out,
                         const struct kind kind)
{
    const iw_time *restrict send_gap = kind.has_gaps ? span->send_gap + k : NULL;
    const iw_time *restrict recv_gap = kind.has_gaps ? span->recv_gap + k : NULL;
    const iw_time *restrict next = span->next_detour + k;
    const iw_time receive = pass->in.recv_cpu + pass->reduce, send = pass->out.send_cpu;
    const iw_time wire = pass->in.wire, touch = pass->touch;
    struct block block;
    iw_time slack = 0; /* negative as soon as one element meets a detour */

    for (size_t n = 0; n < BLOCK; n++) {
        iw_time at = now[n];

        if (kind.has_receive) {
            block.served[n] = iwi_max(at, from[n] + wire);
            block.served[n] = kind.has_gaps ? iwi_max(block.served[n], recv_gap[n]) : block.served[n];
            at = block.served[n] + receive;
        }
        if (kind.has_send) {
            block.start[n] = kind.has_gaps ? iwi_max(at, send_gap[n]) : at;
            at = block.start[n] + send;
        }
        block.done[n] = at;
        slack |= next[n] - at - touch;
    }
    if (slack < 0) {
        pass_some(flow, span, pass, k, now, from, &block, kind);
    }
    keep_block(span, pass, k, out, &block, kind, BLOCK);
}

/* ---- levels ---- */

/* What the messages of a block cost, where they are at different levels. */
struct block_costs {
    iw_time wire[BLOCK], receive[BLOCK], send[BLOCK], in_gap[BLOCK], out_gap[BLOCK];
    uint8_t in[BLOCK], out[BLOCK]; /* the levels */
};

static void fill_costs(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                       size_t k, struct iwi_level_run run, struct block_costs *costs)
{
    for (size_t n = 0; n < BLOCK;
         run = n < BLOCK ? iwi_level_run_at(flow, span, pass, k + n, k + BLOCK) : run) {
        const struct iwi_cost *in = &pass->levels->in[run.in], *out = &pass->levels->out[run.out];
        const size_t end = n + run.count < BLOCK ? n + run.count : BLOCK;

        for (; n < end; n++) {
            costs->wire[n] = in->wire;
            costs->receive[n] = in->recv_cpu + pass->reduce;
            costs->in_gap[n] = in->gap;
            costs->send[n] = out->send_cpu;
            costs->out_gap[n] = out->gap;
            costs->in[n] = (uint8_t)run.in;
            costs->out[n] = (uint8_t)run.out;
        }
    }
}

static void pass_some_mixed(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                            size_t k, const iw_time *now, const iw_time *from,
                            const struct block_costs *costs, struct block *block, struct kind kind)
{
    iwi_span_seek(flow, span, k, kind.has_receive ? block->served : block->start, BLOCK);
    IWI_FOR_PICKED (n, iwi_pick_behind(span->next_detour + k, block->done, pass->touch, BLOCK)) {
        struct iwi_pass own = *pass;

        own.in = pass->levels->in[costs->in[n]];
        own.out = pass->levels->out[costs->out[n]];
        pass_element(flow, span, &own, k + n, now[n], from[n], block, n, kind);
    }
}

/* As pass_block(), with costs of their own for all elements. */
IWI_STEP void pass_mixed_block(struct iwi_flow *flow, const struct iwi_span *span,
                               const struct iwi_pass *pass, size_t k, const iw_time *now, const iw_time *from,
                               iw_time *restrict out, const struct block_costs *costs, const struct kind kind)
{
    iw_time *restrict send_gap = kind.has_gaps ? span->send_gap + k : NULL;
    iw_time *restrict recv_gap = kind.has_gaps ? span->recv_gap + k : NULL;
    const iw_time *restrict next = span->next_detour + k;
    const iw_time touch = pass->touch;
    struct block block;
    iw_time slack = 0;

    for (size_t n = 0; n < BLOCK; n++) {
        iw_time at = now[n];

        if (kind.has_receive) {
            block.served[n] = iwi_max(at, from[n] + costs->wire[n]);
            block.served[n] = kind.has_gaps ? iwi_max(block.served[n], recv_gap[n]) : block.served[n];
            at = block.served[n] + costs->receive[n];
        }
        if (kind.has_send) {
            block.start[n] = kind.has_gaps ? iwi_max(at, send_gap[n]) : at;
            at = block.start[n] + costs->send[n];
        }
        block.done[n] = at;
        slack |= next[n] - at - touch;
    }
    if (slack < 0) {
        pass_some_mixed(flow, span, pass, k, now, from, costs, &block, kind);
    }
    for (size_t n = 0; n < BLOCK; n++) {
        if (kind.has_receive && kind.has_gaps) {
            recv_gap[n] = block.served[n] + costs->in_gap[n];
        }
        if (kind.has_send && kind.has_gaps) {
            send_gap[n] = block.start[n] + costs->out_gap[n];
        }
        out[n] = block.done[n];
    }
}

/* Messages at several levels: whole blocks where one level holds for all of it as without levels. */
IWI_STEP void pass_levels(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                          size_t begin, size_t end, const iw_time *now, const iw_time *from, iw_time *out,
                          const struct kind kind)
{
    struct iwi_pass own = *pass;
    struct iwi_level_run run = {.count = 0};
    struct block_costs costs;

    for (size_t k = begin; k < end;) {
        const size_t step = k + BLOCK <= end ? BLOCK : 1;

        if (run.count < step) {
            run = iwi_level_run_at(flow, span, pass, k, end);
            own.in = pass->levels->in[run.in];
            own.out = pass->levels->out[run.out];
        }
        if (step == 1) {
            struct block one;

            pass_element(flow, span, &own, k, now[k], from[k - begin], &one, 0, kind);
            keep_block(span, &own, k, out + k, &one, kind, 1);
        } else if (run.count >= BLOCK) {
            pass_block(flow, span, &own, k, now + k, from + (k - begin), out + k, kind);
        } else {
            fill_costs(flow, span, pass, k, run, &costs);
            pass_mixed_block(flow, span, pass, k, now + k, from + (k - begin), out + k, &costs, kind);
            run.count = step; /* that run is over */
        }
        run.count -= step;
        k += step;
    }
}

#define PASS_ARGUMENTS                                                                             \
    struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass, size_t begin, \
        size_t end, const iw_time *now, const iw_time *from, iw_time *out

IWI_STEP void pass_stretch(PASS_ARGUMENTS, const struct kind kind)
{
    size_t k = begin;

    if (pass->levels != NULL) {
        pass_levels(flow, span, pass, begin, end, now, from, out, kind);
        return;
    }
    for (; k + BLOCK <= end; k += BLOCK) {
        pass_block(flow, span, pass, k, now + k, from + (k - begin), out + k, kind);
    }
    for (; k < end; k++) {
        struct block one;

        pass_element(flow, span, pass, k, now[k], from[k - begin], &one, 0, kind);
        keep_block(span, pass, k, out + k, &one, kind, 1);
    }
}

/* The kinds as constants. */
IWI_VECTOR_VERSIONS static void send_only(PASS_ARGUMENTS)
{
    pass_stretch(flow, span, pass, begin, end, now, from, out, (struct kind){false, true, true});
}

IWI_VECTOR_VERSIONS static void send_only_without_gaps(PASS_ARGUMENTS)
{
    pass_stretch(flow, span, pass, begin, end, now, from, out, (struct kind){false, true, false});
}

IWI_VECTOR_VERSIONS static void receive_and_send(PASS_ARGUMENTS)
{
    pass_stretch(flow, span, pass, begin, end, now, from, out, (struct kind){true, true, true});
}

IWI_VECTOR_VERSIONS static void receive_and_send_without_gaps(PASS_ARGUMENTS)
{
    pass_stretch(flow, span, pass, begin, end, now, from, out, (struct kind){true, true, false});
}

IWI_VECTOR_VERSIONS static void receive_only(PASS_ARGUMENTS)
{
    pass_stretch(flow, span, pass, begin, end, now, from, out, (struct kind){true, false, true});
}

IWI_VECTOR_VERSIONS static void receive_only_without_gaps(PASS_ARGUMENTS)
{
    pass_stretch(flow, span, pass, begin, end, now, from, out, (struct kind){true, false, false});
}

void iwi_pass_run(PASS_ARGUMENTS)
{
    void (*run)(PASS_ARGUMENTS) = pass->has_gaps ? send_only : send_only_without_gaps;

    if (pass->has_receive && pass->has_send) {
        run = pass->has_gaps ? receive_and_send : receive_and_send_without_gaps;
    } else if (pass->has_receive) {
        run = pass->has_gaps ? receive_only : receive_only_without_gaps;
    }
    run(flow, span, pass, begin, end, now, from, out);
}

/* Flips swap neighbouring stretches of `flip` elements; short ones are laid out first. */
static void pass_flipped(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                         const iw_time *now, const iw_time *left, iw_time *out)
{
    const size_t stretch = pass->flip >= BLOCK ? pass->flip : BLOCK;
    iw_time near[BLOCK];

    for (size_t k = 0; k < span->count; k += stretch) {
        const size_t end = k + stretch < span->count ? k + stretch : span->count;
        const iw_time *from = left + (k ^ pass->flip);

        if (pass->flip < BLOCK) {
            for (size_t n = k; n < end; n++) {
                near[n - k] = left[n ^ pass->flip];
            }
            from = near;
        }
        iwi_pass_run(flow, span, pass, k, end, now, from, out);
    }
}

void iwi_pass_closed(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                     const iw_time *now, const iw_time *left, iw_time *out)
{
    if (pass->has_receive && pass->is_flip) {
        pass_flipped(flow, span, pass, now, left, out);
        return;
    }
    if (pass->has_receive) {
        iwi_pass_run(flow, span, pass, 0, pass->shift, now, left + span->count - pass->shift, out);
    }
    iwi_pass_run(flow, span, pass, pass->has_receive ? pass->shift : 0, span->count, now, left, out);
}
