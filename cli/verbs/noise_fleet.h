/* Reads a folder of noise files into a fleet, one file after the other.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_NOISE_FLEET_H
#define IW_CLI_NOISE_FLEET_H

#include <idlewave/idlewave.h>

#include "process/progress.h"

/* Files that cannot be read are noted in the fleet and do not stop the others; that none can be read is
 * IW_ERR_FORMAT. `progress` may be NULL. The fleet is not judged yet. */
iw_status noise_fleet_read(const iw_log *log, const char *path, struct progress *progress,
                           iw_fleet **fleet_p);

#endif
