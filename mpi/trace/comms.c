/* Communicators known to the tracer.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All members give a communicator the same global number without exchanging messages: a digest of who made it
 * (the parent's number and how many were made from the parent before, as all members make them in the same
 * order) and of its members.
 */
#include "mpi/trace/comms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int keyval;
    struct iwi_traced_comm **all;
    uint32_t count, capacity;
    struct {
        uint64_t key, count;
    } * seen; /* keys that need not differ, and how often they occurred */
    size_t seen_count, seen_capacity;
} comms;

static uint64_t mix(uint64_t digest, uint64_t value)
{
    digest ^= value + UINT64_C(0x9e3779b97f4a7c15) + (digest << 6) + (digest >> 2);
    digest ^= digest >> 31;
    return digest * UINT64_C(0x7fb5d329728ea185);
}

static uint64_t mix_members(uint64_t digest, const int32_t *members, int count)
{
    for (int i = 0; i < count; i++) {
        digest = mix(digest, (uint64_t)(int64_t)members[i]);
    }
    return mix(digest, (uint64_t)count);
}

/* Both sides of an intercommunicator see the groups the other way round. */
static uint64_t digest_of(uint64_t key, const struct iwi_traced_comm *comm)
{
    const int32_t *remote = comm->members + comm->size;
    bool is_turned =
        comm->remote_size > 0 && comm->size > 0 && remote[0] >= 0 && remote[0] < comm->members[0];

    if (is_turned) {
        key = mix_members(key, remote, comm->remote_size);
        return mix_members(key, comm->members, comm->size);
    }
    key = mix_members(key, comm->members, comm->size);
    return mix_members(key, remote, comm->remote_size);
}

/* How often this key occurred before, in this process; caller holds the mutex. */
static uint64_t occurrence(uint64_t key)
{
    for (size_t i = 0; i < comms.seen_count; i++) {
        if (comms.seen[i].key == key) {
            return ++comms.seen[i].count;
        }
    }
    if (comms.seen_count == comms.seen_capacity) {
        size_t capacity = comms.seen_capacity * 2 + 16;
        void *grown = realloc(comms.seen, capacity * sizeof *comms.seen);
        if (grown == NULL) {
            return 0;
        }
        comms.seen = grown;
        comms.seen_capacity = capacity;
    }
    comms.seen[comms.seen_count].key = key;
    comms.seen[comms.seen_count++].count = 0;
    return 0;
}

static bool world_ranks(MPI_Group group, int count, int32_t *members)
{
    int *ranks = calloc((size_t)count * 2 + 1, sizeof *ranks);

    if (ranks == NULL) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        ranks[i] = i;
    }
    bool is_done =
        PMPI_Group_translate_ranks(group, count, ranks, iwi_tracer.world, ranks + count) == MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        int rank = is_done ? ranks[count + i] : MPI_UNDEFINED;
        members[i] = rank == MPI_UNDEFINED ? -1 : rank;
    }
    free(ranks);
    return true;
}

static struct iwi_traced_comm *describe(MPI_Comm handle)
{
    struct iwi_traced_comm *comm = calloc(1, sizeof *comm);
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group remote = MPI_GROUP_NULL;
    int is_inter = 0;

    if (comm == NULL) {
        return NULL;
    }
    comm->in_degree = comm->out_degree = -1;
    comm->handle = handle;
    (void)PMPI_Comm_test_inter(handle, &is_inter);
    comm->is_inter = is_inter != 0;
    (void)PMPI_Comm_rank(handle, &comm->rank);
    (void)PMPI_Comm_size(handle, &comm->size);
    (void)PMPI_Comm_group(handle, &group);
    if (comm->is_inter) {
        (void)PMPI_Comm_remote_size(handle, &comm->remote_size);
        (void)PMPI_Comm_remote_group(handle, &remote);
    }
    comm->members = calloc((size_t)comm->size + (size_t)comm->remote_size + 1, sizeof(int32_t));
    bool is_fine = comm->members != NULL && world_ranks(group, comm->size, comm->members);
    if (is_fine && comm->is_inter) {
        is_fine = world_ranks(remote, comm->remote_size, comm->members + comm->size);
        (void)PMPI_Group_free(&remote);
    }
    if (group != MPI_GROUP_NULL) {
        (void)PMPI_Group_free(&group);
    }
    if (!is_fine) {
        free(comm->members);
        free(comm);
        return NULL;
    }
    return comm;
}

static bool list(struct iwi_traced_comm *comm)
{
    if (comms.count == comms.capacity) {
        uint32_t capacity = comms.capacity * 2 + 16;
        struct iwi_traced_comm **grown = realloc(comms.all, capacity * sizeof(void *));
        if (grown == NULL) {
            return false;
        }
        comms.all = grown;
        comms.capacity = capacity;
    }
    comm->id = comms.count;
    comms.all[comms.count++] = comm;
    return true;
}

static void write_record(struct iwi_thread *thread, const struct iwi_traced_comm *comm)
{
    size_t member_bytes = ((size_t)comm->size + (size_t)comm->remote_size) * sizeof(int32_t);
    size_t bytes = sizeof(struct iwi_record_comm) + (member_bytes + 7) / 8 * 8;

    if (thread == NULL || iwi_tracer.failure != 0) {
        return;
    }
    struct iwi_record_comm *room = iwi_record(thread, bytes);
    if (room != NULL) {
        memset(room, 0, bytes);
        *room = (struct iwi_record_comm){.kind = IWI_RECORD_COMM,
                                         .flags = comm->is_inter ? IWI_COMM_IS_INTER : 0,
                                         .comm = comm->id,
                                         .global = comm->global,
                                         .size = (uint32_t)comm->size,
                                         .remote_size = (uint32_t)comm->remote_size};
        memcpy(room + 1, comm->members, member_bytes);
    }
}

/* Gives it a number and hangs it on the handle. `is_unsure`: members may not agree on the key's being the
 * first. */
static struct iwi_traced_comm *adopt(struct iwi_thread *thread, uint64_t key, bool is_unsure, MPI_Comm handle)
{
    struct iwi_traced_comm *comm = describe(handle);

    if (comm == NULL) {
        iwi_tracer_fail(ENOMEM, "describing a communicator");
        return NULL;
    }
    comm->global = digest_of(key, comm);
    (void)pthread_mutex_lock(&iwi_tracer.mutex);
    if (is_unsure) {
        comm->global = mix(comm->global, occurrence(comm->global));
    }
    bool is_listed = list(comm);
    (void)pthread_mutex_unlock(&iwi_tracer.mutex);
    if (!is_listed || PMPI_Comm_set_attr(handle, comms.keyval, comm) != MPI_SUCCESS) {
        iwi_tracer_fail(ENOMEM, "describing a communicator");
        if (!is_listed) {
            free(comm->members);
            free(comm);
        }
        return NULL;
    }
    write_record(thread, comm);
    if (comm->rank != 0) { /* its rank 0 tells the members when the archive is written */
        free(comm->members);
        comm->members = NULL;
    }
    return comm;
}

/* Open MPI names those that the program gives no name. */
static void ask_name(struct iwi_traced_comm *comm)
{
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0;

    if (comm->handle == MPI_COMM_NULL || PMPI_Comm_get_name(comm->handle, name, &length) != MPI_SUCCESS ||
        strncmp(name, "MPI COMMUNICATOR ", 17) == 0) {
        return;
    }
    (void)snprintf(comm->name, sizeof comm->name, "%.*s", (int)sizeof comm->name - 1, name);
}

void iwi_comms_ask_names(void)
{
    for (uint32_t i = 2; i < comms.count; i++) {
        ask_name(comms.all[i]);
    }
}

/* The handle may be given to another communicator: nobody may trust what was cached by it. */
static int forget(MPI_Comm handle, int keyval, void *value, void *extra)
{
    struct iwi_traced_comm *comm = value;

    (void)handle;
    (void)keyval;
    (void)extra;
    if (comms.count > 0) { /* MPI_Finalize deletes what is left, when ours is released */
        ask_name(comm);
        comm->handle = MPI_COMM_NULL;
    }
    atomic_fetch_add(&iwi_tracer.comm_generation, 1);
    return MPI_SUCCESS;
}

bool iwi_comms_init(void)
{
    memset(&comms, 0, sizeof comms);
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &comms.keyval, NULL) != MPI_SUCCESS) {
        return false;
    }
    return adopt(NULL, 1, false, MPI_COMM_WORLD) != NULL && adopt(NULL, 2, false, MPI_COMM_SELF) != NULL;
}

void iwi_comms_release(void)
{
    for (uint32_t i = 0; i < comms.count; i++) {
        free(comms.all[i]->members);
        free(comms.all[i]->destinations);
        free(comms.all[i]);
    }
    free(comms.all);
    free(comms.seen);
    memset(&comms, 0, sizeof comms);
}

static struct iwi_traced_comm *look_up(struct iwi_thread *thread, MPI_Comm handle)
{
    void *value = NULL;
    int is_there = 0;

    if (PMPI_Comm_get_attr(handle, comms.keyval, &value, &is_there) == MPI_SUCCESS && is_there) {
        return value;
    }
    return adopt(thread, 3, true, handle);
}

struct iwi_traced_comm *iwi_comm_find_slowly(struct iwi_thread *thread, MPI_Comm handle)
{
    uint64_t generation = atomic_load_explicit(&iwi_tracer.comm_generation, memory_order_relaxed);

    if (thread->comm_generation != generation) {
        memset(thread->cached_comms, 0, sizeof thread->cached_comms);
        thread->comm_generation = generation;
    }
    struct iwi_traced_comm *comm = look_up(thread, handle);
    size_t slot = iwi_slot_of((uint64_t)(uintptr_t)handle, IWI_COMM_CACHE);
    thread->cached_handles[slot] = handle;
    thread->cached_comms[slot] = comm;
    return comm;
}

uint64_t iwi_comm_next_key(struct iwi_thread *thread, MPI_Comm parent)
{
    struct iwi_traced_comm *from = iwi_comm_find(thread, parent);

    return from != NULL ? mix(mix(4, from->global), atomic_fetch_add(&from->made_count, 1)) : 0;
}

struct iwi_traced_comm *iwi_comm_adopt(struct iwi_thread *thread, uint64_t key, MPI_Comm made)
{
    return made != MPI_COMM_NULL ? adopt(thread, key, false, made) : NULL;
}

struct iwi_traced_comm *iwi_comm_made(struct iwi_thread *thread, enum iwi_makers makers, MPI_Comm parent, int tag,
                               MPI_Comm made)
{
    uint64_t key = 3;

    if (makers == IWI_MADE_BY_parent) {
        key = iwi_comm_next_key(thread, parent);
    } else if (makers == IWI_MADE_BY_group) {
        key = mix(5, (uint64_t)(int64_t)tag);
    }
    return made != MPI_COMM_NULL ? adopt(thread, key, makers != IWI_MADE_BY_parent, made) : NULL;
}

struct iwi_traced_comm *const *iwi_comms_all(uint32_t *count_p)
{
    *count_p = comms.count;
    return comms.all;
}
