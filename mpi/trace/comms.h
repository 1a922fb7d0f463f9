/* Communicators: a number and the world ranks of the members for each, told from its handle by a cached
 * attribute.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_COMMS_H
#define IWI_TRACE_COMMS_H

#include "mpi/trace/archive.h"
#include "mpi/trace/tracer.h"

struct iwi_traced_comm {
    uint32_t id;
    bool is_inter;
    uint64_t global; /* the same in all members, made without asking them */
    int rank, size, remote_size;
    /* World ranks: of the local group, then of the remote one; -1: not in MPI_COMM_WORLD. Only rank 0 of each
     * group keeps them. */
    int32_t *members;
    _Atomic uint64_t made_count; /* communicators made from it: the same number in all members */
    int in_degree, out_degree;   /* of neighbour collectives; -1: not asked yet */
    int *destinations;           /* out_degree of them; MPI_PROC_NULL: nobody */
    MPI_Comm handle;             /* MPI_COMM_NULL: freed */
    char name[IWI_COMM_NAME_BYTES];
};

/* World and self; false: no memory, or MPI refuses. */
bool iwi_comms_init(void);
void iwi_comms_release(void);

struct iwi_traced_comm *iwi_comm_find_slowly(struct iwi_thread *thread, MPI_Comm handle);

/* NULL: no memory (the recording has ended). An unknown one is made known. */
static inline struct iwi_traced_comm *iwi_comm_find(struct iwi_thread *thread, MPI_Comm handle)
{
    size_t slot = iwi_slot_of((uint64_t)(uintptr_t)handle, IWI_COMM_CACHE);

    if (thread->comm_generation == atomic_load_explicit(&iwi_tracer.comm_generation, memory_order_relaxed) &&
        thread->cached_handles[slot] == handle && thread->cached_comms[slot] != NULL) {
        return thread->cached_comms[slot];
    }
    return iwi_comm_find_slowly(thread, handle);
}

/* After a communicator was made, by the members. */
struct iwi_traced_comm *iwi_comm_made(struct iwi_thread *thread, enum iwi_makers makers, MPI_Comm parent, int tag,
                               MPI_Comm made);
/* The two halves of the above, for Comm_idup: the key when it is called, the communicator when it is there.
 */
uint64_t iwi_comm_next_key(struct iwi_thread *thread, MPI_Comm parent);
struct iwi_traced_comm *iwi_comm_adopt(struct iwi_thread *thread, uint64_t key, MPI_Comm made);

/* What the program calls those that are not freed; before the archive is written. */
void iwi_comms_ask_names(void);

/* All of this process, by id. */
struct iwi_traced_comm *const *iwi_comms_all(uint32_t *count_p);

#endif
