/* A recorded trace as arrays, for engines with rules of their own.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DETOUR_VIEW_H
#define IWI_DETOUR_VIEW_H

#include <stdbool.h>

#include "core/noise/stream.h"

/* Disjoint pieces within [0, length), sorted, neither empty nor touching; owned by the noise. */
struct iwi_detour_trace_view {
    const iw_time *start_ps, *duration_ps;
    size_t count;
    iw_time length_ps; /* 0 only when count is */
};

/* True if the noise is exactly one recorded trace, or the recording of one CPU; else *view_p stays as it is.
 */
bool iwi_noise_trace_view(const iw_noise *noise, struct iwi_detour_trace_view *view_p);

/* The position in [0, length) at which that trace stands at time 0 on a rank; 0 if there is no such trace. */
iw_time iwi_noise_trace_offset(const iw_noise *noise, struct iwi_stream_id id);

#endif
