/* Who used the CPUs: kernel threads, services of the system, programs of users.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * CPU times of all processes are read before and after, as anyone may (/proc/PID/stat). A process is a kernel
 * thread by its flag, a service by its control group; all others are programs of users.
 */
#ifndef IWI_LOAD_H
#define IWI_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>

enum { IWI_LOAD_NAME_SIZE = 64, IWI_LOAD_TEXT_SIZE = 256 };

enum iwi_load_kind { IWI_LOAD_KERNEL, IWI_LOAD_SERVICE, IWI_LOAD_USER, IWI_LOAD_KINDS };

struct iwi_load_process {
    unsigned long pid, parent;
    uint64_t start;              /* of the process: tells two with the same pid apart */
    uint64_t ticks, child_ticks; /* of CPU time; its own, and of children that have ended */
    enum iwi_load_kind kind;
    char name[IWI_LOAD_NAME_SIZE];
};

/* What was used up to one moment. */
struct iwi_load_reading {
    size_t count, capacity; /* by pid */
    struct iwi_load_process *processes;
    uint64_t cpu_ticks; /* that programs and kernel threads used on the CPUs asked for; 0: not told */
};

/* Reads below `root`; what cannot be read is not there. To be released whatever it gives. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_load_read(const iw_log *log, const char *root, const uint32_t *cpus,
                                     size_t cpu_count, struct iwi_load_reading *reading);
void iwi_load_release(struct iwi_load_reading *reading);

/* What was used between two readings. */
struct iwi_load_used {
    double ms[IWI_LOAD_KINDS];
    char users[IWI_LOAD_TEXT_SIZE]; /* the largest programs of users, with ms: "cc1=512,children of ninja=30";
                                       "" */
};

/* The process `own_pid` is left out. `whole_ms`: the time between the readings on all CPUs asked for. The
 * rows of `after` are used up. */
void iwi_load_between(const struct iwi_load_reading *before, struct iwi_load_reading *after,
                      unsigned long own_pid, double tick_ms, double whole_ms, struct iwi_load_used *load);

/* Processes of users that no other process of a user has started: all others descend from these. The process
 * `own_pid` is left out. `pids` has room for all of the reading; how many. */
size_t iwi_load_users(const struct iwi_load_reading *reading, unsigned long own_pid, uint32_t *pids);

/* Whether a thread of that name is one of the kernel's. */
bool iwi_load_is_kernel(const struct iwi_load_reading *reading, const char *name);

#endif
