/* What a network says of its machine: levels, and what messages take at each.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/machine.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/net/cost.h"
#include "core/net/net.h"

static iw_time takes(const iw_net *net, uint32_t level, uint64_t bytes)
{
    const struct iwi_cost cost = iwi_cost_at(net, level, bytes);

    return cost.send_cpu + cost.wire + cost.recv_cpu;
}

/* Bytes per ns, of what takes so long for each byte. */
static double rate_of(iw_fs_per_byte per_byte)
{
    const double fs_per_ns = 1e6;

    return per_byte > 0 ? fs_per_ns / (double)per_byte : 0.0;
}

/* Network and CPU work side by side on messages in a row: the slower of both counts. */
static double rate_of_large(const iw_net_costs *costs)
{
    const iw_net_segment *last = costs->segment_count > 0 ? &costs->segments[costs->segment_count - 1] : NULL;
    const iw_fs_per_byte G = last != NULL ? last->G : costs->G, O = last != NULL ? last->O : costs->O;

    return rate_of(G > O ? G : O);
}

/* The network for two ranks while all others are silent. */
static iw_status make_alone(const iw_log *log, const iw_net *net, iw_net *alone_p)
{
    iw_net alone = *net;

    for (uint32_t i = 0; i < alone.inner_count; i++) {
        alone.inner[i].taper = 0.0;
    }
    alone.nics.active = 1;
    alone.nics.sharing = IW_NIC_MAX_RATE;
    return iwi_net_effective(log, &alone, alone_p);
}

/* Groups of the level inside, of which the innermost has none. */
static uint32_t parts_of(const iw_net *net, uint32_t inner)
{
    return inner == 0 ? 0 : net->inner[inner].ranks / net->inner[inner - 1].ranks;
}

static iw_net_machine_level describe_level(const iw_net *net, const iw_net *alone, const iw_net *shared,
                                           uint32_t index)
{
    const bool is_inner = index < net->inner_count;
    const iw_net_costs *costs = is_inner ? &alone->inner[index].costs : &alone->costs;
    const uint32_t segments = costs->segment_count;
    iw_net_machine_level level = {
        .ranks = is_inner ? net->inner[index].ranks : 0,
        .parts = is_inner ? parts_of(net, index) : 0,
        .L_ps = costs->L_ps,
        .o_send_ps = costs->o_send_ps,
        .o_recv_ps = costs->o_recv_ps,
        .g_ps = costs->g_ps,
        .G = costs->G,
        .bytes_per_ns = rate_of_large(costs),
        .segments = segments,
        .taper = is_inner ? net->inner[index].taper : 0.0,
        .is_node = is_inner && net->nics.count > 0 && index == net->nics.node_level,
        .small_ps = takes(alone, index, IW_NET_MACHINE_SMALL_BYTES),
        .large_ps = takes(alone, index, IW_NET_MACHINE_LARGE_BYTES),
        .shared_ps = takes(shared, index, IW_NET_MACHINE_LARGE_BYTES),
        .is_device_progress = costs->is_device_progress,
    };

    snprintf(level.name, sizeof level.name, "%s", iw_net_level_name(net, index));
    return level;
}

static iw_status count_nodes(const iw_log *log, const iw_node_list *list, uint32_t *count_p)
{
    uint32_t *sorted = iwi_new_array(log, list->count, sizeof *sorted);
    uint32_t count = 0;

    if (sorted == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(sorted, list->nodes, list->count * sizeof *sorted);
    iwi_sort(sorted, list->count, iwi_compare_u32);
    for (uint32_t i = 0; i < list->count; i++) {
        count += i == 0 || sorted[i] != sorted[i - 1];
    }
    free(sorted);
    *count_p = count;
    return IW_OK;
}

iw_status iw_net_machine_describe(const iw_log *log, const iw_net *net, iw_net_machine *machine_p)
{
    const bool has_nics = net->nics.count > 0;
    iw_net_machine machine = {.level_count = net->inner_count + 1,
                              .S_bytes = net->S_bytes,
                              .placement = net->inner_count > 0 ? net->placement : IW_PLACEMENT_BLOCK,
                              .nic_count = net->nics.count,
                              .nic_bytes_per_ns = has_nics ? rate_of(net->nics.G) : 0.0,
                              .has_rails = has_nics && net->nics.has_rails,
                              .memory = net->memory};
    iw_net alone, shared;

    IW_TRY(iw_net_check(log, net));
    IW_TRY(make_alone(log, net, &alone));
    IW_TRY(iwi_net_effective(log, net, &shared));
    snprintf(machine.name, sizeof machine.name, "%s", net->name);
    iw_caveats_of_net(net, UINT32_MAX, &machine.caveats);
    for (uint32_t i = 0; i <= net->inner_count; i++) {
        machine.levels[i] = describe_level(net, &alone, &shared, i);
    }
    if (has_nics && net->nics.sharing == IW_NIC_MAX_RATE) {
        machine.active = net->nics.active > 0 ? net->nics.active : net->inner[net->nics.node_level].ranks;
    }
    if (machine.placement == IW_PLACEMENT_LIST) {
        machine.placed_ranks = net->list.count;
        IW_TRY(count_nodes(log, &net->list, &machine.placed_nodes));
    }
    *machine_p = machine;
    return IW_OK;
}
