/* Back ends timer and sleep: a POSIX timer sends a real-time signal to the thread, whose handler spins or
 * sleeps.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The timer fires once for each detour, at an absolute time; the handler sets it up for the next one before
 * it spins, so that this time is part of the detour. All injectors of a process share one signal. Who takes
 * it over, by setting a handler of their own, gets it once at most from each, and injecting ends.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/base.h"
#include "features/replay/injector.h"

#ifndef sigev_notify_thread_id /* glibc before 2.34 */
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Where a signal's value points to. It is not freed before the process ends: a signal may come late. */
struct slot {
    _Atomic uintptr_t owner; /* the thread that meets the detours; 0: nobody */
    iw_injector *injector;   /* only for the owner */
};

_Static_assert(ATOMIC_POINTER_LOCK_FREE == 2, "handlers read the owner");

/* The one variable of the library: what a signal does is a property of the process, so who uses ours is too,
 * and a handler has no other way to know that a pointer which came with a signal is one of ours. */
static struct {
    pthread_mutex_t lock; /* of what follows; handlers use only the slots */
    size_t user_count;
    int signal;
    struct sigaction before; /* of it */
    struct slot slots[1024];
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { SLOTS = sizeof process.slots / sizeof *process.slots };

struct timer_state {
    struct slot *slot;
    int signal;
    timer_t timer;
    sigset_t mask_before; /* of the owner, while held */
};

/* Sets the timer for injector->next, or to silence. Safe in signal handlers. */
static void arm(iw_injector *injector)
{
    struct timer_state *state = injector->back_end;
    struct itimerspec at = {0};

    if (injector->is_waiting) {
        at.it_value = iwi_timespec(iwi_max(injector->target_ns, 1)); /* 0 would mean silence */
    }
    (void)timer_settime(state->timer, TIMER_ABSTIME, &at, NULL);
}

/* NULL: not from a timer of ours, or from one that the calling thread had no longer when the signal came. */
static iw_injector *injector_of(const siginfo_t *info)
{
    const uintptr_t place = (uintptr_t)info->si_value.sival_ptr - (uintptr_t)process.slots;
    const struct slot *slot;

    if (info->si_code != SI_TIMER || place >= sizeof process.slots || place % sizeof *process.slots != 0) {
        return NULL;
    }
    slot = &process.slots[place / sizeof *process.slots];
    return atomic_load(&slot->owner) == (uintptr_t)pthread_self() ? slot->injector : NULL;
}

/* Signals are blocked meanwhile, and the end is absolute: only a clock that is refused ends it early. */
static int64_t sleep_until(int64_t end_ns)
{
    const struct timespec end = iwi_timespec(end_ns);

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) {
    }
    return iwi_now_ns();
}

/* A signal of an older setting may come late; it finds that it is not time yet. */
static void on_signal(int signal, siginfo_t *info, void *context)
{
    const int errno_before = errno;
    const int64_t entry_ns = iwi_now_ns();
    iw_injector *injector = injector_of(info);

    (void)signal;
    (void)context;
    if (injector == NULL || !injector->is_waiting || entry_ns < injector->target_ns) {
        errno = errno_before;
        return;
    }
    if (iwi_injector_is_too_late(injector, entry_ns)) {
        iwi_injector_skip(injector, entry_ns);
        arm(injector);
    } else {
        const int64_t end_ns = iwi_injector_take(injector, entry_ns);

        arm(injector);
        iwi_injector_log_end(injector, injector->ops->is_asleep ? sleep_until(end_ns)
                                                                : iwi_spin_until(iwi_now_ns(), end_ns, NULL));
    }
    errno = errno_before;
}

static bool is_default(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) == 0 && action->sa_handler == SIG_DFL;
}

static bool is_ours(int signal)
{
    struct sigaction now;

    return sigaction(signal, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
           now.sa_sigaction == on_signal;
}

/* Handlers of the program wait until a detour is over, as they do when the kernel takes the CPU: within ours
 * they could change the injector. Faults of the thread itself cannot wait. */
static struct sigaction our_action(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

    (void)sigfillset(&ours.sa_mask);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        (void)sigdelset(&ours.sa_mask, faults[i]);
    }
    return ours;
}

/* Takes the highest real-time signal that nobody uses or keeps out. Somebody else may do the same now: who
 * finds the default when setting the handler has the signal. */
static bool take_signal(void)
{
    const struct sigaction ours = our_action();
    sigset_t blocked;

    (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (process.user_count > 0 && is_ours(process.signal)) {
        /* set again, so that those who watch sigaction() in this thread see which it is */
        return sigismember(&blocked, process.signal) == 0 && sigaction(process.signal, &ours, NULL) == 0;
    }
    for (int signal = SIGRTMAX; signal >= SIGRTMIN; signal--) {
        struct sigaction now;

        if (sigismember(&blocked, signal) == 1 || sigaction(signal, NULL, &now) != 0 || !is_default(&now) ||
            sigaction(signal, &ours, &process.before) != 0) {
            continue;
        }
        if (is_default(&process.before)) {
            process.signal = signal;
            return true;
        }
        (void)sigaction(signal, &process.before, NULL);
    }
    return false;
}

/* Ignoring a signal for a moment drops what is pending of it, for all threads. A handler that somebody else
 * has set meanwhile stays. */
static void give_signal_back(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};

    if (is_ours(process.signal)) {
        (void)sigaction(process.signal, &ignore, NULL);
        (void)sigaction(process.signal, &process.before, NULL);
    }
}

static struct slot *free_slot(void)
{
    for (size_t i = 0; i < SLOTS; i++) {
        if (atomic_load(&process.slots[i].owner) == 0) {
            return &process.slots[i];
        }
    }
    return NULL;
}

static iw_status join(const iw_log *log, iw_injector *injector, struct timer_state *state)
{
    iw_status status = IW_OK;

    (void)pthread_mutex_lock(&process.lock);
    state->slot = free_slot();
    if (state->slot == NULL) {
        status = iwi_fail(log, IW_ERR_UNSUPPORTED, "at most %d threads can have timers", (int)SLOTS);
    } else if (!take_signal()) {
        status = iwi_fail(log, IW_ERR_UNSUPPORTED, "no free real-time signal for the timer");
    } else {
        process.user_count++;
        state->signal = process.signal;
        state->slot->injector = injector;
        atomic_store(&state->slot->owner, (uintptr_t)pthread_self());
    }
    (void)pthread_mutex_unlock(&process.lock);
    return status;
}

static void leave(const struct timer_state *state)
{
    (void)pthread_mutex_lock(&process.lock);
    atomic_store(&state->slot->owner, 0);
    if (--process.user_count == 0) {
        give_signal_back();
    }
    (void)pthread_mutex_unlock(&process.lock);
}

static iw_status open_timer(const iw_log *log, iw_injector *injector)
{
    struct timer_state *state = iwi_new_array(log, 1, sizeof *state);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID};
    iw_status status;

    if (state == NULL) {
        return IW_ERR_NOMEM;
    }
    status = join(log, injector, state);
    if (status != IW_OK) {
        free(state);
        return status;
    }
    event.sigev_signo = state->signal;
    event.sigev_value.sival_ptr = state->slot;
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_MONOTONIC, &event, &state->timer) != 0) {
        const int error = errno;

        leave(state);
        free(state);
        return iwi_fail(log, IW_ERR_UNSUPPORTED, "cannot create a timer: %s", strerror(error));
    }
    injector->back_end = state;
    arm(injector);
    return IW_OK;
}

static void hold(iw_injector *injector)
{
    struct timer_state *state = injector->back_end;
    sigset_t ours;

    (void)sigemptyset(&ours);
    (void)sigaddset(&ours, state->signal);
    (void)pthread_sigmask(SIG_BLOCK, &ours, &state->mask_before);
}

static void release(iw_injector *injector)
{
    struct timer_state *state = injector->back_end;

    arm(injector);
    (void)pthread_sigmask(SIG_SETMASK, &state->mask_before, NULL);
}

static void close_timer(iw_injector *injector)
{
    struct timer_state *state = injector->back_end;

    hold(injector);
    (void)timer_delete(state->timer);
    leave(state);
    (void)pthread_sigmask(SIG_SETMASK, &state->mask_before, NULL);
    free(state);
}

const struct iwi_back_end_ops iwi_back_end_timer = {
    .name = "timer", .open = open_timer, .hold = hold, .release = release, .close = close_timer};

/* Waking up takes up to a millisecond where many threads do so at once: shorter detours are merged. */
static const iw_inject_costs sleep_costs = {.floor_ns = 1e6, .gap_ns = 1e6};

const struct iwi_back_end_ops iwi_back_end_sleep = {.name = "sleep",
                                                    .costs = &sleep_costs,
                                                    .is_asleep = true,
                                                    .open = open_timer,
                                                    .hold = hold,
                                                    .release = release,
                                                    .close = close_timer};
