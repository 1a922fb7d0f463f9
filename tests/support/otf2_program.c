/* Programs as OTF2 archives.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/otf2_program.h"

#include "support/otf2_writer.h"

static void put_nonblocking(struct iwt_otf2 *w, uint32_t rank, uint64_t now_ns, const struct iwi_node *node,
                            uint64_t request)
{
    if (node->kind == IWI_SEND) {
        iwt_otf2_enter(w, rank, now_ns, "MPI_Isend");
        iwt_otf2_isend(w, rank, now_ns, node->peer, 0, node->tag, node->amount, request);
    } else {
        iwt_otf2_enter(w, rank, now_ns, "MPI_Irecv");
        iwt_otf2_irecv_request(w, rank, now_ns, request);
    }
    iwt_otf2_leave(w, rank, now_ns);
}

static void put_blocking(struct iwt_otf2 *w, uint32_t rank, uint64_t now_ns, const struct iwi_node *node)
{
    const bool is_send = node->kind == IWI_SEND;

    iwt_otf2_enter(w, rank, now_ns, is_send ? "MPI_Send" : "MPI_Recv");
    (is_send ? iwt_otf2_send : iwt_otf2_recv)(w, rank, now_ns, node->peer, 0, node->tag, node->amount);
    iwt_otf2_leave(w, rank, now_ns);
}

static void put_wait(struct iwt_otf2 *w, uint32_t rank, uint64_t now_ns, const struct iwi_schedule *schedule,
                     uint64_t wait)
{
    iwt_otf2_enter(w, rank, now_ns, "MPI_Waitall");
    for (uint64_t d = schedule->first_dep[wait]; d < schedule->first_dep[wait + 1]; d++) {
        const uint64_t request = schedule->deps[d].node;
        const struct iwi_node *node = &schedule->nodes[schedule->first_node[rank] + request];

        if (node->kind == IWI_SEND) {
            iwt_otf2_isend_complete(w, rank, now_ns, request);
        } else {
            iwt_otf2_irecv(w, rank, now_ns, node->peer, 0, node->tag, node->amount, request);
        }
    }
    iwt_otf2_leave(w, rank, now_ns);
}

static void put_rank(struct iwt_otf2 *w, const struct iwi_schedule *schedule, uint32_t rank)
{
    const uint64_t first = schedule->first_node[rank];
    uint64_t now_ns = 0;

    iwt_otf2_enter(w, rank, now_ns, "MPI_Init");
    iwt_otf2_leave(w, rank, now_ns);
    for (uint64_t at = first; at < schedule->first_node[rank + 1]; at++) {
        const struct iwi_node *node = &schedule->nodes[at];

        if (node->kind == IWI_CALC) {
            now_ns += node->amount / IW_PS_PER_NS;
        } else if (node->kind == IWI_WAIT) {
            put_wait(w, rank, now_ns, schedule, at);
        } else if ((node->flags & IWI_NODE_NONBLOCKING) != 0) {
            put_nonblocking(w, rank, now_ns, node, at - first);
        } else {
            put_blocking(w, rank, now_ns, node);
        }
    }
    iwt_otf2_enter(w, rank, now_ns, "MPI_Finalize");
    iwt_otf2_leave(w, rank, now_ns);
}

void iwt_otf2_program(const char *folder, const struct iwi_schedule *schedule)
{
    struct iwt_otf2 *w = iwt_otf2_new(folder, "Score-P 8.4", schedule->ranks, 1);

    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        put_rank(w, schedule, rank);
    }
    iwt_otf2_close(w);
}
