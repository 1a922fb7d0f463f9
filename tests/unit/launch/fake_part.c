/* A part of a version that does not exist yet, to be refused.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/mpi.h>

extern const iw_mpi_part iw_mpi_this_part;
IW_API const iw_mpi_part iw_mpi_this_part = {.version = IW_MPI_PART_VERSION + 1, .mpi = "openmpi"};
