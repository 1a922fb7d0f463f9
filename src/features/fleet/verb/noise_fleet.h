/* Reads the nodes that a path holds, and judges them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_NOISE_FLEET_H
#define IW_CLI_NOISE_FLEET_H

#include <idlewave/idlewave.h>

#include "process/mpi_run.h"
#include "process/progress.h"

/* `path`: a folder of noise files and files of digests, or one file of digests; of several digests of a node
 * the latest counts. Files that cannot be read are noted in the fleet and do not stop the others; that none
 * can be read is IW_ERR_FORMAT. `progress` may be NULL, and `mpi_run`: else all processes of that run judge
 * it together, and the first one has the answer. */
iw_status noise_fleet_judge(const iw_log *log, const char *path, const iw_fleet_opts *opts,
                            struct progress *progress, struct mpi_run *mpi_run, iw_fleet **fleet_p);

#endif
