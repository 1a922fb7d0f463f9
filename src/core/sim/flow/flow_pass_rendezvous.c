/* Passes of streaming rounds whose messages go by rendezvous (docs/explanation/semantics.md, rule 5).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A transfer begins when both sides are there. So an element needs two others: the one that it receives from,
 * for the end of its send's CPU part, and the one that it sends to, for when that one posted its receive.
 */
#include "core/base/base.h"
#include "core/sim/flow/flow_pass.h"
#include "core/sim/flow/flow_step.h"

enum { BLOCK = 64 };

struct block {
    iw_time served[BLOCK], send_gap[BLOCK], posted[BLOCK], done[BLOCK];
};

/* Element k, exactly: what becomes of place n of the block; `at` is its place in the lines. */
static void pass_element(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                         size_t k, const struct iwi_pass_lines *lines, size_t at, struct block *block,
                         size_t n)
{
    iw_time now = lines->now[at], gap = span->send_gap[k];

    if (pass->has_receive) {
        const iw_time arrival =
            iwi_max(lines->from[at] + pass->notice, lines->posted[at]) + pass->handshake + pass->in.wire;
        const iw_time transfer = iwi_max(now + pass->notice, lines->to[at]) + pass->handshake;

        block->served[n] = iwi_max(iwi_max(now, arrival), span->recv_gap[k]);
        gap = iwi_max(gap, transfer + pass->in.gap);
        now = iwi_max(iwi_span_work(flow, span, k, block->served[n], pass->in.recv_cpu, pass->in.recv_touch),
                      transfer);
        now = iwi_span_work(flow, span, k, now, pass->reduce, 0);
    }
    block->posted[n] = iwi_span_work(flow, span, k, now, 0, flow->post_touch);
    if (pass->has_send) {
        now = iwi_max(now, gap);
        gap = now + pass->out.gap;
        now = iwi_span_work(flow, span, k, now, pass->out.send_cpu, pass->out.send_touch);
    }
    block->send_gap[n] = gap;
    block->done[n] = now;
}

/* A block as if there were no detour; false if there is one. The last two arguments are constants in every
 * caller. */
IWI_STEP bool compute_block(const struct iwi_span *span, const struct iwi_pass *pass, size_t k,
                            const struct iwi_pass_lines *lines, size_t first, struct block *block,
                            const bool has_receive, const bool has_send)
{
    const iw_time *restrict now = lines->now + first, *restrict posted = lines->posted + first;
    const iw_time *restrict from = lines->from + first, *restrict to = lines->to + first;
    const iw_time *restrict send_gap = span->send_gap + k, *restrict recv_gap = span->recv_gap + k;
    const iw_time *restrict next = span->next_detour + k;
    const iw_time notice = pass->notice, handshake = pass->handshake, arrive = handshake + pass->in.wire;
    const iw_time receive = pass->in.recv_cpu, reduce = pass->reduce, send = pass->out.send_cpu;
    const iw_time in_gap = pass->in.gap, out_gap = pass->out.gap, touch = pass->touch;
    iw_time slack = 0;

    for (size_t n = 0; n < BLOCK; n++) {
        iw_time at = now[n], gap = send_gap[n];

        if (has_receive) {
            const iw_time arrival = iwi_max(from[n] + notice, posted[n]) + arrive;
            const iw_time transfer = iwi_max(at + notice, to[n]) + handshake;

            block->served[n] = iwi_max(iwi_max(at, arrival), recv_gap[n]);
            gap = iwi_max(gap, transfer + in_gap);
            at = iwi_max(block->served[n] + receive, transfer) + reduce;
        }
        block->posted[n] = at;
        if (has_send) {
            at = iwi_max(at, gap);
            gap = at + out_gap;
            at += send;
        }
        block->send_gap[n] = gap;
        block->done[n] = at;
        slack |= next[n] - at - touch;
    }
    return slack >= 0;
}

IWI_STEP void keep_block(const struct iwi_span *span, const struct iwi_pass *pass, size_t k,
                         const struct iwi_pass_lines *lines, size_t first, const struct block *block,
                         const bool has_receive, const size_t count)
{
    iw_time *restrict send_gap = span->send_gap + k, *restrict recv_gap = span->recv_gap + k;
    iw_time *restrict out = lines->out + first, *restrict posted_out = lines->posted_out + first;
    const iw_time in_gap = pass->in.gap;

    for (size_t n = 0; n < count; n++) {
        if (has_receive) {
            recv_gap[n] = block->served[n] + in_gap;
        }
        send_gap[n] = block->send_gap[n];
        posted_out[n] = block->posted[n];
        out[n] = block->done[n];
    }
}

/* A block of which some elements meet a detour, unless it was over before their work began. */
static void pass_some(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                      size_t k, const struct iwi_pass_lines *lines, size_t first, struct block *block)
{
    if (pass->has_receive) {
        iwi_span_seek(flow, span, k, block->served, BLOCK);
    }
    IWI_FOR_PICKED (n, iwi_pick_behind(span->next_detour + k, block->done, pass->touch, BLOCK)) {
        pass_element(flow, span, pass, k + n, lines, first + n, block, n);
    }
}

#define PASS_ARGUMENTS                                                                                     \
    struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass, size_t k, size_t end, \
        const struct iwi_pass_lines *lines

IWI_STEP void pass_stretch(PASS_ARGUMENTS, const bool has_receive, const bool has_send)
{
    struct block block;
    size_t n = 0;

    for (; k + BLOCK <= end; k += BLOCK, n += BLOCK) {
        if (!compute_block(span, pass, k, lines, n, &block, has_receive, has_send)) {
            pass_some(flow, span, pass, k, lines, n, &block);
        }
        keep_block(span, pass, k, lines, n, &block, has_receive, BLOCK);
    }
    for (; k < end; k++, n++) {
        pass_element(flow, span, pass, k, lines, n, &block, 0);
        keep_block(span, pass, k, lines, n, &block, has_receive, 1);
    }
}

IWI_VECTOR_VERSIONS static void send_only(PASS_ARGUMENTS)
{
    pass_stretch(flow, span, pass, k, end, lines, false, true);
}

IWI_VECTOR_VERSIONS static void receive_and_send(PASS_ARGUMENTS)
{
    pass_stretch(flow, span, pass, k, end, lines, true, true);
}

IWI_VECTOR_VERSIONS static void receive_only(PASS_ARGUMENTS)
{
    pass_stretch(flow, span, pass, k, end, lines, true, false);
}

void iwi_pass_rendezvous_run(PASS_ARGUMENTS)
{
    (!pass->has_receive ? send_only
     : pass->has_send   ? receive_and_send
                        : receive_only)(flow, span, pass, k, end, lines);
}

/* Element k receives from k - shift and sends to k + shift, around the end. */
static void pass_shifted(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                         const struct iwi_pass_lines *all)
{
    const size_t count = span->count, shift = pass->shift;
    const size_t low = shift < count - shift ? shift : count - shift, stops[] = {low, count - low, count};
    size_t k = 0;

    for (size_t s = 0; s < sizeof stops / sizeof stops[0]; s++) {
        const struct iwi_pass_lines lines = {.now = all->now + k,
                                             .posted = all->posted + k,
                                             .from = all->now + (k < shift ? k + count - shift : k - shift),
                                             .to = all->posted +
                                                   (k + shift < count ? k + shift : k + shift - count),
                                             .out = all->out + k,
                                             .posted_out = all->posted_out + k};

        iwi_pass_rendezvous_run(flow, span, pass, k, stops[s], &lines);
        k = stops[s];
    }
}

/* Flips swap neighbouring stretches of `flip` elements; short ones are laid out first. */
static void pass_flipped(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                         const struct iwi_pass_lines *all)
{
    const size_t stretch = pass->flip >= BLOCK ? pass->flip : BLOCK;
    iw_time from[BLOCK], to[BLOCK];

    for (size_t k = 0; k < span->count; k += stretch) {
        const size_t end = k + stretch < span->count ? k + stretch : span->count;
        struct iwi_pass_lines lines = {.now = all->now + k,
                                       .posted = all->posted + k,
                                       .from = all->now + (k ^ pass->flip),
                                       .to = all->posted + (k ^ pass->flip),
                                       .out = all->out + k,
                                       .posted_out = all->posted_out + k};

        if (pass->flip < BLOCK) {
            for (size_t n = k; n < end; n++) {
                from[n - k] = all->now[n ^ pass->flip];
                to[n - k] = all->posted[n ^ pass->flip];
            }
            lines.from = from;
            lines.to = to;
        }
        iwi_pass_rendezvous_run(flow, span, pass, k, end, &lines);
    }
}

void iwi_pass_rendezvous(struct iwi_flow *flow, const struct iwi_span *span, const struct iwi_pass *pass,
                         const iw_time *now, const iw_time *posted, iw_time *out, iw_time *posted_out)
{
    const struct iwi_pass_lines all = {
        .now = now, .posted = posted, .from = now, .to = posted, .out = out, .posted_out = posted_out};

    if (!pass->has_receive) {
        iwi_pass_rendezvous_run(flow, span, pass, 0, span->count, &all);
    } else if (pass->is_flip) {
        pass_flipped(flow, span, pass, &all);
    } else {
        pass_shifted(flow, span, pass, &all);
    }
}
