/* Asks the system for memory and CPUs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "study/available.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

enum { GROUP_PATH_SIZE = 4096 };

uint32_t iwi_available_cpus(void)
{
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    return count > 0 ? (uint32_t)count : 1;
}

/* MemAvailable of /proc/meminfo, in KiB there. */
static uint64_t machine_bytes(void)
{
    static const char label[] = "MemAvailable:";
    FILE *file = fopen("/proc/meminfo", "re");
    uint64_t kib = 0;
    char line[128];
    bool is_found = false;

    while (file != NULL && !is_found && fgets(line, sizeof line, file) != NULL) {
        is_found = strncmp(line, label, strlen(label)) == 0;
        kib = is_found ? strtoull(line + strlen(label), NULL, 10) : 0;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return is_found ? kib * 1024 : (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
}

/* "/system.slice/job_17": the group of this process, from the line "0::PATH". */
static bool own_group(char path[GROUP_PATH_SIZE])
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    bool is_found = false;

    while (file != NULL && !is_found && fgets(path, GROUP_PATH_SIZE, file) != NULL) {
        is_found = strncmp(path, "0::", 3) == 0;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (is_found) {
        path[strcspn(path, "\n")] = '\0';
        memmove(path, path + 3, strlen(path + 3) + 1);
    }
    return is_found;
}

/* UINT64_MAX: no such file, or "max". */
static uint64_t group_value(const char *group, const char *name)
{
    char path[GROUP_PATH_SIZE + 64], line[64];
    uint64_t value = UINT64_MAX;
    FILE *file;

    snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", group, name);
    file = fopen(path, "re");
    if (file != NULL) {
        if (fgets(line, sizeof line, file) != NULL && line[0] >= '0' && line[0] <= '9') {
            value = strtoull(line, NULL, 10);
        }
        (void)fclose(file);
    }
    return value;
}

/* What the group and each above it leave. */
static uint64_t group_bytes(void)
{
    char group[GROUP_PATH_SIZE];
    uint64_t least = UINT64_MAX;
    char *slash;

    if (!own_group(group)) {
        return UINT64_MAX;
    }
    do {
        const uint64_t limit = group_value(group, "memory.max");
        const uint64_t used = group_value(group, "memory.current");

        if (limit != UINT64_MAX && used != UINT64_MAX) {
            const uint64_t left = limit > used ? limit - used : 0;

            least = left < least ? left : least;
        }
        slash = strrchr(group, '/');
        if (slash != NULL) {
            *slash = '\0';
        }
    } while (slash != NULL);
    return least;
}

uint64_t iwi_available_bytes(void)
{
    const uint64_t machine = machine_bytes(), group = group_bytes();

    return machine < group ? machine : group;
}
