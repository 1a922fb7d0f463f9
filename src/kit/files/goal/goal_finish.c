/* Turns finished blocks into a schedule in order of ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "kit/files/goal/goal_build.h"

static void add_facts(struct iwi_goal_builder *builder, const struct iwi_goal_builder *other)
{
    struct iwi_schedule_facts *facts = &builder->facts;

    builder->max_cpu = other->max_cpu > builder->max_cpu ? other->max_cpu : builder->max_cpu;
    builder->max_nic = other->max_nic > builder->max_nic ? other->max_nic : builder->max_nic;
    facts->has_wildcards |= other->facts.has_wildcards;
    facts->has_phases |= other->facts.has_phases;
    facts->sends += other->facts.sends;
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
