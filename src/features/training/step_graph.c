/* Schedules that grow rank by rank.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/training/step_graph.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

iw_status iwi_step_graph_init(const iw_log *log, uint32_t ranks, struct iwi_step_graph *all)
{
    *all = (struct iwi_step_graph){.log = log, .ranks = ranks};
    all->rank = iwi_new_array(log, ranks, sizeof *all->rank);
    return all->rank != NULL ? IW_OK : IW_ERR_NOMEM;
}

void iwi_step_graph_release(struct iwi_step_graph *all)
{
    for (uint32_t i = 0; all->rank != NULL && i < all->ranks; i++) {
        free(all->rank[i].nodes);
        free(all->rank[i].first_dep);
        free(all->rank[i].deps);
    }
    free(all->rank);
    all->rank = NULL;
}

static iw_status make_room(const struct iwi_step_graph *all, struct iwi_graph_rank *rank, size_t deps)
{
    IW_TRY(iwi_grow(all->log, (void **)&rank->nodes, &rank->node_room, (size_t)rank->count + 1,
                    sizeof *rank->nodes));
    IW_TRY(iwi_grow(all->log, (void **)&rank->first_dep, &rank->first_room, (size_t)rank->count + 1,
                    sizeof *rank->first_dep));
    return iwi_grow(all->log, (void **)&rank->deps, &rank->dep_room, rank->dep_count + deps,
                    sizeof *rank->deps);
}

uint32_t iwi_step_graph_add(struct iwi_step_graph *all, uint32_t rank, struct iwi_node node,
                            const uint32_t *needs, size_t count)
{
    struct iwi_graph_rank *at = &all->rank[rank];

    if (all->status == IW_OK) {
        all->status = make_room(all, at, count);
    }
    if (all->status != IW_OK) {
        return IWI_NO_NODE;
    }
    at->first_dep[at->count] = at->dep_count;
    for (size_t i = 0; i < count; i++) {
        if (needs[i] != IWI_NO_NODE) {
            at->deps[at->dep_count++] = needs[i];
        }
    }
    at->nodes[at->count] = node;
    return at->count++;
}

uint32_t iwi_step_graph_calc(struct iwi_step_graph *all, uint32_t rank, uint8_t cpu, iw_time ps,
                             const uint32_t *needs, size_t count)
{
    return iwi_step_graph_add(
        all, rank,
        (struct iwi_node){
            .kind = IWI_CALC, .flags = ps > 0 ? IWI_NODE_PHASE : 0, .cpu = cpu, .amount = (uint64_t)ps},
        needs, count);
}

uint32_t iwi_step_graph_signal(struct iwi_step_graph *all, uint8_t cpu, uint32_t from, uint32_t after,
                               uint32_t to)
{
    const uint32_t tag = all->next_tag++;

    (void)iwi_step_graph_add(
        all, from, (struct iwi_node){.kind = IWI_SEND, .cpu = cpu, .peer = to, .tag = tag, .amount = 1},
        &after, 1);
    return iwi_step_graph_add(
        all, to, (struct iwi_node){.kind = IWI_RECV, .cpu = cpu, .peer = from, .tag = tag, .amount = 1}, NULL,
        0);
}

static void lay_out(const struct iwi_step_graph *all, struct iwi_schedule *schedule)
{
    uint64_t node = 0, dep = 0;

    for (uint32_t r = 0; r < all->ranks; r++) {
        const struct iwi_graph_rank *from = &all->rank[r];

        schedule->first_node[r] = node;
        for (uint32_t i = 0; i < from->count; i++) {
            schedule->nodes[node + i] = from->nodes[i];
            schedule->first_dep[node + i] = dep + from->first_dep[i];
            if (from->nodes[i].cpu >= schedule->cpu_count) {
                schedule->cpu_count = (uint8_t)(from->nodes[i].cpu + 1);
            }
        }
        for (size_t i = 0; i < from->dep_count; i++) {
            schedule->deps[dep + i] = (struct iwi_dep){from->deps[i], false};
        }
        node += from->count;
        dep += from->dep_count;
    }
    schedule->first_node[all->ranks] = node;
    schedule->first_dep[node] = dep;
}

iw_status iwi_step_graph_finish(struct iwi_step_graph *all, struct iwi_schedule **schedule_p)
{
    uint64_t nodes = 0, deps = 0;

    if (all->status != IW_OK) {
        return all->status;
    }
    for (uint32_t r = 0; r < all->ranks; r++) {
        nodes += all->rank[r].count;
        deps += all->rank[r].dep_count;
    }
    IW_TRY(iwi_schedule_new(all->log, all->ranks, nodes, deps, schedule_p));
    lay_out(all, *schedule_p);
    return IW_OK;
}
