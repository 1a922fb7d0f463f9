/* SPDX-License-Identifier: BSD-3-Clause */
#include "reference_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/net/level.h"

static void write_id(const char *key, uint32_t id)
{
    if (id == IWI_ANY) {
        printf(",\"%s\":null", key);
    } else {
        printf(",\"%s\":%" PRIu32, key, id);
    }
}

static void write_deps(const char *key, const struct iwi_schedule *schedule, uint64_t node, bool is_start)
{
    const char *comma = "";

    printf(",\"%s\":[", key);
    for (uint64_t k = schedule->first_dep[node]; k < schedule->first_dep[node + 1]; k++) {
        if (schedule->deps[k].is_start == is_start) {
            printf("%s%" PRIu32, comma, schedule->deps[k].node);
            comma = ",";
        }
    }
    printf("]");
}

const char *iwt_json_bool(bool is_true)
{
    return is_true ? "true" : "false";
}

static void write_op(const struct iwi_schedule *schedule, uint64_t n)
{
    static const char *const kinds[] = {"", "calc", "send", "recv", "wait"};
    const struct iwi_node *node = &schedule->nodes[n];

    printf("{\"kind\":\"%s\",\"n\":%" PRIu64
           ",\"nonblocking\":%s,\"phase\":%s,\"sync\":%s,\"cpu\":%u,\"nic\":%u",
           kinds[node->kind], node->amount, iwt_json_bool(node->flags & IWI_NODE_NONBLOCKING),
           iwt_json_bool(node->flags & IWI_NODE_PHASE), iwt_json_bool(node->flags & IWI_NODE_SYNCHRONOUS),
           node->cpu, node->nic);
    write_id("peer", node->peer);
    write_id("tag", node->tag);
    write_deps("requires", schedule, n, false);
    write_deps("irequires", schedule, n, true);
    printf("}");
}

void iwt_write_ops(const struct iwi_schedule *schedule)
{
    printf(",\"ops\":[");
    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        printf("%s[", rank > 0 ? "," : "");
        for (uint64_t n = schedule->first_node[rank]; n < schedule->first_node[rank + 1]; n++) {
            printf("%s", n > schedule->first_node[rank] ? "," : "");
            write_op(schedule, n);
        }
        printf("]");
    }
    printf("]");
}

static void write_level(uint32_t ranks, const iw_net_costs *costs)
{
    printf("{\"ranks\":%" PRIu32 ",\"L\":%" PRId64 ",\"o_s\":%" PRId64 ",\"o_r\":%" PRId64 ",\"g\":%" PRId64
           ",\"G\":%" PRId64 ",\"O\":%" PRId64 ",\"device\":%s,\"segments\":[",
           ranks, costs->L_ps, costs->o_send_ps, costs->o_recv_ps, costs->g_ps, (int64_t)costs->G,
           (int64_t)costs->O, iwt_json_bool(costs->is_device_progress));
    for (uint32_t i = 0; i < costs->segment_count; i++) {
        const iw_net_segment *s = &costs->segments[i];

        printf("%s[%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]",
               i > 0 ? "," : "", s->from_bytes, s->L_ps, s->o_send_ps, s->o_recv_ps, s->g_ps, (int64_t)s->G,
               (int64_t)s->O);
    }
    printf("]}");
}

void iwt_write_net(const iw_net *net)
{
    const uint32_t node_ranks = net->inner_count == 0 ? 0 : net->inner[iwi_node_level(net)].ranks;

    printf(",\"net\":{\"S\":%" PRIu64 ",\"node_ranks\":%" PRIu32 ",\"placement\":", net->S_bytes, node_ranks);
    if (net->inner_count > 0 && net->placement == IW_PLACEMENT_LIST) {
        for (uint32_t rank = 0; rank < net->list.count; rank++) {
            printf("%s%" PRIu32, rank > 0 ? "," : "[", net->list.nodes[rank]);
        }
        printf("]");
    } else {
        printf("\"%s\"", net->placement == IW_PLACEMENT_ROUND_ROBIN ? "round-robin" : "block");
    }
    printf(",\"levels\":[");
    for (uint32_t i = 0; i < net->inner_count; i++) {
        write_level(net->inner[i].ranks, &net->inner[i].costs);
        printf(",");
    }
    write_level(0, &net->costs);
    printf("]}");
}
