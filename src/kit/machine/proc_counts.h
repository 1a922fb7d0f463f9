/* How often interrupts and softirqs came: counts of /proc, which anyone may read.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PROC_COUNTS_H
#define IWI_PROC_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>

enum { IWI_COUNT_NAME_SIZE = 48 };

/* Counts since the machine was started, as they stood at one moment. */
struct iwi_proc_counts {
    uint32_t *cpus; /* a copy */
    size_t cpu_count;
    size_t row_count;
    char (*names)[IWI_COUNT_NAME_SIZE]; /* "LOC", "24 nvme0q1", "softirq TIMER"; without any of = , ; */
    uint64_t *counts;                   /* of row r and cpus[i]: counts[r * cpu_count + i] */
    size_t name_capacity, count_capacity;
};

/* Reads /proc/interrupts and /proc/softirqs below `root`. What cannot be read or understood has no rows. To
 * be released whatever it gives. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_proc_counts_read(const iw_log *log, const char *root, const uint32_t *cpus,
                                            size_t cpu_count, struct iwi_proc_counts *counts);
void iwi_proc_counts_release(struct iwi_proc_counts *counts);

/* How much row `row` of the later reading rose on CPU number `place`; `*from_p` begins with 0 and helps where
 * rows are asked for in their order. */
uint64_t iwi_proc_counts_rise(const struct iwi_proc_counts *before, const struct iwi_proc_counts *after,
                              size_t row, size_t place, size_t *from_p);

/* What rose on each CPU between two readings of the same CPUs, the largest first, at most 12 a CPU:
 * "0:LOC=7500,RES=12,softirq TIMER=3000;1:LOC=7400". "" if nothing did. To be freed. */
IW_NODISCARD iw_status iwi_proc_counts_text(const iw_log *log, const struct iwi_proc_counts *before,
                                            const struct iwi_proc_counts *after, char **text_p);

#endif
