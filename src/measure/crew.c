/* Starts the measuring threads, opens their window, and keeps out of their way.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "measure/crew.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/base.h"

/* The caller asks a few times a second whether to end: each asking is a small detour on some CPU. */
static const int64_t ASK_NS = 250000000, POLL_NS = 1000000;

/* From the decision to start until zero: time for the caller to leave the CPU it decided on. */
static const int64_t LEAD_NS = 2000000;

static void sleep_ns(int64_t ns)
{
    const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL); /* signals may end it: then ask earlier */
}

static int64_t forced_switches(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

static iw_status pin_and_prepare(struct iwi_worker *worker)
{
    worker->error = iwi_cpus_pin(worker->crew->cpus, worker->cpu);
    return worker->error == 0 ? iwi_probe_prepare(&worker->probe, worker->crew->room) : IW_ERR_IO;
}

static void *work(void *arg)
{
    struct iwi_worker *worker = arg;
    int64_t before;

    worker->status = pin_and_prepare(worker);
    before = forced_switches();
    atomic_fetch_add(&worker->crew->ready, 1);
    if (worker->status == IW_OK) {
        worker->probe.ops->run(&worker->probe);
        worker->forced_switches = forced_switches() - before;
    }
    return NULL;
}

/* Signals stay with the caller: a handler on a measuring thread would be a detour. */
static int create_thread(struct iwi_worker *worker)
{
    sigset_t all, before;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&worker->thread, NULL, work, worker);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    worker->is_started = error == 0;
    return error;
}

iw_status iwi_crew_start(const iw_log *log, const struct iwi_cpus *cpus, const struct iwi_probe *probe,
                         size_t room, struct iwi_crew *crew)
{
    *crew = (struct iwi_crew){.cpus = cpus, .room = room, .count = cpus->count};
    atomic_init(&crew->window.zero, UINT64_MAX);
    atomic_init(&crew->window.end, UINT64_MAX);
    crew->workers = iwi_new_array(log, crew->count, sizeof *crew->workers);
    if (crew->workers == NULL) {
        crew->count = 0;
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < crew->count; i++) {
        struct iwi_worker *worker = &crew->workers[i];
        int error;

        *worker = (struct iwi_worker){.crew = crew, .cpu = cpus->numbers[i], .probe = *probe};
        worker->probe.window = &crew->window;
        error = create_thread(worker);
        if (error != 0) {
            return iwi_fail(log, IW_ERR_IO, "a thread for CPU %" PRIu32 " cannot be started: %s", worker->cpu,
                            strerror(error));
        }
    }
    return IW_OK;
}

/* Threads do not log: what they met is told here. */
static iw_status check_workers(const iw_log *log, const struct iwi_crew *crew)
{
    for (size_t i = 0; i < crew->count; i++) {
        const struct iwi_worker *worker = &crew->workers[i];

        if (worker->error != 0) {
            return iwi_fail(log, IW_ERR_IO, "a thread cannot be pinned to CPU %" PRIu32 ": %s", worker->cpu,
                            strerror(worker->error));
        }
        if (worker->status != IW_OK) {
            return iwi_fail(log, worker->status, "out of memory for %zu events of CPU %" PRIu32, crew->room,
                            worker->cpu);
        }
    }
    return IW_OK;
}

static void stop(struct iwi_crew *crew)
{
    atomic_store(&crew->window.end, 0);
    if (atomic_load(&crew->window.zero) == UINT64_MAX) {
        atomic_store(&crew->window.zero, 0);
    }
}

static bool wants_end(const iw_measure_opts *opts)
{
    return opts->is_stopped != NULL && opts->is_stopped(opts->arg);
}

static void open_window(const iw_measure_opts *opts, const struct iwi_clock *clock, struct iwi_crew *crew)
{
    const uint64_t zero = iwi_clock_now(clock) + iwi_clock_ticks(clock, LEAD_NS);

    atomic_store(&crew->window.end, zero + iwi_clock_ticks(clock, opts->duration_ns));
    atomic_store(&crew->window.zero, zero);
}

/* Sleeps through the window. */
static void watch(const iw_measure_opts *opts, const struct iwi_clock *clock, struct iwi_crew *crew)
{
    const uint64_t zero = atomic_load(&crew->window.zero), end = atomic_load(&crew->window.end);
    uint64_t now = iwi_clock_now(clock);

    while (now < end) {
        if (now > zero && opts->progress != NULL) {
            opts->progress(opts->arg, iwi_clock_whole_ns(clock, now - zero), opts->duration_ns);
        }
        if (wants_end(opts)) {
            stop(crew);
            return;
        }
        sleep_ns(iwi_min(ASK_NS, iwi_clock_whole_ns(clock, end - now)));
        now = iwi_clock_now(clock);
    }
    if (opts->progress != NULL) {
        opts->progress(opts->arg, opts->duration_ns, opts->duration_ns);
    }
}

static void join(struct iwi_crew *crew)
{
    for (size_t i = 0; i < crew->count; i++) {
        if (crew->workers[i].is_started) {
            (void)pthread_join(crew->workers[i].thread, NULL);
            crew->workers[i].is_started = false;
        }
    }
}

iw_status iwi_crew_measure(const iw_log *log, const iw_measure_opts *opts, const struct iwi_clock *clock,
                           struct iwi_crew *crew)
{
    while (atomic_load(&crew->ready) < crew->count) {
        sleep_ns(POLL_NS);
    }
    IW_TRY(check_workers(log, crew));
    open_window(opts, clock, crew);
    watch(opts, clock, crew);
    join(crew);
    return IW_OK;
}

void iwi_crew_release(struct iwi_crew *crew)
{
    stop(crew);
    join(crew);
    for (size_t i = 0; i < crew->count; i++) {
        iwi_probe_release(&crew->workers[i].probe);
    }
    free(crew->workers);
}
