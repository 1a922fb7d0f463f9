/* Recordings as noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORDING_NOISE_H
#define IWI_RECORDING_NOISE_H

#include <stdbool.h>

#include <idlewave/recording.h>

struct iwi_recorded;

/* As iw_noise_add_recording(), with a name for messages. */
IW_NODISCARD iw_status iwi_noise_add_recording(const iw_log *log, iw_noise *noise, const char *name,
                                               const iw_recording *recording);

/* Makes room for one more source: the two smallest of a recording become one, "other". False if no recording
 * has two. */
bool iwi_recorded_fold(iw_noise *noise);

void iwi_recorded_free(struct iwi_recorded *recorded);

#endif
