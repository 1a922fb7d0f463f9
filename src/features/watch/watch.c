/* Watches a job in the best way that this build, this kernel and these rights allow.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/measure.h>
#include <idlewave/watch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "core/base/opts.h"
#include "core/base/sysfile.h"
#include "features/watch/job.h"
#include "features/watch/watch_run.h"

/* ---- by trace events, where there is no BPF ---- */

/* Each thread has a row of the recording, in the time for which it wanted a CPU. Waiting begins where a
 * thread is preempted, not where it is woken; threads that start meanwhile are known up to PAUSE_NS later.
 */

static const char root[] = ""; /* this machine's own /proc */
static const int64_t PAUSE_NS = 200000000;

/* Numbers, ascending. */
struct numbers {
    uint32_t *array;
    size_t count, capacity;
};

struct events {
    const iw_log *log;
    const iw_watch_opts *opts;
    struct iwi_watched_job job;
    struct numbers processes, threads;
    uint32_t *fresh; /* threads that have not been told yet */
    size_t fresh_count, fresh_capacity, told;
    int64_t start_ns, done_ns;
    iw_status status;
};

/* Whether what is asked for can be had this way: a recording can, nothing that is told meanwhile. */
static bool watch_events_can(const iw_watch_opts *opts)
{
    return opts->on_event == NULL && opts->on_snapshot == NULL && !opts->wants_sums_only &&
           opts->cpus == NULL && opts->threshold_ns == 0;
}

/* ---- who belongs to the job ---- */

static iw_status add_number(const iw_log *log, struct numbers *numbers, uint32_t number, bool *is_new_p)
{
    size_t at = numbers->count;

    while (at > 0 && numbers->array[at - 1] > number) {
        at--; /* most are larger than all before */
    }
    *is_new_p = at == 0 || numbers->array[at - 1] != number;
    if (!*is_new_p) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&numbers->array, &numbers->capacity, numbers->count + 1,
                    sizeof *numbers->array));
    memmove(&numbers->array[at + 1], &numbers->array[at], (numbers->count - at) * sizeof *numbers->array);
    numbers->array[at] = number;
    numbers->count++;
    return IW_OK;
}

static void take_thread(void *arg, unsigned long number)
{
    struct events *events = arg;
    bool is_new = false;

    if (events->status == IW_OK) {
        events->status = add_number(events->log, &events->threads, (uint32_t)number, &is_new);
    }
    if (events->status == IW_OK && is_new) {
        events->status = iwi_grow(events->log, (void **)&events->fresh, &events->fresh_capacity,
                                  events->fresh_count + 1, sizeof *events->fresh);
    }
    if (events->status == IW_OK && is_new) {
        events->fresh[events->fresh_count++] = (uint32_t)number;
    }
}

static iw_status take_process(void *arg, uint32_t pid)
{
    struct events *events = arg;
    char path[64];
    bool is_new;

    IW_TRY(add_number(events->log, &events->processes, pid, &is_new));
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/task", pid);
    iwi_sysfile_each_number(root, path, take_thread, events);
    return events->status;
}

/* Processes whose parents have ended are known from before. */
static iw_status look_for_threads(struct events *events)
{
    struct iwi_watched_job job = events->job;
    uint32_t *known = NULL;
    iw_status status;

    if (job.cgroup == NULL && events->processes.count > 0) {
        known = iwi_new_array(events->log, events->processes.count, sizeof *known);
        if (known == NULL) {
            return IW_ERR_NOMEM;
        }
        memcpy(known, events->processes.array, events->processes.count * sizeof *known);
        job.pids = known;
        job.pid_count = events->processes.count;
    }
    status = iwi_job_each_process(events->log, &job, take_process, events);
    free(known);
    return status;
}

static bool has_ended(const struct events *events)
{
    char path[64];

    if (events->job.cgroup != NULL) {
        return iwi_job_is_gone_group(&events->job, false);
    }
    for (size_t i = 0; i < events->processes.count; i++) {
        snprintf(path, sizeof path, "/proc/%" PRIu32 "/task", events->processes.array[i]);
        if (iwi_sysfile_exists(root, path)) {
            return false;
        }
    }
    return true;
}

/* ---- meanwhile ---- */

static bool next_thread(void *arg, int64_t *pid_p, uint32_t *number_p)
{
    struct events *events = arg;

    if (events->told == events->fresh_count) {
        return false;
    }
    *number_p = (uint32_t)events->told;
    *pid_p = events->fresh[events->told++];
    return true;
}

static bool pause_and_look(void *arg)
{
    struct events *events = arg;
    const iw_watch_opts *opts = events->opts;
    const int64_t total_ns = opts->duration_ns;
    const int64_t rest_ns = total_ns > 0 ? iwi_min(PAUSE_NS, total_ns - events->done_ns) : PAUSE_NS;
    const struct timespec pause = {.tv_nsec = (long)iwi_max(rest_ns, 1)};
    iw_progress_now now;

    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    events->done_ns = iwi_now_ns() - events->start_ns;
    events->status = look_for_threads(events);
    now = (iw_progress_now){total_ns > 0 ? (double)events->done_ns / (double)total_ns : 0.0,
                            (uint64_t)events->done_ns, (uint64_t)total_ns};
    return events->status == IW_OK && (total_ns == 0 || events->done_ns < total_ns) &&
           (opts->progress.step == NULL || opts->progress.step(opts->progress.arg, &now)) &&
           !has_ended(events);
}

static void begin(void *arg)
{
    struct events *events = arg;

    events->start_ns = iwi_now_ns();
}

static iw_status fill(const struct events *events, iw_watch_result *result)
{
    const iw_log *log = events->log;

    result->job = strdup(events->job.text);
    if (result->job == NULL) {
        return IW_ERR_NOMEM;
    }
    result->watched_ns = events->done_ns;
    IW_TRY(iwi_watch_events_add_up(log, result));
    IW_TRY(iwi_watch_keep_rows(log, result));
    return iw_recording_set(log, result->recording, "job", events->job.text);
}

/* ---- all of it ---- */

static iw_status watch(struct events *events, iw_recording **recording_p)
{
    iw_job_watch_opts how = IW_JOB_WATCH_OPTS_INIT;

    how.command = events->opts->command;
    how.on_ready = begin;
    how.sleep = pause_and_look;
    how.next_rank = next_thread;
    how.arg = events;
    how.wants_wanted_time = true;
    how.attribution = events->opts->attribution == IW_WATCH_TRACEFS ? IW_ATTRIBUTION_TRACEFS
                      : events->opts->attribution == IW_WATCH_PERF  ? IW_ATTRIBUTION_PERF
                                                                    : IW_ATTRIBUTION_AUTO;
    IW_TRY(iwi_job_find(events->log, root, events->opts, &events->job));
    IW_TRY(iw_watch_job(events->log, &how, recording_p));
    return events->status;
}

/* As iw_watch(); `opts` is complete. */
static iw_status watch_events_run(const iw_log *log, const iw_watch_opts *opts, iw_watch_result **result_p)
{
    struct events events = {.log = log, .opts = opts, .status = IW_OK};
    iw_watch_result *result;
    iw_status status;

    if (!watch_events_can(opts)) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "trace events cover all detours on all CPUs, and only at the end; use BPF for chosen "
                        "CPUs, thresholds, a live view or metrics");
    }
    result = iwi_new_array(log, 1, sizeof *result);
    if (result == NULL) {
        return IW_ERR_NOMEM;
    }
    status = watch(&events, &result->recording);
    if (status == IW_OK) {
        status = fill(&events, result);
    }
    free(events.processes.array);
    free(events.threads.array);
    free(events.fresh);
    if (status != IW_OK) {
        iw_watch_result_free(result);
        return status;
    }
    *result_p = result;
    return IW_OK;
}

/* ---- the best way that there is ---- */

/* Why there are no programs in the kernel. */
struct reason {
    bool is_told;
    char text[512];
};

#ifdef IW_HAVE_BPF
static void keep_reason(void *arg, iw_log_level level, const char *text)
{
    struct reason *reason = arg;

    if (level == IW_LOG_ERROR) {
        reason->is_told = true;
        snprintf(reason->text, sizeof reason->text, "%s", text);
    }
}

static iw_status watch_by_programs(const iw_log *log, const iw_watch_opts *opts, struct reason *reason,
                                   iw_watch_result **result_p)
{
    const iw_log quiet = {keep_reason, reason};

    return iwi_watch_run(log, &quiet, opts, result_p);
}
#else
static iw_status watch_by_programs(const iw_log *log, const iw_watch_opts *opts, struct reason *reason,
                                   iw_watch_result **result_p)
{
    (void)log;
    (void)opts;
    (void)result_p;
    *reason = (struct reason){true, "this build of idlewave cannot watch with programs in the kernel, "
                                    "because it was made without libbpf, clang or llvm-strip; on Debian, "
                                    "apt-get install libbpf-dev libelf-dev clang llvm, then build again"};
    return IW_ERR_UNSUPPORTED;
}
#endif

iw_status iw_watch(const iw_log *log, const iw_watch_opts *given, iw_watch_result **result_p)
{
    iw_watch_opts opts = IW_WATCH_OPTS_INIT;
    struct reason reason = {.is_told = false};
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_WATCH_OPTS_INIT", given, &opts));
    if (opts.attribution >= IW_WATCH_EVENTS) {
        return watch_events_run(log, &opts, result_p);
    }
    status = watch_by_programs(log, &opts, &reason, result_p);
    if (!reason.is_told) {
        return status;
    }
    if (opts.attribution == IW_WATCH_BPF || !watch_events_can(&opts)) {
        return iwi_fail(log, status, "%s", reason.text);
    }
    if (watch_events_run(NULL, &opts, result_p) != IW_OK) {
        return iwi_fail(log, status, "%s", reason.text); /* what the best way lacks is what to do first */
    }
    iwi_warn(log, "watched by trace events, which show less: %s", reason.text);
    return IW_OK;
}
