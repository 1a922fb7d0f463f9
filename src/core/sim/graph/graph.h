/* The flow engine on graphs that are not in order (docs/explanation/semantics.md, 8).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A message arrives no earlier than o_s + L after its send has started. So what happens within that time
 * after the earliest rank's next operation depends on nothing that is not known yet: each rank advances
 * through this window of time by itself.
 */
#ifndef IWI_GRAPH_H
#define IWI_GRAPH_H

#include <pthread.h>

#include "core/net/cost.h"
#include "core/sim/engine.h"
#include "core/sim/unreceived.h"

enum iwi_graph_kind {
    IWI_GRAPH_CALC,
    IWI_GRAPH_PHASE, /* a calc that is a compute phase */
    IWI_GRAPH_SEND,
    IWI_GRAPH_RECV,
    IWI_GRAPH_RECV_IREQUIRED /* a receive whose posting lets others go */
};

/* How a send or a receive finds its partner. */
enum iwi_graph_meeting {
    IWI_MEETS_NODE,    /* the only one of its (source, destination, tag): `other` is that node */
    IWI_MEETS_CHANNEL, /* one of several of a channel, in the order of starting and of posting */
    IWI_MEETS_NOBODY
};

struct iwi_graph_link {
    uint32_t how : 2, other : 30; /* a global node, or a channel */
};

/* What the engine has to know of a node at once; the lengths of calcs are in the schedule. */
struct iwi_graph_op {
    uint32_t first_successor; /* those of node n end where those of n + 1 begin */
    uint32_t peer; /* of a send; calc: the number of its compute phase; IWI_GRAPH_RECV: its successor, a node
                      within the rank, UINT32_MAX if it has none or several */
    struct iwi_graph_link link;
    uint8_t kind, nic;
    uint16_t cost; /* of a send and of a receive that meets a node: which of the graph's costs */
};

/* What windows have to know of a graph before it runs. */
struct iwi_windows {
    const struct iwi_schedule *schedule;
    struct iwi_graph_op *ops; /* nodes + 1 */
    uint32_t *successors;     /* 2 * node within the rank, + 1 if the start of the other is enough */
    struct iwi_cost *costs;
    uint32_t cost_count, channel_count;
    uint64_t lonely_count; /* sends and receives that meet nobody */
};

struct iwi_passes; /* graph_passes.h */

/* At least one of the two ways to run a graph is known. */
struct iwi_graph {
    const struct iwi_schedule *schedule;
    struct iwi_passes *passes;   /* NULL: messages do not have one partner each, known at once */
    struct iwi_windows *windows; /* NULL: nobody has needed them yet */
    pthread_mutex_t lock;        /* of `windows`: several trials may need them at a time */
};

/* From the start of a send to the arrival of its message, at least. */
iw_time iwi_graph_lookahead(const iw_net *net);

enum { IWI_GRAPH_NOTE = 160 };

/* Of the whole graph: NULL if nothing of it is in the way. */
const char *iwi_graph_refusal(const struct iwi_schedule *schedule, const iw_net *net);

/* Of one operation, a send or a receive: it is in the way. */
static inline bool iwi_graph_refuses(const struct iwi_node *node, const iw_net *net)
{
    return node->peer == IWI_ANY || node->tag == IWI_ANY ||
           (node->kind == IWI_SEND &&
            (node->amount > net->S_bytes || (node->flags & IWI_NODE_SYNCHRONOUS) != 0));
}

/* Why: NULL if it is not in the way. */
const char *iwi_graph_refusal_of_message(const struct iwi_node *node, const iw_net *net);

/* *windows_p is NULL if windows cannot run the graph: `note` then says why not, and which operation is the
 * first. */
IW_NODISCARD iw_status iwi_windows_new(const iw_log *log, const struct iwi_schedule *schedule,
                                       const iw_net *net, char note[IWI_GRAPH_NOTE],
                                       struct iwi_windows **windows_p);
void iwi_windows_free(struct iwi_windows *windows);

/* *graph_p is NULL if the flow engine cannot run it: `note` then says why not. */
IW_NODISCARD iw_status iwi_graph_new(const iw_log *log, const struct iwi_schedule *schedule,
                                     const iw_net *net, char note[IWI_GRAPH_NOTE],
                                     struct iwi_graph **graph_p);
void iwi_graph_free(struct iwi_graph *graph);

/* By windows alone. */
IW_NODISCARD iw_status iwi_windows_run(const iw_log *log, const struct iwi_job *job,
                                       const struct iwi_windows *windows);

/* The end of each rank in job->end_ps; one lane, nothing explained, no steps told. */
IW_NODISCARD iw_status iwi_graph_run(const iw_log *log, const struct iwi_job *job, struct iwi_graph *graph);

#endif
