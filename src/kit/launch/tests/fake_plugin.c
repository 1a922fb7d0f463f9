/* A part of a version that does not exist yet, to be refused.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/mpi.h>

extern const iw_mpi_plugin iw_mpi_this_plugin;
IW_API const iw_mpi_plugin iw_mpi_this_plugin = {.version = IW_MPI_PLUGIN_VERSION + 1, .mpi = "openmpi"};
