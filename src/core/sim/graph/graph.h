/* The flow engine on graphs that are not in order (docs/explanation/semantics.md, 8): by passes over their
 * ranks, or by windows where these would be too many.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GRAPH_H
#define IWI_GRAPH_H

#include <pthread.h>

#include "core/sim/engine.h"

struct iwi_passes;      /* graph_passes.h */
struct iwi_window_plan; /* window_plan.h */

struct iwi_graph {
    const struct iwi_schedule *schedule;
    struct iwi_passes *passes;
    struct iwi_window_plan *window; /* NULL: nobody has needed it yet */
    pthread_mutex_t lock;           /* of `window`: several trials may need it at a time */
};

/* Why the flow engine cannot run a graph. */
struct iwi_graph_refusal {
    const char *why; /* NULL: it can */
    uint64_t node;   /* the first operation of which that is so; UINT64_MAX: it is none of them */
};

/* *graph_p is NULL if the flow engine cannot run it. */
IW_NODISCARD iw_status iwi_graph_new(const iw_log *log, const struct iwi_schedule *schedule,
                                     const iw_net *net, struct iwi_graph_refusal *refusal,
                                     struct iwi_graph **graph_p);
void iwi_graph_free(struct iwi_graph *graph);

/* The end of each rank in job->end_ps; one lane, nothing explained, no steps told. */
IW_NODISCARD iw_status iwi_graph_run(const iw_log *log, const struct iwi_job *job, struct iwi_graph *graph);

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
