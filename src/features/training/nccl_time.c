/* What a collective of NCCL takes: latency + bytes / bandwidth, the least over rings, trees and protocols.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Latencies are those of NCCL's own tuning (src/graph/tuning.cc of NVIDIA/nccl 5067397c); bandwidths are
 * settings. A ring of P ranks on N nodes takes P - 1 steps (all-reduce: twice), of which N - 1 cross nodes.
 */
#include <math.h>

#include "core/base/base.h"
#include "features/training/step_plan.h"

enum { LL, LL128, SIMPLE, PROTOCOLS };

static const double ring_base_us[PROTOCOLS] = {6.6, 14.0, 8.4}, tree_base_us[PROTOCOLS] = {6.8, 14.0, 8.4};
static const double ring_node_us[PROTOCOLS] = {0.6, 1.9, 3.4}, tree_node_us[PROTOCOLS] = {0.6, 1.25, 4.0};
static const double ring_net_us[PROTOCOLS] = {2.7, 4.0, 14.0}, tree_net_us[PROTOCOLS] = {5.0, 8.5, 14.0};
static const double bandwidth_factor[PROTOCOLS] = {0.5, 0.92, 1.0};
static const double SIMPLE_ACROSS = 1.4; /* all-reduce by rings across nodes */

/* How the members of a group lie on nodes. */
struct lie {
    double members, nodes, each; /* each: members on one node */
};

static struct lie lie_of(const iw_training *spec, uint32_t members, uint32_t stride)
{
    const uint32_t fitting = stride < spec->node_gpus ? spec->node_gpus / stride : 1;
    const uint32_t each = fitting < members ? fitting : members;

    return (struct lie){members, ceil((double)members / each), each};
}

bool iwi_group_leaves_node(const iw_training *spec, uint32_t members, uint32_t stride)
{
    return members > 1 && lie_of(spec, members, stride).nodes > 1;
}

/* Of one rank's data through the ring: inside of a node all of NVLink, outside a NIC for each member. */
static double ring_bandwidth(const iw_training *spec, const struct lie *lie)
{
    return lie->nodes > 1 ? fmin(spec->node_bandwidth, lie->each * spec->net_bandwidth)
                          : spec->node_bandwidth;
}

static double ring_s(const iw_training *spec, const struct iwi_nccl_call *call, const struct lie *lie,
                     int protocol)
{
    const double passes = call->op == IWI_NCCL_ALL_REDUCE ? 2.0 : 1.0;
    const double steps = passes * (lie->members - 1.0), across = passes * (lie->nodes - 1.0);
    const double slow =
        call->op == IWI_NCCL_ALL_REDUCE && lie->nodes > 1 && protocol == SIMPLE ? SIMPLE_ACROSS : 1.0;
    const double latency_us = ring_base_us[protocol] + (steps - across) * ring_node_us[protocol] +
                              across * ring_net_us[protocol] * slow;

    return latency_us * 1e-6 +
           steps / lie->members * call->bytes / (ring_bandwidth(spec, lie) * bandwidth_factor[protocol]);
}

static double tree_s(const iw_training *spec, const struct iwi_nccl_call *call, const struct lie *lie,
                     int protocol)
{
    const double latency_us = tree_base_us[protocol] + 2.0 * ((lie->each - 1.0) * tree_node_us[protocol] +
                                                              ceil(log2(lie->nodes)) * tree_net_us[protocol]);

    return latency_us * 1e-6 + 2.0 * call->bytes / (ring_bandwidth(spec, lie) * bandwidth_factor[protocol]);
}

/* Each rank sends to all others: what leaves the node goes through its own NIC, the rest through NVLink. */
static double all_to_all_s(const iw_training *spec, const struct iwi_nccl_call *call, const struct lie *lie)
{
    const double outside = (lie->members - lie->each) / fmax(1.0, lie->members - 1.0);
    const double net_s = call->bytes * outside / spec->net_bandwidth;
    const double node_s = call->bytes * (1.0 - outside) / spec->node_bandwidth;

    return (ring_base_us[SIMPLE] + (lie->nodes > 1 ? ring_net_us[SIMPLE] : ring_node_us[SIMPLE])) * 1e-6 +
           fmax(net_s, node_s);
}

iw_time iwi_nccl_ps(const iw_training *spec, const struct iwi_nccl_call *call)
{
    const struct lie lie = lie_of(spec, call->members, call->stride);
    double best_s = INFINITY;

    if (call->members <= 1 || spec->is_net_free || call->bytes <= 0) {
        return 0;
    }
    if (call->op == IWI_NCCL_ALL_TO_ALL) {
        return iwi_seconds_ps(all_to_all_s(spec, call, &lie));
    }
    for (int protocol = 0; protocol < PROTOCOLS; protocol++) {
        best_s = fmin(best_s, ring_s(spec, call, &lie, protocol));
        if (call->op == IWI_NCCL_ALL_REDUCE) {
            best_s = fmin(best_s, tree_s(spec, call, &lie, protocol));
        }
    }
    return iwi_seconds_ps(best_s);
}
