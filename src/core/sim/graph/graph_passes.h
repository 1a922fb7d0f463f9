/* Graphs by passes over their ranks: each rank runs as far as it can with the messages that are known.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What a rank does follows from the arrivals of its messages alone. A rank that gets a message later than it
 * should have had it, or with another arrival, runs again from its beginning. When no arrival changes any
 * more, all of them are right: a message arrives later than its send starts, so the earliest wrong one would
 * be sent by a rank that had all it needed.
 */
#ifndef IWI_GRAPH_PASSES_H
#define IWI_GRAPH_PASSES_H

#include "core/sim/graph/graph.h"

/* Every send has exactly one receive with its (source, destination, tag), of the same size: a message. */
struct iwi_passes {
    const struct iwi_schedule *schedule;
    uint32_t *partner_of;      /* of sends: the receive; calc: the number of its compute phase in its rank */
    uint32_t *first_successor; /* of nodes + 1 */
    uint32_t *successors;      /* 2 * node within the rank, + 1 if the start of the other is enough */
    uint32_t largest_rank;
    bool has_posting; /* some receives let others go when they are posted */
};

/* *passes_p is NULL if the graph is refused: it has other messages, or too many to look for. */
IW_NODISCARD iw_status iwi_passes_new(const iw_log *log, const struct iwi_schedule *schedule,
                                      const iw_net *net, struct iwi_graph_refusal *refusal,
                                      struct iwi_passes **passes_p);
void iwi_passes_free(struct iwi_passes *passes);

/* Fills partner_of, or says what is in the way. */
IW_NODISCARD iw_status iwi_passes_match(const iw_log *log, const iw_net *net, struct iwi_passes *passes,
                                        struct iwi_graph_refusal *refusal);

/* *is_done_p is false, and nothing else is set, if ranks would have to run again too often, or not all nodes
 * can run, or not in time: windows then do it, or say why not. */
IW_NODISCARD iw_status iwi_passes_run(const iw_log *log, const struct iwi_job *job,
                                      const struct iwi_passes *passes, bool *is_done_p);

#endif
