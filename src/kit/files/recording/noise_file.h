/* Noise by its spec or path, within this room.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FORMAT_RECORDING_NOISE_FILE_H
#define IWI_FORMAT_RECORDING_NOISE_FILE_H

#include <idlewave/recording.h>

/* Whether it can be opened; nothing is kept. */
IW_NODISCARD iw_status iwi_noise_try(const iw_log *log, const char *spec_or_path);

#endif
