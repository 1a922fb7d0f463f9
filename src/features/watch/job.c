/* Finds processes with their descendants, and control groups by their folders, also those of Slurm.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/job.h"

#include <idlewave/watch.h>

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"

/* ---- the control group of a job of Slurm ---- */

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
                    " has no control group on this node: it does not run here, or Slurm is not configured "
                    "with 'ProctrackType=proctrack/cgroup'; use the process of its first task or its control "
                    "group instead",
                    job);
}

/* ---- processes and control groups ---- */

static const long CGROUP_V1 = 0x27e0eb, CGROUP_V2 = 0x63677270; /* linux/magic.h */

/* ---- control groups ---- */

static iw_status find_cgroup(const iw_log *log, struct iwi_watched_job *job)
{
    struct statfs system;
    struct stat folder;
    char path[IWI_JOB_PATH_SIZE];

    if (realpath(job->cgroup, path) == NULL || statfs(path, &system) != 0 || stat(path, &folder) != 0) {
        return iwi_fail(log, IW_ERR_RANGE, "cannot find control group '%s': %s", job->cgroup,
                        strerror(errno));
    }
    if (system.f_type != CGROUP_V1 && system.f_type != CGROUP_V2) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is not a control group; name a folder below /sys/fs/cgroup",
                        job->cgroup);
    }
    job->cgroup_id = folder.st_ino;
    job->is_cgroup_v1 = system.f_type == CGROUP_V1;
    snprintf(job->text, sizeof job->text, "control group %.*s", (int)sizeof job->text - 16, path);
    return IW_OK;
}

static bool is_empty_group(const char *folder)
{
    enum { WITHOUT_FOLDERS = 2 }; /* links of a folder that has none below it */
    char path[4200], value[32];
    struct stat facts;

    if (stat(folder, &facts) != 0) {
        return true;
    }
    snprintf(path, sizeof path, "%s/cgroup.events", folder);
    if (iwi_sysfile_value("", path, "populated", ' ', value, sizeof value)) {
        return strcmp(value, "0") == 0;
    }
    snprintf(path, sizeof path, "%s/cgroup.procs", folder); /* v1 */
    return facts.st_nlink <= WITHOUT_FOLDERS &&
           (!iwi_sysfile_line("", path, value, sizeof value) || value[0] == '\0');
}

/* ---- processes ---- */

struct process {
    uint32_t pid, parent;
    bool is_member;
};

struct processes {
    const char *root;
    struct process *array;
    size_t count, capacity;
    const iw_log *log;
    iw_status status;
};

static void take_process(void *arg, unsigned long number)
{
    struct processes *all = arg;
    char path[64], value[32];

    snprintf(path, sizeof path, "/proc/%lu/status", number);
    if (all->status != IW_OK || !iwi_sysfile_value(all->root, path, "PPid", ':', value, sizeof value)) {
        return;
    }
    all->status =
        iwi_grow(all->log, (void **)&all->array, &all->capacity, all->count + 1, sizeof *all->array);
    if (all->status == IW_OK) {
        all->array[all->count++] =
            (struct process){(uint32_t)number, (uint32_t)strtoul(value, NULL, 10), false};
    }
}

static bool is_given(const struct iwi_watched_job *job, uint32_t pid)
{
    for (size_t i = 0; i < job->pid_count; i++) {
        if (job->pids[i] == pid) {
            return true;
        }
    }
    return false;
}

static bool has_member(const struct processes *all, uint32_t pid)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->array[i].pid == pid) {
            return all->array[i].is_member;
        }
    }
    return false;
}

/* Takes one more generation; false: there was none. */
static bool take_generation(const struct iwi_watched_job *job, struct processes *all, iwi_on_process take,
                            void *arg)
{
    bool is_more = false;

    for (size_t i = 0; i < all->count && all->status == IW_OK; i++) {
        struct process *process = &all->array[i];

        if (!process->is_member && (is_given(job, process->pid) || has_member(all, process->parent))) {
            process->is_member = is_more = true;
            all->status = take(arg, process->pid);
        }
    }
    return is_more;
}

static iw_status each_descendant(const iw_log *log, const struct iwi_watched_job *job, iwi_on_process take,
                                 void *arg)
{
    struct processes all = {.root = job->root, .log = log};

    iwi_sysfile_each_number(job->root, "/proc", take_process, &all);
    while (all.status == IW_OK && take_generation(job, &all, take, arg)) {
    }
    free(all.array);
    return all.status;
}

/* Those of a group and of all below it. */
static iw_status each_of_group(const iw_log *log, const char *folder, iwi_on_process take, void *arg)
{
    char path[IWI_JOB_PATH_SIZE], line[32];
    iw_status status = IW_OK;
    const struct dirent *entry;
    FILE *file;
    DIR *groups;

    snprintf(path, sizeof path, "%s/cgroup.procs", folder);
    file = fopen(path, "r");
    while (file != NULL && status == IW_OK && fgets(line, sizeof line, file) != NULL) {
        status = take(arg, (uint32_t)strtoul(line, NULL, 10));
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    groups = opendir(folder);
    while (groups != NULL && status == IW_OK && (entry = readdir(groups)) != NULL) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path) {
            status = each_of_group(log, path, take, arg);
        }
    }
    if (groups != NULL) {
        (void)closedir(groups);
    }
    return status;
}

iw_status iwi_job_each_process(const iw_log *log, const struct iwi_watched_job *job, iwi_on_process take,
                               void *arg)
{
    return job->cgroup != NULL ? each_of_group(log, job->cgroup, take, arg)
                               : each_descendant(log, job, take, arg);
}

static iw_status find_processes(const iw_log *log, struct iwi_watched_job *job)
{
    for (size_t i = 0; i < job->pid_count; i++) {
        char path[64], value[32];

        snprintf(path, sizeof path, "/proc/%" PRIu32 "/status", job->pids[i]);
        if (!iwi_sysfile_value(job->root, path, "Tgid", ':', value, sizeof value)) {
            return iwi_fail(log, IW_ERR_RANGE, "no process %" PRIu32 " exists; it may have ended",
                            job->pids[i]);
        }
        if (strtoul(value, NULL, 10) != job->pids[i]) {
            return iwi_fail(log, IW_ERR_RANGE, "%" PRIu32 " is a thread of process %s; write the process",
                            job->pids[i], value);
        }
    }
    if (job->pid_count == 1) {
        snprintf(job->text, sizeof job->text, "process %" PRIu32, job->pids[0]);
    } else {
        snprintf(job->text, sizeof job->text, "%zu processes from %" PRIu32 " on", job->pid_count,
                 job->pids[0]);
    }
    return IW_OK;
}

iw_status iwi_job_find(const iw_log *log, const char *root, const iw_watch_opts *opts,
                       struct iwi_watched_job *job)
{
    *job = (struct iwi_watched_job){
        .root = root, .pids = opts->pids, .pid_count = opts->pid_count, .cgroup = opts->cgroup};
    if ((job->pid_count > 0) == (job->cgroup != NULL)) {
        return iwi_fail(log, IW_ERR_USAGE, "give either processes or a control group");
    }
    return job->cgroup != NULL ? find_cgroup(log, job) : find_processes(log, job);
}

/* A group of the same name that was made anew is another one. */
bool iwi_job_is_gone_group(const struct iwi_watched_job *job, bool may_be_empty)
{
    struct stat facts;

    return stat(job->cgroup, &facts) != 0 || facts.st_ino != job->cgroup_id ||
           (!may_be_empty && is_empty_group(job->cgroup));
}
