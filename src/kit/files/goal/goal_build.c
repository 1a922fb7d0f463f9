/* Builds a schedule block by block, in order of ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/goal/goal_build.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/order.h"

/* ---- block by block ---- */

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

/* ---- finished blocks in order of ranks ---- */

static void add_facts(struct iwi_goal_builder *builder, const struct iwi_goal_builder *other)
{
    struct iwi_schedule_facts *facts = &builder->facts;

    builder->max_cpu = other->max_cpu > builder->max_cpu ? other->max_cpu : builder->max_cpu;
    builder->max_nic = other->max_nic > builder->max_nic ? other->max_nic : builder->max_nic;
    facts->has_wildcards |= other->facts.has_wildcards;
    facts->has_phases |= other->facts.has_phases;
    facts->sends += other->facts.sends;
    facts->receives += other->facts.receives;
    facts->largest_bytes =
        other->facts.largest_bytes > facts->largest_bytes ? other->facts.largest_bytes : facts->largest_bytes;
}

iw_status iwi_goal_append(const iw_log *log, struct iwi_goal_builder *builder,
                          const struct iwi_goal_builder *other, uint64_t places)
{
    IW_TRY(iwi_goal_reserve(log, builder, other->node_count, other->dep_count));
    IW_TRY(iwi_grow(log, (void **)&builder->blocks, &builder->block_capacity,
                    builder->block_count + other->block_count, sizeof *builder->blocks));
    for (size_t i = 0; i < other->block_count; i++) {
        struct iwi_goal_block block = other->blocks[i];

        block.first_node += builder->node_count;
        block.place += places;
        builder->blocks[builder->block_count++] = block;
    }
    if (other->node_count > 0) {
        memcpy(builder->nodes + builder->node_count, other->nodes, other->node_count * sizeof *other->nodes);
    }
    for (size_t n = 0; n < other->node_count; n++) {
        builder->first_dep[builder->node_count + n] = builder->dep_count + other->first_dep[n];
    }
    if (other->dep_count > 0) {
        memcpy(builder->deps + builder->dep_count, other->deps, other->dep_count * sizeof *other->deps);
    }
    builder->node_count += other->node_count;
    builder->dep_count += other->dep_count;
    add_facts(builder, other);
    return IW_OK;
}

static uint64_t block_end(const struct iwi_goal_builder *builder, size_t block)
{
    return block + 1 < builder->block_count ? builder->blocks[block + 1].first_node : builder->node_count;
}

static bool is_ascending(const struct iwi_goal_builder *builder)
{
    for (size_t i = 1; i < builder->block_count; i++) {
        if (builder->blocks[i].rank < builder->blocks[i - 1].rank) {
            return false;
        }
    }
    return true;
}

/* Gives memory that doubling took in excess back. */
static void *fitted(void *array, size_t count, size_t element_size)
{
    void *smaller = realloc(array, count > 0 ? count * element_size : element_size);

    return smaller != NULL ? smaller : array;
}

/* Blocks came in order of ranks: the arrays are the schedule's. */
static void take_arrays(struct iwi_goal_builder *builder, struct iwi_schedule *schedule)
{
    builder->first_dep[builder->node_count] = builder->dep_count;
    schedule->nodes = fitted(builder->nodes, builder->node_count, sizeof *schedule->nodes);
    schedule->first_dep = fitted(builder->first_dep, builder->node_count + 1, sizeof *schedule->first_dep);
    schedule->deps = fitted(builder->deps, builder->dep_count, sizeof *schedule->deps);
    builder->nodes = NULL;
    builder->first_dep = NULL;
    builder->deps = NULL;
}

/* Copies the blocks to their places; schedule->first_node is set. */
static iw_status reorder_arrays(const iw_log *log, struct iwi_goal_builder *builder,
                                const uint32_t *block_of_rank, struct iwi_schedule *schedule)
{
    uint64_t node = 0, dep = 0;

    schedule->nodes = iwi_new_array(log, builder->node_count, sizeof *schedule->nodes);
    schedule->first_dep = iwi_new_array(log, builder->node_count + 1, sizeof *schedule->first_dep);
    schedule->deps = iwi_new_array(log, builder->dep_count, sizeof *schedule->deps);
    if (schedule->nodes == NULL || schedule->first_dep == NULL || schedule->deps == NULL) {
        return IW_ERR_NOMEM;
    }
    builder->first_dep[builder->node_count] = builder->dep_count;
    for (uint32_t r = 0; r < schedule->ranks; r++) {
        const size_t block = block_of_rank[r];

        if (block == UINT32_MAX) {
            continue;
        }
        for (uint64_t n = builder->blocks[block].first_node; n < block_end(builder, block); n++) {
            const uint64_t first = builder->first_dep[n], count = builder->first_dep[n + 1] - first;

            schedule->nodes[node] = builder->nodes[n];
            schedule->first_dep[node++] = dep;
            memcpy(schedule->deps + dep, builder->deps + first, count * sizeof *builder->deps);
            dep += count;
        }
    }
    schedule->first_dep[node] = dep;
    return IW_OK;
}

static iw_status fill_schedule(const iw_log *log, struct iwi_goal_builder *builder, uint32_t *block_of_rank,
                               struct iwi_schedule *schedule)
{
    uint64_t node = 0;

    memset(block_of_rank, 0xff, schedule->ranks * sizeof *block_of_rank);
    for (size_t i = 0; i < builder->block_count; i++) {
        block_of_rank[builder->blocks[i].rank] = (uint32_t)i;
    }
    schedule->first_node = iwi_new_array(log, (size_t)schedule->ranks + 1, sizeof *schedule->first_node);
    if (schedule->first_node == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t r = 0; r < schedule->ranks; r++) {
        const size_t block = block_of_rank[r];

        schedule->first_node[r] = node;
        if (block != UINT32_MAX) {
            node += block_end(builder, block) - builder->blocks[block].first_node;
        }
    }
    schedule->first_node[schedule->ranks] = node;
    if (is_ascending(builder)) {
        take_arrays(builder, schedule);
        return IW_OK;
    }
    return reorder_arrays(log, builder, block_of_rank, schedule);
}

iw_status iwi_goal_finish(const iw_log *log, struct iwi_goal_builder *builder, uint32_t ranks,
                          struct iwi_schedule **schedule_p)
{
    struct iwi_schedule *schedule = iwi_new_array(log, 1, sizeof *schedule);
    uint32_t *block_of_rank = iwi_new_array(log, ranks, sizeof *block_of_rank);
    iw_status status = schedule == NULL || block_of_rank == NULL ? IW_ERR_NOMEM : IW_OK;

    if (status == IW_OK) {
        status = iwi_grow(log, (void **)&builder->first_dep, &builder->first_dep_capacity,
                          builder->node_count + 1, sizeof *builder->first_dep);
    }
    if (status == IW_OK) {
        schedule->ranks = ranks;
        schedule->cpu_count = (uint8_t)(builder->max_cpu + 1);
        schedule->nic_count = (uint8_t)(builder->max_nic + 1);
        schedule->facts = builder->facts;
        schedule->facts.are_known = true;
        status = fill_schedule(log, builder, block_of_rank, schedule);
    }
    free(block_of_rank);
    if (status != IW_OK) {
        iwi_schedule_free(schedule);
        return status;
    }
    iwi_goal_builder_release(builder);
    *schedule_p = schedule;
    return IW_OK;
}
