/* Steps of the ranks of a trace, from the times of its calls.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_STEPS_H
#define IWI_TRACE_STEPS_H

#include <idlewave/sim.h>

#include "core/base/base.h"
#include "core/program/trace.h"

/* The shortest computation that begins a step, found in the trace (wave/step_gap.h). */
IW_NODISCARD iw_status iwi_trace_step_gap(const iw_log *log, const struct iw_trace *trace, iw_time *gap_ps_p);

/* Tells all steps, on a clock that is 0 at the first beginning of a rank (the end of its MPI_Init). A step
 * begins where a rank computes for at least gap_ps. Computing is all time outside of calls, and in calls that
 * do not communicate; comm the calls that only start something; waiting all others, and polls. */
void iwi_trace_steps(const struct iw_trace *trace, iw_time gap_ps, const iw_step_sink *sink);

/* When the last rank ends, on the same clock. */
iw_time iwi_trace_end(const struct iw_trace *trace);

#endif
