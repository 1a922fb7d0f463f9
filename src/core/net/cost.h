/* What a message of k bytes costs under LogGOPS (docs/explanation/semantics.md, rules 2, 3, 5 and 10).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_COST_H
#define IWI_COST_H

#include <idlewave/sim.h>

#include "core/program/program.h"

struct iwi_cost {
    iw_time send_cpu, recv_cpu; /* o + (k-1)O */
    /* 1 where the CPU has to be there for a part that takes no time (rule 1), else 0: the part from t on ends
     * at finish(t, send_cpu + send_touch) - send_touch. */
    iw_time send_touch, recv_touch;
    iw_time gap;        /* g + (k-1)G */
    iw_time wire;       /* L + (k-1)G */
    iw_time bytes_part; /* (k-1)G alone, or (k-from)G of a segment, for explaining */
    bool is_rendezvous;
    uint32_t inner;            /* number of the level inside the network; IW_NET_INNER_MAX: the outermost */
    const iw_net_costs *costs; /* of the level */
};

/* The segment of a measured network that this size falls into. */
static inline struct iwi_cost iwi_cost_of_segment(const iw_net_costs *costs, uint64_t bytes)
{
    const iw_net_segment *segment = &costs->segments[costs->segment_count - 1];
    iw_time overhead, transfer;

    while (bytes < segment->from_bytes) {
        segment--;
    }
    overhead = iwi_bytes_cost(segment->O, bytes - segment->from_bytes);
    transfer = iwi_bytes_cost(segment->G, bytes - segment->from_bytes);
    return (struct iwi_cost){.send_cpu = segment->o_send_ps + overhead,
                             .recv_cpu = segment->o_recv_ps + overhead,
                             .gap = segment->g_ps + transfer,
                             .wire = segment->L_ps + transfer,
                             .bytes_part = transfer,
                             .costs = costs};
}

/* Below the first segment. A message of 0 bytes costs as one of 1 byte: there is an envelope to carry. */
static inline struct iwi_cost iwi_cost_before_segments(const iw_net_costs *costs, uint64_t bytes)
{
    const uint64_t further = bytes > 0 ? bytes - 1 : 0;
    const iw_time overhead = iwi_bytes_cost(costs->O, further);
    const iw_time transfer = iwi_bytes_cost(costs->G, further);

    return (struct iwi_cost){.send_cpu = costs->o_send_ps + overhead,
                             .recv_cpu = costs->o_recv_ps + overhead,
                             .gap = costs->g_ps + transfer,
                             .wire = costs->L_ps + transfer,
                             .bytes_part = transfer,
                             .costs = costs};
}

static inline struct iwi_cost iwi_cost_by(const iw_net_costs *costs, uint64_t bytes)
{
    struct iwi_cost cost = costs->segment_count > 0 && bytes >= costs->segments[0].from_bytes
                               ? iwi_cost_of_segment(costs, bytes)
                               : iwi_cost_before_segments(costs, bytes);

    cost.send_touch = cost.send_cpu == 0 && !costs->is_device_progress;
    cost.recv_touch = cost.recv_cpu == 0 && !costs->is_device_progress;
    return cost;
}

/* Some messages may have parts of which send_touch or recv_touch is 1. */
static inline bool iwi_costs_may_touch(const iw_net_costs *costs)
{
    bool is_free = costs->o_send_ps == 0 || costs->o_recv_ps == 0;

    for (uint32_t i = 0; i < costs->segment_count; i++) {
        is_free |= costs->segments[i].o_send_ps == 0 || costs->segments[i].o_recv_ps == 0;
    }
    return is_free && !costs->is_device_progress;
}

static inline bool iwi_net_may_touch(const iw_net *net)
{
    bool may = iwi_costs_may_touch(&net->costs);

    for (uint32_t level = 0; level < net->inner_count; level++) {
        may |= iwi_costs_may_touch(&net->inner[level].costs);
    }
    return may;
}

/* 1 where receives are posted when no detour holds the CPU, 0 where a device does it: at all levels, since
 * the sender may be anybody. */
static inline iw_time iwi_post_touch(const iw_net *net)
{
    bool is_device = net->costs.is_device_progress;

    for (uint32_t level = 0; level < net->inner_count; level++) {
        is_device &= net->inner[level].costs.is_device_progress;
    }
    return !is_device;
}

/* Messages wait for NICs: of networks as iwi_net_effective() leaves them, and of others. */
static inline bool iwi_net_has_queues(const iw_net *net)
{
    return net->nics.count > 0 && net->nics.sharing == IW_NIC_QUEUES;
}

/* Level inner_count is the outermost. */
static inline struct iwi_cost iwi_cost_at(const iw_net *net, uint32_t level, uint64_t bytes)
{
    struct iwi_cost cost =
        iwi_cost_by(level < net->inner_count ? &net->inner[level].costs : &net->costs, bytes);

    cost.is_rendezvous = bytes > net->S_bytes;
    cost.inner = level < net->inner_count ? level : IW_NET_INNER_MAX;
    return cost;
}

/* At the outermost level. */
static inline struct iwi_cost iwi_cost_of(const iw_net *net, uint64_t bytes)
{
    return iwi_cost_at(net, net->inner_count, bytes);
}

/* Of the message that a send carries at a level: a synchronous one goes by rendezvous at any size. */
static inline struct iwi_cost iwi_cost_of_send(const iw_net *net, uint32_t level, const struct iwi_node *send)
{
    struct iwi_cost cost = iwi_cost_at(net, level, send->amount);

    cost.is_rendezvous |= (send->flags & IWI_NODE_SYNCHRONOUS) != 0;
    return cost;
}

/* What rendezvous adds between the later of "RTS is there" and "receive posted", and the start of the
 * transfer: nothing if ideal; else handling the RTS, and the CTS on its way back. */
static inline iw_time iwi_cost_handshake(const iw_net_costs *net, iw_rendezvous rendezvous)
{
    return rendezvous == IW_RENDEZVOUS_IDEAL ? 0
                                             : net->o_recv_ps + net->o_send_ps + net->L_ps + net->o_recv_ps;
}

/* How long after the end of the send's CPU part the receiver knows of it: the RTS travels. */
static inline iw_time iwi_cost_notice(const iw_net_costs *net, iw_rendezvous rendezvous)
{
    return rendezvous == IW_RENDEZVOUS_IDEAL ? 0 : net->L_ps;
}

#endif
