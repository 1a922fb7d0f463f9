/* Starts the measuring threads, opens their window, and keeps out of their way.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/probe/probe.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "core/base/base.h"

static const int64_t POLL_NS = 1000000;

/* From the decision to start until zero: time for the caller to leave the CPU it decided on. */
static const int64_t LEAD_NS = 2000000;

static int64_t forced_switches(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

static void poll_pause(void)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};

    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

static void pin(struct iwi_worker *worker)
{
    worker->tid = gettid();
    worker->error = iwi_cpus_pin(worker->probe_threads->cpus, worker->cpu);
    worker->status = worker->error == 0 ? IW_OK : IW_ERR_IO;
    atomic_fetch_add(&worker->probe_threads->pinned, 1);
    while (!atomic_load(&worker->probe_threads->may_prepare)) {
        poll_pause();
    }
}

static void *work(void *arg)
{
    struct iwi_worker *worker = arg;
    const struct iwi_probe_threads *probe_threads = worker->probe_threads;
    const size_t index = (size_t)(worker - probe_threads->workers);
    int64_t before;

    pin(worker);
    if (worker->status == IW_OK) {
        worker->status = iwi_probe_prepare(&worker->probe, probe_threads->room);
    }
    if (worker->status == IW_OK && probe_threads->on_thread_start != NULL) {
        probe_threads->on_thread_start(probe_threads->arg, index);
    }
    before = forced_switches();
    atomic_fetch_add(&worker->probe_threads->ready, 1);
    if (worker->status == IW_OK) {
        worker->probe.ops->run(&worker->probe);
        worker->last_cpu = sched_getcpu();
        worker->forced_switches = forced_switches() - before;
        if (probe_threads->on_thread_stop != NULL) {
            probe_threads->on_thread_stop(probe_threads->arg, index);
        }
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

/* Threads do not log: what they met is told here. */
static iw_status check_workers(const iw_log *log, const struct iwi_probe_threads *probe_threads)
{
    for (size_t i = 0; i < probe_threads->count; i++) {
        const struct iwi_worker *worker = &probe_threads->workers[i];

        if (worker->error != 0) {
            return iwi_fail(log, IW_ERR_IO, "cannot pin a thread to CPU %" PRIu32 ": %s", worker->cpu,
                            strerror(worker->error));
        }
        if (worker->status != IW_OK) {
            return iwi_fail(log, worker->status, "out of memory for %zu events of CPU %" PRIu32,
                            probe_threads->room, worker->cpu);
        }
    }
    return IW_OK;
}

iw_status iwi_probe_threads_start(const iw_log *log, const iw_measure_opts *opts, const struct iwi_cpus *cpus,
                                  const struct iwi_probe_run *probe, size_t room,
                                  struct iwi_probe_threads *probe_threads)
{
    *probe_threads = (struct iwi_probe_threads){.cpus = cpus,
                                                .room = room,
                                                .on_thread_start = opts->on_thread_start,
                                                .on_thread_stop = opts->on_thread_stop,
                                                .arg = opts->arg,
                                                .count = cpus->count};
    atomic_init(&probe_threads->window.zero, UINT64_MAX);
    atomic_init(&probe_threads->window.end, UINT64_MAX);
    probe_threads->workers = iwi_new_array(log, probe_threads->count, sizeof *probe_threads->workers);
    if (probe_threads->workers == NULL) {
        probe_threads->count = 0;
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < probe_threads->count; i++) {
        struct iwi_worker *worker = &probe_threads->workers[i];
        int error;

        *worker = (struct iwi_worker){
            .probe_threads = probe_threads, .cpu = cpus->numbers[i], .probe = *probe, .last_cpu = -1};
        worker->probe.window = &probe_threads->window;
        error = create_thread(worker);
        if (error != 0) {
            return iwi_fail(log, IW_ERR_IO, "cannot start a thread for CPU %" PRIu32 ": %s", worker->cpu,
                            strerror(error));
        }
    }
    while (atomic_load(&probe_threads->pinned) < probe_threads->count) {
        poll_pause();
    }
    return check_workers(log, probe_threads);
}

bool iwi_wants_end(const iw_measure_opts *opts, int64_t done_ns)
{
    const int64_t known_ns = iwi_min(done_ns, opts->duration_ns);
    const iw_progress_now now = {(double)known_ns / (double)opts->duration_ns, (uint64_t)known_ns,
                                 (uint64_t)opts->duration_ns};

    return opts->progress.step != NULL && !opts->progress.step(opts->progress.arg, &now);
}

iw_status iwi_ended_too_early(const iw_log *log)
{
    return iwi_fail(log, IW_ERR_IO, "ended before anything was measured");
}

iw_status iwi_probe_threads_prepare(const iw_log *log, const iw_measure_opts *opts,
                                    struct iwi_probe_threads *probe_threads)
{
    atomic_store(&probe_threads->may_prepare, true);
    while (atomic_load(&probe_threads->ready) < probe_threads->count) {
        if (iwi_wants_end(opts, 0)) {
            iwi_probe_threads_stop(probe_threads);
            return iwi_ended_too_early(log);
        }
        poll_pause();
    }
    return check_workers(log, probe_threads);
}

uint64_t iwi_probe_threads_open_window(struct iwi_probe_threads *probe_threads, const struct iwi_clock *clock,
                                       int64_t duration_ns)
{
    const uint64_t zero = iwi_clock_now(clock) + iwi_clock_ticks(clock, LEAD_NS);

    atomic_store(&probe_threads->window.end, zero + iwi_clock_ticks(clock, duration_ns));
    atomic_store(&probe_threads->window.zero, zero);
    return zero;
}

void iwi_probe_threads_stop(struct iwi_probe_threads *probe_threads)
{
    atomic_store(&probe_threads->window.end, 0);
    atomic_store(&probe_threads->may_prepare, true);
    if (atomic_load(&probe_threads->window.zero) == UINT64_MAX) {
        atomic_store(&probe_threads->window.zero, 0);
    }
}

void iwi_probe_threads_join(struct iwi_probe_threads *probe_threads)
{
    for (size_t i = 0; i < probe_threads->count; i++) {
        if (probe_threads->workers[i].is_started) {
            (void)pthread_join(probe_threads->workers[i].thread, NULL);
            probe_threads->workers[i].is_started = false;
        }
    }
}

/* The kernel moves pinned threads when their CPU goes offline or leaves the cpuset. */
void iwi_probe_threads_warn_of_moved(const iw_log *log, const struct iwi_probe_threads *probe_threads)
{
    for (size_t i = 0; i < probe_threads->count; i++) {
        const struct iwi_worker *worker = &probe_threads->workers[i];

        if (worker->last_cpu >= 0 && (uint32_t)worker->last_cpu != worker->cpu) {
            iwi_warn(
                log,
                "the thread of CPU %" PRIu32 " ended on CPU %d: CPU %" PRIu32
                " went offline or left the cpuset meanwhile, and its later detours are those of another CPU",
                worker->cpu, worker->last_cpu, worker->cpu);
        }
    }
}

void iwi_probe_threads_release(struct iwi_probe_threads *probe_threads)
{
    iwi_probe_threads_stop(probe_threads);
    iwi_probe_threads_join(probe_threads);
    for (size_t i = 0; i < probe_threads->count; i++) {
        iwi_probe_release(&probe_threads->workers[i].probe);
    }
    free(probe_threads->workers);
}
