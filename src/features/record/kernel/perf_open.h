/* Opening of perf events, and what to tell where it is refused.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PERF_OPEN_H
#define IWI_PERF_OPEN_H

#include <linux/perf_event.h>
#include <sys/resource.h>

#include "features/record/attribution/rung.h"

/* What all our events have in common: each occurrence is recorded, with its time on CLOCK_MONOTONIC_RAW, and
 * nobody is woken for it. */
struct perf_event_attr iwi_perf_attr(uint32_t type, uint64_t config);

/* Descriptors of events. There may be thousands: the process's soft limit is raised where it must be. */
struct iwi_perf_list {
    int *events;
    size_t count, capacity;
    bool is_limit_raised;
    struct rlimit limit_before;
};

IW_NODISCARD iw_status iwi_perf_list_init(const iw_log *log, struct iwi_perf_list *list, size_t capacity);

/* Closes all and puts the limit back. */
void iwi_perf_list_release(struct iwi_perf_list *list);

/* A descriptor that stays in the list, or -1 with errno. pid, cpu: as perf_event_open(2) has them. */
int iwi_perf_open(struct iwi_perf_list *list, const struct perf_event_attr *attr, pid_t pid, int cpu);

/* Tells in rung->reason why there are no `what` ("context-switch records") here. `most_paranoid`: the largest
 * kernel.perf_event_paranoid with which there would be. */
iw_status iwi_perf_refuse(struct iwi_rung_state *rung, const char *what, int most_paranoid, int error);

#endif
