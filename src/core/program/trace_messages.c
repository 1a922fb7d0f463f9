/* Collectives of a trace as the messages they are: neighbour collectives, and v-forms with unequal sizes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/program/trace_build.h"

#define IS_LIST (UINT64_C(1) << 63) /* a size list; else bytes, for everybody */

/* ---- shapes ---- */

iw_status iwi_trace_shape_begin(const iw_log *log, struct iwi_trace_shapes *shapes, uint32_t comm,
                                uint32_t *shape_p)
{
    return iwi_index_number(log, &shapes->steps, (struct iwi_index_key){0, comm}, shape_p);
}

iw_status iwi_trace_shape_add(const iw_log *log, struct iwi_trace_shapes *shapes, const struct iwi_call *call,
                              uint32_t *shape_p)
{
    const uint64_t sent = call->sizes != 0 ? IS_LIST | (call->sizes - 1) : call->bytes;

    return iwi_index_number(log, &shapes->steps, (struct iwi_index_key){(uint64_t)*shape_p + 1, sent},
                            shape_p);
}

/* ---- what each member sends ---- */

struct maker {
    const struct iw_trace *trace;
    uint8_t op;
    uint32_t size, root;
    uint64_t *sent; /* by rank in the communicator, as in the steps of shapes */
};

/* The last member of the shape is the one with the highest world rank. */
static void read_shape(const struct iwi_trace_build *build, const struct iwi_trace_shapes *shapes,
                       const struct iwi_trace_shaped *shaped, struct maker *m)
{
    uint32_t shape = shaped->shape;

    for (uint32_t world = build->program->base; world-- > 0;) {
        const uint32_t rank = iwi_trace_rank_in(build->program, shaped->comm, world);

        if (rank != UINT32_MAX) {
            m->sent[rank] = shapes->steps.keys[shape].b;
            shape = (uint32_t)(shapes->steps.keys[shape].a - 1);
        }
    }
}

/* An empty message of a v-form is not sent; of a neighbour collective it is. */
static void put(const struct maker *m, uint32_t from, uint32_t to, uint64_t bytes, struct iwi_msg *room,
                uint32_t *count_p)
{
    if (to == from || (bytes == 0 && m->op != IWI_TRACE_NEIGHBOR)) {
        return;
    }
    if (room != NULL) {
        room[*count_p] = (struct iwi_msg){.peer = to, .bytes = bytes};
    }
    ++*count_p;
}

static void put_list(const struct maker *m, uint32_t from, uint32_t number, struct iwi_msg *room,
                     uint32_t *count_p)
{
    const struct iwi_size_list *list = &m->trace->size_lists[number];

    for (uint32_t i = 0; i < list->count; i++) {
        const struct iwi_trace_part *part = &m->trace->parts[list->first + i];

        put(m, from, part->peer, part->bytes, room, count_p);
    }
}

/* To all others: from the next rank on, around the end. */
static void put_to_all(const struct maker *m, uint32_t from, struct iwi_msg *room, uint32_t *count_p)
{
    for (uint32_t distance = 1; distance < m->size; distance++) {
        const uint32_t to = (uint32_t)(((uint64_t)from + distance) % m->size);

        put(m, from, to, m->sent[m->op == IWI_TRACE_SCATTER ? to : from], room, count_p);
    }
}

/* Sends of one rank; counts if there is no room. */
static uint32_t put_sends(const struct maker *m, uint32_t from, struct iwi_msg *room)
{
    uint32_t count = 0;

    if ((m->sent[from] & IS_LIST) != 0) {
        put_list(m, from, (uint32_t)m->sent[from], room, &count);
    } else if (m->op == IWI_TRACE_GATHER) {
        put(m, from, m->root, m->sent[from], room, &count);
    } else if (m->op == IWI_TRACE_ALLTOALL || (m->op == IWI_TRACE_SCATTER && from == m->root)) {
        put_to_all(m, from, room, &count);
    } else if (m->op == IWI_TRACE_ALLGATHER) { /* its block, to the next */
        if (room != NULL) {
            room[0] = (struct iwi_msg){.peer = (from + 1) % m->size, .bytes = m->sent[from]};
        }
        count = 1;
    }
    return count;
}

static iw_status make(const iw_log *log, const struct maker *m, struct iwi_message_list **list_p)
{
    uint32_t *counts = iwi_new_array(log, m->size, sizeof *counts);
    struct iwi_message_list *list;
    iw_status status;

    if (counts == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t rank = 0; rank < m->size; rank++) {
        counts[rank] = put_sends(m, rank, NULL);
    }
    status = iwi_message_list_new(log, m->size, counts, &list);
    free(counts);
    IW_TRY(status);
    for (uint32_t rank = 0; rank < m->size; rank++) {
        (void)put_sends(m, rank, list->sends + list->first_send[rank]);
    }
    status = iwi_message_list_finish(log, list);
    if (status != IW_OK) {
        iwi_message_list_free(list);
        return status;
    }
    *list_p = list;
    return IW_OK;
}

iw_status iwi_trace_messages(struct iwi_trace_build *build, const struct iwi_trace_shapes *shapes,
                             const struct iwi_trace_shaped *shaped, const struct iwi_message_list **list_p)
{
    struct iwi_trace_program *program = build->program;
    const size_t count = program->message_list_count;
    struct maker m = {.trace = build->trace,
                      .op = shaped->op,
                      .size = program->comms[shaped->comm].size,
                      .root = shaped->root};
    struct iwi_message_list **lists = program->message_lists;
    iw_status status;

    if ((count & (count - 1)) == 0) { /* full: room doubles */
        lists = realloc(lists, (count == 0 ? 1 : 2 * count) * sizeof(void *));
        if (lists == NULL) {
            return iwi_fail(build->log, IW_ERR_NOMEM, "out of memory for the messages of collectives");
        }
        program->message_lists = lists;
    }
    m.sent = iwi_new_array(build->log, m.size, sizeof *m.sent);
    if (m.sent == NULL) {
        return IW_ERR_NOMEM;
    }
    read_shape(build, shapes, shaped, &m);
    status = make(build->log, &m, &lists[count]);
    free(m.sent);
    IW_TRY(status);
    program->message_list_count++;
    *list_p = lists[count];
    return IW_OK;
}
