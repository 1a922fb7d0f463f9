/* Noise as LogGOPSim counts it: detours of one recorded trace, found by position modulo its length.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_LOGGOPSIM_NOISE_H
#define IWI_LOGGOPSIM_NOISE_H

#include "core/noise/detour_view.h"
#include "core/noise/stream.h"

struct iwi_lgs_noise {
    struct iwi_detour_trace_view trace;
    iw_time *lost_before_ps; /* count + 1: sum of the durations of all earlier detours */
    iw_time *offset_ps;      /* one per rank */
    iw_time period_ps;       /* T: the start of the last detour */
};

/* `noise` may be NULL: none. IW_ERR_UNSUPPORTED unless the noise is exactly one recorded trace; IW_ERR_RANGE
 * for a trace whose detours all start together, which has no period. */
IW_NODISCARD iw_status iwi_lgs_noise_init(const iw_log *log, struct iwi_lgs_noise *lgs, const iw_noise *noise,
                                          struct iwi_stream_id first_rank, uint32_t ranks);
void iwi_lgs_noise_release(struct iwi_lgs_noise *lgs);

/* Time that `work_ps` of CPU from `start_ps` on takes longer on that rank. */
iw_time iwi_lgs_noise_lost(const struct iwi_lgs_noise *lgs, uint32_t rank, iw_time start_ps, iw_time work_ps);

#endif
