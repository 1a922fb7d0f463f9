/* The event engine's NICs with queues (docs/explanation/semantics.md, rule 12): messages that leave a node
 * wait for a NIC of theirs in the order of time, and for one of their receiver's.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/sim/event/event_path.h"

static size_t nic_of(const struct event_run *run, uint32_t rank)
{
    const struct event_nics *nics = &run->nics;
    const uint32_t place = iwi_level_place(&run->job->levels, rank);

    return (size_t)(place / nics->ranks) * nics->rails + place % nics->ranks % nics->rails;
}

static size_t count_nics(const struct event_run *run)
{
    size_t count = 0;

    for (uint32_t rank = 0; rank < run->schedule->ranks; rank++) {
        const size_t nic = nic_of(run, rank);

        count = nic >= count ? nic + 1 : count;
    }
    return count;
}

iw_status iwi_event_nics_init(struct event_run *run)
{
    const iw_net *net = run->job->net;
    struct event_nics *nics = &run->nics;
    size_t count;

    if (!iwi_net_has_queues(net)) {
        return IW_OK;
    }
    nics->level = net->nics.node_level;
    nics->ranks = net->inner[nics->level].ranks;
    nics->rails = net->nics.has_rails ? net->nics.count : 1;
    nics->G = net->nics.has_rails ? net->nics.G : llround((double)net->nics.G / net->nics.count);
    count = count_nics(run);
    nics->out = iwi_new_array(run->log, count, sizeof *nics->out);
    nics->in = iwi_new_array(run->log, count, sizeof *nics->in);
    if (run->paths != NULL) {
        nics->out_path = iwi_new_array(run->log, count, sizeof *nics->out_path);
        nics->in_path = iwi_new_array(run->log, count, sizeof *nics->in_path);
    }
    return nics->out != NULL && nics->in != NULL &&
                   (run->paths == NULL || (nics->out_path != NULL && nics->in_path != NULL))
               ? IW_OK
               : IW_ERR_NOMEM;
}

void iwi_event_nics_release(struct event_nics *nics)
{
    free(nics->out);
    free(nics->in);
    free(nics->out_path);
    free(nics->in_path);
}

iw_status iwi_event_to_nic(struct event_run *run, size_t message, iw_time time, const iw_split *path)
{
    const struct event_message *leaving = &run->messages[message];

    if (path != NULL) {
        run->paths->on_way[leaving->send] = *path;
    }
    return iwi_event_push(run->log, &run->queue,
                          (struct iwi_event){.time = iwi_max(run->now, time),
                                             .kind = IWI_EVENT_NIC_OUT,
                                             .rank = leaving->source,
                                             .sequence = message,
                                             .object = message});
}

/* A message takes its turn at a NIC that is free from *free_p on: who waits has been led there by who was
 * before. Returns when its first byte passes. `path` is that of the message, or NULL. */
static iw_time take_turn(struct event_run *run, uint64_t send, iw_time *free_p, iw_split *free_path,
                         iw_split *path)
{
    const struct iwi_cost cost = iwi_event_cost(run, send);
    const uint64_t bytes = run->schedule->nodes[send].amount;
    const iw_time busy = iwi_bytes_cost(run->nics.G, bytes > 0 ? bytes - 1 : 0);
    const iw_time start = iwi_max(run->now, *free_p);

    if (path != NULL) {
        *path = path_of_later(run->now, path, *free_p, free_path);
        *free_path = *path;
        iwi_path_add(free_path, &cost, IW_PART_BYTES, busy);
    }
    *free_p = start + busy;
    run->is_too_late |= *free_p >= IWI_LATEST;
    return start;
}

iw_status iwi_event_nic_out(struct event_run *run, size_t message)
{
    const struct event_message *leaving = &run->messages[message];
    const struct iwi_cost cost = iwi_event_cost(run, leaving->send);
    const iw_time latency = cost.wire - cost.bytes_part;
    const size_t nic = nic_of(run, leaving->source);
    iw_split *path = run->paths == NULL ? NULL : &run->paths->on_way[leaving->send];
    const iw_time start = take_turn(run, leaving->send, &run->nics.out[nic],
                                    path == NULL ? NULL : &run->nics.out_path[nic], path);

    if (path != NULL) {
        iwi_path_add(path, &cost, IW_PART_LATENCY, latency);
        path->hops++;
    }
    return iwi_event_push(run->log, &run->queue,
                          (struct iwi_event){.time = start + latency,
                                             .kind = IWI_EVENT_NIC_IN,
                                             .rank = leaving->source,
                                             .sequence = message,
                                             .object = message});
}

iw_status iwi_event_nic_in(struct event_run *run, size_t message)
{
    const struct event_message *coming = &run->messages[message];
    const struct iwi_cost cost = iwi_event_cost(run, coming->send);
    const size_t nic = nic_of(run, run->schedule->nodes[coming->send].peer);
    iw_split *path = run->paths == NULL ? NULL : &run->paths->on_way[coming->send];
    const iw_time start =
        take_turn(run, coming->send, &run->nics.in[nic], path == NULL ? NULL : &run->nics.in_path[nic], path);
    const struct event_node *send = &run->nodes[coming->send];
    const iw_time delay =
        iwi_event_delay(run, coming->send, IWI_CARRIED_DATA, cost.is_rendezvous ? send->known : send->sent);

    if (path != NULL) {
        iwi_path_add(path, &cost, IW_PART_BYTES, cost.bytes_part);
        path->part_ps[IW_PART_NETWORK] += delay;
    }
    return iwi_event_there(run, message, start + cost.bytes_part + delay);
}
