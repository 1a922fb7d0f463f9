/* Visits of a trace that is in memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_VISITS_MPI_H
#define IWI_VISITS_MPI_H

#include "core/program/trace.h"
#include "features/explain/arrivals/visits.h"

/* Times count from the first beginning of a rank. Collectives are numbered in their communicators, messages
 * by their sends, in the group of their communicator. */
IW_NODISCARD iw_status iwi_visits_of_trace(const iw_log *log, const struct iw_trace *trace,
                                           struct iwi_visits *visits);

/* Steps as timelines find them (format/trace/trace_steps.h), and the step of each visit and stretch. Where
 * ranks have different numbers of steps there are none: the borders were not found. */
IW_NODISCARD iw_status iwi_visits_steps_of_trace(const iw_log *log, const struct iw_trace *trace,
                                                 struct iwi_visits *visits);

#endif
