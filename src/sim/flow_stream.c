/* The flow engine's streaming loops: rounds in which every rank does the same with a partner given by its
 * number.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One pass over the arrays serves the receive of a round and the send of the next. A round reads `sent` of
 * the round before and writes `sent_other`. In blocks of eight elements (ranks x lanes) all is computed as if
 * there were no detour; only elements whose work would pass their next detour take the slow path. The work of
 * one element is one chain in time, so one comparison at its end covers all of it.
 */
#include "base/base.h"
#include "sim/flow_step.h"

enum { BLOCK = 8 };

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
/* 64-bit maxima are one instruction from AVX-512 on; picked at run time. */
#define VECTOR_VERSIONS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VECTOR_VERSIONS
#endif

struct stream_pass {
    bool has_receive, has_send;
    struct iwi_cost in, out; /* of the message received and of the one sent */
    iw_time reduce;          /* work after the receive */
};

/* One element, exactly. `sent` is when the CPU part of the send that it receives ended. */
static void pass_element(struct iwi_flow *flow, const struct stream_pass *pass, size_t i, iw_time sent)
{
    const uint32_t rank = (uint32_t)(i >> flow->lane_shift);

    if (pass->has_receive) {
        step_receive(flow, rank, i, &pass->in, sent + pass->in.wire, NULL, false);
        step_local_work(flow, rank, i, pass->reduce, false);
    }
    if (pass->has_send) {
        step_send(flow, rank, i, &pass->out, &flow->sent_other[i], NULL, false);
    }
}

/* Elements i ... i + BLOCK - 1, which receive what was sent at sent[0] ...; the last two are constants in
 * every caller and equal to those of the pass. */
IWI_STEP void pass_block(struct iwi_flow *flow, const struct stream_pass *pass, size_t i, const iw_time *sent,
                         const bool has_receive, const bool has_send)
{
    iw_time *cpu = flow->cpu + i;
    iw_time *send_gap = flow->send_gap + i;
    iw_time *recv_gap = flow->recv_gap + i;
    iw_time *out = flow->sent_other + i;
    const iw_time *next = flow->next_detour + i;
    const iw_time receive = pass->in.recv_cpu + pass->reduce;
    iw_time served[BLOCK], start[BLOCK], done[BLOCK];
    iw_time slack = 0; /* negative as soon as one element meets a detour */

    for (size_t k = 0; k < BLOCK; k++) {
        done[k] = cpu[k];
        if (has_receive) {
            served[k] = iwi_max(iwi_max(done[k], sent[k] + pass->in.wire), recv_gap[k]);
            done[k] = served[k] + receive;
        }
        if (has_send) {
            start[k] = iwi_max(done[k], send_gap[k]);
            done[k] = start[k] + pass->out.send_cpu;
        }
        slack |= next[k] - done[k];
    }
    for (size_t k = 0; k < BLOCK; k++) {
        if (slack < 0 && next[k] < done[k]) {
            pass_element(flow, pass, i + k, sent[k]);
            continue;
        }
        if (has_receive) {
            recv_gap[k] = served[k] + pass->in.gap;
        }
        if (has_send) {
            send_gap[k] = start[k] + pass->out.gap;
            out[k] = done[k];
        }
        cpu[k] = done[k];
    }
}

/* Elements begin ... end - 1 receive from elements `from` ... */
IWI_STEP void pass_shifted(struct iwi_flow *flow, const struct stream_pass *pass, size_t begin, size_t end,
                           size_t from, const bool has_receive, const bool has_send)
{
    const iw_time *sent = flow->sent + from;
    size_t i = begin;

    for (; i + BLOCK <= end; i += BLOCK) {
        pass_block(flow, pass, i, sent, has_receive, has_send);
        sent += BLOCK;
    }
    for (; i < end; i++) {
        pass_element(flow, pass, i, *sent++);
    }
}

/* Element i receives from element i ^ flip. The number of elements is a power of two. */
IWI_STEP void pass_flipped(struct iwi_flow *flow, const struct stream_pass *pass, size_t flip,
                           const bool has_send)
{
    size_t i = 0;

    for (; i + BLOCK <= flow->count; i += BLOCK) {
        iw_time near[BLOCK];
        const iw_time *sent = flow->sent + (i ^ flip);

        if (flip < BLOCK) {
            for (size_t k = 0; k < BLOCK; k++) {
                near[k] = flow->sent[(i + k) ^ flip];
            }
            sent = near;
        }
        pass_block(flow, pass, i, sent, true, has_send);
    }
    for (; i < flow->count; i++) {
        pass_element(flow, pass, i, flow->sent[i ^ flip]);
    }
}

/* The first pass of a run only sends, the last only receives. */
VECTOR_VERSIONS static void send_only(struct iwi_flow *flow, const struct stream_pass *pass)
{
    pass_shifted(flow, pass, 0, flow->count, 0, false, true);
}

VECTOR_VERSIONS static void shift_both(struct iwi_flow *flow, const struct stream_pass *pass, size_t shift)
{
    pass_shifted(flow, pass, 0, shift, flow->count - shift, true, true);
    pass_shifted(flow, pass, shift, flow->count, 0, true, true);
}

VECTOR_VERSIONS static void shift_last(struct iwi_flow *flow, const struct stream_pass *pass, size_t shift)
{
    pass_shifted(flow, pass, 0, shift, flow->count - shift, true, false);
    pass_shifted(flow, pass, shift, flow->count, 0, true, false);
}

VECTOR_VERSIONS static void flip_both(struct iwi_flow *flow, const struct stream_pass *pass, size_t flip)
{
    pass_flipped(flow, pass, flip, true);
}

VECTOR_VERSIONS static void flip_last(struct iwi_flow *flow, const struct stream_pass *pass, size_t flip)
{
    pass_flipped(flow, pass, flip, false);
}

static void pass_all(struct iwi_flow *flow, const struct stream_pass *pass, const struct iwi_round *round)
{
    const size_t shift = (size_t)round->shift << flow->lane_shift;
    const size_t flip = (size_t)round->flip << flow->lane_shift;

    if (round->is_shift) {
        (pass->has_send ? shift_both : shift_last)(flow, pass, shift);
    } else {
        (pass->has_send ? flip_both : flip_last)(flow, pass, flip);
    }
}

static void swap_sent(struct iwi_flow *flow)
{
    iw_time *sent = flow->sent;

    flow->sent = flow->sent_other;
    flow->sent_other = sent;
}

void iwi_flow_stream(struct iwi_flow *flow, const struct iwi_operation *op, uint64_t first, uint64_t end)
{
    const iw_net *net = flow->job->net;
    struct iwi_round in, out;
    struct stream_pass pass = {.has_receive = false, .has_send = true};

    op->algorithm->round(op, first, &out);
    pass.out = iwi_cost_of(net, out.bytes);
    send_only(flow, &pass);
    swap_sent(flow);
    pass.has_receive = true;
    for (uint64_t index = first; index < end; index++) {
        in = out;
        pass.in = pass.out;
        pass.reduce = iwi_bytes_cost(flow->job->program->reduce, in.reduce_bytes);
        pass.has_send = index + 1 < end;
        if (pass.has_send) {
            op->algorithm->round(op, index + 1, &out);
            pass.out = iwi_cost_of(net, out.bytes);
        }
        pass_all(flow, &pass, &in);
        swap_sent(flow);
        iwi_tick(flow->job->ticker, 1);
    }
}
