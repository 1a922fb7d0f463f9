/* The clocks of the calling thread: wall time and CPU time, asked from the kernel only when they must be.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * CPU time. A system call for it costs 0.3 us. Linux clears the field rseq_cs of a thread's rseq area (glibc 2.35
 * and later register one) whenever it switches away from the thread outside of the section that the field names.
 * So a descriptor of a section that is never run stands in the field as long as the thread kept its CPU, and
 * then CPU time ran as wall time did. If another user of rseq (an allocator) overwrites the field, the kernel
 * is asked.
 *
 * Wall time is CLOCK_MONOTONIC. Where the kernel itself takes it from the time stamp counter, the counter tells
 * the time since the last question: it is twice as fast. The counter's rate is measured from question to question.
 */
#ifndef IWI_TRACE_CPU_CLOCK_H
#define IWI_TRACE_CPU_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "core/base/monotonic.h"

/* The time stamp counter and CLOCK_MONOTONIC. Times by one counter never go back. */
struct iwi_tick_clock {
    bool has_counter;       /* that may be relied on */
    uint64_t ticks, ns;     /* where times are counted from */
    uint64_t rate;          /* ns per tick, 32 bits behind the point */
    uint64_t span_ticks;    /* so long; 0: the kernel is asked each time */
    uint64_t asked_ticks, asked_ns; /* the counter and the kernel's time, read together */
    uint64_t first_rate;            /* 0: not measured yet */
};

struct iwi_cpu_clock {
    struct iwi_tick_clock wall;
    volatile uint64_t *mark;  /* rseq_cs of this thread; NULL: the kernel is asked each time */
    uint64_t armed;           /* what stands there while the thread keeps its CPU */
    uint64_t wall_ns, cpu_ns; /* read together */
};

/* Longest time between two questions: bounds what interrupts add where the kernel does not count them, and how far
 * the counter may go astray. */
#define IWI_CPU_CLOCK_SPAN_NS UINT64_C(10000000)

/* For the calling thread; tests whether the kernel clears the field, and takes time from the counter. */
void iwi_cpu_clock_init(struct iwi_cpu_clock *clock);

const char *iwi_cpu_clock_name(const struct iwi_cpu_clock *clock); /* "rseq", "syscall" */

uint64_t iwi_cpu_clock_ask(struct iwi_cpu_clock *clock);

/* Asks the kernel, and measures the counter by it. */
uint64_t iwi_tick_clock_ask(struct iwi_tick_clock *clock);
/* What follows from the counter and CLOCK_MONOTONIC, read together; gives the thread's time then. */
uint64_t iwi_tick_clock_set(struct iwi_tick_clock *clock, uint64_t ticks, uint64_t now_ns);

static inline uint64_t iwi_wall_ns(void)
{
    return (uint64_t)iwi_now_ns();
}

static inline uint64_t iwi_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

/* CLOCK_MONOTONIC, to some ten ns. */
static inline uint64_t iwi_thread_ns(struct iwi_cpu_clock *clock)
{
    uint64_t ticks = clock->wall.span_ticks != 0 ? iwi_ticks() - clock->wall.ticks : 0;

    if (__builtin_expect(ticks < clock->wall.span_ticks, 1)) {
        return clock->wall.ns + (ticks * clock->wall.rate >> 32);
    }
    return iwi_tick_clock_ask(&clock->wall);
}

/* CPU time at the thread's time `wall_ns`, which is now. */
static inline uint64_t iwi_cpu_ns(struct iwi_cpu_clock *clock, uint64_t wall_ns)
{
    if (clock->mark != NULL && *clock->mark == clock->armed &&
        wall_ns - clock->wall_ns < IWI_CPU_CLOCK_SPAN_NS) {
        return clock->cpu_ns + (wall_ns - clock->wall_ns);
    }
    return iwi_cpu_clock_ask(clock);
}

#endif
