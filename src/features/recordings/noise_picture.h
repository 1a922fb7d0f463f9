/* What is drawn of a recording: few enough points to be kept in a file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NOISE_PICTURE_H
#define IWI_NOISE_PICTURE_H

#include <idlewave/analysis.h>

/* Of detours, whatever the probe was; *picture is zero. Its lists are the caller's in any case. */
IW_NODISCARD iw_status iwi_noise_picture_fill(const iw_log *log, const iw_recording *detours,
                                              const iw_noise_facts *facts, iw_noise_picture *picture);

#endif
