/* The collectives of a trace: do the ranks agree on them, and which algorithm does each run by?
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The k-th collective that a rank starts on a communicator is the k-th of all its members.
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/lookup.h"
#include "core/program/node_table.h"
#include "core/program/trace_build.h"

/* Collectives of a trace as the messages they are: neighbour collectives, and v-forms with unequal sizes. */

#define IS_LIST (UINT64_C(1) << 63) /* a size list; else bytes, for everybody */

/* ---- shapes ---- */

/* No member yet. */
static iw_status trace_shape_begin(const iw_log *log, struct iwi_trace_shapes *shapes, uint32_t comm,
                                   uint32_t *shape_p)
{
    return iwi_index_number(log, &shapes->steps, (struct iwi_index_key){0, comm}, shape_p);
}

static iw_status trace_shape_add(const iw_log *log, struct iwi_trace_shapes *shapes,
                                 const struct iwi_call *call, uint32_t *shape_p)
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
        const struct iwi_sent_piece *part = &m->trace->parts[list->first + i];

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

static iw_status trace_messages(struct iwi_trace_build *build, const struct iwi_trace_shapes *shapes,
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

#define MOST_BYTES (UINT64_C(1) << 40)         /* of one rank's data */
#define MOST_MESSAGE_BYTES (UINT64_C(1) << 50) /* of the data of all ranks in one message */
#define HANDLE_BYTES 8                         /* what making a communicator exchanges */

const char *const iwi_trace_op_names[IWI_TRACE_OPS] = {
    [IWI_TRACE_BARRIER] = "barrier",
    [IWI_TRACE_BCAST] = "bcast",
    [IWI_TRACE_REDUCE] = "reduce",
    [IWI_TRACE_ALLREDUCE] = "allreduce",
    [IWI_TRACE_GATHER] = "gather",
    [IWI_TRACE_SCATTER] = "scatter",
    [IWI_TRACE_ALLGATHER] = "allgather",
    [IWI_TRACE_ALLTOALL] = "alltoall",
    [IWI_TRACE_REDUCE_SCATTER] = "reduce_scatter",
    [IWI_TRACE_SCAN] = "scan",
    [IWI_TRACE_EXSCAN] = "exscan",
    [IWI_TRACE_COMM_CREATE] = "making a communicator",
    [IWI_TRACE_NEIGHBOR] = "neighbour collective",
};

static const enum iwi_op_kind kinds[IWI_TRACE_OPS] = {
    [IWI_TRACE_BARRIER] = IWI_BARRIER,
    [IWI_TRACE_BCAST] = IWI_BCAST,
    [IWI_TRACE_REDUCE] = IWI_REDUCE,
    [IWI_TRACE_ALLREDUCE] = IWI_ALLREDUCE,
    [IWI_TRACE_GATHER] = IWI_GATHER,
    [IWI_TRACE_SCATTER] = IWI_SCATTER,
    [IWI_TRACE_ALLGATHER] = IWI_ALLGATHER,
    [IWI_TRACE_ALLTOALL] = IWI_ALLTOALL,
    [IWI_TRACE_REDUCE_SCATTER] = IWI_REDUCE_SCATTER,
    [IWI_TRACE_SCAN] = IWI_SCAN,
    [IWI_TRACE_EXSCAN] = IWI_EXSCAN,
    [IWI_TRACE_COMM_CREATE] = IWI_ALLGATHER,
    [IWI_TRACE_NEIGHBOR] = IWI_BARRIER,
};

/* One collective, as its members have it. */
struct instance {
    uint64_t bytes; /* sum over the members */
    uint64_t first_bytes;
    uint32_t root, first_rank, arrived, shape;
    uint8_t op;
    bool is_sized;  /* the trace has the true sizes */
    bool is_uneven; /* they differ */
};

/* What making the operations needs beside the program. */
struct choice {
    struct iwi_algorithm_overrides overrides;
    struct iwi_trace_shapes shapes;
    struct iwi_index known; /* operations */
    size_t capacity;
    uint64_t averaged[2]; /* v-forms: since they go over more ranks than were traced; since they reduce */
};

static bool is_rooted(uint8_t op)
{
    return op == IWI_TRACE_BCAST || op == IWI_TRACE_REDUCE || op == IWI_TRACE_GATHER ||
           op == IWI_TRACE_SCATTER;
}

static bool is_collective(const struct iwi_call *call)
{
    return call->kind == IWI_CALL_COLLECTIVE || call->kind == IWI_CALL_ICOLLECTIVE;
}

/* Where each communicator's collectives begin: as many as the first rank that uses it has. */
static iw_status count_collectives(struct iwi_trace_build *build)
{
    const struct iw_trace *trace = build->trace;
    uint32_t *user = iwi_new_array(build->log, trace->comm_count, sizeof *user); /* rank + 1 */

    build->first_collective =
        iwi_new_array(build->log, (size_t)trace->comm_count + 1, sizeof *build->first_collective);
    if (user == NULL || build->first_collective == NULL) {
        free(user);
        return IW_ERR_NOMEM;
    }
    for (uint32_t rank = 0; rank < trace->rank_count; rank++) {
        for (uint64_t c = 0; c < trace->ranks[rank].call_count; c++) {
            const struct iwi_call *call = &trace->ranks[rank].calls[c];

            if (is_collective(call)) {
                user[call->comm] = user[call->comm] == 0 ? rank + 1 : user[call->comm];
                build->first_collective[call->comm + 1] += user[call->comm] == rank + 1;
            }
        }
    }
    for (uint32_t comm = 0; comm < trace->comm_count; comm++) {
        build->first_collective[comm + 1] += build->first_collective[comm];
    }
    free(user);
    return IW_OK;
}

static iw_status fail_disagreement(const struct iwi_trace_build *build, uint32_t rank, uint64_t number,
                                   const struct iwi_call *call, const struct instance *instance)
{
    const char *what = "another root";

    if (instance == NULL) {
        return iwi_fail(build->log, IW_ERR_FORMAT,
                        "rank %" PRIu32 ", call %" PRIu64 ": %s on communicator %" PRIu32
                        ", on which another rank has no collective left: the ranks disagree "
                        "(`drops_collectives` ignores all)",
                        rank, number, iwi_trace_op_names[call->op], call->comm);
    }
    if (instance->op != call->op) {
        what = iwi_trace_op_names[instance->op];
    }
    return iwi_fail(build->log, IW_ERR_FORMAT,
                    "rank %" PRIu32 ", call %" PRIu64 ": %s on communicator %" PRIu32 ", where rank %" PRIu32
                    " has %s: the ranks disagree on their collectives (`drops_collectives` ignores all)",
                    rank, number, iwi_trace_op_names[call->op], call->comm, instance->first_rank, what);
}

static iw_status check_call(const struct iwi_trace_build *build, uint32_t rank, uint64_t number,
                            const struct iwi_call *call)
{
    const struct iwi_comm *comm = &build->trace->comms[call->comm];

    if (iwi_trace_rank_in(build->program, call->comm, rank) == UINT32_MAX) {
        return iwi_fail(build->log, IW_ERR_FORMAT,
                        "rank %" PRIu32 ", call %" PRIu64 ": %s on communicator %" PRIu32
                        ", to which the rank does not belong",
                        rank, number, iwi_trace_op_names[call->op], call->comm);
    }
    if (is_rooted(call->op) && call->peer >= comm->size) {
        return iwi_fail(build->log, IW_ERR_FORMAT,
                        "rank %" PRIu32 ", call %" PRIu64 ": the root of %s is %" PRIu32
                        ", but communicator %" PRIu32 " has %" PRIu32 " ranks",
                        rank, number, iwi_trace_op_names[call->op], call->peer, call->comm, comm->size);
    }
    if (call->bytes > MOST_BYTES) {
        return iwi_fail(build->log, IW_ERR_RANGE,
                        "rank %" PRIu32 ", call %" PRIu64 ": %s of %" PRIu64
                        " bytes; at most 1 TiB is possible",
                        rank, number, iwi_trace_op_names[call->op], call->bytes);
    }
    return IW_OK;
}

static iw_status add_member(const struct iwi_trace_build *build, struct choice *choice,
                            const struct iwi_call *call, struct instance *instance)
{
    instance->arrived++;
    instance->bytes += call->bytes;
    instance->is_sized &=
        call->sizes != 0 || (call->op != IWI_TRACE_NEIGHBOR && (call->flags & IWI_CALL_SIZED) != 0);
    instance->is_uneven |= call->sizes != 0 || call->bytes != instance->first_bytes;
    return instance->is_sized ? trace_shape_add(build->log, &choice->shapes, call, &instance->shape) : IW_OK;
}

static iw_status begin_instance(const struct iwi_trace_build *build, struct choice *choice, uint32_t rank,
                                const struct iwi_call *call, struct instance *instance)
{
    *instance = (struct instance){
        .root = call->peer, .first_rank = rank, .op = call->op, .first_bytes = call->bytes, .is_sized = true};
    return trace_shape_begin(build->log, &choice->shapes, call->comm, &instance->shape);
}

static iw_status add_rank(const struct iwi_trace_build *build, struct choice *choice, uint32_t rank,
                          uint64_t *next, struct instance *instances)
{
    const struct iwi_trace_rank *calls = &build->trace->ranks[rank];

    for (uint64_t c = 0; c < calls->call_count; c++) {
        const struct iwi_call *call = &calls->calls[c];
        struct instance *instance;
        uint64_t at;

        if (!is_collective(call)) {
            continue;
        }
        IW_TRY(check_call(build, rank, c, call));
        at = build->first_collective[call->comm] + next[call->comm]++;
        if (at >= build->first_collective[call->comm + 1]) {
            return fail_disagreement(build, rank, c, call, NULL);
        }
        instance = &instances[at];
        if (instance->arrived == 0) {
            IW_TRY(begin_instance(build, choice, rank, call, instance));
        } else if (instance->op != call->op || (is_rooted(call->op) && instance->root != call->peer)) {
            return fail_disagreement(build, rank, c, call, instance);
        }
        IW_TRY(add_member(build, choice, call, instance));
    }
    return IW_OK;
}

static iw_status check_complete(const struct iwi_trace_build *build, const struct instance *instances)
{
    for (uint32_t comm = 0; comm < build->trace->comm_count; comm++) {
        const uint64_t first = build->first_collective[comm];

        for (uint64_t at = first; at < build->first_collective[comm + 1]; at++) {
            if (instances[at].arrived != build->trace->comms[comm].size) {
                return iwi_fail(build->log, IW_ERR_FORMAT,
                                "only %" PRIu32 " of the %" PRIu32 " ranks of communicator %" PRIu32
                                " have its collective number %" PRIu64 " (%s, on rank %" PRIu32
                                "): the ranks disagree (`drops_collectives` ignores all)",
                                instances[at].arrived, build->trace->comms[comm].size, comm, at - first + 1,
                                iwi_trace_op_names[instances[at].op], instances[at].first_rank);
            }
        }
    }
    return IW_OK;
}

/* Each rank has a part of the data. */
static bool is_of_parts(enum iwi_op_kind kind)
{
    return kind == IWI_ALLGATHER || kind == IWI_REDUCE_SCATTER || kind == IWI_GATHER || kind == IWI_SCATTER ||
           kind == IWI_ALLTOALL;
}

/* An operation over `ranks` ranks that stands for the instance; the v-forms' mean is rounded up. */
static iw_status make_operation(const struct iwi_trace_build *build,
                                const struct iwi_algorithm_overrides *overrides,
                                const struct instance *instance, uint32_t comm, struct iwi_operation *op)
{
    const struct iwi_trace_program *program = build->program;
    const enum iwi_op_kind kind = kinds[instance->op];
    const bool is_wide = iwi_trace_is_wide(program, comm), has_nodes = program->comms[comm].members == NULL;
    const uint64_t parts =
        (uint64_t)instance->arrived * (program->grows[comm] && is_of_parts(kind) ? program->replicas : 1);
    const uint64_t mean = instance->bytes / parts + (instance->bytes % parts != 0);

    *op = (struct iwi_operation){
        .ranks = program->comms[comm].size * (is_wide ? program->replicas : 1),
        .root = is_rooted(instance->op) ? instance->root : 0,
        .bytes = instance->op == IWI_TRACE_COMM_CREATE ? HANDLE_BYTES
                 : kind == IWI_BARRIER                 ? 0
                                                       : mean,
        /* members of other communicators may be anywhere */
        .nodes = has_nodes ? iwi_operation_nodes(&build->opts->nodes, program->node_table)
                           : (iw_nodes){.ranks = 0},
        .table = has_nodes ? program->node_table : NULL,
    };
    iwi_rules_choose(build->set, overrides, kind, op);
    if (op->bytes > MOST_MESSAGE_BYTES / iwi_operation_most_blocks(op)) {
        return iwi_fail(build->log, IW_ERR_RANGE,
                        "%s of %" PRIu64 " bytes for each of %" PRIu32
                        " ranks: more than 1 PiB in all; use fewer ranks",
                        iwi_trace_op_names[instance->op], op->bytes, op->ranks);
    }
    return IW_OK;
}

static iw_status add_operation(struct iwi_trace_build *build, struct choice *choice, struct iwi_index_key key,
                               const struct iwi_operation *op, uint32_t *number_p)
{
    struct iwi_trace_program *program = build->program;
    void *operations = program->operations;

    IW_TRY(iwi_index_number(build->log, &choice->known, key, number_p));
    if (*number_p == program->operation_count) {
        IW_TRY(
            iwi_grow(build->log, &operations, &choice->capacity, program->operation_count + 1, sizeof *op));
        program->operations = operations;
        program->operations[program->operation_count++] = *op;
    }
    return IW_OK;
}

static iw_status add_generated(struct iwi_trace_build *build, struct choice *choice,
                               const struct instance *instance, uint32_t comm, uint32_t *number_p)
{
    struct iwi_operation op;

    IW_TRY(make_operation(build, &choice->overrides, instance, comm, &op));
    return add_operation(build, choice,
                         (struct iwi_index_key){op.bytes | (uint64_t)op.algorithm->kind << 56 |
                                                    (uint64_t)(op.nodes.ranks > 0) << 63,
                                                (uint64_t)op.root << 32 | op.ranks},
                         &op, number_p);
}

/* ---- as the messages they were ---- */

/* Neighbours stay neighbours in each replica; what goes to all ranks goes to more of them there, of which the
 * trace knows nothing. */
static bool is_stored(const struct iwi_trace_build *build, struct choice *choice,
                      const struct instance *instance, uint32_t comm)
{
    const bool has_more = build->program->replicas > 1 && iwi_trace_is_wide(build->program, comm);

    if (!instance->is_sized || !instance->is_uneven) {
        return false;
    }
    switch (instance->op) {
    case IWI_TRACE_NEIGHBOR: return true;
    case IWI_TRACE_ALLTOALL:
    case IWI_TRACE_ALLGATHER:
    case IWI_TRACE_GATHER:
    case IWI_TRACE_SCATTER: choice->averaged[0] += has_more; return !has_more;
    default: choice->averaged[1] += instance->op == IWI_TRACE_REDUCE_SCATTER; return false;
    }
}

static iw_status add_messages(struct iwi_trace_build *build, struct choice *choice,
                              const struct instance *instance, uint32_t comm, uint32_t *number_p)
{
    const struct iwi_trace_program *program = build->program;
    const struct iwi_trace_shaped shaped = {instance->op, comm, is_rooted(instance->op) ? instance->root : 0,
                                            instance->shape};
    const struct iwi_index_key key = {(uint64_t)IWI_MESSAGES << 56 | shaped.shape,
                                      (uint64_t)shaped.root << 32 | shaped.op};
    struct iwi_operation op = {
        .algorithm = shaped.op == IWI_TRACE_ALLGATHER ? &iwi_messages_ring : &iwi_messages_linear,
        .ranks = program->comms[comm].size * (iwi_trace_is_wide(program, comm) ? program->replicas : 1),
    };

    IW_TRY(iwi_index_number(build->log, &choice->known, key, number_p));
    if (*number_p < program->operation_count) {
        return IW_OK;
    }
    IW_TRY(trace_messages(build, &choice->shapes, &shaped, &op.messages));
    op.bytes = op.messages->largest_bytes;
    if (op.bytes > MOST_BYTES) {
        return iwi_fail(build->log, IW_ERR_RANGE,
                        "%s: a message of %" PRIu64 " bytes; at most 1 TiB is possible",
                        iwi_trace_op_names[instance->op], op.bytes);
    }
    return add_operation(build, choice, key, &op, number_p);
}

static iw_status choose_algorithms(struct iwi_trace_build *build, struct choice *choice,
                                   const struct instance *instances)
{
    struct iwi_trace_program *program = build->program;

    for (uint32_t comm = 0; comm < program->comm_count; comm++) {
        for (uint64_t at = build->first_collective[comm]; at < build->first_collective[comm + 1]; at++) {
            program->collectives[at].comm = comm;
            IW_TRY(
                is_stored(build, choice, &instances[at], comm)
                    ? add_messages(build, choice, &instances[at], comm, &program->collectives[at].operation)
                    : add_generated(build, choice, &instances[at], comm,
                                    &program->collectives[at].operation));
        }
    }
    return IW_OK;
}

static void warn_of_means(const iw_log *log, const struct choice *choice)
{
    if (choice->averaged[0] > 0) {
        iwi_warn(log,
                 "%" PRIu64 " collectives have a size for each rank (MPI_Alltoallv, ...): on more ranks than "
                 "traced they use the mean",
                 choice->averaged[0]);
    }
    if (choice->averaged[1] > 0) {
        iwi_warn(log, "%" PRIu64 " MPI_Reduce_scatter have blocks of unequal size: they use the mean",
                 choice->averaged[1]);
    }
}

static iw_status add_all(struct iwi_trace_build *build, struct choice *choice, struct instance *instances)
{
    const struct iw_trace *trace = build->trace;

    for (uint32_t rank = 0; rank < trace->rank_count; rank++) {
        uint64_t *next = iwi_new_array(build->log, trace->comm_count, sizeof *next);
        const iw_status status = next == NULL ? IW_ERR_NOMEM : add_rank(build, choice, rank, next, instances);

        free(next);
        IW_TRY(status);
    }
    return check_complete(build, instances);
}

iw_status iwi_trace_build_collectives(struct iwi_trace_build *build)
{
    struct iwi_trace_program *program = build->program;
    struct choice choice = {.capacity = 0};
    struct instance *instances;
    iw_status status = IW_ERR_NOMEM;

    IW_TRY(iwi_node_table_new(build->log, &build->opts->nodes,
                              build->program->base * build->program->replicas, &build->program->node_table));
    IW_TRY(iwi_algorithm_overrides_parse(build->log, build->opts->algorithms, &choice.overrides));
    if (count_collectives(build) == IW_OK) {
        program->collective_count = build->first_collective[program->comm_count];
        instances = iwi_new_array(build->log, (size_t)program->collective_count, sizeof *instances);
        program->collectives =
            iwi_new_array(build->log, (size_t)program->collective_count, sizeof *program->collectives);
        if (instances != NULL && program->collectives != NULL) {
            status = add_all(build, &choice, instances);
        }
        if (status == IW_OK) {
            status = choose_algorithms(build, &choice, instances);
        }
        warn_of_means(build->log, &choice);
        free(instances);
    }
    iwi_index_release(&choice.shapes.steps);
    iwi_index_release(&choice.known);
    iwi_algorithm_overrides_release(&choice.overrides);
    return status;
}
