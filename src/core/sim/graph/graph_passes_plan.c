/* What passes over the ranks of a graph have to know before it runs; and which way a graph runs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/graph/graph.h"
#include "core/sim/graph/graph_passes.h"
#include "core/sim/rank_array.h"
#include "core/sim/window/window_plan.h"

enum { MOST_NODES = 1 << 30 };

/* ---- what passes cannot run ---- */

static iw_time least_cost(const iw_net_costs *costs)
{
    iw_time least = costs->o_send_ps + costs->L_ps;

    for (uint32_t i = 0; i < costs->segment_count; i++) {
        least = iwi_min(least, costs->segments[i].o_send_ps + costs->segments[i].L_ps);
    }
    return least;
}

/* From the start of a send to the arrival of its message, at least. */
static iw_time least_delay(const iw_net *net)
{
    iw_time least = least_cost(&net->costs);

    for (uint32_t i = 0; i < net->inner_count; i++) {
        least = iwi_min(least, least_cost(&net->inner[i].costs));
    }
    return least;
}

/* UINT64_MAX: all are on the first CPU. */
static uint64_t first_on_other_cpu(const struct iwi_schedule *schedule)
{
    const uint64_t count = schedule->cpu_count > 1 ? schedule->first_node[schedule->ranks] : 0;
    uint64_t node = 0;

    while (node < count && schedule->nodes[node].cpu == 0) {
        node++;
    }
    return node < count ? node : UINT64_MAX;
}

/* Of the whole graph. */
static struct iwi_graph_refusal refusal_of(const struct iwi_schedule *schedule, const iw_net *net)
{
    const uint64_t node_count = schedule->first_node[schedule->ranks];

    if (schedule->cpu_count > 1) {
        return (struct iwi_graph_refusal){"the graph uses several CPUs on a rank",
                                          first_on_other_cpu(schedule)};
    }
    if (least_delay(net) < 1) {
        return (struct iwi_graph_refusal){"messages of the graph may take no time: o and L are 0",
                                          UINT64_MAX};
    }
    if (node_count > MOST_NODES || schedule->first_dep[node_count] > UINT32_MAX) {
        return (struct iwi_graph_refusal){"the graph has more than 2^30 operations or 2^32 dependences",
                                          UINT64_MAX};
    }
    return (struct iwi_graph_refusal){NULL, UINT64_MAX};
}

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

static iw_status fill(const iw_log *log, const iw_net *net, struct iwi_passes *passes,
                      struct iwi_graph_refusal *refusal)
{
    const struct iwi_schedule *schedule = passes->schedule;
    const size_t nodes = (size_t)schedule->first_node[schedule->ranks];
    const size_t deps = (size_t)schedule->first_dep[nodes];

    passes->largest_rank = (uint32_t)iwi_schedule_largest_rank(schedule);
    passes->partner_of = iwi_rank_array_new(log, nodes, sizeof *passes->partner_of);
    if (passes->partner_of == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(iwi_passes_match(log, net, passes, refusal));
    if (refusal->why != NULL) {
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
                         struct iwi_graph_refusal *refusal, struct iwi_passes **passes_p)
{
    struct iwi_passes *passes = NULL;
    iw_status status = IW_OK;

    *refusal = refusal_of(schedule, net);
    if (refusal->why == NULL) {
        passes = iwi_new_array(log, 1, sizeof *passes);
        if (passes == NULL) {
            return IW_ERR_NOMEM;
        }
        passes->schedule = schedule;
        status = fill(log, net, passes, refusal);
    }
    if (status != IW_OK || refusal->why != NULL) {
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

iw_status iwi_graph_new(const iw_log *log, const struct iwi_schedule *schedule, const iw_net *net,
                        struct iwi_graph_refusal *refusal, struct iwi_graph **graph_p)
{
    struct iwi_passes *passes = NULL;
    struct iwi_graph *graph = NULL;

    IW_TRY(iwi_passes_new(log, schedule, net, refusal, &passes));
    if (passes != NULL) {
        graph = iwi_new_array(log, 1, sizeof *graph);
        if (graph == NULL) {
            iwi_passes_free(passes);
            return IW_ERR_NOMEM;
        }
        graph->schedule = schedule;
        graph->passes = passes;
        (void)pthread_mutex_init(&graph->lock, NULL);
    }
    *graph_p = graph;
    return IW_OK;
}

void iwi_graph_free(struct iwi_graph *graph)
{
    if (graph != NULL) {
        iwi_passes_free(graph->passes);
        iwi_window_plan_free(graph->window);
        (void)pthread_mutex_destroy(&graph->lock);
        free(graph);
    }
}

static iw_status need_window(const iw_log *log, const struct iwi_job *job, struct iwi_graph *graph)
{
    iw_status status = IW_OK;

    (void)pthread_mutex_lock(&graph->lock);
    if (graph->window == NULL) {
        status = iwi_window_plan_new(log, graph->schedule, job->net, job->rendezvous, &graph->window);
    }
    (void)pthread_mutex_unlock(&graph->lock);
    return status;
}

/* Windows take whatever passes can begin. */
iw_status iwi_graph_run(const iw_log *log, const struct iwi_job *job, struct iwi_graph *graph)
{
    bool is_done = false;

    IW_TRY(iwi_passes_run(log, job, graph->passes, &is_done));
    if (is_done) {
        return IW_OK;
    }
    IW_TRY(need_window(log, job, graph));
    return iwi_window_run(log, job, graph->window);
}
