/* The CPU time of the calling thread, asked from the kernel only when the thread lost its CPU meanwhile.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A system call for it costs 0.3 us. Linux clears the field rseq_cs of a thread's rseq area (glibc 2.35 and
 * later register one) whenever it switches away from the thread outside of the section that the field names.
 * So a descriptor of a section that is never run stands in the field as long as the thread kept its CPU, and
 * then CPU time ran as wall time did. If another user of rseq (an allocator) overwrites the field, the kernel
 * is asked.
 */
#ifndef IWI_TRACE_CPU_CLOCK_H
#define IWI_TRACE_CPU_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "core/base/monotonic.h"

struct iwi_cpu_clock {
    volatile uint64_t *mark;  /* rseq_cs of this thread; NULL: the kernel is asked each time */
    uint64_t armed;           /* what stands there while the thread keeps its CPU */
    uint64_t wall_ns, cpu_ns; /* read together */
};

/* Longest time between two questions: bounds what interrupts add where the kernel does not count them. */
#define IWI_CPU_CLOCK_SPAN_NS UINT64_C(10000000)

/* For the calling thread; tests whether the kernel clears the field. */
void iwi_cpu_clock_init(struct iwi_cpu_clock *clock);

const char *iwi_cpu_clock_name(const struct iwi_cpu_clock *clock); /* "rseq", "syscall" */

uint64_t iwi_cpu_clock_ask(struct iwi_cpu_clock *clock);

static inline uint64_t iwi_wall_ns(void)
{
    return (uint64_t)iwi_now_ns();
}

/* CPU time at wall time `wall_ns`, which is now. */
static inline uint64_t iwi_cpu_ns(struct iwi_cpu_clock *clock, uint64_t wall_ns)
{
    if (clock->mark != NULL && *clock->mark == clock->armed &&
        wall_ns - clock->wall_ns < IWI_CPU_CLOCK_SPAN_NS) {
        return clock->cpu_ns + (wall_ns - clock->wall_ns);
    }
    return iwi_cpu_clock_ask(clock);
}

#endif
