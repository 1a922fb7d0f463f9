/* Which job is watched: processes, or a control group.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_JOB_H
#define IWI_JOB_H

#include <stdbool.h>

#include <idlewave/watch.h>

enum { IWI_JOB_TEXT_SIZE = 256, IWI_JOB_PATH_SIZE = 4096 };

struct iwi_watched_job {
    const char *root; /* /proc is below it */
    const uint32_t *pids;
    size_t pid_count;
    const char *cgroup; /* NULL: pids */
    uint64_t cgroup_id;
    bool is_cgroup_v1;
    char text[IWI_JOB_TEXT_SIZE]; /* "process 1234" */
};

/* IW_ERR_USAGE: none given, or both; IW_ERR_RANGE: there is no such job. */
IW_NODISCARD iw_status iwi_job_find(const iw_log *log, const char *root, const iw_watch_opts *opts,
                                    struct iwi_watched_job *job);

/* Its processes now: those given and all that descend from them, or those of the group and of all below it.
 */
typedef iw_status (*iwi_on_process)(void *arg, uint32_t pid);
IW_NODISCARD iw_status iwi_job_each_process(const iw_log *log, const struct iwi_watched_job *job,
                                            iwi_on_process take, void *arg);

/* A control group: whether it has been removed, or is empty. */
bool iwi_job_is_gone_group(const struct iwi_watched_job *job, bool may_be_empty);

#endif
