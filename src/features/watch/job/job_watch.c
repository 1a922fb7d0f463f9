/* Watches the ranks of a job: the kernel's events of all CPUs, on CLOCK_MONOTONIC, as tracers of MPI have it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/watch.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "core/base/opts.h"
#include "features/record/record.h"
#include "features/watch/job/job_recording.h"
#include "kit/machine/cpus.h"

/* ---- environments of processes, and what their threads are ---- */

static const char VARIABLE[] = "IDLEWAVE_TRACE_KERNEL=";

enum { PATH_SIZE = 512, STATUS_SIZE = 1024, MOST_ENVIRONMENT = 1 << 20, LEAST_PLACES = 1024 };

/* A file below /proc, whole or its first `size` - 1 bytes, ended by '\0'; -1: it cannot be read. */
static ssize_t read_proc(const struct iwi_job_threads *threads, pid_t tid, const char *name, char *buf,
                         size_t size)
{
    char path[PATH_SIZE];
    ssize_t length = 0, more = 1;
    int file;

    snprintf(path, sizeof path, "%s/proc/%ld/%s", threads->root, (long)tid, name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return -1;
    }
    while (more > 0 && (size_t)length + 1 < size) {
        more = read(file, buf + length, size - 1 - (size_t)length);
        length += more > 0 ? more : 0;
    }
    (void)close(file);
    buf[length] = '\0';
    return length;
}

static bool is_first_thread(const struct iwi_job_threads *threads, pid_t tid)
{
    char status[STATUS_SIZE];
    const char *line;

    if (read_proc(threads, tid, "status", status, sizeof status) < 0) {
        return false;
    }
    line = strstr(status, "\nTgid:");
    return line != NULL && strtol(line + strlen("\nTgid:"), NULL, 10) == (long)tid;
}

/* The rank that the environment tells; IWI_JOB_NOT: it is of no rank of this job. */
static int64_t rank_in(const struct iwi_job_threads *threads, const char *text, size_t length)
{
    const size_t name_length = sizeof VARIABLE - 1;
    size_t next;

    for (size_t at = 0; at < length; at = next) {
        const char *entry = text + at;
        char *end;

        next = at + strlen(entry) + 1;
        if (strncmp(entry, VARIABLE, name_length) == 0) {
            const long long rank = strtoll(entry + name_length, &end, 10);

            return end > entry + name_length && *end == ':' && rank >= 0 && rank <= UINT32_MAX &&
                           strcmp(end + 1, threads->job) == 0
                       ? (int64_t)rank
                       : IWI_JOB_NOT;
        }
    }
    return IWI_JOB_NOT;
}

static iw_status look_up(const struct iwi_job_threads *threads, pid_t tid, int64_t *rank_p)
{
    char *text = tid > 0 && threads->job != NULL ? iwi_new_array(threads->log, MOST_ENVIRONMENT, 1) : NULL;
    ssize_t length;

    *rank_p = IWI_JOB_NOT;
    if (text == NULL) {
        return tid > 0 && threads->job != NULL ? IW_ERR_NOMEM : IW_OK; /* 0: the idle thread */
    }
    length = read_proc(threads, tid, "environ", text, MOST_ENVIRONMENT);
    if (length > 0) {
        *rank_p = rank_in(threads, text, (size_t)length);
    }
    if (*rank_p >= 0 && !is_first_thread(threads, tid)) {
        *rank_p = IWI_JOB_OTHER;
    }
    free(text);
    return IW_OK;
}

/* ---- the table: open addressing, at most half full ---- */

static struct iwi_job_thread *place_of(const struct iwi_job_threads *threads, pid_t tid)
{
    size_t at = (size_t)tid * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (threads->capacity - 1);

    while (threads->table[at].tid != 0 && threads->table[at].tid != tid) {
        at = (at + 1) & (threads->capacity - 1);
    }
    return &threads->table[at];
}

static iw_status make_room(struct iwi_job_threads *threads)
{
    struct iwi_job_threads larger = *threads;

    if (2 * (threads->count + 1) <= threads->capacity) {
        return IW_OK;
    }
    larger.capacity = threads->capacity > 0 ? 2 * threads->capacity : LEAST_PLACES;
    larger.table = iwi_new_array(threads->log, larger.capacity, sizeof *larger.table);
    if (larger.table == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < threads->capacity; i++) {
        if (threads->table[i].tid != 0) {
            *place_of(&larger, threads->table[i].tid) = threads->table[i];
        }
    }
    free(threads->table);
    *threads = larger;
    return IW_OK;
}

iw_status iwi_job_thread_find(struct iwi_job_threads *threads, pid_t tid, const char *comm, int64_t *rank_p)
{
    struct iwi_job_thread *thread;

    if (tid <= 0) {
        *rank_p = IWI_JOB_NOT;
        return IW_OK;
    }
    IW_TRY(make_room(threads));
    thread = place_of(threads, tid);
    if (!thread->is_told && (thread->tid == 0 || strncmp(thread->comm, comm, sizeof thread->comm - 1) != 0)) {
        threads->count += thread->tid == 0;
        thread->tid = tid;
        snprintf(thread->comm, sizeof thread->comm, "%s", comm);
        IW_TRY(look_up(threads, tid, &thread->rank));
    }
    *rank_p = thread->rank;
    return IW_OK;
}

iw_status iwi_job_thread_tell(struct iwi_job_threads *threads, pid_t tid, int64_t rank)
{
    struct iwi_job_thread *thread;

    IW_TRY(make_room(threads));
    thread = place_of(threads, tid);
    threads->count += thread->tid == 0;
    *thread = (struct iwi_job_thread){.tid = tid, .rank = rank, .is_told = true};
    return IW_OK;
}

int64_t iwi_job_thread_known(const struct iwi_job_threads *threads, pid_t tid)
{
    const struct iwi_job_thread *thread = tid > 0 && threads->capacity > 0 ? place_of(threads, tid) : NULL;

    return thread != NULL && thread->tid == tid ? thread->rank : IWI_JOB_NOT;
}

void iwi_job_threads_release(struct iwi_job_threads *threads)
{
    free(threads->table);
    threads->table = NULL;
    threads->count = threads->capacity = 0;
}

/* ---- watching ---- */

static const char root[] = ""; /* this machine's own /proc and /sys */

/* 24 bytes each: about a GiB. */
enum { MOST_EVENTS = 40000000 };

/* The same instant on the method's clock and on CLOCK_MONOTONIC; it is within +-width/2 of the former. */
struct tie {
    uint64_t ticks, width_ticks;
    int64_t mono_ns;
};

struct watch {
    const iw_log *log;
    struct iwi_clock clock;
    struct iwi_method method;
    struct iwi_switch_listener listener;
    struct iwi_watched *watched;
    struct iwi_job_threads threads;
    struct iwi_job_rank *ranks;
    size_t rank_count, rank_capacity;
    size_t *drained; /* of each rank: runs whose times are ns already; the others are ticks */
    size_t drained_capacity;
    struct iwi_job_cpu *cpus;
    size_t events;
    bool is_full;
    struct tie first, last;
    uint64_t widest_ticks;
};

/* ---- clocks ---- */

static struct tie tie_now(const struct iwi_clock *clock)
{
    struct tie best = {.width_ticks = UINT64_MAX};

    for (int i = 0; i < 16; i++) {
        const uint64_t before = iwi_clock_now(clock);
        const int64_t mono_ns = iwi_now_ns();
        const uint64_t width = iwi_clock_now(clock) - before;

        if (width < best.width_ticks) {
            best = (struct tie){before + width / 2, width, mono_ns};
        }
    }
    return best;
}

/* Between the last tie and `now`, which may be next to each other; instants before are extrapolated. */
static int64_t mono_of(const struct watch *watch, const struct tie *now, uint64_t ticks)
{
    const double span = (double)(int64_t)(now->ticks - watch->last.ticks);
    const double rate =
        span > 0.0 ? (double)(now->mono_ns - watch->last.mono_ns) / span : 1e9 / watch->clock.hz;

    return watch->last.mono_ns + (int64_t)((double)(int64_t)(ticks - watch->last.ticks) * rate);
}

/* ---- events ---- */

static iw_status find_rank(struct watch *watch, int64_t number, struct iwi_job_rank **rank_p)
{
    size_t i = 0;

    while (i < watch->rank_count && watch->ranks[i].rank != number) {
        i++;
    }
    if (i == watch->rank_count) {
        IW_TRY(
            iwi_grow(watch->log, (void **)&watch->ranks, &watch->rank_capacity, i + 1, sizeof *watch->ranks));
        IW_TRY(iwi_grow(watch->log, (void **)&watch->drained, &watch->drained_capacity, i + 1,
                        sizeof *watch->drained));
        watch->ranks[i] = (struct iwi_job_rank){.rank = number};
        watch->drained[i] = 0;
        watch->rank_count++;
    }
    *rank_p = &watch->ranks[i];
    return IW_OK;
}

static iw_status add_run(struct watch *watch, int64_t number, const struct iwi_switch *change,
                         enum iwi_job_turn turn)
{
    struct iwi_job_rank *rank;

    IW_TRY(find_rank(watch, number, &rank));
    IW_TRY(iwi_grow(watch->log, (void **)&rank->runs, &rank->capacity, rank->count + 1, sizeof *rank->runs));
    rank->runs[rank->count++] =
        (struct iwi_job_run){(int64_t)change->tick, (uint32_t)change->place, (uint32_t)turn};
    watch->events++;
    return IW_OK;
}

static iw_status take_switch(void *arg, const struct iwi_switch *change, bool *is_own_p)
{
    struct watch *watch = arg;
    const int64_t from = iwi_job_thread_known(&watch->threads, (pid_t)change->from);
    int64_t to;

    IW_TRY(iwi_job_thread_find(&watch->threads, (pid_t)change->to, change->to_name, &to));
    *is_own_p = to != IWI_JOB_NOT;
    if (watch->is_full) {
        return IW_OK;
    }
    if (from >= 0) {
        IW_TRY(add_run(watch, from, change, change->is_from_runnable ? IWI_JOB_LEAVES : IWI_JOB_SLEEPS));
    }
    return to >= 0 ? add_run(watch, to, change, IWI_JOB_RUNS) : IW_OK;
}

static iw_status keep_shares(struct watch *watch, const struct tie *now, size_t place)
{
    struct iwi_shares *shares = &watch->method.shares[place];
    struct iwi_job_cpu *cpu = &watch->cpus[place];

    for (size_t i = 0; i < shares->count && !watch->is_full; i++) {
        const struct iwi_share *share = &shares->array[i];

        if (share->source == IWI_NO_SOURCE) {
            continue;
        }
        IW_TRY(iwi_grow(watch->log, (void **)&cpu->segments, &cpu->capacity, cpu->count + 1,
                        sizeof *cpu->segments));
        cpu->segments[cpu->count++] = (struct iwi_job_segment){
            mono_of(watch, now, share->at), mono_of(watch, now, share->at + share->ticks), share->source};
        watch->events++;
    }
    shares->count = 0;
    return IW_OK;
}

static iw_status drain(struct watch *watch)
{
    struct tie now;

    IW_TRY(watch->method.ops->drain(&watch->method));
    now = tie_now(&watch->clock);
    watch->widest_ticks = now.width_ticks > watch->widest_ticks ? now.width_ticks : watch->widest_ticks;
    for (size_t place = 0; place < watch->method.count; place++) {
        IW_TRY(keep_shares(watch, &now, place));
    }
    for (size_t i = 0; i < watch->rank_count; i++) {
        for (struct iwi_job_rank *rank = &watch->ranks[i]; watch->drained[i] < rank->count;
             watch->drained[i]++) {
            struct iwi_job_run *run = &rank->runs[watch->drained[i]];

            run->at_ns = mono_of(watch, &now, (uint64_t)run->at_ns);
        }
    }
    watch->last = now;
    if (watch->events > MOST_EVENTS && !watch->is_full) {
        watch->is_full = true;
        iwi_warn(watch->log,
                 "the kernel reported more than %d events: what ranks lost is known only up to here",
                 MOST_EVENTS);
    }
    return IW_OK;
}

/* ---- opening ---- */

static iw_status open_method(struct watch *watch, iw_attribution wanted)
{
#ifdef IW_HAVE_TRACEFS
    static const struct method_choice {
        iw_attribution attribution;
        const struct iwi_method_ops *ops;
    } methods[] = {{IW_ATTRIBUTION_TRACEFS, &iwi_method_tracefs}, {IW_ATTRIBUTION_PERF, &iwi_method_perf}};
    char reasons[2][IWI_REASON_SIZE] = {"not asked for", "not asked for"};

    for (size_t i = 0; i < 2; i++) {
        iw_status status;

        if (wanted != IW_ATTRIBUTION_AUTO && wanted != methods[i].attribution) {
            continue;
        }
        watch->method.ops = methods[i].ops;
        status = methods[i].ops->open(&watch->method);
        if (status == IW_OK || status == IW_ERR_NOMEM) {
            watch->method.ops = status == IW_OK ? methods[i].ops : NULL;
            return status;
        }
        watch->method.ops = NULL;
        memcpy(reasons[i], watch->method.reason, sizeof reasons[i]);
    }
    return iwi_fail(watch->log, IW_ERR_IO, "cannot get the kernel's events: tracefs (%s); perf (%s)",
                    reasons[0], reasons[1]);
#else
    (void)wanted;
    return iwi_fail(watch->log, IW_ERR_IO,
                    "cannot get the kernel's events: libtraceevent was missing in this build");
#endif
}

static iw_status open_watch(struct watch *watch, const struct iwi_cpus *cpus, iw_attribution attribution)
{
    watch->watched = iwi_new_array(watch->log, cpus->count, sizeof *watch->watched);
    watch->cpus = iwi_new_array(watch->log, cpus->count, sizeof *watch->cpus);
    watch->method.shares = iwi_new_array(watch->log, cpus->count, sizeof *watch->method.shares);
    if (watch->watched == NULL || watch->cpus == NULL || watch->method.shares == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < cpus->count; i++) {
        watch->watched[i] = (struct iwi_watched){.cpu = cpus->numbers[i], .tid = -1};
    }
    iwi_clock_open(root, &watch->clock);
    watch->listener = (struct iwi_switch_listener){take_switch, watch};
    watch->method.log = watch->log;
    watch->method.root = root;
    watch->method.clock = &watch->clock;
    watch->method.watched = watch->watched;
    watch->method.count = cpus->count;
    watch->method.listener = &watch->listener;
    IW_TRY(iw_recording_new(watch->log, 0, &watch->method.recording));
    IW_TRY(open_method(watch, attribution));
    watch->first = watch->last = tie_now(&watch->clock);
    return IW_OK;
}

static void close_watch(struct watch *watch)
{
    if (watch->method.ops != NULL) {
        watch->method.ops->close(&watch->method);
    }
    for (size_t i = 0; i < watch->method.count; i++) {
        free(watch->method.shares[i].array);
        free(watch->cpus[i].segments);
    }
    for (size_t i = 0; i < watch->rank_count; i++) {
        free(watch->ranks[i].runs);
    }
    free(watch->ranks);
    free(watch->drained);
    free(watch->cpus);
    free(watch->method.shares);
    free(watch->watched);
    iwi_job_threads_release(&watch->threads);
    iw_recording_free(watch->method.recording);
}

/* Before events are looked at: processes may have ended by then. */
static iw_status learn_ranks(struct watch *watch, const iw_job_watch_opts *opts)
{
    uint32_t rank;
    int64_t pid;

    while (opts->next_rank != NULL && opts->next_rank(opts->arg, &pid, &rank)) {
        IW_TRY(iwi_job_thread_tell(&watch->threads, (pid_t)pid, (int64_t)rank));
    }
    return IW_OK;
}

static iw_status run(struct watch *watch, const iw_job_watch_opts *opts)
{
    bool goes_on = true;

    if (opts->on_ready != NULL) {
        opts->on_ready(opts->arg);
    }
    while (goes_on) {
        goes_on = opts->sleep(opts->arg);
        IW_TRY(learn_ranks(watch, opts));
        IW_TRY(drain(watch));
    }
    return IW_OK;
}

static iw_status make_recording(const struct watch *watch, const iw_job_watch_opts *opts,
                                iw_recording **recording_p)
{
    const double error_ns = 0.5 * iwi_clock_ns(&watch->clock, (double)watch->widest_ticks);
    const struct iwi_job_seen seen = {
        .start_ns = watch->first.mono_ns,
        .end_ns = watch->last.mono_ns,
        .clock_error_ns = (int64_t)error_ns + 1,
        .ranks = watch->ranks,
        .rank_count = watch->rank_count,
        .cpus = watch->cpus,
        .cpu_count = watch->method.count,
        .sources = watch->method.recording,
        .attribution = watch->method.ops->attribution,
        .lost = watch->method.lost,
    };

    return iwi_job_recording(watch->log, &seen, opts, recording_p);
}

iw_status iw_watch_job(const iw_log *log, const iw_job_watch_opts *given, iw_recording **recording_p)
{
    iw_job_watch_opts opts = IW_JOB_WATCH_OPTS_INIT;
    struct watch watch = {.log = log};
    struct iwi_cpus cpus;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_JOB_WATCH_OPTS_INIT", given, &opts));
    watch.threads = (struct iwi_job_threads){.log = log, .root = root, .job = opts.job};
    IW_TRY(iwi_cpus_choose(log, NULL, 0, &cpus));
    status = open_watch(&watch, &cpus, opts.attribution);
    if (status == IW_OK) {
        status = run(&watch, &opts);
    }
    if (status == IW_OK) {
        status = make_recording(&watch, &opts, recording_p);
    }
    close_watch(&watch);
    iwi_cpus_release(&cpus);
    return status;
}
