/* Finds the control group of a job of Slurm.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/watch.h>

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"

iw_status iw_watch_slurm_cgroup(const iw_log *log, uint64_t job, char **path_p)
{
    /* where Slurm puts jobs: v2, with and without the node's name; v1, where task/cgroup confines them, or by
     * proctrack/cgroup alone, which uses the freezer */
    static const char *const places[] = {
        "/sys/fs/cgroup/system.slice/*slurmstepd.scope",
        "/sys/fs/cgroup/*/system.slice/*slurmstepd.scope",
        "/sys/fs/cgroup/cpuset/slurm*/uid_*",
        "/sys/fs/cgroup/cpu*/slurm*/uid_*",
        "/sys/fs/cgroup/freezer/slurm*/uid_*",
    };

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char pattern[160];
        glob_t found = {0};

        snprintf(pattern, sizeof pattern, "%s/job_%" PRIu64, places[i], job);
        if (glob(pattern, 0, NULL, &found) == 0) {
            *path_p = strdup(found.gl_pathv[0]);
            globfree(&found);
            return *path_p != NULL ? IW_OK : iwi_fail(log, IW_ERR_NOMEM, "out of memory");
        }
        globfree(&found);
    }
    return iwi_fail(log, IW_ERR_RANGE,
                    "Slurm job %" PRIu64
                    " has no control group on this node: it does not run here, or Slurm is "
                    "not configured with 'ProctrackType=proctrack/cgroup'; the process of its first task, or "
                    "its control group, can be given instead",
                    job);
}
