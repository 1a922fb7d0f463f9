/* Reads how threads are scheduled: preemption, sched_ext, quotas of control groups, where services may run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"
#include "features/settings/node.h"
#include "kit/machine/load.h"

enum { TEXT_SIZE = 4096 };

/* ---- preemption ---- */

/* "none voluntary (full) lazy" where it can be switched; else what the kernel was built for. */
static void read_preemption(const char *root, struct iwi_node_facts *node)
{
    char text[TEXT_SIZE];
    const char *begin;

    if (iwi_sysfile_line(root, "/sys/kernel/debug/sched/preempt", text, sizeof text) &&
        (begin = strchr(text, '(')) != NULL) {
        snprintf(node->preemption, sizeof node->preemption, "%.*s", (int)strcspn(begin + 1, ")"), begin + 1);
    } else if (iwi_sysfile_line(root, "/proc/version", text, sizeof text) &&
               strstr(text, "PREEMPT_DYNAMIC") == NULL) {
        if (strstr(text, "PREEMPT_LAZY") != NULL) {
            snprintf(node->preemption, sizeof node->preemption, "lazy");
        } else if (strstr(text, " PREEMPT ") != NULL) {
            snprintf(node->preemption, sizeof node->preemption, "full");
        }
    }
}

/* ---- quotas ---- */

/* A number behind a key of cpu.stat. */
static double stat_value(const char *root, const char *path, const char *key)
{
    char text[64];

    return iwi_sysfile_value(root, path, key, ' ', text, sizeof text) ? strtod(text, NULL) : 0.0;
}

/* "some avg10=0.00 avg60=12.50 avg300=...", in percent (Documentation/accounting/psi.rst). */
static double read_pressure(const char *root, const char *path)
{
    char text[TEXT_SIZE];
    const char *found =
        iwi_sysfile_value(root, path, "some", ' ', text, sizeof text) ? strstr(text, "avg60=") : NULL;

    return found != NULL ? strtod(found + strlen("avg60="), NULL) / 100.0 : (double)NAN;
}

/* "200000 100000", "max 100000" of version 2. */
static bool read_cpu_max(const char *root, const char *group, double *cpus_p, long *period_us_p)
{
    char path[PATH_MAX * 2 + 32], text[64], *end;
    double quota_us;

    snprintf(path, sizeof path, "%s/cpu.max", group);
    if (!iwi_sysfile_line(root, path, text, sizeof text)) {
        return false;
    }
    quota_us = strtod(text, &end);
    *period_us_p = strtol(end != text ? end : text + strcspn(text, " "), NULL, 10);
    *cpus_p = end != text && *period_us_p > 0 ? quota_us / (double)*period_us_p : (double)INFINITY;
    return true;
}

/* cpu.cfs_quota_us of version 1; -1: none. */
static bool read_cfs_quota(const char *root, const char *group, double *cpus_p, long *period_us_p)
{
    char path[PATH_MAX * 2 + 32], text[64];
    double quota_us;

    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", group);
    if (!iwi_sysfile_line(root, path, text, sizeof text)) {
        return false;
    }
    quota_us = strtod(text, NULL);
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", group);
    *period_us_p = iwi_read_number(root, path);
    *cpus_p = quota_us > 0.0 && *period_us_p > 0 ? quota_us / (double)*period_us_p : (double)INFINITY;
    return true;
}

static void take_quota(const char *root, const char *group, bool is_first_version, double cpus,
                       long period_us, struct iwi_quota *quota)
{
    char path[PATH_MAX * 2 + 32];

    *quota = (struct iwi_quota){.is_known = true, .is_set = true, .cpus = cpus, .period_us = period_us};
    snprintf(path, sizeof path, "%s/cpu.stat", group);
    quota->periods = (uint64_t)stat_value(root, path, "nr_periods");
    quota->throttled = (uint64_t)stat_value(root, path, "nr_throttled");
    quota->throttled_s = is_first_version ? stat_value(root, path, "throttled_time") / 1e9
                                          : stat_value(root, path, "throttled_usec") / 1e6;
    snprintf(path, sizeof path, "%s/cpu.pressure", group);
    quota->pressure = read_pressure(root, path);
}

/* This group and all above it: the tightest holds. */
static void read_groups(const char *root, const char *mount, char *path, bool is_first_version,
                        struct iwi_quota *quota)
{
    for (;;) {
        char group[PATH_MAX * 2], *slash = strrchr(path, '/');
        double cpus;
        long period_us;

        snprintf(group, sizeof group, "%s%s", mount, path);
        if (is_first_version ? read_cfs_quota(root, group, &cpus, &period_us)
                             : read_cpu_max(root, group, &cpus, &period_us)) {
            quota->is_known = true;
            if (isfinite(cpus) && (!quota->is_set || cpus < quota->cpus)) {
                take_quota(root, group, is_first_version, cpus, period_us, quota);
            }
        }
        if (slash == NULL) {
            return;
        }
        *slash = '\0';
    }
}

static void read_quota(const char *root, struct iwi_node_facts *node)
{
    static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    static const char *const old_mounts[] = {"/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu"};
    static const char *const old_marks[] = {":cpu,cpuacct:", ":cpu:"};
    char path[PATH_MAX];

    for (size_t i = 0; i < 2 && !node->quota.is_known; i++) {
        if (iwi_own_group(root, "0::", path, sizeof path)) {
            read_groups(root, mounts[i], path, false, &node->quota);
        }
        if (!node->quota.is_known && iwi_own_group(root, old_marks[i], path, sizeof path)) {
            read_groups(root, old_mounts[i], path, true, &node->quota);
        }
    }
}

/* ---- services ---- */

static void take_service(const char *root, const struct iwi_load_process *process,
                         struct iwi_node_facts *node)
{
    char path[64], text[TEXT_SIZE], fault[IW_CPU_FAULT_SIZE];
    iw_cpu_set allowed;

    snprintf(path, sizeof path, "/proc/%lu/status", process->pid);
    if (!iwi_sysfile_value(root, path, "Cpus_allowed_list", ':', text, sizeof text) ||
        !iw_cpu_set_parse(text, &allowed, fault)) {
        return;
    }
    node->has_services = true;
    node->service_count++;
    if (iw_cpu_set_is_within(&node->online.cpus, &allowed)) {
        node->free_service_count++;
        snprintf(node->service, sizeof node->service, "%s", process->name);
    }
    node->service_cpus = iw_cpu_set_or(&node->service_cpus, &allowed);
}

iw_status iwi_read_services(const iw_log *log, const char *root, struct iwi_node_facts *node)
{
    struct iwi_load_reading reading;
    const iw_status status = iwi_load_read(log, root, NULL, 0, &reading);

    for (size_t i = 0; status == IW_OK && i < reading.count; i++) {
        if (reading.processes[i].kind == IWI_LOAD_SERVICE) {
            take_service(root, &reading.processes[i], node);
        }
    }
    iwi_load_release(&reading);
    return status;
}

void iwi_read_scheduler(const char *root, struct iwi_node_facts *node)
{
    char path[PATH_MAX];

    read_preemption(root, node);
    read_quota(root, node);
    (void)iwi_sysfile_line(root, "/sys/kernel/sched_ext/state", node->sched_ext, sizeof node->sched_ext);
    (void)iwi_sysfile_line(root, "/sys/kernel/sched_ext/root/ops", node->sched_ext_ops,
                           sizeof node->sched_ext_ops);
    for (uint32_t cpu = 0; cpu < IW_CPU_SET_MOST && node->ext_server_ns == IWI_NOT_TOLD; cpu++) {
        if (iw_cpu_set_has(&node->nohz_full.cpus, cpu)) {
            snprintf(path, sizeof path, "/sys/kernel/debug/sched/ext_server/cpu%" PRIu32 "/runtime", cpu);
            node->ext_server_ns = iwi_read_number(root, path);
        }
    }
}

/* Reads which CPUs the threads of the batch job may use in which this process runs. */

enum { FIELD_USER = 11 }; /* of /proc/PID/stat behind the name, from 0 */

struct reader {
    const char *root;
    struct iwi_node_facts *node;
    unsigned long pid;
};

/* "/system.slice/slurmstepd.scope/job_7/step_0": up to the job, with the slash behind it. */
static bool find_job(const char *root, char job[PATH_MAX])
{
    char *begin, *end;

    if (!iwi_own_group(root, "0::", job, PATH_MAX) || (begin = strstr(job, "/job_")) == NULL) {
        return false;
    }
    end = strchr(begin + 1, '/');
    if (end != NULL) {
        end[1] = '\0';
    }
    return end != NULL;
}

/* CPU time of a thread in ticks. */
static unsigned long ticks_of(const char *text)
{
    const char *at = strrchr(text, ')');
    unsigned long ticks;
    char *next;

    at = at != NULL ? at + 1 : "";
    for (int field = 0; field < FIELD_USER && *at != '\0'; field++) {
        at += strspn(at, " ");
        at += strcspn(at, " ");
    }
    ticks = strtoul(at, &next, 10);
    return ticks + strtoul(next, NULL, 10);
}

static bool is_one_core(const struct iwi_node_facts *node, const iw_cpu_set *cpus)
{
    uint32_t core = UINT32_MAX;

    for (uint32_t cpu = 0; cpu < IW_CPU_SET_MOST; cpu++) {
        if (iw_cpu_set_has(cpus, cpu)) {
            if (core != UINT32_MAX && core != node->core_of[cpu]) {
                return false;
            }
            core = node->core_of[cpu];
        }
    }
    return core != UINT32_MAX;
}

static void take_thread(void *arg, unsigned long tid)
{
    const struct reader *r = arg;
    struct iwi_node_facts *node = r->node;
    char path[96], text[TEXT_SIZE], fault[IW_CPU_FAULT_SIZE];
    iw_cpu_set allowed, both;

    snprintf(path, sizeof path, "/proc/%lu/task/%lu/stat", r->pid, tid);
    if (!iwi_sysfile_line(r->root, path, text, sizeof text) ||
        ticks_of(text) < (unsigned long)sysconf(_SC_CLK_TCK)) {
        return;
    }
    snprintf(path, sizeof path, "/proc/%lu/task/%lu/status", r->pid, tid);
    if (!iwi_sysfile_value(r->root, path, "Cpus_allowed_list", ':', text, sizeof text) ||
        !iw_cpu_set_parse(text, &allowed, fault)) {
        return;
    }
    node->thread_count++;
    if (!is_one_core(node, &allowed)) {
        node->loose_thread_count++;
    } else if (iw_cpu_set_count(&allowed) ==
               1) { /* a core with several threads may hold several of the job */
        both = iw_cpu_set_and(&node->pinned, &allowed);
        node->pinned_twice = iw_cpu_set_or(&node->pinned_twice, &both);
        node->pinned = iw_cpu_set_or(&node->pinned, &allowed);
    }
}

iw_status iwi_read_threads(const iw_log *log, const char *root, struct iwi_node_facts *node)
{
    char job[PATH_MAX], path[64], group[TEXT_SIZE];
    struct reader r = {root, node, 0};
    struct iwi_load_reading reading;
    iw_status status;

    if (!node->job.is_known || !find_job(root, job)) {
        return IW_OK;
    }
    status = iwi_load_read(log, root, NULL, 0, &reading);
    for (size_t i = 0; status == IW_OK && i < reading.count; i++) {
        r.pid = reading.processes[i].pid;
        snprintf(path, sizeof path, "/proc/%lu/cgroup", r.pid);
        if (iwi_sysfile_whole(root, path, group, sizeof group) > 0 && strstr(group, job) != NULL) {
            snprintf(path, sizeof path, "/proc/%lu/task", r.pid);
            iwi_sysfile_each_number(root, path, take_thread, &r);
        }
    }
    iwi_load_release(&reading);
    return status;
}
