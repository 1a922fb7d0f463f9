/* What the environment tells about the launcher of this process.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_LAUNCHER_H
#define IWI_LAUNCHER_H

#include <idlewave/internal/mpi.h>

/* Name NULL and size 0: no launcher. Name NULL and size above 1: Slurm has started so many, but nothing tells
 * how they are to find each other. Size 0 with a name: the launcher does not tell. */
void iwi_launcher_read_env(iw_launcher *launcher_p);

/* What srun's option --mpi must be for that MPI. */
const char *iwi_srun_way(const char *mpi);

/* Refuses if MPI, of that name, found itself with another number of processes than the launcher has started:
 * usually each of them alone. The process of rank 0 logs it, all return it. */
IW_NODISCARD iw_status iwi_launcher_check_size(const iw_log *log, const char *mpi, uint32_t size);

#endif
