/* Asks the system for memory and CPUs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/available.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"

enum { TEXT_SIZE = 128, GROUP_SIZE = 4096 };

uint32_t iwi_cpus_of_process(int pid)
{
    cpu_set_t set;
    const int count = sched_getaffinity(pid, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;

    return (uint32_t)count;
}

uint32_t iwi_available_cpus(void)
{
    const uint32_t count = iwi_cpus_of_process(0);

    return count > 0 ? count : 1;
}

/* Programs that run or could run at this moment, without the one that asks; 0 where it is not told. The line
 * is "0.20 0.18 0.12 1/80 11206": the fourth field begins with them. */
static uint32_t others_running(const char *root)
{
    char line[TEXT_SIZE], *end;
    const char *field = line;
    unsigned long running;

    (void)iwi_sysfile_line(root, "/proc/loadavg", line, sizeof line);
    for (int skipped = 0; skipped < 3; skipped++) {
        field += strcspn(field, " ");
        field += strspn(field, " ");
    }
    running = strtoul(field, &end, 10);
    return *end == '/' && running > 0 && running <= UINT32_MAX ? (uint32_t)(running - 1) : 0;
}

uint32_t iwi_idle_cpus(const char *root, uint32_t wanted)
{
    enum { LOOKS = 5 };
    const struct timespec between = {.tv_nsec = 200000};
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t cpus = iwi_available_cpus();
    uint32_t most = 1;

    if (online > 0 && cpus < (unsigned long)online) {
        return wanted;
    }
    for (int look = 0; look < LOOKS; look++) {
        const uint32_t others = others_running(root), idle = others < cpus ? cpus - others : 0;

        most = idle > most ? idle : most;
        if (most >= wanted || most >= cpus) {
            break;
        }
        (void)nanosleep(&between, NULL);
    }
    return most < wanted ? most : wanted;
}

/* Memory that is free on the machine, whatever this process may have of it. */
static uint64_t machine_available_bytes(const char *root)
{
    char value[TEXT_SIZE], *end;
    uint64_t kib;

    if (!iwi_sysfile_value(root, "/proc/meminfo", "MemAvailable", ':', value, sizeof value)) {
        return UINT64_MAX;
    }
    kib = strtoull(value, &end, 10);
    return strcmp(end, " kB") == 0 && kib <= UINT64_MAX / 1024 ? kib * 1024 : UINT64_MAX;
}

static uint64_t number_in(const char *root, const char *folder, const char *name, uint64_t otherwise)
{
    char path[GROUP_SIZE + 64], text[TEXT_SIZE], *end;
    uint64_t number;

    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path ||
        !iwi_sysfile_line(root, path, text, sizeof text)) {
        return otherwise;
    }
    number = strtoull(text, &end, 10);
    return end != text && *end == '\0' ? number : otherwise; /* "max" is no number */
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The names that the two versions of control groups give to the same. */
struct group_files {
    const char *top, *most, *used;
};
static const struct group_files version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                             "memory.usage_in_bytes"},
                                version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current"};

static uint64_t left_in(const char *root, const char *folder, const struct group_files *files)
{
    const uint64_t most = number_in(root, folder, files->most, UINT64_MAX);
    const uint64_t used = number_in(root, folder, files->used, 0);

    return most == UINT64_MAX ? UINT64_MAX : most - (used < most ? used : most);
}

/* The least that a group leaves, from `group` up to the root. Inside a container version 1 shows the group of
 * the container as the root, while the path is still the host's: the root counts too. */
static uint64_t group_leaves_bytes(const char *root, const struct group_files *files, const char *group)
{
    char folder[64 + GROUP_SIZE];
    const size_t top_length = strlen(files->top);
    uint64_t least;

    snprintf(folder, sizeof folder, "%s%s", files->top, strcmp(group, "/") == 0 ? "" : group);
    least = left_in(root, folder, files);
    while (strlen(folder) > top_length) {
        *strrchr(folder, '/') = '\0';
        least = smaller(least, left_in(root, folder, files));
    }
    return least;
}

/* Whether `controllers`, as in "cpu,memory", has the one of memory. */
static bool has_memory(const char *controllers, size_t length)
{
    static const char name[] = "memory";
    const size_t size = sizeof name - 1;

    for (size_t at = 0; at + size <= length; at += strcspn(controllers + at, ",:") + 1) {
        if (strncmp(controllers + at, name, size) == 0 && strchr(",:", controllers[at + size]) != NULL) {
            return true;
        }
    }
    return false;
}

/* What the control groups of this process leave it: jobs of batch systems and containers are in such groups.
 * Lines are "0::/slurm/job_7" of version 2, "9:memory:/slurm/job_7" of version 1; systems may have both. */
static uint64_t group_available_bytes(const char *root)
{
    FILE *file = iwi_sysfile_open(root, "/proc/self/cgroup");
    char line[GROUP_SIZE];
    uint64_t least = UINT64_MAX;

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *controllers = strchr(line, ':');
        const char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');

        line[strcspn(line, "\n")] = '\0';
        if (group == NULL || group[1] != '/') {
            continue;
        }
        if (group == controllers + 1) {
            least = smaller(least, group_leaves_bytes(root, &version_2, group + 1));
        } else if (has_memory(controllers + 1, (size_t)(group - controllers - 1))) {
            least = smaller(least, group_leaves_bytes(root, &version_1, group + 1));
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return least;
}

uint64_t iwi_available_bytes(const char *root)
{
    const uint64_t machine = machine_available_bytes(root), group = group_available_bytes(root);

    return smaller(machine, group);
}
