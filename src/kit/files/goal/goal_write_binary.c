/* Writes a schedule as binary GOAL.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "kit/files/goal/goal.h"
#include "kit/files/goal/goal_binary.h"

/* Successors of one node. */
struct fan {
    uint32_t ends, starts;
};

struct writer {
    struct iwi_goal_sink *sink;
    struct fan *fans; /* of the current rank's nodes */
    size_t fan_capacity;
    uint32_t *list; /* the current rank's index list */
    size_t list_capacity;
    uint64_t *position; /* in the list: where the next successor of a node goes; first ends, then starts */
    size_t position_capacity;
};

static void put_u32(struct iwi_out *out, uint32_t value)
{
    iwi_goal_put_u32(iwi_out_reserve(out), value);
    out->used += sizeof value;
}

static uint64_t count_roots(const struct iwi_schedule *schedule, uint32_t rank)
{
    uint64_t roots = 0;

    for (uint64_t n = schedule->first_node[rank]; n < schedule->first_node[rank + 1]; n++) {
        roots += schedule->first_dep[n] == schedule->first_dep[n + 1];
    }
    return roots;
}

static uint64_t count_deps(const struct iwi_schedule *schedule, uint32_t rank)
{
    return schedule->first_dep[schedule->first_node[rank + 1]] -
           schedule->first_dep[schedule->first_node[rank]];
}

static iw_status put_header(struct iwi_goal_sink *sink)
{
    const struct iwi_schedule *schedule = sink->schedule;
    uint64_t position =
        IWI_GOAL_HEADER_BYTES - IWI_GOAL_BASE + (uint64_t)schedule->ranks * IWI_GOAL_ENTRY_BYTES;
    char *p = iwi_out_reserve(sink->out);

    iwi_goal_put_u64(p, IWI_GOAL_MAGIC);
    iwi_goal_put_u32(p + 8, schedule->ranks);
    p[12] = (char)(schedule->cpu_count - 1);
    p[13] = (char)(schedule->nic_count - 1);
    sink->out->used += IWI_GOAL_HEADER_BYTES;
    for (uint32_t r = 0; r < schedule->ranks; r++) {
        const uint64_t nodes = schedule->first_node[r + 1] - schedule->first_node[r];
        const uint64_t deps = count_deps(schedule, r);

        if (nodes > UINT32_MAX || deps > UINT32_MAX) {
            return iwi_fail(sink->out->log, IW_ERR_RANGE,
                            "rank %" PRIu32 " has %" PRIu64 " operations and %" PRIu64
                            " dependencies; binary GOAL holds 2^32 - 1",
                            r, nodes, deps);
        }
        p = iwi_out_reserve(sink->out);
        iwi_goal_put_u64(p, position);
        position += IWI_GOAL_RANK_BYTES + 4 * (count_roots(schedule, r) + deps) + IWI_GOAL_NODE_BYTES * nodes;
        iwi_goal_put_u64(p + 8, position);
        sink->out->used += IWI_GOAL_ENTRY_BYTES;
    }
    return IW_OK;
}

/* Turns "depends on" into lists of successors, ascending within each list. */
static iw_status invert_deps(struct writer *writer, uint64_t first, uint32_t nodes)
{
    const iw_log *log = writer->sink->out->log;
    const struct iwi_schedule *schedule = writer->sink->schedule;
    const uint64_t first_dep = schedule->first_dep[first], end_dep = schedule->first_dep[first + nodes];
    uint64_t position = 0;

    IW_TRY(iwi_grow(log, (void **)&writer->fans, &writer->fan_capacity, (size_t)nodes + 1,
                    sizeof *writer->fans));
    IW_TRY(iwi_grow(log, (void **)&writer->position, &writer->position_capacity, 2 * (size_t)nodes + 2,
                    sizeof *writer->position));
    IW_TRY(iwi_grow(log, (void **)&writer->list, &writer->list_capacity, end_dep - first_dep + 1,
                    sizeof *writer->list));
    memset(writer->fans, 0, nodes * sizeof *writer->fans);
    for (uint64_t d = first_dep; d < end_dep; d++) {
        struct fan *fan = &writer->fans[schedule->deps[d].node];

        fan->ends += !schedule->deps[d].is_start;
        fan->starts += schedule->deps[d].is_start;
    }
    for (uint32_t n = 0; n < nodes; n++) {
        writer->position[2 * (size_t)n] = position;
        position += writer->fans[n].ends;
        writer->position[2 * (size_t)n + 1] = position;
        position += writer->fans[n].starts;
    }
    for (uint32_t n = 0; n < nodes; n++) {
        for (uint64_t d = schedule->first_dep[first + n]; d < schedule->first_dep[first + n + 1]; d++) {
            const struct iwi_dep dep = schedule->deps[d];

            writer->list[writer->position[2 * (size_t)dep.node + dep.is_start]++] = n;
        }
    }
    return IW_OK;
}

/* `list_position`: where the node's successors begin. */
static void put_node(struct iwi_goal_sink *sink, const struct iwi_node *node, uint64_t size, uint32_t open,
                     struct fan fan, uint32_t list_position)
{
    static const char types[] = {
        [IWI_CALC] = IWI_GOAL_TYPE_CALC, [IWI_SEND] = IWI_GOAL_TYPE_SEND, [IWI_RECV] = IWI_GOAL_TYPE_RECV};
    char *p = iwi_out_reserve(sink->out);

    iwi_goal_put_u32(p + IWI_GOAL_NODE_OPEN, open);
    p[IWI_GOAL_NODE_TYPE] = types[node->kind];
    iwi_goal_put_u32(p + IWI_GOAL_NODE_PEER, node->kind == IWI_CALC ? 0 : node->peer);
    iwi_goal_put_u64(p + IWI_GOAL_NODE_SIZE, size);
    iwi_goal_put_u32(p + IWI_GOAL_NODE_TAG, node->kind == IWI_CALC ? 0 : node->tag);
    p[IWI_GOAL_NODE_CPU] = (char)node->cpu;
    p[IWI_GOAL_NODE_NIC] = (char)node->nic;
    iwi_goal_put_u32(p + IWI_GOAL_NODE_ENDS, fan.ends);
    iwi_goal_put_u32(p + IWI_GOAL_NODE_ENDS + 4, list_position);
    iwi_goal_put_u32(p + IWI_GOAL_NODE_STARTS, fan.starts);
    iwi_goal_put_u32(p + IWI_GOAL_NODE_STARTS + 4, list_position + fan.ends);
    sink->out->used += IWI_GOAL_NODE_BYTES;
}

static iw_status put_rank(struct writer *writer, uint32_t rank)
{
    struct iwi_goal_sink *sink = writer->sink;
    const struct iwi_schedule *schedule = sink->schedule;
    const uint64_t first = schedule->first_node[rank];
    const uint32_t nodes = (uint32_t)(schedule->first_node[rank + 1] - first);
    const uint64_t *first_dep = schedule->first_dep + first;
    uint64_t step = 0;
    uint32_t list_position = 0;

    IW_TRY(invert_deps(writer, first, nodes));
    put_u32(sink->out, nodes);
    put_u32(sink->out, (uint32_t)count_roots(schedule, rank));
    for (uint32_t n = 0; n < nodes; n++) {
        if (first_dep[n] == first_dep[n + 1]) {
            put_u32(sink->out, n);
        }
    }
    for (uint32_t n = 0; n < nodes; n++) {
        const struct iwi_node *node = &schedule->nodes[first + n];
        const uint64_t size =
            node->kind == IWI_CALC ? iwi_goal_calc_units(sink, rank, node, &step) : node->amount;

        put_node(sink, node, size, (uint32_t)(first_dep[n + 1] - first_dep[n]), writer->fans[n],
                 list_position);
        list_position += writer->fans[n].ends + writer->fans[n].starts;
    }
    for (uint32_t i = 0; i < list_position; i++) {
        put_u32(sink->out, writer->list[i]);
    }
    return sink->out->status;
}

iw_status iwi_goal_write_binary(struct iwi_goal_sink *sink)
{
    struct writer writer = {.sink = sink};
    iw_status status = put_header(sink);

    for (uint32_t r = 0; r < sink->schedule->ranks && status == IW_OK; r++) {
        status = put_rank(&writer, r);
    }
    free(writer.fans);
    free(writer.list);
    free(writer.position);
    return status;
}
