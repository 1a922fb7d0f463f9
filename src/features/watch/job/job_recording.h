/* What was seen of a job, as a recording with one `cpu` for each rank.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_JOB_RECORDING_H
#define IWI_JOB_RECORDING_H

#include <idlewave/measure.h>
#include <idlewave/watch.h>

#include "features/watch/job/job_detours.h"

/* Times are those of CLOCK_MONOTONIC. */
struct iwi_job_seen {
    int64_t start_ns, end_ns; /* of the watching */
    int64_t clock_error_ns;
    struct iwi_job_rank *ranks; /* are sorted */
    size_t rank_count;
    const struct iwi_job_cpu *cpus;
    size_t cpu_count;
    const iw_recording *sources; /* those of the segments of `cpus`; nothing else of it counts */
    iw_rung rung;
    uint64_t lost; /* events */
};

/* IW_ERR_IO: no rank was seen. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_job_recording(const iw_log *log, const struct iwi_job_seen *seen,
                                         const iw_job_watch_opts *opts, iw_recording **recording_p);

#endif
