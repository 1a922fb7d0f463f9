/* Who is in which communicator of a liballprof trace, whose lines have only a handle, a rank and a size.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * World is known. The k-th communicator that the members of a known one make of it is made by all of them
 * together, so what they said when they made it tells its members: MPI_Comm_dup keeps them, MPI_Comm_split
 * sorts them by colour and key. In other ways of making one the members are found by the rank that each says
 * it has. The handle follows: it is the first new one behind the making whose rank and size fit.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "kit/files/trace/trace_allprof.h"

struct resolving {
    const iw_log *log;
    struct iwi_allprof_rank *ranks;
    struct iw_trace *trace;
    size_t comm_capacity;
};

/* One member of a communicator that makes another. */
struct maker {
    uint32_t rank, parent_rank;
    const struct iwi_allprof_made *made;
};

static iw_status add_comm(struct resolving *r, uint32_t size, const uint32_t *members, uint32_t *index_p)
{
    uint32_t *copy = NULL;

    IW_TRY(iwi_grow(r->log, (void **)&r->trace->comms, &r->comm_capacity, (size_t)r->trace->comm_count + 1,
                    sizeof *r->trace->comms));
    if (members != NULL) {
        copy = iwi_new_array(r->log, size, sizeof *copy);
        if (copy == NULL) {
            return IW_ERR_NOMEM;
        }
        memcpy(copy, members, size * sizeof *copy);
    }
    r->trace->comms[r->trace->comm_count] = (struct iwi_comm){.size = size, .members = copy};
    *index_p = r->trace->comm_count++;
    return IW_OK;
}

static uint32_t member(const struct iwi_comm *comm, uint32_t i)
{
    return comm->members != NULL ? comm->members[i] : i;
}

/* What the rank made as the `number`-th of this communicator. */
static const struct iwi_allprof_made *find_made(const struct iwi_allprof_rank *rank, uint32_t global,
                                                uint32_t number)
{
    for (size_t i = 0; i < rank->made_count; i++) {
        if (rank->comms[rank->made[i].parent].global == global && rank->made[i].number == number) {
            return &rank->made[i];
        }
    }
    return NULL;
}

/* The first handle without a meaning that came up behind the making; size 0: of any rank and size. */
static struct iwi_allprof_comm *find_new(const struct iwi_allprof_rank *rank,
                                         const struct iwi_allprof_made *made, uint32_t comm_rank,
                                         uint32_t size)
{
    for (size_t i = 0; i < rank->comm_count; i++) {
        struct iwi_allprof_comm *comm = &rank->comms[i];

        if (comm->global == IWI_NO_COMM && comm->line > made->line &&
            (size == 0 || (comm->rank == comm_rank && comm->size == size))) {
            return comm;
        }
    }
    return NULL;
}

static void name_handle(struct resolving *r, const struct maker *maker, uint32_t comm_rank, uint32_t index)
{
    struct iwi_allprof_comm *comm =
        find_new(&r->ranks[maker->rank], maker->made, comm_rank, r->trace->comms[index].size);

    if (comm != NULL) {
        comm->global = index;
    }
}

IWI_COMPARE(by_color, struct maker, IWI_RISING(made->color), IWI_RISING(made->key), IWI_RISING(parent_rank))

/* Makers from `first` to `end` are the members, in order. A dup has all colours and keys 0. */
static iw_status add_part(struct resolving *r, const struct maker *makers, uint32_t count, uint32_t *members)
{
    uint32_t index;
    bool is_world = count == r->trace->rank_count;

    for (uint32_t i = 0; i < count; i++) {
        members[i] = makers[i].rank;
        is_world = is_world && members[i] == i;
    }
    IW_TRY(add_comm(r, count, is_world ? NULL : members, &index));
    for (uint32_t i = 0; i < count; i++) {
        name_handle(r, &makers[i], i, index);
    }
    return IW_OK;
}

static iw_status add_split(struct resolving *r, struct maker *makers, uint32_t count, uint32_t *members)
{
    iwi_sort(makers, count, by_color);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && makers[end].made->color == makers[first].made->color; end++) {
        }
        if (makers[first].made->color >= 0) { /* else MPI_UNDEFINED: these get none */
            IW_TRY(add_part(r, &makers[first], end - first, members));
        }
    }
    return IW_OK;
}

/* The members by what they say: each rank of the new communicator must be there once. */
static iw_status add_other(struct resolving *r, const struct maker *makers, uint32_t count, uint32_t *members)
{
    uint32_t size = 0, found = 0, index;
    bool *is_set = iwi_new_array(r->log, count, sizeof *is_set);
    iw_status status = is_set != NULL ? IW_OK : IW_ERR_NOMEM;

    for (uint32_t i = 0; status == IW_OK && i < count; i++) {
        const struct iwi_allprof_comm *comm = find_new(&r->ranks[makers[i].rank], makers[i].made, 0, 0);

        if (comm == NULL) {
            continue;
        }
        size = size == 0 ? comm->size : size;
        if (comm->size != size || comm->rank >= count || is_set[comm->rank]) {
            size = UINT32_MAX; /* several communicators, as from MPI_Cart_sub: nobody knows which */
            break;
        }
        is_set[comm->rank] = true;
        members[comm->rank] = makers[i].rank;
        found++;
    }
    if (status == IW_OK && size > 0 && found == size) {
        status = add_comm(r, size, members, &index);
        for (uint32_t i = 0; status == IW_OK && i < count; i++) {
            struct iwi_allprof_comm *comm = find_new(&r->ranks[makers[i].rank], makers[i].made, 0, 0);

            if (comm != NULL) {
                comm->global = index;
            }
        }
    }
    free(is_set);
    return status;
}

/* The `number`-th that is made of `parent`; *is_made false if not all its members made one. */
static iw_status resolve_made(struct resolving *r, uint32_t parent, uint32_t number, struct maker *makers,
                              uint32_t *members, bool *is_made)
{
    const uint32_t count = r->trace->comms[parent].size;
    uint32_t how = IWI_MADE_OTHER;

    *is_made = false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t rank = member(&r->trace->comms[parent], i);
        const struct iwi_allprof_made *made = find_made(&r->ranks[rank], parent, number);

        if (made == NULL || (i > 0 && made->how != how)) {
            return IW_OK;
        }
        how = made->how;
        makers[i] = (struct maker){rank, i, made};
    }
    *is_made = true;
    return how == IWI_MADE_OTHER ? add_other(r, makers, count, members)
                                 : add_split(r, makers, count, members);
}

/* World's handle, and those of MPI_COMM_SELF and of second names of world that nobody made. */
static iw_status name_leftovers(struct resolving *r)
{
    for (uint32_t rank = 0; rank < r->trace->rank_count; rank++) {
        uint32_t self = IWI_NO_COMM;

        for (size_t i = 0; i < r->ranks[rank].comm_count; i++) {
            struct iwi_allprof_comm *comm = &r->ranks[rank].comms[i];

            if (comm->global != IWI_NO_COMM) {
                continue;
            }
            if (comm->size == r->trace->rank_count && comm->rank == rank) {
                comm->global = 0;
            } else if (comm->size == 1) {
                if (self == IWI_NO_COMM) {
                    IW_TRY(add_comm(r, 1, &rank, &self));
                }
                comm->global = self;
            }
        }
    }
    return IW_OK;
}

static iw_status name_world(struct resolving *r)
{
    for (uint32_t rank = 0; rank < r->trace->rank_count; rank++) {
        bool has_world = false;

        for (size_t i = 0; i < r->ranks[rank].comm_count; i++) {
            struct iwi_allprof_comm *comm = &r->ranks[rank].comms[i];

            if (comm->size > r->trace->rank_count) {
                return iwi_fail(r->log, IW_ERR_TRUNCATED,
                                "the trace has the files of %" PRIu32 " ranks, but rank %" PRIu32
                                " uses a communicator of %" PRIu32 " (line %" PRIu64 "): files are missing",
                                r->trace->rank_count, rank, comm->size, comm->line);
            }
            if (!has_world && comm->size == r->trace->rank_count && comm->rank == rank) {
                comm->global = 0;
                has_world = true;
            }
        }
    }
    return IW_OK;
}

/* Communicators that are found are added at the end, and looked at in their turn. */
static iw_status resolve(struct resolving *r, struct maker *makers, uint32_t *members)
{
    uint32_t index;

    IW_TRY(add_comm(r, r->trace->rank_count, NULL, &index));
    IW_TRY(name_world(r));
    for (uint32_t parent = 0; parent < r->trace->comm_count; parent++) {
        bool is_made = true;

        for (uint32_t number = 0; is_made; number++) {
            IW_TRY(resolve_made(r, parent, number, makers, members, &is_made));
        }
    }
    return name_leftovers(r);
}

iw_status iwi_allprof_resolve(const iw_log *log, struct iwi_allprof_rank *ranks, struct iw_trace *trace)
{
    struct resolving r = {.log = log, .ranks = ranks, .trace = trace};
    struct maker *makers = iwi_new_array(log, trace->rank_count, sizeof *makers);
    uint32_t *members = iwi_new_array(log, trace->rank_count, sizeof *members);
    iw_status status = IW_ERR_NOMEM;

    if (makers != NULL && members != NULL) {
        status = resolve(&r, makers, members);
    }
    free(makers);
    free(members);
    return status;
}
