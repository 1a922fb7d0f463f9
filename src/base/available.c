/* Asks the system for memory and CPUs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "base/available.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/sysfile.h"

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

/* What the control groups of this process leave it: the least that a group from its own up to the root does
 * (of version 2; jobs of batch systems and containers are in such groups). */
static uint64_t group_available_bytes(const char *root)
{
    static const char top[] = "/sys/fs/cgroup";
    char group[GROUP_SIZE], folder[sizeof top + sizeof group];
    uint64_t least = UINT64_MAX;

    if (!iwi_sysfile_value(root, "/proc/self/cgroup", "0", ':', group, sizeof group) || group[0] != ':') {
        return least;
    }
    snprintf(folder, sizeof folder, "%s%s", top, group + 1);
    while (strlen(folder) >= sizeof top) {
        const uint64_t most = number_in(root, folder, "memory.max", UINT64_MAX);
        const uint64_t used = number_in(root, folder, "memory.current", 0);

        least = most != UINT64_MAX && most - (used < most ? used : most) < least
                    ? most - (used < most ? used : most)
                    : least;
        *strrchr(folder, '/') = '\0';
    }
    return least;
}

uint64_t iwi_available_bytes(const char *root)
{
    const uint64_t machine = machine_available_bytes(root), group = group_available_bytes(root);

    return machine < group ? machine : group;
}
