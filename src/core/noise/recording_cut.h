/* Recordings without some of their sources, or some of their time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORDING_CUT_H
#define IWI_RECORDING_CUT_H

#include <stdbool.h>

#include <idlewave/recording.h>

/* As iw_recording_cut() with these sources (by number) dropped; nothing may be left. The recording has been
 * checked. */
IW_NODISCARD iw_status iwi_recording_drop(const iw_log *log, const iw_recording *recording,
                                          const bool *is_dropped, iw_recording **recording_p);

#endif
