/* Reads messages with their lengths, and decodes them by protobuf-c within a bound of memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/chakra/chakra_stream.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1 << 20, LENGTH_BYTES = 5 };

/* ---- memory of a message ---- */

struct piece {
    size_t size;
    max_align_t memory[];
};

static void *take(void *data, size_t size)
{
    struct iwi_chakra_stream *stream = data;
    struct piece *piece;

    if (size > IWI_CHAKRA_MEMORY_MAX - stream->taken) {
        return NULL;
    }
    piece = malloc(sizeof *piece + size);
    if (piece == NULL) {
        return NULL;
    }
    piece->size = size;
    stream->taken += size;
    return piece->memory;
}

static void give_back(void *data, void *memory)
{
    struct iwi_chakra_stream *stream = data;
    struct piece *piece;

    if (memory != NULL) {
        piece = (struct piece *)(void *)((char *)memory - offsetof(struct piece, memory));
        stream->taken -= piece->size;
        free(piece);
    }
}

/* ---- bytes ---- */

iw_status iwi_chakra_open(const iw_log *log, const char *path, const char *name, const void *data,
                          size_t size, struct iwi_chakra_stream *stream)
{
    iw_status status;

    *stream = (struct iwi_chakra_stream){.capacity = FIRST_CAPACITY, .allocator = {take, give_back, stream}};
    stream->buffer = iwi_new_array(log, stream->capacity, 1);
    if (stream->buffer == NULL) {
        return IW_ERR_NOMEM;
    }
    status = path != NULL ? iwi_unpacked_open(log, path, &stream->bytes)
                          : iwi_unpacked_open_memory(log, name, data, size, &stream->bytes);
    if (status != IW_OK) {
        free(stream->buffer);
    }
    return status;
}

void iwi_chakra_close(struct iwi_chakra_stream *stream)
{
    iwi_unpacked_close(&stream->bytes);
    free(stream->buffer);
}

/* Tries to have `need` bytes behind `at`; there may be fewer at the end. */
static iw_status fill(struct iwi_chakra_stream *stream, size_t need)
{
    size_t got;

    if (stream->used - stream->at >= need || stream->has_ended) {
        return IW_OK;
    }
    memmove(stream->buffer, stream->buffer + stream->at, stream->used - stream->at);
    stream->behind += stream->at;
    stream->used -= stream->at;
    stream->at = 0;
    IW_TRY(iwi_grow(stream->bytes.log, (void **)&stream->buffer, &stream->capacity, need, 1));
    IW_TRY(iwi_unpacked_read(&stream->bytes, (char *)stream->buffer + stream->used,
                             stream->capacity - stream->used, &got));
    stream->has_ended = got < stream->capacity - stream->used;
    stream->used += got;
    return IW_OK;
}

/* Seven bits a byte, the lowest first; the last byte has the high bit clear. */
static iw_status read_length(struct iwi_chakra_stream *stream, uint64_t *length_p)
{
    uint64_t length = 0;

    IW_TRY(fill(stream, LENGTH_BYTES));
    for (unsigned i = 0; i < LENGTH_BYTES; i++) {
        unsigned char byte;

        if (stream->at == stream->used) {
            return iwi_chakra_fail(stream, IW_ERR_TRUNCATED, "the file ends within the length of a message");
        }
        byte = stream->buffer[stream->at++];
        length |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *length_p = length;
            return IW_OK;
        }
    }
    return iwi_chakra_fail(stream, IW_ERR_FORMAT,
                           "no length of a message; is it an execution trace of Chakra?");
}

/* ---- messages ---- */

iw_status iwi_chakra_next(struct iwi_chakra_stream *stream, const ProtobufCMessageDescriptor *kind,
                          ProtobufCMessage **message_p)
{
    uint64_t length;

    *message_p = NULL;
    IW_TRY(fill(stream, 1));
    stream->byte = stream->behind + stream->at;
    if (stream->at == stream->used) {
        return IW_OK;
    }
    IW_TRY(read_length(stream, &length));
    if (length > IWI_CHAKRA_MESSAGE_MAX) {
        return iwi_chakra_fail(
            stream, IW_ERR_RANGE,
            "a message of %" PRIu64 " bytes is too long; is it an execution trace of Chakra?", length);
    }
    IW_TRY(fill(stream, (size_t)length));
    if (stream->used - stream->at < length) {
        return iwi_chakra_fail(stream, IW_ERR_TRUNCATED,
                               "the file ends within a message of %" PRIu64 " bytes", length);
    }
    *message_p =
        protobuf_c_message_unpack(kind, &stream->allocator, (size_t)length, stream->buffer + stream->at);
    if (*message_p == NULL) {
        return iwi_chakra_fail(stream, IW_ERR_FORMAT,
                               "a message cannot be decoded as Chakra's schema has it; traces of versions "
                               "before 0.0.4 (2023) have to be converted again");
    }
    stream->at += (size_t)length;
    return IW_OK;
}

void iwi_chakra_free(struct iwi_chakra_stream *stream, ProtobufCMessage *message)
{
    if (message != NULL) {
        protobuf_c_message_free_unpacked(message, &stream->allocator);
    }
}
