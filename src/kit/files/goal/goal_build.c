/* Builds a schedule block by block.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/goal/goal_build.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/order.h"

enum { SMALL_SORT = 16, HUGE_PAGE = 2 << 20 };

static const struct iwi_goal_block *current_block(const struct iwi_goal_builder *builder)
{
    return &builder->blocks[builder->block_count - 1];
}

uint32_t iwi_goal_block_nodes(const struct iwi_goal_builder *builder)
{
    return (uint32_t)(builder->node_count - current_block(builder)->first_node);
}

iw_status iwi_goal_begin_block(const iw_log *log, struct iwi_goal_builder *builder, uint32_t rank,
                               uint64_t place)
{
    IW_TRY(iwi_grow(log, (void **)&builder->blocks, &builder->block_capacity, builder->block_count + 1,
                    sizeof *builder->blocks));
    builder->blocks[builder->block_count++] = (struct iwi_goal_block){rank, builder->node_count, place};
    builder->edge_count = 0;
    return IW_OK;
}

iw_status iwi_goal_add_node(const iw_log *log, struct iwi_goal_builder *builder, const struct iwi_node *node)
{
    if (builder->node_count == builder->node_capacity) {
        IW_TRY(iwi_grow(log, (void **)&builder->nodes, &builder->node_capacity, builder->node_count + 1,
                        sizeof *builder->nodes));
    }
    if (iwi_goal_block_nodes(builder) == UINT32_MAX - 1) {
        return iwi_fail(log, IW_ERR_RANGE, "rank %" PRIu32 " has more than %" PRIu32 " operations",
                        current_block(builder)->rank, UINT32_MAX - 1);
    }
    iwi_goal_put_node(builder, node);
    return IW_OK;
}

iw_status iwi_goal_add_edge(const iw_log *log, struct iwi_goal_builder *builder, struct iwi_goal_edge edge)
{
    if (builder->edge_count == builder->edge_capacity) {
        IW_TRY(iwi_grow(log, (void **)&builder->edges, &builder->edge_capacity, builder->edge_count + 1,
                        sizeof *builder->edges));
    }
    builder->edges[builder->edge_count++] = edge;
    return IW_OK;
}

IWI_COMPARE(compare_deps, struct iwi_dep, IWI_RISING(node), IWI_RISING(is_start))

static void sort_deps(struct iwi_dep *deps, size_t count)
{
    if (count > SMALL_SORT) {
        iwi_sort(deps, count, compare_deps);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const struct iwi_dep dep = deps[i];
        size_t j = i;

        for (; j > 0 && compare_deps(&deps[j - 1], &dep) > 0; j--) {
            deps[j] = deps[j - 1];
        }
        deps[j] = dep;
    }
}

/* Counting sort of the block's edges by node; `first` are the block's entries of first_dep. */
static void place_deps(struct iwi_goal_builder *builder, uint64_t *first, uint32_t nodes)
{
    uint64_t position = builder->dep_count;

    memset(first, 0, nodes * sizeof *first);
    for (size_t i = 0; i < builder->edge_count; i++) {
        first[builder->edges[i].node]++;
    }
    for (uint32_t n = 0; n < nodes; n++) { /* from counts to ends */
        position += first[n];
        first[n] = position;
    }
    for (size_t i = builder->edge_count; i-- > 0;) { /* ends move down to starts */
        const struct iwi_goal_edge *edge = &builder->edges[i];

        builder->deps[--first[edge->node]] = (struct iwi_dep){edge->required, edge->is_start};
    }
    builder->dep_count = position;
    for (uint32_t n = 0; n < nodes; n++) {
        const uint64_t end = n + 1 < nodes ? first[n + 1] : position;

        sort_deps(builder->deps + first[n], end - first[n]);
    }
}

enum { UNSEEN, ON_PATH, DONE };

static void report_cycle(const struct iwi_goal_builder *builder, size_t depth, uint32_t target,
                         struct iwi_goal_cycle *cycle)
{
    size_t start = depth;

    while (builder->path[start].node != target) {
        start--;
    }
    cycle->length = (uint32_t)(depth - start + 1);
    for (size_t i = 0; i < cycle->length && i < IWI_GOAL_CYCLE_SHOWN; i++) {
        cycle->nodes[i] = builder->path[start + i].node;
    }
}

/* Depth-first search from `root` along the dependencies. */
static void search_cycle(struct iwi_goal_builder *builder, const uint64_t *first, uint32_t nodes,
                         uint32_t root, struct iwi_goal_cycle *cycle)
{
    struct iwi_goal_visit *path = builder->path;
    size_t depth = 0;

    path[0] = (struct iwi_goal_visit){root, first[root]};
    builder->visited[root] = ON_PATH;
    for (;;) {
        const uint32_t node = path[depth].node;
        const uint64_t end = node + 1 < nodes ? first[node + 1] : builder->dep_count;

        if (path[depth].next_dep < end) {
            const uint32_t required = builder->deps[path[depth].next_dep++].node;

            if (builder->visited[required] == ON_PATH) {
                report_cycle(builder, depth, required, cycle);
                return;
            }
            if (builder->visited[required] == UNSEEN) {
                builder->visited[required] = ON_PATH;
                path[++depth] = (struct iwi_goal_visit){required, first[required]};
            }
        } else {
            builder->visited[node] = DONE;
            if (depth-- == 0) {
                return;
            }
        }
    }
}

iw_status iwi_goal_find_cycle(const iw_log *log, struct iwi_goal_builder *builder, const uint64_t *first,
                              bool has_forward, struct iwi_goal_cycle *cycle)
{
    const uint32_t nodes = iwi_goal_block_nodes(builder);

    cycle->length = 0;
    if (!has_forward) { /* program order is an order of execution */
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&builder->visited, &builder->visited_capacity, nodes, 1));
    IW_TRY(iwi_grow(log, (void **)&builder->path, &builder->path_capacity, nodes, sizeof *builder->path));
    memset(builder->visited, UNSEEN, nodes);
    for (uint32_t n = 0; n < nodes && cycle->length == 0; n++) {
        if (builder->visited[n] == UNSEEN) {
            search_cycle(builder, first, nodes, n, cycle);
        }
    }
    return IW_OK;
}

static bool has_forward_edge(const struct iwi_goal_builder *builder)
{
    for (size_t i = 0; i < builder->edge_count; i++) {
        if (builder->edges[i].required >= builder->edges[i].node) {
            return true;
        }
    }
    return false;
}

/* Large arrays get huge pages where the kernel gives them: they are filled from the first to the last byte,
 * and a page fault is as dear as the 4 KiB that it brings. */
static void prefer_huge_pages(void *array, size_t bytes)
{
    const uintptr_t begin = ((uintptr_t)array + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    const uintptr_t end = ((uintptr_t)array + bytes) / HUGE_PAGE * HUGE_PAGE;

    if (end > begin) {
        (void)madvise((char *)array + (begin - (uintptr_t)array), end - begin, MADV_HUGEPAGE); /* a hint */
    }
}

iw_status iwi_goal_reserve(const iw_log *log, struct iwi_goal_builder *builder, uint64_t nodes, uint64_t deps)
{
    IW_TRY(iwi_grow(log, (void **)&builder->nodes, &builder->node_capacity, builder->node_count + nodes + 1,
                    sizeof *builder->nodes));
    if (builder->first_dep == NULL && nodes > 0) { /* pages that stay 0 are never touched */
        builder->first_dep = iwi_new_array(log, (size_t)nodes + 1, sizeof *builder->first_dep);
        builder->first_dep_capacity = builder->first_dep == NULL ? 0 : (size_t)nodes + 1;
    }
    IW_TRY(iwi_grow(log, (void **)&builder->first_dep, &builder->first_dep_capacity,
                    builder->node_count + nodes + 1, sizeof *builder->first_dep));
    IW_TRY(iwi_grow(log, (void **)&builder->deps, &builder->dep_capacity, builder->dep_count + deps + 1,
                    sizeof *builder->deps));
    if (nodes > 0) {
        prefer_huge_pages(builder->nodes, nodes * sizeof *builder->nodes);
        prefer_huge_pages(builder->first_dep, nodes * sizeof *builder->first_dep);
        prefer_huge_pages(builder->deps, deps * sizeof *builder->deps);
    }
    return IW_OK;
}

iw_status iwi_goal_end_block(const iw_log *log, struct iwi_goal_builder *builder,
                             struct iwi_goal_cycle *cycle)
{
    const uint32_t nodes = iwi_goal_block_nodes(builder);
    uint64_t *first;

    IW_TRY(iwi_goal_reserve(log, builder, 0, builder->edge_count));
    first = builder->first_dep + current_block(builder)->first_node;
    if (nodes > 0) {
        place_deps(builder, first, nodes);
    }
    return iwi_goal_find_cycle(log, builder, first, has_forward_edge(builder), cycle);
}

void iwi_goal_builder_release(struct iwi_goal_builder *builder)
{
    free(builder->nodes);
    free(builder->first_dep);
    free(builder->deps);
    free(builder->blocks);
    free(builder->edges);
    free(builder->visited);
    free(builder->path);
    *builder = (struct iwi_goal_builder){0};
}
