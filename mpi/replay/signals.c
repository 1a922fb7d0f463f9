/* Keeps the injectors' signals out of the program's sight, and the program's hands off them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A program may block all signals, wait for all signals, or set all of them to their default, and mean those
 * it knows of. One that sets a handler for a signal of ours, or names it but not all real-time signals, wants
 * that very one: then we step aside.
 */
#include <errno.h>
#include <mqueue.h>
#include <sys/signalfd.h>
#include <time.h>

#include "mpi/replay/replay.h"

/* ---- which are ours ---- */

static uint64_t ours; /* bit signal - 1 */

static uint64_t bit_of(int signal)
{
    return signal >= 1 && signal <= 64 ? UINT64_C(1) << (signal - 1) : 0;
}

void iwi_replay_own_signal(int signal, bool is_ours)
{
    if (is_ours) {
        (void)__atomic_or_fetch(&ours, bit_of(signal), __ATOMIC_ACQ_REL);
    } else {
        (void)__atomic_and_fetch(&ours, ~bit_of(signal), __ATOMIC_ACQ_REL);
    }
}

static bool is_ours_now(int signal)
{
    return iwi_replay_self.inside == 0 && (__atomic_load_n(&ours, __ATOMIC_ACQUIRE) & bit_of(signal)) != 0;
}

static bool has_ours(void)
{
    return iwi_replay_self.inside == 0 && __atomic_load_n(&ours, __ATOMIC_ACQUIRE) != 0;
}

static const sigset_t *change(const sigset_t *set, sigset_t *made, int (*each)(sigset_t *, int))
{
    if (set == NULL || !has_ours()) {
        return set;
    }
    *made = *set;
    for (int signal = 1; signal <= 64; signal++) {
        if (is_ours_now(signal)) {
            (void)each(made, signal);
        }
    }
    return made;
}

/* ---- signals that the program wants ---- */

static void leave_to_program(int signal)
{
    iw_inject_counts counts;

    if (!iwi_replay_is_here()) {
        return;
    }
    if (iwi_replay_self.signal == signal) {
        iwi_replay_thread_stop(&counts);
    }
    iwi_replay_own_signal(signal, false);
    iwi_replay_step_aside("no more noise: the program now uses signal %d, which made it", signal);
}

static bool is_of_all(const sigset_t *set)
{
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++) {
        if (sigismember(set, signal) == 0) {
            return false;
        }
    }
    return true;
}

/* To be blocked or waited for: one of ours that is named in it is wanted, unless all are. */
static void leave_named(const sigset_t *set)
{
    if (set == NULL || !has_ours() || is_of_all(set)) {
        return;
    }
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++) {
        if (is_ours_now(signal) && sigismember(set, signal) == 1) {
            leave_to_program(signal);
        }
    }
}

const sigset_t *iwi_replay_without_ours(const sigset_t *set, sigset_t *made)
{
    return change(set, made, sigdelset);
}

const sigset_t *iwi_replay_with_ours(const sigset_t *set, sigset_t *made)
{
    return change(set, made, sigaddset);
}

/* ---- handlers ---- */

static bool is_plain(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) == 0 &&
           (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN);
}

/* True: the program's call is done with, as if it had been. */
static bool is_only_default(int signal, bool is_plain_action)
{
    if (!is_ours_now(signal)) {
        return false;
    }
    if (is_plain_action) {
        return true;
    }
    leave_to_program(signal);
    return false;
}

IW_API int sigaction(int signal, const struct sigaction *action, struct sigaction *before)
{
    const bool was_ours = is_ours_now(signal);
    int code = 0;

    IWI_REPLAY_NEXT(sigaction)
    if (!was_ours || (action != NULL && !is_only_default(signal, is_plain(action)))) {
        code = next(signal, action, before);
    }
    if (was_ours && before != NULL) {
        *before = (struct sigaction){.sa_handler = SIG_DFL};
    }
    if (iwi_replay_self.inside > 0 && action != NULL && !is_plain(action)) {
        iwi_replay_self.signal = signal; /* an injector's, that takes it */
    }
    return code;
}

static bool is_plain_handler(sighandler_t handler)
{
    return handler == SIG_DFL || handler == SIG_IGN;
}

IW_API sighandler_t signal(int number, sighandler_t handler)
{
    IWI_REPLAY_NEXT(signal)
    const bool was_ours = is_ours_now(number);
    sighandler_t before = SIG_DFL;

    if (!is_only_default(number, is_plain_handler(handler))) {
        before = next(number, handler);
    }
    return was_ours && before != SIG_ERR ? SIG_DFL : before;
}

IW_API sighandler_t __sysv_signal(int number, sighandler_t handler) // NOLINT: the C library's name
{
    IWI_REPLAY_NEXT(__sysv_signal)
    const bool was_ours = is_ours_now(number);
    sighandler_t before = SIG_DFL;

    if (!is_only_default(number, is_plain_handler(handler))) {
        before = next(number, handler);
    }
    return was_ours && before != SIG_ERR ? SIG_DFL : before;
}

/* ---- masks ---- */

IW_API int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    sigset_t made;

    IWI_REPLAY_NEXT(pthread_sigmask)
    if (how != SIG_UNBLOCK) {
        leave_named(set);
    }
    return next(how, how == SIG_UNBLOCK ? set : iwi_replay_without_ours(set, &made), before);
}

IW_API int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    sigset_t made;

    IWI_REPLAY_NEXT(sigprocmask)
    if (how != SIG_UNBLOCK) {
        leave_named(set);
    }
    return next(how, how == SIG_UNBLOCK ? set : iwi_replay_without_ours(set, &made), before);
}

/* ---- waiting for signals ---- */

IW_API int sigwait(const sigset_t *set, int *signal_p)
{
    sigset_t made;
    bool was_asleep;
    int code;

    IWI_REPLAY_NEXT(sigwait)
    leave_named(set);
    was_asleep = iwi_replay_fall_asleep();
    code = next(iwi_replay_without_ours(set, &made), signal_p);
    iwi_replay_wake_up(was_asleep);
    return code;
}

IW_API int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    sigset_t made;
    bool was_asleep;
    int code;

    IWI_REPLAY_NEXT(sigwaitinfo)
    leave_named(set);
    was_asleep = iwi_replay_fall_asleep();
    code = next(iwi_replay_without_ours(set, &made), info);
    iwi_replay_wake_up(was_asleep);
    return code;
}

IW_API int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    sigset_t made;
    bool was_asleep;
    int code;

    IWI_REPLAY_NEXT(sigtimedwait)
    leave_named(set);
    was_asleep = iwi_replay_fall_asleep();
    code = next(iwi_replay_without_ours(set, &made), info, timeout);
    iwi_replay_wake_up(was_asleep);
    return code;
}

IW_API int sigsuspend(const sigset_t *mask)
{
    sigset_t made;
    const bool was_asleep = iwi_replay_fall_asleep();
    int code;

    IWI_REPLAY_NEXT(sigsuspend)
    code = next(iwi_replay_with_ours(mask, &made));
    iwi_replay_wake_up(was_asleep);
    return code;
}

IW_API int sigpending(sigset_t *set)
{
    sigset_t made;
    int code;

    IWI_REPLAY_NEXT(sigpending)
    code = next(set);
    if (code == 0 && has_ours()) {
        *set = *iwi_replay_without_ours(set, &made);
    }
    return code;
}

IW_API int signalfd(int file, const sigset_t *mask, int flags)
{
    sigset_t made;

    IWI_REPLAY_NEXT(signalfd)
    leave_named(mask);
    return next(file, iwi_replay_without_ours(mask, &made), flags);
}

/* ---- who sends signals ---- */

static void leave_notified(const struct sigevent *event)
{
    if (event != NULL && event->sigev_notify != SIGEV_NONE && event->sigev_notify != SIGEV_THREAD &&
        is_ours_now(event->sigev_signo)) {
        leave_to_program(event->sigev_signo);
    }
}

IW_API int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer_p)
{
    IWI_REPLAY_NEXT(timer_create)
    leave_notified(event);
    return next(clock, event, timer_p);
}

IW_API int mq_notify(mqd_t queue, const struct sigevent *event)
{
    IWI_REPLAY_NEXT(mq_notify)
    leave_notified(event);
    return next(queue, event);
}
