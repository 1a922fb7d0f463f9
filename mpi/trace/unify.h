/* Bringing together what all processes know, at the end of a run; all functions are collective.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_UNIFY_H
#define IWI_TRACE_UNIFY_H

#include <mpi.h>

#include "mpi/trace/archive.h"

/* *map_p: from this process's communicators to those of the archive, to be freed. In process 0 also all
 * communicators of the archive (0 and 1 stand for world and self), which point into *words_p; both to be
 * freed. */
bool iwi_unify_comms(MPI_Comm over, struct iwi_comm_map *map_p, struct iwi_archive_comm **comms_p,
                     uint32_t *count_p, uint64_t **words_p);

/* Process 0 gets `bytes` of every process, one after the other; others get NULL. To be freed. */
void *iwi_gather_bytes(MPI_Comm over, const void *mine, size_t bytes, size_t *total_p);

/* True if it is true in all processes. */
bool iwi_all_true(MPI_Comm over, bool is_true);

#endif
