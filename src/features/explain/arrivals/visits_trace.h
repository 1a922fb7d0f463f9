/* A traced run of training as a trace of calls, which programs are made of.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank is one sequence: its computation, and the collectives and messages that computation starts and waits
 * for. A visit starts where the computation had come to that it needed; if computation then stood still until
 * it ended, it is waited for there, else it goes on beside. Time in which a rank stood still for no visit
 * stays: it is computation. Waiting and transfer are left out: they are simulated.
 */
#ifndef IWI_VISITS_TRACE_H
#define IWI_VISITS_TRACE_H

#include "core/program/trace.h"
#include "features/explain/arrivals/visits.h"

/* Of visits that are finished and aligned. IW_ERR_NOMEM, IW_ERR_RANGE. */
IW_NODISCARD iw_status iwi_trace_of_visits(const iw_log *log, const struct iwi_visits *visits,
                                           struct iw_trace **trace_p);

#endif
