/* Which paths are traces of MPI programs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_OPEN_H
#define IWI_TRACE_OPEN_H

#include <idlewave/program.h>
#include <idlewave/sim.h>

#include <stdbool.h>

#include "core/base/base.h"
#include "core/program/rules.h"
#include "core/program/trace.h"

/* A folder or a file of one of the formats that iw_trace_open() reads; what it only refuses by name is none.
 */
bool iwi_trace_is_readable(const char *path);

/* Runs of other kinds, that features read. */
struct iwi_trace_reader {
    const char *what; /* for messages: "run of training (profiles of PyTorch)" */
    bool (*is_readable)(const char *path);
    iw_status (*open)(const iw_log *log, const char *path, iw_trace **trace_p);
};

/* Ends with NULL; made of the features of this build. */
extern const struct iwi_trace_reader *const iwi_trace_readers[];

/* Open MPI's files of rules for collectives (coll_tuned_dynamic_rules_filename), in their text form. */

/* What the file says, and Open MPI 4.1's own decisions where it says nothing. Errors are logged as
 * 'file:line'. IW_ERR_IO, IW_ERR_FORMAT, IW_ERR_TRUNCATED, IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_ompi_rules_read(const iw_log *log, const char *path, struct iwi_rule_set *set_p);

/* The same of a text in memory; `name` is what messages call it. */
IW_NODISCARD iw_status iwi_ompi_rules_read_memory(const iw_log *log, const char *name, const char *data,
                                                  size_t size, struct iwi_rule_set *set_p);

void iwi_ompi_rules_release(struct iwi_rule_set *set);

/* Steps of the ranks of a trace, from the times of its calls. */

/* The shortest computation that begins a step, found in the trace (wave/step_gap.h). */
IW_NODISCARD iw_status iwi_trace_step_gap(const iw_log *log, const struct iw_trace *trace, iw_time *gap_ps_p);

/* Tells all steps, on a clock that is 0 at the first beginning of a rank (the end of its MPI_Init). A step
 * begins where a rank computes for at least gap_ps. Computing is all time outside of calls, and in calls that
 * do not communicate; comm the calls that only start something; waiting all others, and polls. */
void iwi_trace_steps(const struct iw_trace *trace, iw_time gap_ps, const iw_step_sink *sink);

/* When the last rank ends, on the same clock. */
iw_time iwi_trace_end(const struct iw_trace *trace);

#endif
