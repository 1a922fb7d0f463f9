/* Whether a recording keeps the promises of idlewave/recording.h.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORDING_CHECK_H
#define IWI_RECORDING_CHECK_H

#include <idlewave/recording.h>

/* Logs the first fault with `name` and its place and gives `fault`; else IW_OK. What passes: detours ascend
 * without overlaps, all times are in [0, 240 h], all numbers of sources and detours exist. */
IW_NODISCARD iw_status iwi_recording_check(const iw_log *log, const char *name, const iw_recording *recording,
                                           iw_status fault);

#endif
