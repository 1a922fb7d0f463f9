/* The messages of a Chakra execution trace, one at a time: each has its length before it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CHAKRA_STREAM_H
#define IWI_CHAKRA_STREAM_H

#include <protobuf-c/protobuf-c.h>

#include "features/explain/json/unpacked.h"

enum { IWI_CHAKRA_MESSAGE_MAX = 16 << 20, IWI_CHAKRA_MEMORY_MAX = 64 << 20 };

struct iwi_chakra_stream {
    struct iwi_unpacked bytes;
    unsigned char *buffer;
    size_t at, used, capacity;
    uint64_t behind; /* bytes before buffer[0], unpacked */
    uint64_t byte;   /* of the message that was read last */
    bool has_ended;
    ProtobufCAllocator allocator; /* counts, and ends at IWI_CHAKRA_MEMORY_MAX */
    size_t taken;                 /* by the message that is in memory */
};

/* `path` NULL: memory. To be closed if IW_OK. */
IW_NODISCARD iw_status iwi_chakra_open(const iw_log *log, const char *path, const char *name,
                                       const void *data, size_t size, struct iwi_chakra_stream *stream);
void iwi_chakra_close(struct iwi_chakra_stream *stream);

/* The next message of the kind; *message_p is NULL at the end. To be freed by iwi_chakra_free().
 * IW_ERR_TRUNCATED, IW_ERR_RANGE: too long; IW_ERR_FORMAT: no such message. */
IW_NODISCARD iw_status iwi_chakra_next(struct iwi_chakra_stream *stream,
                                       const ProtobufCMessageDescriptor *kind, ProtobufCMessage **message_p);
void iwi_chakra_free(struct iwi_chakra_stream *stream, ProtobufCMessage *message);

#define iwi_chakra_fail(stream, status, format, ...)                                               \
    iwi_fail((stream)->bytes.log, status, "'%s', byte %" PRIu64 ": " format, (stream)->bytes.name, \
             (stream)->byte, ##__VA_ARGS__)

#endif
