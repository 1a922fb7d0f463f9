/* Messages between two ranks with one tag, on their way: the k-th send meets the k-th receive.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A message is kept from its send, or from the posting of its receive, until both have what they need. So
 * the memory is that of messages on their way, and not of all.
 */
#ifndef IWI_FLOW_CHANNELS_H
#define IWI_FLOW_CHANNELS_H

#include <idlewave/sim.h>

/* Messages are numbered from 0 on. */
struct iwi_flow_channel {
    uint32_t source, dest, tag;
    uint32_t sent, posted; /* so many sends have been issued, receives posted */
    uint32_t first;        /* those before are over */
    uint32_t ring;         /* where its messages are among all: message k is the one at ring + k % room */
    uint32_t room;         /* a power of 2; 0: this is no channel */
};

/* Times follow it: when its send had done its CPU part and when its receive was posted, each of all lanes;
 * then, if explaining, the paths of both. */
struct iwi_channel_message {
    uint64_t bytes;
    uint32_t left; /* who still needs it: the receive; the send too, by rendezvous */
    bool is_rendezvous;
};

enum { IWI_ROOM_SIZES = 32 };

struct iwi_channels {
    const iw_log *log;
    struct iwi_flow_channel *table; /* open addressing */
    size_t slots, used, most_slots;
    char *messages;
    size_t message_count, message_capacity;
    uint32_t free_rings[IWI_ROOM_SIZES]; /* by size: the first that is free, + 1; it has the next one */
    uint32_t lanes;
    size_t stride; /* of messages */
};

/* Up to `most_slots` (or so) channels that are idle are kept; what is on its way always is. */
IW_NODISCARD iw_status iwi_channels_init(const iw_log *log, uint32_t lanes, bool is_explaining,
                                         size_t most_slots, struct iwi_channels *channels);
void iwi_channels_release(struct iwi_channels *channels);

/* Makes a channel where there is none; all others may move then. NULL: no memory. */
struct iwi_flow_channel *iwi_channel_make(struct iwi_channels *channels, uint32_t source, uint32_t dest,
                                          uint32_t tag);

/* Makes room for one more message than there are; messages may move. */
IW_NODISCARD iw_status iwi_channel_widen(struct iwi_channels *channels, struct iwi_flow_channel *channel);

/* ---- what is done for every message ---- */

static inline size_t iwi_channel_slot(const struct iwi_channels *channels, uint32_t source, uint32_t dest,
                                      uint32_t tag)
{
    const uint64_t key =
        ((uint64_t)source << 32 | dest) * UINT64_C(0x9e3779b97f4a7c15) ^ tag * UINT64_C(0xc2b2ae3d27d4eb4f);

    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (channels->slots - 1);
}

/* The slot of a channel, or the empty one where it would be. */
static inline struct iwi_flow_channel *iwi_channel_find(const struct iwi_channels *channels, uint32_t source,
                                                        uint32_t dest, uint32_t tag)
{
    size_t at = iwi_channel_slot(channels, source, dest, tag);

    while (channels->table[at].room != 0 &&
           (channels->table[at].source != source || channels->table[at].dest != dest ||
            channels->table[at].tag != tag)) {
        at = (at + 1) & (channels->slots - 1);
    }
    return &channels->table[at];
}

static inline struct iwi_flow_channel *iwi_channel_of(struct iwi_channels *channels, uint32_t source,
                                                      uint32_t dest, uint32_t tag)
{
    struct iwi_flow_channel *channel = iwi_channel_find(channels, source, dest, tag);

    return channel->room != 0 ? channel : iwi_channel_make(channels, source, dest, tag);
}

static inline struct iwi_channel_message *iwi_channel_message(const struct iwi_channels *channels,
                                                              const struct iwi_flow_channel *channel,
                                                              uint32_t number)
{
    /* NOLINTBEGIN(clang-analyzer-core.NullDereference): who asks has a channel, which it does not see */
    return (struct iwi_channel_message *)(void *)(channels->messages +
                                                  channels->stride *
                                                      (channel->ring + (number & (channel->room - 1))));
    /* NOLINTEND(clang-analyzer-core.NullDereference) */
}

static inline iw_time *iwi_message_sent(struct iwi_channel_message *message)
{
    return (iw_time *)(message + 1);
}

static inline iw_time *iwi_message_posted(const struct iwi_channels *channels,
                                          struct iwi_channel_message *message)
{
    return iwi_message_sent(message) + channels->lanes;
}

/* Of the send, followed by that of the posting. */
static inline uint32_t *iwi_message_paths(const struct iwi_channels *channels,
                                          struct iwi_channel_message *message)
{
    return (uint32_t *)(void *)(iwi_message_posted(channels, message) + channels->lanes);
}

/* Message `number` of it may be added. */
static inline bool iwi_channel_has_room(const struct iwi_flow_channel *channel, uint32_t number)
{
    return number - channel->first < channel->room;
}

/* One of those who need the message needs it no more. */
static inline void iwi_channel_leave(const struct iwi_channels *channels, struct iwi_flow_channel *channel,
                                     uint32_t number)
{
    iwi_channel_message(channels, channel, number)->left--;
    while (channel->first < channel->sent && channel->first < channel->posted &&
           iwi_channel_message(channels, channel, channel->first)->left == 0) {
        channel->first++;
    }
}

#endif
