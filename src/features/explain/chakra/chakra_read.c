/* Reads execution traces of Chakra, node by node: kernels of collectives, messages and computation.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <chakra_schema.pb-c.h>
#include <ctype.h>
#include <protobuf-c/protobuf-c.h>
#include <stdlib.h>
#include <string.h>

#include "features/explain/chakra/chakra.h"
#include "features/explain/json/json_items.h"

enum { MOST_CHAKRA_MESSAGE = 16 << 20, MOST_CHAKRA_MEMORY = 64 << 20 };

struct chakra_stream {
    struct iwi_unpacked bytes;
    unsigned char *buffer;
    size_t at, used, capacity;
    uint64_t behind; /* bytes before buffer[0], unpacked */
    uint64_t byte;   /* of the message that was read last */
    bool has_ended;
    ProtobufCAllocator allocator; /* counts, and ends at MOST_CHAKRA_MEMORY */
    size_t taken;                 /* by the message that is in memory */
};

#define iwi_chakra_fail(stream, status, format, ...)                                               \
    iwi_fail((stream)->bytes.log, status, "'%s', byte %" PRIu64 ": " format, (stream)->bytes.name, \
             (stream)->byte, ##__VA_ARGS__)

/* ---- messages with their lengths, decoded within a bound of memory ---- */

enum { FIRST_CAPACITY = 1 << 20, LENGTH_BYTES = 5 };

/* ---- memory of a message ---- */

struct piece {
    size_t size;
    max_align_t memory[];
};

static void *take(void *data, size_t size)
{
    struct chakra_stream *stream = data;
    struct piece *piece;

    if (size > MOST_CHAKRA_MEMORY - stream->taken) {
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
    struct chakra_stream *stream = data;
    struct piece *piece;

    if (memory != NULL) {
        piece = (struct piece *)(void *)((char *)memory - offsetof(struct piece, memory));
        stream->taken -= piece->size;
        free(piece);
    }
}

/* ---- bytes ---- */

/* `path` NULL: memory. To be closed if IW_OK. */
static iw_status chakra_open(const iw_log *log, const char *path, const char *name, const void *data,
                             size_t size, struct chakra_stream *stream)
{
    iw_status status;

    *stream = (struct chakra_stream){.capacity = FIRST_CAPACITY, .allocator = {take, give_back, stream}};
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

static void chakra_close(struct chakra_stream *stream)
{
    iwi_unpacked_close(&stream->bytes);
    free(stream->buffer);
}

/* Tries to have `need` bytes behind `at`; there may be fewer at the end. */
static iw_status fill(struct chakra_stream *stream, size_t need)
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
static iw_status read_length(struct chakra_stream *stream, uint64_t *length_p)
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
                           "no message length; the file is not a Chakra execution trace");
}

/* ---- messages ---- */

/* The next message of the kind; *message_p is NULL at the end. To be freed by chakra_free().
 * IW_ERR_TRUNCATED, IW_ERR_RANGE: too long; IW_ERR_FORMAT: no such message. */
static iw_status chakra_next(struct chakra_stream *stream, const ProtobufCMessageDescriptor *kind,
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
    if (length > MOST_CHAKRA_MESSAGE) {
        return iwi_chakra_fail(
            stream, IW_ERR_RANGE,
            "a message of %" PRIu64 " bytes is too long; the file is not a Chakra execution trace", length);
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
                               "a message does not follow Chakra's schema; convert traces of versions before "
                               "0.0.4 (2023) again");
    }
    stream->at += (size_t)length;
    return IW_OK;
}

static void chakra_free(struct chakra_stream *stream, ProtobufCMessage *message)
{
    if (message != NULL) {
        protobuf_c_message_free_unpacked(message, &stream->allocator);
    }
}

/* ---- nodes ---- */

enum { NODE_METADATA = 1, NODE_COMPUTE = 4, NODE_SEND = 5, NODE_RECEIVE = 6, NODE_COLLECTIVE = 7 };

/* Times are microseconds; what is above is no time. */
#define MOST_US (INT64_C(1) << 52)
#define MOST_TOOK_US (IW_TIME_INPUT_MAX / IW_PS_PER_US)

/* What the attributes of a node say. */
struct marks {
    bool is_on_host, has_source, has_target, has_type;
    const char *group;
    uint64_t type, bytes, source, target, tag, stream;
};

void iwi_chakra_init(struct iwi_chakra *all, const iw_log *log)
{
    *all = (struct iwi_chakra){.log = log};
}

void iwi_chakra_release(struct iwi_chakra *all)
{
    for (size_t i = 0; i < all->group_count; i++) {
        free(all->groups[i].ranks);
    }
    free(all->files);
    free(all->groups);
    free(all->comms);
    free(all->kernels);
    free(all->acts);
    free(all->deps);
    free(all->records);
    *all = (struct iwi_chakra){.log = all->log};
}

/* ---- attributes ---- */

/* A whole number of whichever type; false: it is none, or negative. */
static bool number_of(const IwiChakra__Attribute *attribute, uint64_t *number_p)
{
    int64_t number = -1;

    switch (attribute->value_case) {
    case IWI_CHAKRA__ATTRIBUTE__VALUE_INT32_VAL: number = attribute->int32_val; break;
    case IWI_CHAKRA__ATTRIBUTE__VALUE_INT64_VAL: number = attribute->int64_val; break;
    case IWI_CHAKRA__ATTRIBUTE__VALUE_SINT32_VAL: number = attribute->sint32_val; break;
    case IWI_CHAKRA__ATTRIBUTE__VALUE_SINT64_VAL: number = attribute->sint64_val; break;
    case IWI_CHAKRA__ATTRIBUTE__VALUE_UINT32_VAL: number = attribute->uint32_val; break;
    case IWI_CHAKRA__ATTRIBUTE__VALUE_UINT64_VAL:
        number = attribute->uint64_val <= INT64_MAX ? (int64_t)attribute->uint64_val : INT64_MAX;
        break;
    default: return false;
    }
    *number_p = (uint64_t)number;
    return number >= 0;
}

static void read_mark(const IwiChakra__Attribute *attribute, struct marks *marks)
{
    const struct {
        const char *name;
        uint64_t *number;
        bool *is_there;
    } numbers[] = {{"comm_type", &marks->type, &marks->has_type},
                   {"comm_size", &marks->bytes, NULL},
                   {"comm_src", &marks->source, &marks->has_source},
                   {"comm_dst", &marks->target, &marks->has_target},
                   {"comm_tag", &marks->tag, NULL},
                   {"stream", &marks->stream, NULL},
                   {"tid", marks->stream == 0 ? &marks->stream : NULL, NULL}};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].number != NULL && strcmp(attribute->name, numbers[i].name) == 0 &&
            number_of(attribute, numbers[i].number) && numbers[i].is_there != NULL) {
            *numbers[i].is_there = true;
        }
    }
    if (strcmp(attribute->name, "is_cpu_op") == 0) {
        marks->is_on_host =
            attribute->value_case == IWI_CHAKRA__ATTRIBUTE__VALUE_BOOL_VAL && attribute->bool_val;
    }
    if (strcmp(attribute->name, "pg_name") == 0 &&
        attribute->value_case == IWI_CHAKRA__ATTRIBUTE__VALUE_STRING_VAL) {
        marks->group = attribute->string_val;
    }
}

/* ---- nodes ---- */

static uint8_t op_of(const struct marks *marks)
{
    static const uint8_t ops[] = {IWI_VISIT_ALLREDUCE, IWI_VISIT_REDUCE,         IWI_VISIT_ALLGATHER,
                                  IWI_VISIT_GATHER,    IWI_VISIT_SCATTER,        IWI_VISIT_BROADCAST,
                                  IWI_VISIT_ALLTOALL,  IWI_VISIT_REDUCE_SCATTER, IWI_VISIT_REDUCE_SCATTER,
                                  IWI_VISIT_BARRIER};

    return marks->has_type && marks->type < sizeof ops ? ops[marks->type] : IWI_VISIT_OTHER;
}

static iw_status add_kernel(struct iwi_chakra *all, const IwiChakra__Node *node, const struct marks *marks)
{
    if (node->start_time_micros == 0 || node->duration_micros == 0) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(all->log, (void **)&all->kernels, &all->kernel_capacity, all->kernel_count + 1,
                    sizeof all->kernels[0]));
    all->kernels[all->kernel_count++] =
        (struct iwi_chakra_kernel){.file = (uint32_t)all->file_count,
                                   .stream = (uint16_t)marks->stream,
                                   .begin_us = (int64_t)node->start_time_micros,
                                   .end_us = (int64_t)(node->start_time_micros + node->duration_micros)};
    return IW_OK;
}

static iw_status add_comm(struct iwi_chakra *all, const IwiChakra__Node *node, const struct marks *marks)
{
    struct iwi_chakra_comm comm = {.file = (uint32_t)all->file_count,
                                   .group = IWI_CHAKRA_NO_GROUP,
                                   .op = IWI_VISIT_MESSAGE,
                                   .is_receiver = node->type == NODE_RECEIVE,
                                   .stream = (uint16_t)marks->stream,
                                   .sender = (uint32_t)marks->source,
                                   .receiver = (uint32_t)marks->target,
                                   .parent = node->n_ctrl_deps > 0 ? node->ctrl_deps[0] : 0,
                                   .partner = IWI_CHAKRA_NO_RANK,
                                   .sequence = marks->tag & UINT32_MAX,
                                   .number = all->nodes - all->first_node,
                                   .act = all->act_count - 1,
                                   .bytes = marks->bytes,
                                   .start_us = (int64_t)node->start_time_micros,
                                   .took_us = (int64_t)node->duration_micros};

    comm.is_inferred = node->type != NODE_COLLECTIVE &&
                       (!marks->has_source || !marks->has_target || marks->source >= IWI_CHAKRA_NO_RANK ||
                        marks->target >= IWI_CHAKRA_NO_RANK);
    if (node->type == NODE_COLLECTIVE || comm.is_inferred) {
        IW_TRY(iwi_chakra_find_group(all, marks->group != NULL ? marks->group : "", &comm.group));
    }
    if (node->type == NODE_COLLECTIVE) {
        comm.op = op_of(marks);
        comm.sequence = all->groups[comm.group].visits++;
    }
    IW_TRY(iwi_grow(all->log, (void **)&all->comms, &all->comm_capacity, all->comm_count + 1,
                    sizeof all->comms[0]));
    all->comms[all->comm_count++] = comm;
    return IW_OK;
}

/* Of use until a node has a start time. */
static iw_status add_act(struct iwi_chakra *all, const IwiChakra__Node *node, const struct marks *marks)
{
    const uint32_t lane = (uint32_t)(marks->stream & 0x7fffffff);

    IW_TRY(
        iwi_grow(all->log, (void **)&all->acts, &all->act_capacity, all->act_count + 1, sizeof all->acts[0]));
    IW_TRY(iwi_grow(all->log, (void **)&all->deps, &all->dep_capacity, all->dep_count + node->n_data_deps + 1,
                    sizeof all->deps[0]));
    all->acts[all->act_count++] =
        (struct iwi_chakra_act){.id = node->id,
                                .first_dep = all->dep_count,
                                .dep_count = (uint32_t)node->n_data_deps,
                                .file = (uint32_t)all->file_count,
                                .lane = marks->is_on_host ? lane | 0x80000000 : lane,
                                .is_kernel = !marks->is_on_host && node->type == NODE_COMPUTE,
                                .took_us = (int64_t)node->duration_micros};
    for (size_t i = 0; i < node->n_data_deps; i++) {
        all->deps[all->dep_count++] = node->data_deps[i];
    }
    return IW_OK;
}

static iw_status read_node(struct iwi_chakra *all, const struct chakra_stream *stream,
                           const IwiChakra__Node *node)
{
    struct marks marks = {.is_on_host = false};

    all->nodes++;
    if (node->start_time_micros > MOST_US || node->duration_micros > MOST_TOOK_US) {
        return iwi_chakra_fail(stream, IW_ERR_RANGE, "node '%.60s' has an invalid time", node->name);
    }
    if (node->type == NODE_METADATA && strstr(node->name, "process_group:init") != NULL &&
        node->inputs != NULL) {
        return iwi_chakra_read_groups(all, node->inputs->values);
    }
    for (size_t i = 0; i < node->n_attr; i++) {
        read_mark(node->attr[i], &marks);
    }
    all->has_times |= !marks.is_on_host && node->start_time_micros > 0;
    if (!all->has_times) {
        IW_TRY(add_act(all, node, &marks));
    }
    if (marks.is_on_host) {
        return iwi_chakra_keep_record(all, node->id, node->name,
                                      node->inputs != NULL ? node->inputs->values : NULL);
    }
    switch (node->type) {
    case NODE_COMPUTE: return add_kernel(all, node, &marks);
    case NODE_SEND:
    case NODE_RECEIVE:
    case NODE_COLLECTIVE: return add_comm(all, node, &marks);
    default: return IW_OK;
    }
}

/* ---- files ---- */

/* Before 0.0.4 the first field had attributes, which begin with their own first field. */
static iw_status read_metadata(struct chakra_stream *stream)
{
    ProtobufCMessage *message;
    bool is_old;

    IW_TRY(chakra_next(stream, &iwi_chakra__metadata__descriptor, &message));
    if (message == NULL) {
        return iwi_chakra_fail(stream, IW_ERR_TRUNCATED, "the file is empty");
    }
    is_old = ((IwiChakra__Metadata *)(void *)message)->version[0] == '\n';
    chakra_free(stream, message);
    return !is_old
               ? IW_OK
               : iwi_chakra_fail(stream, IW_ERR_UNSUPPORTED,
                                 "the trace is of a Chakra version before 0.0.4 (2023); convert it again");
}

/* The last number of "dir/gpt.3.et" or "gpt.3.et.gz". */
static struct iwi_chakra_file file_of(const char *name)
{
    const char *base = strrchr(name, '/');
    struct iwi_chakra_file file = {.number = 0};
    size_t end, begin;

    base = base != NULL ? base + 1 : name;
    end = strlen(base);
    end -= end >= 3 && strcmp(base + end - 3, ".gz") == 0 ? 3 : 0;
    while (end > 0 && !isdigit((unsigned char)base[end - 1])) {
        end--;
    }
    for (begin = end; begin > 0 && isdigit((unsigned char)base[begin - 1]) && end - begin < 9;) {
        begin--;
    }
    for (size_t i = begin; i < end; i++) {
        file.number = file.number * 10 + (uint32_t)(base[i] - '0');
    }
    file.has_number = begin < end;
    return file;
}

static iw_status read_nodes(struct iwi_chakra *all, struct chakra_stream *stream)
{
    ProtobufCMessage *message;
    iw_status status = read_metadata(stream);

    while (status == IW_OK) {
        status = chakra_next(stream, &iwi_chakra__node__descriptor, &message);
        if (status != IW_OK || message == NULL) {
            return status;
        }
        status = read_node(all, stream, (const IwiChakra__Node *)(void *)message);
        chakra_free(stream, message);
    }
    return status;
}

iw_status iwi_chakra_read(struct iwi_chakra *all, const char *path, const char *name, const void *data,
                          size_t size)
{
    struct chakra_stream stream;
    iw_status status;

    all->first_group = all->group_count;
    all->first_kernel = all->kernel_count;
    all->first_comm = all->comm_count;
    all->record_count = 0;
    all->first_node = all->nodes;
    IW_TRY(iwi_grow(all->log, (void **)&all->files, &all->file_capacity, all->file_count + 1,
                    sizeof all->files[0]));
    IW_TRY(chakra_open(all->log, path, name, data, size, &stream));
    status = read_nodes(all, &stream);
    chakra_close(&stream);
    iwi_chakra_merge(all);
    iwi_chakra_link_records(all);
    all->files[all->file_count++] = file_of(name);
    return status;
}
