/* A node among the nodes of its fleet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_CHECK_FLEET_H
#define IW_CLI_CHECK_FLEET_H

#include <idlewave/idlewave.h>

#include "process/ui.h"

/* Whether `path` can be listed, before anything is measured. Returns UI_DONE or an exit code. */
int check_fleet_is_there(struct ui *ui, const char *path);

/* Judges the nodes of `path` (as `fleet` takes it) together with this one, `recording` of `host`, and
 * tells whether it stands out. What the same host had before, and nodes that were measured by another probe,
 * are left out. Returns UI_DONE or an exit code. */
int check_fleet(struct ui *ui, const char *path, const char *host, const iw_recording *recording,
                iw_check_fleet *found);

#endif
