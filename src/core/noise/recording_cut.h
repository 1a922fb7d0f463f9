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

/* The part [from_ns, to_ns) of it, also if that holds no detour. */
IW_NODISCARD iw_status iwi_recording_cut_time(const iw_log *log, const char *name,
                                              const iw_recording *recording, int64_t from_ns, int64_t to_ns,
                                              iw_recording **recording_p);

#endif
