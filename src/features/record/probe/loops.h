/* The loops that probes run, written once over a function that reads a clock and instantiated for each clock,
 * so that the reading is inlined and a scripted clock can test the very same code.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The hot paths have two branches and touch no memory but the window's end, which stays in the cache: what
 * they cost is what a reading costs. Instrumentation by sanitizers is kept out, or it would be measured.
 */
#ifndef IWI_LOOPS_H
#define IWI_LOOPS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"

#define IWI_LOOP IWI_UNTOUCHED __attribute__((always_inline)) static inline

typedef uint64_t (*iwi_read)(void *state); /* ticks, never fewer than before on one CPU */

/* When all CPUs measure: from tick `zero` until the first reading of at least `end`. On a cache line that
 * nobody writes meanwhile; an early end is written as 0. */
struct iwi_probe_window {
    _Alignas(64) _Atomic uint64_t zero; /* UINT64_MAX: not yet */
    _Atomic uint64_t end;
};

/* What a loop leaves, in ticks from zero. */
struct iwi_marks {
    int64_t *start;
    int64_t *value; /* selfish: the gap; FWQ: how long the work took; FTQ: units of work */
    size_t room;
    _Atomic size_t count;     /* others may read so many while the loop runs */
    _Atomic uint64_t dropped; /* selfish: gaps without room, */
    uint64_t first_dropped;   /* and the start of the first of them, set before they are counted */
    uint64_t last;            /* watched until here */
};

struct iwi_least {
    uint64_t gap; /* the smallest between two readings */
    uint64_t iterations, elapsed;
};

#define IWI_RARE(condition) __builtin_expect(condition, 0)

/* Spins until zero; returns the first reading from then on. */
IWI_LOOP uint64_t iwi_wait_loop(iwi_read read, void *state, const struct iwi_probe_window *window,
                                uint64_t *zero_p)
{
    uint64_t now;

    do {
        now = read(state);
    } while (now < atomic_load_explicit(&window->zero, memory_order_acquire));
    *zero_p = atomic_load_explicit(&window->zero, memory_order_relaxed);
    return now;
}

/* Undisturbed time of the selfish loop: the same shape, with the minimum where the other keeps gaps. */
IWI_LOOP struct iwi_least iwi_least_loop(iwi_read read, void *state, const _Atomic uint64_t *end)
{
    const uint64_t first = read(state);
    struct iwi_least least = {.gap = UINT64_MAX};
    uint64_t last = first;

    for (;;) {
        const uint64_t now = read(state);

        if (IWI_RARE(now - last < least.gap)) {
            least.gap = now - last;
        }
        last = now;
        least.iterations++;
        if (IWI_RARE(now >= atomic_load_explicit(end, memory_order_relaxed))) {
            break;
        }
    }
    least.elapsed = last - first;
    return least;
}

/* The smallest difference of readings with nothing at all between them. */
IWI_LOOP uint64_t iwi_least_read_loop(iwi_read read, void *state, uint64_t iterations)
{
    uint64_t least = UINT64_MAX;

    while (iterations-- > 0) {
        const uint64_t a = read(state), b = read(state), c = read(state), d = read(state);

        least = b - a < least ? b - a : least;
        least = c - b < least ? c - b : least;
        least = d - c < least ? d - c : least;
    }
    return least;
}

IWI_LOOP size_t iwi_marks_count(const struct iwi_marks *marks)
{
    return atomic_load_explicit(&marks->count, memory_order_relaxed);
}

/* There must be room. */
IWI_LOOP void iwi_probe_mark(struct iwi_marks *marks, uint64_t start, uint64_t value)
{
    const size_t count = iwi_marks_count(marks);

    marks->start[count] = (int64_t)start;
    marks->value[count] = (int64_t)value;
    atomic_store_explicit(&marks->count, count + 1, memory_order_release);
}

IWI_LOOP void iwi_keep_gap(struct iwi_marks *marks, uint64_t start, uint64_t gap)
{
    const uint64_t dropped = atomic_load_explicit(&marks->dropped, memory_order_relaxed);

    if (iwi_marks_count(marks) < marks->room) {
        iwi_probe_mark(marks, start, gap);
        return;
    }
    marks->first_dropped = dropped == 0 ? start : marks->first_dropped;
    atomic_store_explicit(&marks->dropped, dropped + 1, memory_order_release);
}

/* Keeps gaps longer than the threshold. A detour under way at zero counts from there. */
IWI_LOOP void iwi_selfish_loop(iwi_read read, void *state, const struct iwi_probe_window *window,
                               uint64_t threshold, struct iwi_marks *marks)
{
    uint64_t zero, now = iwi_wait_loop(read, state, window, &zero), last = zero;

    for (;;) {
        if (IWI_RARE(now - last > threshold)) {
            iwi_keep_gap(marks, last - zero, now - last);
        }
        last = now;
        if (IWI_RARE(now >= atomic_load_explicit(&window->end, memory_order_relaxed))) {
            break;
        }
        now = read(state);
    }
    marks->last = last - zero;
}

/* A chain of dependent multiplications in registers: its time depends on nothing but the CPU's clock. */
IWI_LOOP uint64_t iwi_work(uint64_t x, uint64_t iterations)
{
    for (; iterations > 0; iterations--) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        __asm__ volatile("" : "+r"(x)); /* or compilers would find a shorter way to the same x */
    }
    return x;
}

/* The time of each piece of work, one behind the other. */
IWI_LOOP void iwi_fwq_loop(iwi_read read, void *state, const struct iwi_probe_window *window, uint64_t work,
                           struct iwi_marks *marks)
{
    uint64_t zero, last = iwi_wait_loop(read, state, window, &zero), x = last;

    while (iwi_marks_count(marks) < marks->room) {
        uint64_t now;

        x = iwi_work(x, work);
        now = read(state);
        iwi_probe_mark(marks, last - zero, now - last);
        last = now;
        if (now >= atomic_load_explicit(&window->end, memory_order_relaxed)) {
            break;
        }
    }
    marks->last = last - zero;
}

/* Units of work done in each quantum. Quanta follow a fixed grid from zero: a long detour leaves quanta with
 * no work at all. A unit counts where it began; quanta whose middle lies before the end are measured whole.
 */
IWI_LOOP void iwi_ftq_loop(iwi_read read, void *state, const struct iwi_probe_window *window, uint64_t work,
                           uint64_t quantum, struct iwi_marks *marks)
{
    uint64_t zero, now = iwi_wait_loop(read, state, window, &zero), x = now, units = 0, next;

    next = zero + quantum;
    while (iwi_marks_count(marks) < marks->room) {
        while (IWI_RARE(now >= next) && iwi_marks_count(marks) < marks->room) {
            iwi_probe_mark(marks, next - quantum - zero, units);
            units = 0;
            next += quantum;
        }
        if (IWI_RARE(next - quantum / 2 >= atomic_load_explicit(&window->end, memory_order_relaxed))) {
            break;
        }
        x = iwi_work(x, work);
        now = read(state);
        units++;
    }
    marks->last = next - quantum - zero;
}

/* In a clock's file: all loops over its reading, for the initialiser of its iwi_clock_ops. */
#define IWI_DEFINE_LOOPS(read_clock)                                                                      \
    IWI_UNTOUCHED static uint64_t loop_read(void *state)                                                  \
    {                                                                                                     \
        return read_clock(state);                                                                         \
    }                                                                                                     \
    IWI_UNTOUCHED static uint64_t loop_least_read(void *state, uint64_t iterations)                       \
    {                                                                                                     \
        return iwi_least_read_loop(read_clock, state, iterations);                                        \
    }                                                                                                     \
    IWI_UNTOUCHED static struct iwi_least loop_least(void *state, const _Atomic uint64_t *end)            \
    {                                                                                                     \
        return iwi_least_loop(read_clock, state, end);                                                    \
    }                                                                                                     \
    IWI_UNTOUCHED static void loop_selfish(void *state, const struct iwi_probe_window *window,            \
                                           uint64_t threshold, struct iwi_marks *marks)                   \
    {                                                                                                     \
        iwi_selfish_loop(read_clock, state, window, threshold, marks);                                    \
    }                                                                                                     \
    IWI_UNTOUCHED static void loop_fwq(void *state, const struct iwi_probe_window *window, uint64_t work, \
                                       struct iwi_marks *marks)                                           \
    {                                                                                                     \
        iwi_fwq_loop(read_clock, state, window, work, marks);                                             \
    }                                                                                                     \
    IWI_UNTOUCHED static void loop_ftq(void *state, const struct iwi_probe_window *window, uint64_t work, \
                                       uint64_t quantum, struct iwi_marks *marks)                         \
    {                                                                                                     \
        iwi_ftq_loop(read_clock, state, window, work, quantum, marks);                                    \
    }

#define IWI_LOOPS                                                                                   \
    .read = loop_read, .least_read = loop_least_read, .least = loop_least, .selfish = loop_selfish, \
    .fwq = loop_fwq, .ftq = loop_ftq

#endif
