/* Which sources of recordings hit the CPUs of a node together.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORDING_COINCIDENCE_H
#define IWI_RECORDING_COINCIDENCE_H

#include <stdbool.h>

#include <idlewave/log.h>
#include <idlewave/status.h>

struct iwi_recorded;

/* By label: at least half of its detours coincide on neighbouring CPUs, and more than CPUs that are shifted
 * against each other would let expect: those that hit CPUs independently of each other are found so in one
 * case of a hundred, at most. */
IW_NODISCARD iw_status iwi_find_node_wide(const iw_log *log, const struct iwi_recorded *recorded,
                                          bool *is_node_wide);

#endif
