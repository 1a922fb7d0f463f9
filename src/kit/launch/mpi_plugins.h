/* The MPIs that idlewave was built for, and where their parts are.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MPI_PLUGINS_H
#define IWI_MPI_PLUGINS_H

#include <idlewave/internal/mpi.h>

/* *known_p is the name as iw_mpi_name() has it. IW_ERR_UNSUPPORTED with a sentence if it is not there. */
IW_NODISCARD iw_status iwi_mpi_check_name(const iw_log *log, const char *name, const char **known_p);

#endif
