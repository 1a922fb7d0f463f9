/* Timelines of pipelined training, as ByteDance's StragglerAnalysis publishes them, and their files of sizes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_STRAGGLER_EVENTS_H
#define IWI_STRAGGLER_EVENTS_H

#include "features/explain/stragglers/pipeline.h"

/* Adds the events of a timeline (JSON, packed or not) to a job; it is not finished yet. */
IW_NODISCARD iw_status iwi_straggler_read_events(struct iw_straggler_job *job, const char *path);
IW_NODISCARD iw_status iwi_straggler_read_memory(struct iw_straggler_job *job, const char *name,
                                                 const void *data, size_t size);

/* Reads a file of sizes, and compares it with the finished job. */
IW_NODISCARD iw_status iwi_straggler_read_meta(struct iw_straggler_job *job, const char *file,
                                               const char *data, size_t size);

#endif
