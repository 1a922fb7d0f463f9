/* Batches of values between members.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/flow/flow_trace_values.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

/* Large enough to make the message cheap, small enough not to keep the receiver waiting. */
enum { BATCH_BYTES = 64 << 10 };

static size_t value_bytes(const struct iwi_values *values)
{
    return values->lanes * sizeof(iw_time) + (values->is_explaining ? sizeof(iw_split) : 0);
}

iw_status iwi_values_start(struct iwi_values *values)
{
    values->unsent = iwi_new_array(values->log, values->peer_count, sizeof *values->unsent);
    return values->unsent == NULL ? IW_ERR_NOMEM : IW_OK;
}

static iw_status wait_for_flights(struct iwi_values *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        IW_TRY(iwi_member_wait(values->member, &values->flights[i].transfer, 1));
        free(values->flights[i].data);
        values->flights[i].data = NULL;
    }
    return IW_OK;
}

void iwi_values_release(struct iwi_values *values)
{
    /* Once the team has failed, nobody touches another's memory. */
    const iw_status status = wait_for_flights(values, values->flight_count);

    for (size_t i = 0; status != IW_OK && i < values->flight_count; i++) {
        free(values->flights[i].data);
    }
    for (size_t k = 0; k < values->peer_count; k++) {
        free(values->peers[k].slots);
        iwi_bytes_release(&values->peers[k].in);
        iwi_bytes_release(&values->peers[k].out);
    }
    free(values->flights);
    free(values->peers);
    free(values->unsent);
}

void iwi_values_restart(struct iwi_values *values)
{
    for (size_t k = 0; k < values->peer_count; k++) {
        values->peers[k].emitted = values->peers[k].taken = 0;
    }
}

/* ---- sending ---- */

static iw_status send_batch(struct iwi_values *values, struct iwi_value_peer *peer)
{
    void *flights = values->flights, *data;
    struct iwi_value_flight *flight;

    IW_TRY(iwi_grow(values->log, &flights, &values->flight_capacity, values->flight_count + 1,
                    sizeof *values->flights));
    values->flights = flights;
    data = iwi_new_array(values->log, peer->out.count, 1);
    if (data == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(data, peer->out.data, peer->out.count);
    flight = &values->flights[values->flight_count++];
    *flight = (struct iwi_value_flight){.data = data};
    IW_TRY(iwi_member_send(values->member, peer->member, data, peer->out.count, &flight->transfer));
    peer->out.count = 0;
    return IW_OK;
}

iw_status iwi_values_flush(struct iwi_values *values)
{
    for (; values->unsent_count > 0; values->unsent_count--) {
        struct iwi_value_peer *peer = &values->peers[values->unsent[values->unsent_count - 1]];

        peer->is_unsent = false;
        if (peer->out.count > 0) { /* not yet sent for its size */
            IW_TRY(send_batch(values, peer));
        }
    }
    return IW_OK;
}

static iw_status begin_batch(struct iwi_values *values, struct iwi_value_peer *peer)
{
    void *data = peer->out.data;

    if (peer->out.capacity < BATCH_BYTES) {
        IW_TRY(iwi_grow(values->log, &data, &peer->out.capacity, BATCH_BYTES, 1));
        peer->out.data = data;
    }
    memcpy(peer->out.data, &peer->emitted, sizeof peer->emitted);
    peer->out.count = sizeof peer->emitted;
    return IW_OK;
}

iw_status iwi_values_emit(struct iwi_values *values, uint32_t index, const struct iwi_value_slots *slots,
                          uint32_t slot)
{
    const size_t time_bytes = values->lanes * sizeof(iw_time);
    struct iwi_value_peer *peer = &values->peers[index];

    if (peer->out.count == 0) {
        IW_TRY(begin_batch(values, peer));
        if (!peer->is_unsent) {
            values->unsent[values->unsent_count++] = index;
            peer->is_unsent = true;
        }
    }
    memcpy(peer->out.data + peer->out.count, slots->times + (size_t)slot * values->lanes, time_bytes);
    if (values->is_explaining) {
        memcpy(peer->out.data + peer->out.count + time_bytes, &slots->splits[slot], sizeof(iw_split));
    }
    peer->out.count += value_bytes(values);
    peer->emitted++;
    return peer->out.count + value_bytes(values) > BATCH_BYTES ? send_batch(values, peer) : IW_OK;
}

iw_status iwi_values_settle(struct iwi_values *values)
{
    const size_t left = values->flight_count - values->old_count;

    IW_TRY(wait_for_flights(values, values->old_count));
    if (left > 0) {
        memmove(values->flights, values->flights + values->old_count, left * sizeof *values->flights);
    }
    values->flight_count = values->old_count = left;
    return IW_OK;
}

/* ---- taking ---- */

static iw_status take_batch(struct iwi_values *values, struct iwi_value_peer *peer)
{
    bool has = false;
    uint64_t first = 0;

    IW_TRY(iwi_member_take(values->member, peer->member, false, &peer->in, &has));
    if (!has) {
        IW_TRY(iwi_values_flush(values));
        IW_TRY(iwi_member_take(values->member, peer->member, true, &peer->in, &has));
    }
    peer->in_at = sizeof first;
    if (peer->in.count > sizeof first) {
        memcpy(&first, peer->in.data, sizeof first);
    }
    if (peer->in.count <= sizeof first || (peer->in.count - sizeof first) % value_bytes(values) != 0 ||
        first != peer->taken) {
        return iwi_fail(values->log, IW_ERR_FORMAT,
                        "member %" PRIu32 " sent %zu bytes where value %" PRIu64
                        " was due: do all processes have the same program?",
                        peer->member, peer->in.count, peer->taken);
    }
    return IW_OK;
}

iw_status iwi_values_take(struct iwi_values *values, uint32_t index, uint64_t count,
                          const struct iwi_value_slots *slots)
{
    const size_t time_bytes = values->lanes * sizeof(iw_time);
    struct iwi_value_peer *peer = &values->peers[index];

    while (peer->taken < count) {
        const uint32_t slot = peer->slots[peer->taken];

        if (peer->in_at == peer->in.count) {
            IW_TRY(take_batch(values, peer));
        }
        memcpy(slots->times + (size_t)slot * values->lanes, peer->in.data + peer->in_at, time_bytes);
        if (values->is_explaining) {
            memcpy(&slots->splits[slot], peer->in.data + peer->in_at + time_bytes, sizeof(iw_split));
        }
        peer->in_at += value_bytes(values);
        peer->taken++;
    }
    return IW_OK;
}
