/* What other features use of recording: clocks, two ways to learn who had a CPU, where a recording comes
 * from.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORD_H
#define IWI_RECORD_H

#include "features/record/attribution/method.h"
#include "features/record/clock/clock.h"

extern const struct iwi_method_ops iwi_method_tracefs, iwi_method_perf;

/* Attributes of recordings that no probe made: only where and when, and the machine. */
IW_NODISCARD iw_status iwi_recording_origin_node(const iw_log *log, const char *root, const char *command,
                                                 iw_recording *recording);

#endif
