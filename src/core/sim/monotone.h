/* Whether a run can only end later for more noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MONOTONE_H
#define IWI_MONOTONE_H

#include <idlewave/sim.h>

/* True: of two runs that differ in their noise, the one that also has all detours and added work of the other
 * ends no rank earlier. False: one of the exceptions of docs/explanation/semantics.md, 9, is there. `sync`:
 * how the noise is aligned. */
IW_NODISCARD iw_status iwi_is_monotone(const iw_log *log, const iw_program *program, const iw_net *net,
                                       iw_rules rules, iw_sync sync, bool *is_monotone_p);

#endif
