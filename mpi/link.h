/* The link between the processes of a run, over MPI.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_MPI_LINK_H
#define IW_MPI_LINK_H

#include <idlewave/internal/link.h>

/* Collective over all processes; iw_mpi_plugin.link_open. */
IW_NODISCARD iw_status iwi_mpi_link_open(const iw_log *log, const iw_link **link_p);
/* Before MPI ends; nothing if it was not opened. */
void iwi_mpi_link_close(void);

#endif
