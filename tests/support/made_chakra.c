/* Writes a made run of training as an execution trace of Chakra, byte by byte: no library takes part.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/made_chakra.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/made_kineto_parts.h"

enum { BASE_US = 1000000, MESSAGE_BYTES = 1 << 16 };
enum { NODE_METADATA = 1, NODE_COMPUTE = 4, NODE_SEND = 5, NODE_RECEIVE = 6, NODE_COLLECTIVE = 7 };
enum { VALUE_INT64 = 9, VALUE_BOOL = 27, VALUE_STRING = 29 };

/* A message that is being written. */
struct message {
    unsigned char bytes[MESSAGE_BYTES];
    size_t size;
};

static void put_varint(struct message *m, uint64_t value)
{
    while (value >= 0x80) {
        m->bytes[m->size++] = (unsigned char)(0x80 | (value & 0x7f));
        value >>= 7;
    }
    m->bytes[m->size++] = (unsigned char)value;
}

static void put_number(struct message *m, unsigned field, uint64_t value)
{
    put_varint(m, field << 3);
    put_varint(m, value);
}

static void put_bytes(struct message *m, unsigned field, const void *bytes, size_t size)
{
    put_varint(m, field << 3 | 2);
    put_varint(m, size);
    memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
}

static void put_text(struct message *m, unsigned field, const char *text)
{
    put_bytes(m, field, text, strlen(text));
}

/* An attribute of a node: a number, or a text. */
static void put_mark(struct message *m, const char *name, unsigned kind, uint64_t number, const char *text)
{
    static struct message mark;

    mark.size = 0;
    put_text(&mark, 1, name);
    if (text != NULL) {
        put_text(&mark, kind, text);
    } else {
        put_number(&mark, kind, number);
    }
    put_bytes(m, 10, mark.bytes, mark.size);
}

static void print_message(const struct message *m, FILE *out)
{
    static struct message length;

    length.size = 0;
    put_varint(&length, m->size);
    (void)fwrite(length.bytes, 1, length.size, out);
    (void)fwrite(m->bytes, 1, m->size, out);
}

/* Nodes that the next one depends on; 0: none. */
struct deps {
    uint64_t ids[IWT_STREAMS + 1];
    size_t count;
};

static void depend(struct deps *deps, uint64_t id)
{
    if (id > 0) {
        deps->ids[deps->count++] = id;
    }
}

static void begin_node(struct message *m, uint64_t id, const char *name, unsigned type,
                       const struct deps *deps)
{
    static struct message packed;

    m->size = 0;
    put_number(m, 1, id);
    put_text(m, 2, name);
    put_number(m, 3, type);
    packed.size = 0;
    for (size_t i = 0; deps != NULL && i < deps->count; i++) {
        put_varint(&packed, deps->ids[i]);
    }
    if (packed.size > 0) {
        put_bytes(m, 5, packed.bytes, packed.size);
    }
}

/* Its list as PyTorch writes it: JSON in a string of a list. */
static void print_groups(const struct iwt_kineto_run *run, uint32_t rank, FILE *out)
{
    static struct message node, tensors;
    static char text[MESSAGE_BYTES / 2];
    uint32_t *members = calloc(run->ranks, sizeof *members);
    size_t used = (size_t)snprintf(text, sizeof text, "['[");

    for (unsigned group = 0; group < IWT_GROUPS; group++) {
        const uint32_t size = iwt_kineto_members(&run->made, (enum iwt_kineto_group)group, rank, members);

        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%s{\"pg_name\": \"%u\", \"backend_config\": \"cuda:nccl\", \"ranks\": [",
                                 group > 0 ? ", " : "", group);
        for (uint32_t i = 0; group != IWT_WORLD && i < size; i++) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu32, i > 0 ? ", " : "",
                                     members[i]);
        }
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "], \"group_size\": %" PRIu32 ", \"group_count\": 4}", size);
    }
    (void)snprintf(text + used, sizeof text - used, "]']");
    begin_node(&node, 3, "## process_group:init ##", NODE_METADATA, NULL);
    tensors.size = 0;
    put_text(&tensors, 1, text);
    put_bytes(&node, 8, tensors.bytes, tensors.size);
    print_message(&node, out);
    free(members);
}

static uint64_t shown_us(const struct iwt_kineto_run *run, uint32_t rank, int64_t ns)
{
    const int64_t shown = ns + run->clock_ns[rank] + (int64_t)(run->drift[rank] * (double)ns);

    return (uint64_t)(BASE_US + (shown - (shown < 0 ? 999 : 0)) / 1000);
}

static void put_group(struct message *node, const struct iwt_kineto_run *run, const struct iwt_chakra *made,
                      uint32_t rank, const struct iwt_kineto_event *event)
{
    uint32_t *members = calloc(run->ranks, sizeof *members);
    char name[32];

    (void)iwt_kineto_members(&run->made, event->group, rank, members);
    if (made->has_groups) {
        (void)snprintf(name, sizeof name, "%u", (unsigned)event->group);
    } else {
        (void)snprintf(name, sizeof name, "%u of %" PRIu32, (unsigned)event->group, members[0]);
    }
    put_mark(node, "pg_name", VALUE_STRING, 0, name);
    free(members);
}

static void print_event(const struct iwt_kineto_run *run, const struct iwt_chakra *made, uint32_t rank,
                        const struct iwt_kineto_event *event, uint64_t id, const struct deps *deps, FILE *out)
{
    static struct message node;
    const bool is_message = event->kind == IWT_SEND || event->kind == IWT_RECV;
    const uint64_t begin_us = shown_us(run, rank, event->begin_ns),
                   end_us = shown_us(run, rank, event->end_ns);
    const unsigned type = event->kind == IWT_KERNEL      ? NODE_COMPUTE
                          : event->kind == IWT_ALLREDUCE ? NODE_COLLECTIVE
                          : event->kind == IWT_SEND      ? NODE_SEND
                                                         : NODE_RECEIVE;

    begin_node(&node, id, event->kind == IWT_KERNEL ? "gemm" : "ncclDevKernel", type, deps);
    if (made->has_times) {
        put_number(&node, 6, begin_us);
    }
    put_number(&node, 7, end_us - begin_us);
    put_number(&node, 4, id - 1); /* its launch */
    put_mark(&node, "is_cpu_op", VALUE_BOOL, 0, NULL);
    put_mark(&node, "stream", VALUE_INT64, 7 + 4 * (unsigned)event->stream, NULL);
    if (event->kind != IWT_KERNEL) {
        put_mark(&node, "comm_size", VALUE_INT64, event->elements * 4, NULL);
        put_group(&node, run, made, rank, event);
    }
    if (event->kind == IWT_ALLREDUCE) {
        put_mark(&node, "comm_type", VALUE_INT64, 0, NULL);
    }
    if (is_message && made->has_peers) {
        put_mark(&node, "comm_src", VALUE_INT64, event->kind == IWT_SEND ? rank : event->peer, NULL);
        put_mark(&node, "comm_dst", VALUE_INT64, event->kind == IWT_SEND ? event->peer : rank, NULL);
        put_mark(&node, "comm_tag", VALUE_INT64, 0, NULL);
    }
    print_message(&node, out);
}

/* What the host does: launches, batches, waiting for the device, of which what follows the wait is told. */
static void print_host(const struct iwt_kineto_event *event, uint64_t id, const struct deps *deps,
                       const char *values, FILE *out)
{
    static struct message node, tensors;
    const bool is_launch = event->kind <= IWT_RECV;
    const int64_t took_ns = is_launch                 ? event->launch_end_ns - event->launch_ns
                            : event->kind == IWT_SYNC ? 4000
                                                      : event->end_ns - event->begin_ns;

    begin_node(&node, id,
               values != NULL ? "record_param_comms"
               : is_launch    ? "c10d::allreduce_"
                              : "host",
               event->kind == IWT_ALLREDUCE ? NODE_COLLECTIVE : NODE_COMPUTE, deps);
    put_number(&node, 7, (uint64_t)(took_ns / 1000));
    put_mark(&node, "is_cpu_op", VALUE_BOOL, 1, NULL);
    put_mark(&node, "tid", VALUE_INT64, 1, NULL);
    put_mark(&node, "seq_id", VALUE_INT64, UINT64_MAX, NULL); /* -1 */
    if (values != NULL) {
        tensors.size = 0;
        put_text(&tensors, 1, values);
        put_bytes(&node, 8, tensors.bytes, tensors.size);
    }
    print_message(&node, out);
}

/* The arguments of a send or receive as the converter prints them: the partner is a rank of the group. */
static const char *record_of(const struct iwt_kineto_run *run, const struct iwt_chakra *made, uint32_t rank,
                             const struct iwt_kineto_event *event, char *values, size_t size)
{
    uint32_t *members, partner = 0;

    if (!made->has_records || (event->kind != IWT_SEND && event->kind != IWT_RECV)) {
        return NULL;
    }
    members = calloc(run->ranks, sizeof *members);
    (void)iwt_kineto_members(&run->made, event->group, rank, members);
    while (members[partner] != event->peer) {
        partner++;
    }
    (void)snprintf(values, size,
                   "[[[21, 22, 0, %" PRIu64 ", 4, 'cuda:0']], [%" PRIu64 ", True], ['%u', 'pipe'], %" PRIu32
                   ", '%s', [], [], 0, 1, 8]",
                   event->elements, event->sequence, (unsigned)event->group, partner,
                   event->kind == IWT_SEND ? "send" : "recv");
    free(members);
    return values;
}

/* As the run has it: the host in order, kernels behind their launch and behind other streams. */
static struct deps deps_of(const struct iwt_kineto_event *event, uint64_t host,
                           const uint64_t last[IWT_STREAMS])
{
    struct deps deps = {.count = 0};

    depend(&deps, host);
    if (event->kind == IWT_KERNEL) {
        depend(&deps, last[IWT_TP]);
        depend(&deps, last[IWT_PP]);
        depend(&deps, event->name == 4 ? last[IWT_DP] : 0);
    } else {
        depend(&deps, last[IWT_COMPUTE]);
        depend(&deps, event->kind == IWT_SYNC ? last[IWT_DP] : event->stream == IWT_PP ? last[IWT_TP] : 0);
    }
    return deps;
}

void iwt_chakra_print(const struct iwt_kineto_run *run, const struct iwt_chakra *made, uint32_t rank,
                      FILE *out)
{
    static struct message metadata;
    uint64_t id = 4, host = 0, last[IWT_STREAMS] = {0};
    char values[256];

    metadata.size = 0;
    put_text(&metadata, 1, "0.0.4");
    print_message(&metadata, out);
    if (made->has_groups) {
        print_groups(run, rank, out);
    }
    for (size_t i = 0; i < run->of[rank].count; i++) {
        const struct iwt_kineto_event *event = &run->of[rank].events[i];

        if (event->kind != IWT_STEP) {
            struct deps deps = {.count = 0};

            depend(&deps, host);
            if (event->kind == IWT_SYNC) {
                deps = deps_of(event, host, last);
            }
            host = id;
            print_host(event, id++, &deps, record_of(run, made, rank, event, values, sizeof values), out);
        }
        if (event->kind <= IWT_RECV) {
            const struct deps deps = deps_of(event, host, last);

            last[event->stream] = id;
            print_event(run, made, rank, event, id++, &deps, out);
        }
    }
}

char *iwt_chakra_text(const struct iwt_kineto_run *run, const struct iwt_chakra *made, uint32_t rank,
                      size_t *size_p)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size_p);

    iwt_chakra_print(run, made, rank, out);
    (void)fclose(out);
    return text;
}
