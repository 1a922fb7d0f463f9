/* What a rank sends to whom in collectives whose partners get different amounts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_SIZES_H
#define IWI_TRACE_SIZES_H

#include "mpi/trace/comms.h"
#include "mpi/trace/tracer.h"

/* How sizes of elements are told: one datatype, or one for each partner. */
struct iwi_amounts {
    MPI_Count count; /* to each, if there are no counts */
    struct iwi_counts counts;
    MPI_Datatype type;
    struct iwi_types types; /* none: `type` */
};

uint64_t iwi_amount(const struct iwi_amounts *amounts, int i);

/* Neighbours are asked once: a topology does not change. */
void iwi_comm_ask_neighbours(struct iwi_traced_comm *comm, MPI_Comm handle);

/* For struct iwi_record_collective. Of an alltoallv or alltoallw, *bytes_p becomes what all other ranks get, if
 * that is the same. */
uint32_t iwi_sizes_to_all(struct iwi_thread *thread, const struct iwi_amounts *amounts,
                          const struct iwi_traced_comm *comm, uint64_t *bytes_p);
uint32_t iwi_sizes_to_neighbours(struct iwi_thread *thread, const struct iwi_amounts *amounts,
                                 const struct iwi_traced_comm *comm);

#endif
