/* Shared by the two files that find the order of a trace program: segments, and single ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_TRACE_RANK_H
#define IWI_FLOW_TRACE_RANK_H

#include "core/base/lookup.h"
#include "core/sim/flow/flow_match.h"
#include "core/sim/flow/flow_trace.h"

#define IWI_NO_PARTNER UINT64_MAX /* as in struct iwi_match; also: waits for no node */

struct iwi_trace_compiler {
    const iw_log *log;
    const struct iwi_trace_program *program;
    const struct iwi_schedule *schedule;
    const iw_net *net;
    struct iwi_match *match;
    struct iwi_trace_code *code;
    size_t step_capacity, segment_capacity, cost_capacity;
    struct iwi_index sizes; /* of costs */
    bool *is_marked;        /* nodes: sent, posted */
    uint64_t *cursor;       /* ranks */
    uint64_t *phases;       /* ranks */
    uint64_t *satisfied;    /* ranks: so many requests of its wait need nothing more */
    uint64_t *awaited;      /* ranks: the node that it waits for, or IWI_NO_PARTNER */
    uint64_t *at_cut;       /* ranks: the collective over all that it has come to, or IWI_NO_COLLECTIVE */
    uint32_t *arrived;      /* collectives: members that have come */
    enum iwi_trace_order order;
    uint32_t *work; /* ranks that can go on: a ring, the first of them at work_first */
    size_t work_first, work_count, cut_count;
};

/* Rank `rank` can go on: after all others, or next. */
static inline void iwi_trace_wake(struct iwi_trace_compiler *c, uint32_t rank)
{
    const uint32_t ranks = c->program->base;

    if (c->order == IWI_ORDER_DEEP) {
        c->work_first = (c->work_first + ranks - 1) % ranks;
        c->work[c->work_first] = rank;
    } else {
        c->work[(c->work_first + c->work_count) % ranks] = rank;
    }
    c->work_count++;
}

/* Goes on with one rank until it needs what another has not done, comes to a collective over all, ends its
 * turn, or ends. */
IW_NODISCARD iw_status iwi_trace_run_rank(struct iwi_trace_compiler *c, uint32_t rank);

#endif
