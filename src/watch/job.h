/* Which job is watched: processes, or a control group.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_JOB_H
#define IWI_JOB_H

#include <stdbool.h>

#include <idlewave/watch.h>

#include "watch/kernel_side.h"

enum { IWI_JOB_TEXT_SIZE = 256 };

struct iwi_watched_job {
    const char *root; /* /proc is below it */
    const uint32_t *pids;
    size_t pid_count;
    const char *cgroup; /* NULL: pids */
    uint64_t cgroup_id;
    char text[IWI_JOB_TEXT_SIZE]; /* "process 1234" */
};

/* What the programs must know of it. IW_ERR_USAGE: none given, or both; IW_ERR_RANGE: there is no such job.
 */
IW_NODISCARD iw_status iwi_job_find(const iw_log *log, const char *root, const iw_watch_opts *opts,
                                    struct iwi_watched_job *job, struct iwi_bpf_config *config);

/* The programs run: its processes and their descendants are told to them. */
IW_NODISCARD iw_status iwi_job_follow(const iw_log *log, const struct iwi_watched_job *job,
                                      const struct iwi_kernel_side *side);

/* `may_be_empty`: a control group goes on while nobody is in it. */
bool iwi_job_has_ended(const struct iwi_watched_job *job, const struct iwi_kernel_side *side,
                       bool may_be_empty);

#endif
