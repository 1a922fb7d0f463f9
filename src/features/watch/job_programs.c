/* Tells the programs in the kernel which job they watch.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/job_programs.h"

#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/watch/kernel_btf.h"

/* The first controller of the hierarchy in which `path` lies that the kernel knows. */
static int controller_of(const char *path)
{
    FILE *mounts = setmntent("/proc/self/mounts", "r");
    struct mntent entry;
    char line[4096], options[1024] = "";
    size_t longest = 0;
    int number = -1;

    while (mounts != NULL && getmntent_r(mounts, &entry, line, sizeof line) != NULL) {
        const size_t length = strlen(entry.mnt_dir);

        if (strcmp(entry.mnt_type, "cgroup") == 0 && length > longest &&
            strncmp(path, entry.mnt_dir, length) == 0) {
            longest = length;
            snprintf(options, sizeof options, "%s", entry.mnt_opts);
        }
    }
    if (mounts != NULL) {
        (void)endmntent(mounts);
    }
    for (char *at = options, *word; number < 0 && (word = strsep(&at, ",")) != NULL;) {
        number = iwi_kernel_controller(word);
    }
    return number;
}

iw_status iwi_job_configure(const iw_log *log, const struct iwi_watched_job *job,
                            struct iwi_bpf_config *config)
{
    char path[IWI_JOB_PATH_SIZE];
    int controller;

    config->job = job->cgroup != NULL ? IWI_JOB_CGROUP : IWI_JOB_PIDS;
    config->cgroup_id = job->cgroup_id;
    if (!job->is_cgroup_v1) {
        return IW_OK;
    }
    controller = realpath(job->cgroup, path) != NULL ? controller_of(path) : -1;
    if (controller < 0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'%s': the kernel knows no controller of its hierarchy: take the "
                        "folder of the same group below 'cpu' or 'cpuset'",
                        job->cgroup);
    }
    config->job = IWI_JOB_CGROUP_V1;
    config->cgroup_subsys = (__u32)controller;
    return IW_OK;
}

struct telling {
    const iw_log *log;
    const struct iwi_kernel_side *side;
};

static iw_status tell(void *arg, uint32_t pid)
{
    const struct telling *telling = arg;

    return iwi_kernel_side_add(telling->log, telling->side, pid);
}

iw_status iwi_job_follow(const iw_log *log, const struct iwi_watched_job *job,
                         const struct iwi_kernel_side *side)
{
    struct telling telling = {log, side};

    return job->cgroup == NULL ? iwi_job_each_process(log, job, tell, &telling) : IW_OK;
}

bool iwi_job_has_ended(const struct iwi_watched_job *job, const struct iwi_kernel_side *side,
                       bool may_be_empty)
{
    return job->cgroup != NULL ? iwi_job_is_gone_group(job, may_be_empty)
                               : !iwi_kernel_side_has_processes(side);
}
