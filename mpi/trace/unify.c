/* Communicators of all processes under one numbering.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/unify.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "mpi/trace/comms.h"

bool iwi_all_true(MPI_Comm over, bool is_true)
{
    int mine = is_true;
    int all = 0;

    (void)PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, over);
    return all != 0;
}

void *iwi_gather_bytes(MPI_Comm over, const void *mine, size_t bytes, size_t *total_p)
{
    int rank = 0;
    int size = 0;
    int count = bytes <= INT_MAX ? (int)bytes : 0;
    size_t total = 0;

    (void)PMPI_Comm_rank(over, &rank);
    (void)PMPI_Comm_size(over, &size);
    int *counts = calloc((size_t)size * 2, sizeof *counts);
    *total_p = 0;
    if (!iwi_all_true(over, counts != NULL) || counts == NULL) {
        free(counts);
        return NULL;
    }
    (void)PMPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, over);
    for (int i = 0; i < size; i++) {
        counts[size + i] = (int)total;
        total += (size_t)counts[i];
    }
    char *all = rank == 0 && total <= INT_MAX ? malloc(total + 1) : NULL;
    if (iwi_all_true(over, rank != 0 || all != NULL)) {
        (void)PMPI_Gatherv(mine, count, MPI_BYTE, all, counts, counts + size, MPI_BYTE, 0, over);
    } else {
        free(all);
        all = NULL;
    }
    free(counts);
    *total_p = all != NULL ? total : 0;
    return all;
}

/* One process speaks for a communicator: its rank 0; of an intercommunicator, that of the lower group. */
static bool speaks_for(const struct iwi_traced_comm *comm)
{
    if (comm->id < 2 || comm->rank != 0) {
        return false;
    }
    int32_t other = comm->remote_size > 0 ? comm->members[comm->size] : -1;
    return other < 0 || comm->members[0] < other;
}

enum { NAME_WORDS = IWI_COMM_NAME_BYTES / sizeof(uint64_t), HEAD_WORDS = 3 + NAME_WORDS };

static size_t words_of(const struct iwi_traced_comm *comm)
{
    return HEAD_WORDS + ((size_t)comm->size + (size_t)comm->remote_size + 1) / 2;
}

/* global; size and remote size; is it inter; name; members, two a word. */
static uint64_t *pack(size_t *words_p)
{
    uint32_t count;
    struct iwi_traced_comm *const *all = iwi_comms_all(&count);
    size_t words = 0;

    for (uint32_t i = 0; i < count; i++) {
        words += speaks_for(all[i]) ? words_of(all[i]) : 0;
    }
    uint64_t *packed = calloc(words + 1, sizeof *packed);
    uint64_t *at = packed;
    for (uint32_t i = 0; packed != NULL && i < count; i++) {
        const struct iwi_traced_comm *comm = all[i];
        if (speaks_for(comm)) {
            at[0] = comm->global;
            at[1] = (uint64_t)comm->size | (uint64_t)comm->remote_size << 32;
            at[2] = comm->is_inter;
            memcpy(at + 3, comm->name, sizeof comm->name);
            memcpy(at + HEAD_WORDS, comm->members,
                   ((size_t)comm->size + (size_t)comm->remote_size) * sizeof(int32_t));
            at += words_of(comm);
        }
    }
    *words_p = packed != NULL ? words : 0;
    return packed;
}

static struct iwi_archive_comm *unpack(uint64_t *words, size_t count, uint32_t *comm_count_p)
{
    uint32_t capacity = 2;

    for (size_t at = 0; at + HEAD_WORDS <= count;
         at += HEAD_WORDS + ((size_t)(uint32_t)words[at + 1] + (words[at + 1] >> 32) + 1) / 2) {
        capacity++;
    }
    struct iwi_archive_comm *comms = calloc(capacity, sizeof *comms);
    uint32_t next = 2;
    for (size_t at = 0; comms != NULL && next < capacity; next++) {
        struct iwi_archive_comm *comm = &comms[next];
        comm->global = words[at];
        comm->size = (uint32_t)words[at + 1];
        comm->remote_size = (uint32_t)(words[at + 1] >> 32);
        comm->is_inter = words[at + 2] != 0;
        comm->members = (int32_t *)(void *)&words[at + HEAD_WORDS];
        memcpy(comm->name, &words[at + 3], sizeof comm->name);
        at += HEAD_WORDS + ((size_t)comm->size + comm->remote_size + 1) / 2;
    }
    *comm_count_p = comms != NULL ? capacity : 0;
    return comms;
}

struct numbered {
    uint64_t global;
    uint32_t id;
};

IWI_COMPARE(by_global, struct numbered, IWI_RISING(global))

static uint32_t *map_ids(struct numbered *numbered, size_t numbered_count, uint32_t *count_p)
{
    uint32_t count;
    struct iwi_traced_comm *const *all = iwi_comms_all(&count);
    uint32_t *ids = calloc((size_t)count + 1, sizeof *ids);

    if (ids == NULL) {
        return NULL;
    }
    iwi_sort(numbered, numbered_count, by_global);
    for (uint32_t i = 0; i < count; i++) {
        const struct numbered key = {all[i]->global, 0};
        const struct numbered *found = iwi_find(&key, numbered, numbered_count, by_global);
        ids[i] = i < 2 ? i : found != NULL ? found->id : UINT32_MAX;
    }
    *count_p = count;
    return ids;
}

/* Process 0 tells the global numbers in the order of the archive. */
static bool share(MPI_Comm over, const struct iwi_archive_comm *comms, uint32_t comm_count,
                  struct iwi_comm_map *map_p)
{
    (void)PMPI_Bcast(&comm_count, 1, MPI_UINT32_T, 0, over);
    size_t others = comm_count > 2 ? comm_count - 2 : 0;
    uint64_t *globals = calloc(others + 1, sizeof *globals);
    struct numbered *numbered = calloc(others + 1, sizeof *numbered);
    bool is_fine =
        iwi_all_true(over, comm_count > 0 && globals != NULL && numbered != NULL && others <= INT_MAX);
    if (is_fine && globals != NULL && numbered != NULL) {
        for (size_t i = 0; comms != NULL && i < others; i++) {
            globals[i] = comms[i + 2].global;
        }
        (void)PMPI_Bcast(globals, (int)others, MPI_UINT64_T, 0, over);
        for (size_t i = 0; i < others; i++) {
            numbered[i] = (struct numbered){globals[i], (uint32_t)i + 2};
        }
        map_p->ids = map_ids(numbered, others, &map_p->count);
        is_fine = iwi_all_true(over, map_p->ids != NULL);
    }
    free(globals);
    free(numbered);
    return is_fine;
}

bool iwi_unify_comms(MPI_Comm over, struct iwi_comm_map *map_p, struct iwi_archive_comm **comms_p,
                     uint32_t *count_p, uint64_t **words_p)
{
    size_t words = 0;
    size_t total = 0;
    uint64_t *packed = pack(&words);

    *comms_p = NULL;
    *count_p = 0;
    *words_p = iwi_gather_bytes(over, packed, words * sizeof *packed, &total);
    free(packed);
    if (*words_p != NULL) {
        *comms_p = unpack(*words_p, total / sizeof **words_p, count_p);
    }
    return share(over, *comms_p, *count_p, map_p);
}
