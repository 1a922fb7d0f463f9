/* Reads which CPUs the threads of the batch job may use in which this process runs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"
#include "features/settings/node.h"
#include "kit/machine/load.h"

enum { TEXT_SIZE = 4096, FIELD_USER = 11 }; /* of /proc/PID/stat behind the name, from 0 */

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
