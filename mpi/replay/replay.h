/* What the files of the replay library share: the state of this process and of each of its threads.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_REPLAY_H
#define IWI_REPLAY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <idlewave/internal/replay.h>

/* ---- this process ---- */

enum iwi_replay_state {
    IWI_REPLAY_NEW, /* not the process that is to meet noise, or not yet */
    IWI_REPLAY_NOISY,
    IWI_REPLAY_ASIDE,  /* something failed, or it is a child: nothing is done any more */
    IWI_REPLAY_STOPPED /* at MPI_Finalize or exit */
};

struct iwi_replay {
    enum iwi_replay_state state; /* atomic where threads look at it */
    iw_replay_page *page;        /* NULL: no replay at all */
    iw_inject_plan *plans[IW_REPLAY_MOST_PLANS];
    uint32_t plan_count;
    uint32_t thread_count; /* that have met noise so far */
    int pid;               /* of the process that started noise: a child by vfork() is another */
    int words;             /* stderr, also when the program has closed it; 0: not yet */
    bool has_spoken;
    iw_inject_counts counts; /* of threads that have ended; under the mutex of replay.c */
};

extern struct iwi_replay iwi_replay;

/* Opens what `idlewave replay` has left for us and makes the calling thread, and its CPU, noisy. With a clock
 * of `reference(t) = t + offset_ns + drift (t - at_ns)` all hosts have the same place in the trace. */
struct iwi_replay_clock {
    bool is_known;
    int64_t offset_ns, at_ns;
    double drift;
};
void iwi_replay_start(const struct iwi_replay_clock *clock);

/* Ends all noise of the calling thread and its CPU; *counts_p is what the process met. */
void iwi_replay_stop(iw_inject_counts *counts_p);

/* A compute phase begins, if phases matter. */
void iwi_replay_phase(void);

/* Is this the process that started noise, not a child of vfork() in its memory? */
bool iwi_replay_is_here(void);

/* Is this process started by `idlewave replay`, directly or through others? */
bool iwi_replay_is_wanted(void);
bool iwi_replay_is_owner(void);

/* "idlewave: replay: ..." on stderr, by write(2). A warning is told once by the first rank. */
void iwi_replay_tell(const char *format, ...) IW_PRINTF(1, 2);
void iwi_replay_step_aside(const char *format, ...) IW_PRINTF(1, 2);

/* The line at the end. */
struct iwi_replay_totals {
    double ranks, noisy_ranks, made, skipped, made_ns, skipped_ns, ended_ranks, late_max_ns;
};
void iwi_replay_report(const struct iwi_replay_totals *totals);

/* ---- open files (open_page.c) ---- */

/* "/proc/PID/fd/N" */
bool iwi_replay_parse(const char *name, int *owner_pid_p, int *number_p);

/* Maps the page and the plans, and closes what this process has inherited of them. */
bool iwi_replay_open(const char *name, iw_replay_page **page_p, iw_inject_plan **plans, uint32_t *count_p,
                     char *why, size_t size);

/* ---- the injector process (ask.c) ---- */

/* False, with the reason in page->failure, if it cannot or does not answer. */
bool iwi_replay_ask(iw_replay_page *page, iw_replay_command command);
void iwi_replay_ask_phase(iw_replay_page *page);

/* ---- threads ---- */

struct iwi_replay_thread {
    iw_injector *injector; /* timer back end; NULL: no noise here */
    int signal;            /* the injector's */
    int inside;            /* > 0: we are at work ourselves, calls go straight to the C library */
    int asleep;            /* depth of sleeping calls */
    bool is_forking;       /* asleep for it */
};

extern _Thread_local struct iwi_replay_thread iwi_replay_self __attribute__((tls_model("initial-exec")));

/* Starts and stops the timer of the calling thread. */
bool iwi_replay_thread_start(const iw_log *log, const iw_inject_plan *plan);
void iwi_replay_thread_stop(iw_inject_counts *counts);

/* The calling thread is about to sleep in the kernel, where a detour takes nothing from it; and is back. */
bool iwi_replay_fall_asleep(void);
void iwi_replay_wake_up(bool was_asleep);

/* ---- signals (signals.c) ---- */

void iwi_replay_own_signal(int signal, bool is_ours);

/* `set` without our signals, in *made; NULL stays NULL. */
const sigset_t *iwi_replay_without_ours(const sigset_t *set, sigset_t *made);
const sigset_t *iwi_replay_with_ours(const sigset_t *set, sigset_t *made);

/* ---- the C library's own functions (next.c) ---- */

/* The function of that name; ends the process if there is none. */
void *iwi_replay_next(const char *name);

/* A function that we stand before. All are looked up when the library is loaded, as dlsym() may not be called
 * in signal handlers and in children. */
struct iwi_replay_known {
    const char *name;
    void *place; /* a pointer to a function */
};

/* Declares `next`, the C library's `name`. Who calls before we are loaded looks it up. */
#define IWI_REPLAY_NEXT(name)                                                                          \
    static __typeof__(name) *next;                                                                     \
    static struct iwi_replay_known known __attribute__((section("iwi_known"), used)) = {#name, &next}; \
    if (next == NULL) {                                                                                \
        void *found = iwi_replay_next(#name);                                                          \
        memcpy(&next, &found, sizeof found);                                                           \
    }

#endif
