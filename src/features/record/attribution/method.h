/* A method of attribution: one way to learn from the kernel who had a CPU, and what all methods use.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_METHOD_H
#define IWI_METHOD_H

#include <idlewave/measure.h>

#include <sys/types.h>

#include "features/record/clock/clock.h"

/* The number of no source. In a stack: the measuring thread itself runs. In a share: events were lost, so
 * nothing is known of that time. */
#define IWI_NO_SOURCE UINT32_MAX

/* The thread that records: what it takes would not be taken if nobody recorded, so no detour keeps it. */
#define IWI_RECORDER_SOURCE (UINT32_MAX - 1)

/* Of one source, nested ones not included. */
struct iwi_share {
    uint64_t at;    /* tick of the clock, after the interruption has begun and before it is over */
    uint64_t ticks; /* so long */
    uint32_t source;
};

/* Shares of one CPU that are not laid upon detours yet, ascending by `at`. */
struct iwi_shares {
    struct iwi_share *array;
    size_t count, capacity;
};

/* A measuring thread; its place is its number among the threads and in the recording. */
struct iwi_watched {
    uint32_t cpu;
    pid_t tid;
};

/* A CPU goes from one thread to another. */
struct iwi_switch {
    size_t place;
    uint64_t tick;
    int64_t from, to;      /* threads */
    bool is_from_runnable; /* it was preempted or yielded: it would go on */
    const char *to_name;
};

/* Wants to know of switches, and says which threads are no source but those for whom the others are. */
struct iwi_switch_listener {
    iw_status (*take)(void *arg, const struct iwi_switch *change, bool *is_own_p);
    void *arg;
};

enum { IWI_REASON_SIZE = 256 };

struct iwi_method {
    const struct iwi_method_ops *ops;
    const iw_log *log;
    const char *root; /* of /proc and /sys; "" but in tests */
    const struct iwi_clock *clock;
    const struct iwi_watched *watched;
    size_t count;
    pid_t recorder;                             /* the thread that drains; 0: none to be left out */
    const struct iwi_switch_listener *listener; /* NULL: nobody; then the watched threads are their own */
    iw_recording *recording;                    /* its list of sources */
    struct iwi_shares *shares;                  /* one of each place */
    uint64_t lost;                              /* kernel events that found no room, as far as told */
    char reason[IWI_REASON_SIZE]; /* why it could not be opened, for people: "tracefs is not mounted and ..."
                                   */
    void *state;
};

struct iwi_method_ops {
    iw_attribution_level attribution;
    /* The kernel reports all that it does: what no event explains is the hypervisor's or the hardware's. */
    bool sees_all;
    /* From its return on, events count. Logs nothing but a lack of memory: where it does not work here, it
     * undoes what it has done, fills in `reason` and gives another status than IW_OK. */
    iw_status (*open)(struct iwi_method *method);
    /* Adds shares for everything that has happened until now; called every few seconds and once at the end.
     */
    iw_status (*drain)(struct iwi_method *method);
    /* Puts everything back. */
    void (*close)(struct iwi_method *method);
};

/* Appends a share; `at` must not be below that of the last one (else it is raised to it). */
IW_NODISCARD iw_status iwi_method_add(struct iwi_method *method, size_t place, uint64_t at, uint64_t ticks,
                                      uint32_t source);

/* Place of a CPU, or of a measuring thread; method->count: none. */
size_t iwi_method_place_of_cpu(const struct iwi_method *method, uint32_t cpu);
size_t iwi_method_place_of_thread(const struct iwi_method *method, pid_t tid);

/* Logs nothing: for `return iwi_method_refuse(method, "...")` in open(). */
iw_status iwi_method_refuse(struct iwi_method *method, const char *format, ...) IW_PRINTF(2, 3);

/* ---- what runs on one CPU, from entries, exits and switches: a stack of interrupts above a thread ---- */

enum { IWI_NESTING_DEPTH = 16 };

struct iwi_nesting {
    struct iwi_method *method;
    size_t place;
    uint64_t since; /* the top of the stack runs since this tick */
    size_t depth;
    uint32_t stack[IWI_NESTING_DEPTH + 1]; /* [0]: the thread */
};

/* The measuring thread runs, as far as known. */
void iwi_nesting_begin(struct iwi_nesting *nesting, struct iwi_method *method, size_t place);

/* An interrupt begins; what it interrupted goes on after it. */
IW_NODISCARD iw_status iwi_nesting_enter(struct iwi_nesting *nesting, uint64_t at, uint32_t source);

/* The interrupt that began last ends; an exit without an entry changes nothing. */
IW_NODISCARD iw_status iwi_nesting_leave(struct iwi_nesting *nesting, uint64_t at);

/* Another thread runs from now on; IWI_NO_SOURCE: the measuring one. Interrupts have ended. */
IW_NODISCARD iw_status iwi_nesting_switch(struct iwi_nesting *nesting, uint64_t at, uint32_t source);

/* Events before `at` were lost: nothing is known since the last one. */
IW_NODISCARD iw_status iwi_nesting_reset(struct iwi_nesting *nesting, uint64_t at);

#endif
