/* What passes over the ranks of a graph have to know before it runs; and which way a graph runs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/graph/graph.h"
#include "core/sim/graph/graph_passes.h"
#include "core/sim/rank_array.h"

/* ---- successors ---- */

static void list_successors_of_rank(struct iwi_passes *passes, uint32_t rank)
{
    const struct iwi_schedule *schedule = passes->schedule;
    const uint64_t begin = schedule->first_node[rank], end = schedule->first_node[rank + 1];
    uint32_t *first = passes->first_successor + begin;
    uint32_t position = (uint32_t)schedule->first_dep[begin];

    memset(first, 0, (size_t)(end - begin) * sizeof *first);
    for (uint64_t d = schedule->first_dep[begin]; d < schedule->first_dep[end]; d++) {
        first[schedule->deps[d].node]++;
    }
    for (uint64_t node = 0; node < end - begin; node++) { /* from counts to ends */
        position += first[node];
        first[node] = position;
    }
    for (uint64_t node = end; node-- > begin;) { /* ends move down to starts */
        for (uint64_t d = schedule->first_dep[node + 1]; d-- > schedule->first_dep[node];) {
            const struct iwi_dep dep = schedule->deps[d];

            passes->successors[--first[dep.node]] = 2 * (uint32_t)(node - begin) + dep.is_start;
            passes->has_posting |= dep.is_start && schedule->nodes[begin + dep.node].kind == IWI_RECV;
        }
    }
}

/* ---- the whole ---- */

static iw_status fill(const iw_log *log, const iw_net *net, struct iwi_passes *passes, bool *is_whole_p)
{
    const struct iwi_schedule *schedule = passes->schedule;
    const size_t nodes = (size_t)schedule->first_node[schedule->ranks];
    const size_t deps = (size_t)schedule->first_dep[nodes];

    passes->largest_rank = (uint32_t)iwi_schedule_largest_rank(schedule);
    passes->partner_of = iwi_rank_array_new(log, nodes, sizeof *passes->partner_of);
    if (passes->partner_of == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(iwi_passes_match(log, net, passes, is_whole_p));
    if (!*is_whole_p) {
        return IW_OK;
    }
    passes->first_successor = iwi_rank_array_new(log, nodes + 1, sizeof *passes->first_successor);
    passes->successors = iwi_rank_array_new(log, deps, sizeof *passes->successors);
    if (passes->first_successor == NULL || passes->successors == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        list_successors_of_rank(passes, rank);
    }
    passes->first_successor[nodes] = (uint32_t)deps;
    return IW_OK;
}

iw_status iwi_passes_new(const iw_log *log, const struct iwi_schedule *schedule, const iw_net *net,
                         struct iwi_passes **passes_p)
{
    struct iwi_passes *passes = iwi_new_array(log, 1, sizeof *passes);
    bool is_whole = false;
    iw_status status;

    if (passes == NULL) {
        return IW_ERR_NOMEM;
    }
    passes->schedule = schedule;
    status = fill(log, net, passes, &is_whole);
    if (status != IW_OK || !is_whole) {
        iwi_passes_free(passes);
        passes = NULL;
    }
    if (status == IW_OK) {
        *passes_p = passes;
    }
    return status;
}

void iwi_passes_free(struct iwi_passes *passes)
{
    if (passes != NULL) {
        free(passes->partner_of);
        free(passes->first_successor);
        free(passes->successors);
        free(passes);
    }
}

/* ---- which way ---- */

static iw_status choose(const iw_log *log, const iw_net *net, char note[IWI_GRAPH_NOTE],
                        struct iwi_graph *graph)
{
    const char *refusal = iwi_graph_refusal(graph->schedule, net);

    if (refusal == NULL) {
        IW_TRY(iwi_passes_new(log, graph->schedule, net, &graph->passes));
    }
    return graph->passes != NULL ? IW_OK : iwi_windows_new(log, graph->schedule, net, note, &graph->windows);
}

iw_status iwi_graph_new(const iw_log *log, const struct iwi_schedule *schedule, const iw_net *net,
                        char note[IWI_GRAPH_NOTE], struct iwi_graph **graph_p)
{
    struct iwi_graph *graph = iwi_new_array(log, 1, sizeof *graph);
    iw_status status;

    if (graph == NULL) {
        return IW_ERR_NOMEM;
    }
    note[0] = '\0';
    graph->schedule = schedule;
    (void)pthread_mutex_init(&graph->lock, NULL);
    status = choose(log, net, note, graph);
    if (status != IW_OK || note[0] != '\0') {
        iwi_graph_free(graph);
        graph = NULL;
    }
    if (status == IW_OK) {
        *graph_p = graph;
    }
    return status;
}

void iwi_graph_free(struct iwi_graph *graph)
{
    if (graph != NULL) {
        iwi_passes_free(graph->passes);
        iwi_windows_free(graph->windows);
        (void)pthread_mutex_destroy(&graph->lock);
        free(graph);
    }
}

/* The windows of a graph that passes could not run. */
static iw_status need_windows(const iw_log *log, const iw_net *net, struct iwi_graph *graph)
{
    char note[IWI_GRAPH_NOTE];
    iw_status status = IW_OK;

    (void)pthread_mutex_lock(&graph->lock);
    if (graph->windows == NULL) {
        status = iwi_windows_new(log, graph->schedule, net, note, &graph->windows);
    }
    (void)pthread_mutex_unlock(&graph->lock);
    return status;
}

iw_status iwi_graph_run(const iw_log *log, const struct iwi_job *job, struct iwi_graph *graph)
{
    bool is_done = false;

    if (graph->passes != NULL) {
        IW_TRY(iwi_passes_run(log, job, graph->passes, &is_done));
        if (is_done) {
            return IW_OK;
        }
        IW_TRY(need_windows(log, job->net, graph));
    }
    return iwi_windows_run(log, job, graph->windows);
}
