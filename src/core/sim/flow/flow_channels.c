/* The table of channels, and the memory of the messages in them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/flow/flow_channels.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

enum { FIRST_SLOTS = 256 };

iw_status iwi_channels_init(const iw_log *log, uint32_t lanes, bool is_explaining, size_t most_slots,
                            struct iwi_channels *channels)
{
    *channels =
        (struct iwi_channels){.log = log, .lanes = lanes, .slots = FIRST_SLOTS, .most_slots = most_slots};
    channels->stride = sizeof(struct iwi_channel_message) + (size_t)2 * lanes * sizeof(iw_time) +
                       (is_explaining ? 2 * sizeof(iw_split) : 0);
    channels->table = iwi_new_array(log, FIRST_SLOTS, sizeof *channels->table);
    return channels->table == NULL ? IW_ERR_NOMEM : IW_OK;
}

void iwi_channels_release(struct iwi_channels *channels)
{
    free(channels->table);
    free(channels->messages);
    *channels = (struct iwi_channels){.log = NULL};
}

/* ---- rings ---- */

/* The number of the next free ring is kept in the one before. */
static uint32_t *next_free(const struct iwi_channels *channels, uint32_t ring)
{
    return (uint32_t *)(void *)(channels->messages + channels->stride * ring);
}

static void free_ring(struct iwi_channels *channels, uint32_t ring, uint32_t room)
{
    uint32_t *first = &channels->free_rings[__builtin_ctz(room)];

    *next_free(channels, ring) = *first;
    *first = ring + 1;
}

static iw_status new_ring(struct iwi_channels *channels, uint32_t room, uint32_t *ring_p)
{
    uint32_t *first = &channels->free_rings[__builtin_ctz(room)];

    if (*first != 0) {
        *ring_p = *first - 1;
        *first = *next_free(channels, *ring_p);
        return IW_OK;
    }
    if (channels->message_count + room > UINT32_MAX - 1) {
        return iwi_fail(channels->log, IW_ERR_NOMEM, "more than 2^32 messages are on their way at once");
    }
    IW_TRY(iwi_grow(channels->log, (void **)&channels->messages, &channels->message_capacity,
                    channels->message_count + room, channels->stride));
    *ring_p = (uint32_t)channels->message_count;
    channels->message_count += room;
    return IW_OK;
}

iw_status iwi_channel_widen(struct iwi_channels *channels, struct iwi_flow_channel *channel)
{
    const uint32_t end = channel->sent > channel->posted ? channel->sent : channel->posted;
    struct iwi_flow_channel wider = *channel;

    if (channel->room > UINT32_MAX / 4) {
        return iwi_fail(channels->log, IW_ERR_NOMEM, "too many messages from rank %" PRIu32 " to %" PRIu32,
                        channel->source, channel->dest);
    }
    wider.room *= 2;
    IW_TRY(new_ring(channels, wider.room, &wider.ring));
    for (uint32_t number = channel->first; number != end; number++) {
        memcpy(iwi_channel_message(channels, &wider, number), iwi_channel_message(channels, channel, number),
               channels->stride);
    }
    free_ring(channels, channel->ring, channel->room);
    *channel = wider;
    return IW_OK;
}

/* ---- the table ---- */

static bool is_idle(const struct iwi_flow_channel *channel)
{
    return channel->first == channel->sent && channel->first == channel->posted;
}

static size_t count_busy(const struct iwi_channels *channels)
{
    size_t busy = 0;

    for (size_t at = 0; at < channels->slots; at++) {
        busy += channels->table[at].room != 0 && !is_idle(&channels->table[at]);
    }
    return busy;
}

/* A table that is larger, or without the channels that are idle: these begin again from 0. */
static iw_status make_room(struct iwi_channels *channels)
{
    struct iwi_flow_channel *const before = channels->table;
    const size_t slots = channels->slots;
    const bool keeps_idle = slots < channels->most_slots;

    channels->slots = keeps_idle || count_busy(channels) > slots / 4 ? 2 * slots : slots;
    channels->table = iwi_new_array(channels->log, channels->slots, sizeof *channels->table);
    if (channels->table == NULL) {
        channels->table = before;
        channels->slots = slots;
        return IW_ERR_NOMEM;
    }
    channels->used = 0;
    for (const struct iwi_flow_channel *channel = before; channel < before + slots; channel++) {
        if (channel->room != 0 && (keeps_idle || !is_idle(channel))) {
            *iwi_channel_find(channels, channel->source, channel->dest, channel->tag) = *channel;
            channels->used++;
        } else if (channel->room != 0) {
            free_ring(channels, channel->ring, channel->room);
        }
    }
    free(before);
    return IW_OK;
}

struct iwi_flow_channel *iwi_channel_make(struct iwi_channels *channels, uint32_t source, uint32_t dest,
                                          uint32_t tag)
{
    struct iwi_flow_channel channel = {.source = source, .dest = dest, .tag = tag, .room = 1};
    struct iwi_flow_channel *slot;

    if ((channels->used >= channels->slots / 8 * 5 && make_room(channels) != IW_OK) ||
        new_ring(channels, 1, &channel.ring) != IW_OK) {
        return NULL;
    }
    slot = iwi_channel_find(channels, source, dest, tag);
    *slot = channel;
    channels->used++;
    return slot;
}
