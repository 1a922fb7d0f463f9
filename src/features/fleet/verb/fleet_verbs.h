/* The subverbs of `fleet`, one file each.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_FLEET_VERBS_H
#define IW_CLI_FLEET_VERBS_H

#include "options/verbs.h"

extern const struct verb verb_fleet_coincidence, verb_fleet_history, verb_fleet_digest, verb_fleet_show;

#endif
