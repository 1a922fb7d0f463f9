/* A SCHED_FIFO thread that sleeps and spins, and what keeps it from taking the CPU for good.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"
#include "features/replay/injector.h"

/* ======== how busy it may be ======== */

static const double USED = 0.9;
static const int64_t USUAL_PERIOD_NS = 1000000000, USUAL_RUNTIME_NS = 950000000;

/* In ns; negative: no limit, or no such file. */
static int64_t limit_ns(const char *root, const char *path)
{
    char line[32];
    char *end;
    long us;

    if (!iwi_sysfile_line(root, path, line, sizeof line)) {
        return -1;
    }
    us = strtol(line, &end, 10);
    return end == line || us < 0 || us > INT64_C(1000000000) ? -1 : (int64_t)us * 1000;
}

void iwi_duty_init(struct iwi_duty *duty, const char *root)
{
    int64_t period_ns = limit_ns(root, "/proc/sys/kernel/sched_rt_period_us");
    int64_t runtime_ns = limit_ns(root, "/proc/sys/kernel/sched_rt_runtime_us");

    if (period_ns <= 0) {
        period_ns = USUAL_PERIOD_NS;
        runtime_ns = runtime_ns < 0 ? -1 : iwi_min(runtime_ns, USUAL_RUNTIME_NS);
    }
    if (runtime_ns < 0 || runtime_ns >= period_ns) {
        runtime_ns = (int64_t)((double)period_ns * ((double)USUAL_RUNTIME_NS / (double)USUAL_PERIOD_NS));
    }
    memset(duty, 0, sizeof *duty);
    duty->period_ns = period_ns;
    duty->most_ns = (int64_t)((double)runtime_ns * USED);
}

/* Time is booked where it ends and leaves the account only when its whole slot is a period old: the account
 * is never lower than the truth. */
bool iwi_duty_take(struct iwi_duty *duty, int64_t start_ns, int64_t duration_ns)
{
    const int64_t slot_ns = iwi_max(duty->period_ns / IWI_DUTY_SLOTS, 1);
    const int64_t slot = (start_ns + duration_ns) / slot_ns;
    const size_t place = (size_t)(slot % (IWI_DUTY_SLOTS + 1));
    int64_t sum_ns = duration_ns;

    for (size_t i = 0; i <= IWI_DUTY_SLOTS; i++) {
        if (duty->slot[i] >= slot - IWI_DUTY_SLOTS && duty->slot[i] <= slot) {
            sum_ns += duty->busy_ns[i];
        }
    }
    if (sum_ns > duty->most_ns) {
        return false;
    }
    if (duty->slot[place] != slot) {
        duty->slot[place] = slot;
        duty->busy_ns[place] = 0;
    }
    duty->busy_ns[place] += duration_ns;
    return true;
}

/* ======== the back end ======== */

/* It can take the CPU from everything of normal priority, so two things watch it: it makes no detour when a
 * thread of normal priority (the watchdog) has not run for long, and the watchdog takes its priority away
 * when a detour does not end. Limits of the process and the machine are read and kept, never changed. */

struct fifo_state {
    iw_injector *injector;
    struct iwi_fifo_limits limits;
    struct iwi_duty duty;
    pthread_t spinner, watchdog;
    pthread_mutex_t lock; /* of the injector and what follows */
    pthread_cond_t changed, idle;
    uint64_t generation; /* of what the owner asked for */
    bool is_stopped, is_spinning, is_held;
    atomic_bool is_halted;                       /* the spin ends at once */
    _Atomic int64_t heartbeat_ns, busy_until_ns; /* 0: not busy */
    atomic_bool is_cut_short;
    pthread_mutex_t watch_lock;
    pthread_cond_t watch_ends;
    bool is_watch_over;
};

static bool may_make(struct fifo_state *state, int64_t entry_ns)
{
    return entry_ns - atomic_load(&state->heartbeat_ns) <= state->limits.silence_ns &&
           !atomic_load(&state->is_cut_short) &&
           iwi_duty_take(&state->duty, entry_ns, state->injector->next.duration_ns);
}

/* With the lock; gives it away while spinning. */
static void make_detour(struct fifo_state *state, int64_t entry_ns)
{
    int64_t end_ns, last_ns;

    if (iwi_injector_is_too_late(state->injector, entry_ns) || !may_make(state, entry_ns)) {
        iwi_injector_skip(state->injector, entry_ns);
        return;
    }
    end_ns = iwi_injector_take(state->injector, entry_ns);
    atomic_store(&state->busy_until_ns, end_ns);
    state->is_spinning = true;
    (void)pthread_mutex_unlock(&state->lock);
    last_ns = iwi_spin_until(entry_ns, end_ns, &state->is_halted);
    (void)pthread_mutex_lock(&state->lock);
    state->is_spinning = false;
    atomic_store(&state->busy_until_ns, 0);
    iwi_injector_log_end(state->injector, last_ns);
    if (state->is_held) {
        (void)pthread_cond_signal(&state->idle);
    }
}

/* With the lock. Owners change what is waited for while this waits. */
static void wait_for_next(struct fifo_state *state)
{
    const iw_injector *injector = state->injector;
    const uint64_t generation = state->generation;
    const struct timespec target = iwi_timespec(iwi_max(injector->target_ns, 0));
    int64_t entry_ns;

    if (!injector->is_waiting || state->is_held) {
        (void)pthread_cond_wait(&state->changed, &state->lock);
        return;
    }
    if (iwi_now_ns() < injector->target_ns) {
        (void)pthread_cond_timedwait(&state->changed, &state->lock, &target);
    }
    entry_ns = iwi_now_ns();
    if (generation == state->generation && !state->is_held && entry_ns >= injector->target_ns) {
        make_detour(state, entry_ns);
    }
}

static void *spin(void *arg)
{
    struct fifo_state *state = arg;

    (void)prctl(PR_SET_NAME, "iw-inject");
    (void)prctl(PR_SET_TIMERSLACK, 1UL); /* ns; of this thread */
    (void)pthread_mutex_lock(&state->lock);
    while (!state->is_stopped) {
        wait_for_next(state);
    }
    (void)pthread_mutex_unlock(&state->lock);
    return NULL;
}

static void check_spinner(struct fifo_state *state, int64_t now_ns)
{
    const struct sched_param normal = {.sched_priority = 0};
    const int64_t busy_until_ns = atomic_load(&state->busy_until_ns);

    if (busy_until_ns != 0 && now_ns > busy_until_ns + state->limits.overrun_ns &&
        !atomic_exchange(&state->is_cut_short, true)) {
        (void)pthread_setschedparam(state->spinner, SCHED_OTHER, &normal);
        atomic_store(&state->is_halted, true);
    }
}

static void *watch(void *arg)
{
    struct fifo_state *state = arg;

    (void)prctl(PR_SET_NAME, "iw-watchdog");
    (void)pthread_mutex_lock(&state->watch_lock);
    while (!state->is_watch_over) {
        const int64_t now_ns = iwi_now_ns();
        const struct timespec next = iwi_timespec(now_ns + state->limits.heartbeat_ns);

        atomic_store(&state->heartbeat_ns, now_ns);
        check_spinner(state, now_ns);
        (void)pthread_cond_timedwait(&state->watch_ends, &state->watch_lock, &next);
    }
    (void)pthread_mutex_unlock(&state->watch_lock);
    return NULL;
}

/* Signals are for the threads of the program. */
static int create(pthread_t *thread_p, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    sigset_t all, before;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread_p, attr, run, arg);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static void end_spinner(struct fifo_state *state)
{
    (void)pthread_mutex_lock(&state->lock);
    state->is_stopped = true;
    (void)pthread_cond_signal(&state->changed);
    (void)pthread_mutex_unlock(&state->lock);
    (void)pthread_join(state->spinner, NULL);
}

/* It is bound before there is anything to wait for. (musl has no attribute for it.) */
static int create_spinner(struct fifo_state *state, int cpu)
{
    const struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    cpu_set_t here;
    pthread_attr_t attr;
    int error;

    CPU_ZERO(&here);
    CPU_SET((size_t)cpu, &here);
    if (pthread_attr_init(&attr) != 0) {
        return ENOMEM;
    }
    (void)pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    (void)pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    (void)pthread_attr_setschedparam(&attr, &lowest);
    error = create(&state->spinner, &attr, spin, state);
    (void)pthread_attr_destroy(&attr);
    if (error != 0) {
        return error;
    }
    error = pthread_setaffinity_np(state->spinner, sizeof here, &here);
    if (error != 0) {
        end_spinner(state);
    }
    return error;
}

/* CPUs but `cpu`: those of the caller, or, if it is bound to that one, all; the kernel leaves out what this
 * process may not use. */
static cpu_set_t other_cpus(int cpu)
{
    cpu_set_t others;

    if (sched_getaffinity(0, sizeof others, &others) == 0) {
        CPU_CLR((size_t)cpu, &others);
        if (CPU_COUNT(&others) > 0) {
            return others;
        }
    }
    memset(&others, 0xff, sizeof others);
    CPU_CLR((size_t)cpu, &others);
    return others;
}

/* Where the spinner cannot keep it from running, if there is such a place. */
static int create_watchdog(const iw_log *log, struct fifo_state *state, int cpu)
{
    const cpu_set_t others = other_cpus(cpu);
    pthread_attr_t attr;
    int error;

    if (pthread_attr_init(&attr) != 0) {
        return ENOMEM;
    }
    (void)pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED); /* the caller may be a real-time one */
    (void)pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
    error = create(&state->watchdog, &attr, watch, state);
    (void)pthread_attr_destroy(&attr);
    /* if none of these CPUs is for us; calibration need not say it too */
    if (error == 0 && pthread_setaffinity_np(state->watchdog, sizeof others, &others) != 0 &&
        state->injector->logbook == NULL) {
        iwi_warn(log, "no other CPU for the watchdog: only the kernel's limit on real-time threads ends a "
                      "detour that lasts too long");
    }
    return error;
}

static void end_watch(struct fifo_state *state)
{
    (void)pthread_mutex_lock(&state->watch_lock);
    state->is_watch_over = true;
    (void)pthread_cond_signal(&state->watch_ends);
    (void)pthread_mutex_unlock(&state->watch_lock);
    (void)pthread_join(state->watchdog, NULL);
}

static iw_status refuse(const iw_log *log, int error)
{
    if (error == EPERM) {
        return iwi_fail(
            log, IW_ERR_UNSUPPORTED,
            "no right to use SCHED_FIFO: grant CAP_SYS_NICE, or RLIMIT_RTPRIO (ulimit -r) of at least 1");
    }
    return iwi_fail(log, IW_ERR_UNSUPPORTED, "cannot create a SCHED_FIFO thread: %s", strerror(error));
}

static iw_status start_threads(const iw_log *log, struct fifo_state *state)
{
    const int cpu = sched_getcpu();
    int error;

    if (cpu < 0) {
        return refuse(log, errno);
    }
    error = create_watchdog(log, state, cpu);
    if (error != 0) {
        return refuse(log, error);
    }
    error = create_spinner(state, cpu);
    if (error != 0) {
        end_watch(state);
        return refuse(log, error);
    }
    return IW_OK;
}

static void init_locks(struct fifo_state *state)
{
    pthread_condattr_t monotonic;

    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&state->lock, NULL);
    (void)pthread_mutex_init(&state->watch_lock, NULL);
    (void)pthread_cond_init(&state->changed, &monotonic);
    (void)pthread_cond_init(&state->idle, &monotonic);
    (void)pthread_cond_init(&state->watch_ends, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

static void release_locks(struct fifo_state *state)
{
    (void)pthread_cond_destroy(&state->changed);
    (void)pthread_cond_destroy(&state->idle);
    (void)pthread_cond_destroy(&state->watch_ends);
    (void)pthread_mutex_destroy(&state->lock);
    (void)pthread_mutex_destroy(&state->watch_lock);
}

/* Beyond RLIMIT_RTTIME without a sleep the kernel sends SIGXCPU to the whole process: stay far below. */
static void keep_below_rttime(struct iwi_duty *duty)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_RTTIME, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < (rlim_t)(duty->most_ns / 1000)) {
        duty->most_ns = (int64_t)limit.rlim_cur * 1000 / 4;
    }
}

/* What is longer than all that may be used of a period is never made. */
static void warn_of_long_detours(const iw_log *log, const struct fifo_state *state)
{
    const iw_inject_plan *plan = state->injector->plan;
    size_t count = 0;

    for (size_t i = 0; i < plan->count; i++) {
        count += plan->duration_ns[i] > state->duty.most_ns;
    }
    if (count > 0) {
        iwi_warn(log,
                 "fifo skips %zu of the plan's %zu detours, which exceed %g s, the most that a real-time "
                 "thread may run at once here; the timer back end injects them",
                 count, plan->count, (double)state->duty.most_ns * 1e-9);
    }
}

iw_status iwi_fifo_open(const iw_log *log, iw_injector *injector, const struct iwi_fifo_limits *limits)
{
    struct fifo_state *state = iwi_new_array(log, 1, sizeof *state);
    iw_status status;

    if (state == NULL) {
        return IW_ERR_NOMEM;
    }
    state->injector = injector;
    state->limits = *limits;
    iwi_duty_init(&state->duty, "");
    keep_below_rttime(&state->duty);
    init_locks(state);
    atomic_init(&state->heartbeat_ns, iwi_now_ns());
    injector->back_end = state;
    status = start_threads(log, state);
    if (status != IW_OK) {
        release_locks(state);
        free(state);
        return status;
    }
    warn_of_long_detours(log, state);
    return IW_OK;
}

static iw_status open_fifo(const iw_log *log, iw_injector *injector)
{
    const struct iwi_fifo_limits limits = IWI_FIFO_LIMITS;

    return iwi_fifo_open(log, injector, &limits);
}

static void hold(iw_injector *injector)
{
    struct fifo_state *state = injector->back_end;

    atomic_store(&state->is_halted, true);
    (void)pthread_mutex_lock(&state->lock);
    state->is_held = true;
    while (state->is_spinning) {
        (void)pthread_cond_wait(&state->idle, &state->lock);
    }
}

/* Woken after the lock is free: the spinner would take the CPU at once and only wait for it. */
static void release(iw_injector *injector)
{
    struct fifo_state *state = injector->back_end;

    state->is_held = false;
    state->generation++;
    atomic_store(&state->is_halted, false);
    (void)pthread_mutex_unlock(&state->lock);
    (void)pthread_cond_signal(&state->changed);
}

static void close_fifo(iw_injector *injector)
{
    struct fifo_state *state = injector->back_end;

    hold(injector);
    state->is_stopped = true;
    release(injector);
    (void)pthread_join(state->spinner, NULL);
    end_watch(state);
    injector->counts.is_cut_short = atomic_load(&state->is_cut_short);
    release_locks(state);
    free(state);
}

const struct iwi_back_end_ops iwi_back_end_fifo = {
    .name = "fifo", .open = open_fifo, .hold = hold, .release = release, .close = close_fifo};
