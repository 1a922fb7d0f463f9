/* Which computations begin a step, where a program computes for long and for short times between its calls.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_STEP_GAP_H
#define IWI_STEP_GAP_H

#include <idlewave/log.h>
#include <idlewave/time.h>

/* One computation of a rank, longer than nothing. */
struct iwi_gap {
    iw_time time_ps;
    uint32_t rank; /* below the number of ranks */
};

/* The shortest computation that begins a step, found in all of them (which are reordered). It is where a time
 * is the most times longer than the next shorter one, among those borders that keep at least half of all
 * computation and two steps a rank above them. Borders that give all ranks equally many steps come first:
 * where the CPU was taken away between two calls a short computation lasts as long as a step's, but not on
 * all ranks alike. Where no border is clear, all are of one kind and each begins a step. 0: nothing is
 * computed. */
IW_NODISCARD iw_status iwi_step_gap(const iw_log *log, struct iwi_gap *gaps, size_t count, uint32_t ranks,
                                    iw_time *gap_ps_p);

#endif
