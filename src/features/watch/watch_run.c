/* Watches a job: from options to what it lost.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/watch_run.h"

#include <idlewave/time.h>

#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "core/base/sysfile.h"
#include "features/record/record.h"
#include "features/watch/detours.h"
#include "features/watch/job.h"
#include "features/watch/kernel_side.h"

/* ---- telling programs in the kernel which job they watch ---- */

/* The first controller of the hierarchy in which `path` lies that the kernel knows. */
static int controller_of(const char *path)
{
    FILE *mounts = setmntent("/proc/self/mounts", "r");
    struct mntent entry;
    char line[4096], options[1024] = "";
    size_t longest = 0;
    int number = -1;

    while (mounts != NULL && getmntent_r(mounts, &entry, line, sizeof line) != NULL) {
        const size_t length = strlen(entry.mnt_dir);

        if (strcmp(entry.mnt_type, "cgroup") == 0 && length > longest &&
            strncmp(path, entry.mnt_dir, length) == 0) {
            longest = length;
            snprintf(options, sizeof options, "%s", entry.mnt_opts);
        }
    }
    if (mounts != NULL) {
        (void)endmntent(mounts);
    }
    for (char *at = options, *word; number < 0 && (word = strsep(&at, ",")) != NULL;) {
        number = iwi_kernel_controller(word);
    }
    return number;
}

/* Before they are loaded. IW_ERR_RANGE: the kernel does not know the hierarchy of its control group. */
static iw_status job_configure(const iw_log *log, const struct iwi_watched_job *job,
                               struct iwi_bpf_config *config)
{
    char path[IWI_JOB_PATH_SIZE];
    int controller;

    config->job = job->cgroup != NULL ? IWI_JOB_CGROUP : IWI_JOB_PIDS;
    config->cgroup_id = job->cgroup_id;
    if (!job->is_cgroup_v1) {
        return IW_OK;
    }
    controller = realpath(job->cgroup, path) != NULL ? controller_of(path) : -1;
    if (controller < 0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'%s': the kernel knows no controller of its hierarchy; name the folder of the same "
                        "group below 'cpu' or 'cpuset'",
                        job->cgroup);
    }
    config->job = IWI_JOB_CGROUP_V1;
    config->cgroup_subsys = (__u32)controller;
    return IW_OK;
}

struct telling {
    const iw_log *log;
    const struct iwi_kernel_side *side;
};

static iw_status tell(void *arg, uint32_t pid)
{
    const struct telling *telling = arg;

    return iwi_kernel_side_add(telling->log, telling->side, pid);
}

/* The programs run: its processes and their descendants are told to them. */
static iw_status job_follow(const iw_log *log, const struct iwi_watched_job *job,
                            const struct iwi_kernel_side *side)
{
    struct telling telling = {log, side};

    return job->cgroup == NULL ? iwi_job_each_process(log, job, tell, &telling) : IW_OK;
}

/* `may_be_empty`: a control group goes on while nobody is in it. */
static bool job_has_ended(const struct iwi_watched_job *job, const struct iwi_kernel_side *side,
                          bool may_be_empty)
{
    return job->cgroup != NULL ? iwi_job_is_gone_group(job, may_be_empty)
                               : !iwi_kernel_side_has_processes(side);
}

/* ---- adding up what they have counted ---- */

_Static_assert((int)IW_WATCH_SLOTS == (int)IWI_BPF_SLOTS, "the same histograms");
_Static_assert((int)IW_WATCH_MOST_PARTS == (int)IWI_BPF_PARTS, "the same detours");

static void add_sum(iw_watch_source *to, const struct iwi_bpf_sum *from)
{
    to->count += from->count;
    to->time_ns += from->ns;
    for (size_t i = 0; i < IW_WATCH_SLOTS; i++) {
        to->slots[i] += from->slots[i];
    }
}

static void add_cpu(iw_watch_result *result, const struct iwi_bpf_cpu *cpu)
{
    const struct iwi_bpf_totals *from = &cpu->totals;
    iw_watch_totals *to = &result->totals;

    to->wanted_ns += from->wanted_ns;
    to->lost_ns += cpu->all.ns;
    to->detours += cpu->all.count;
    to->run_ns += from->run_ns;
    to->wait_ns += from->wait_ns;
    to->wait_own_ns += from->wait_own_ns;
    to->wait_waking_ns += from->wait_waking_ns;
    to->throttled_ns += from->throttled_ns;
    to->steal_unplaced_ns += from->steal_unplaced_ns;
    to->nmi_count += from->nmi_count;
    to->nmi_ns += from->nmi_ns;
    to->slices += from->slices;
    to->migrations += from->migrations;
    result->losses.detours += from->lost;
    result->losses.time_ns += from->lost_ns;
    result->losses.parts += from->parts_joined;
    result->losses.names += from->names_lost;
    result->losses.threads += from->threads_lost;
    result->losses.skipped += from->switches_missed;
    add_sum(&result->all, &cpu->all);
}

static void add_cpus(const struct iwi_detour_log *detours, iw_watch_result *result)
{
    for (size_t i = 0; i < result->cpu_count; i++) {
        const uint32_t number = detours->recording->cpus[i].cpu;
        const struct iwi_bpf_cpu *cpu = &detours->side->cpus[number];

        result->cpus[i] = (iw_watch_cpu){number, cpu->totals.wanted_ns, cpu->all.ns, cpu->all.count,
                                         result->cpus[i].is_kept};
        add_cpu(result, cpu);
    }
}

/* Sources of one name, as those of the same thread on several CPUs, are one source of the recording. */
static iw_status add_sources(struct iwi_detour_log *detours, iw_watch_result *result)
{
    size_t used = 0;

    for (uint32_t number = 0; number < IWI_BPF_SOURCES; number++) {
        struct iwi_bpf_sum shared = detours->side->sums[number];
        iw_watch_source sum = {.count = 0};
        uint32_t source;

        add_sum(&sum, &shared);
        for (size_t i = 0; number < IWI_BPF_FIXED && i < result->cpu_count; i++) {
            add_sum(&sum, &detours->side->cpus[result->cpus[i].cpu].sums[number]);
        }
        if (sum.count == 0) {
            continue;
        }
        IW_TRY(iwi_detour_log_source(detours, number, &source));
        sum.source = detours->recording->sources[source];
        result->sources[used++] = sum;
    }
    result->source_count = used;
    iwi_watch_sort_sources(result);
    return IW_OK;
}

iw_status iwi_watch_result_add_up(struct iwi_detour_log *detours, iw_watch_result *result)
{
    if (result->cpus == NULL) {
        result->cpu_count = detours->recording->cpu_count;
        result->cpus = iwi_new_array(detours->log, result->cpu_count, sizeof *result->cpus);
        result->sources = iwi_new_array(detours->log, IWI_BPF_SOURCES, sizeof *result->sources);
    }
    if (result->cpus == NULL || result->sources == NULL) {
        return IW_ERR_NOMEM;
    }
    result->totals = (iw_watch_totals){.wanted_ns = 0};
    result->losses = (iw_watch_losses){.skipped = 0};
    result->all = (iw_watch_source){.count = 0};
    add_cpus(detours, result);
    return add_sources(detours, result);
}

/* The same, with calls that the kernel left out. Fills in all but job, watched_ns, load_ns and recording,
 * anew each time. */
static iw_status watch_result_fill(struct iwi_detour_log *detours, iw_watch_result *result)
{
    IW_TRY(iwi_watch_result_add_up(detours, result));
    result->losses.skipped += iwi_kernel_side_skipped(detours->side);
    return IW_OK;
}

/* ---- the run ---- */

static const char root[] = ""; /* this machine's own /proc and /sys */

/* The ring is emptied this often; each time is a small interruption on some CPU. 10^5 detours a second of
 * some 70 bytes need 1.4 MB in between. */
static const int64_t DRAIN_NS = 200000000, SUMS_ONLY_DRAIN_NS = 1000000000;
enum { CHOSEN_RING_BYTES = 8 << 20, LEAST_RING_BYTES = 4096, MOST_RING_BYTES = 1 << 30 };

/* The sink gets what there is after 1, 2, 4, 8 and 16 s, then every 10 s, as that of `record`. */
static const int64_t FIRST_STEP_NS = 1000000000, LONGEST_STEP_NS = 10000000000;

struct watcher {
    const iw_log *log, *opening; /* opening: why the programs cannot be had */
    const iw_watch_opts *opts;
    struct iwi_watched_job job;
    struct iwi_kernel_side side;
    struct iwi_detour_log detours;
    iw_watch_result *result;
    int64_t seen_from_ns;         /* when the programs began to count */
    int64_t step_ns, snapshot_ns; /* when each is due next */
};

/* ---- before ---- */

static iw_status choose_cpus(const iw_log *log, const iw_watch_opts *opts, iw_cpu_set *set)
{
    char text[4096], fault[IW_CPU_FAULT_SIZE];
    iw_cpu_set online;

    if (!iwi_sysfile_line(root, "/sys/devices/system/cpu/online", text, sizeof text) ||
        !iw_cpu_set_parse(text, &online, fault)) {
        return iwi_fail(log, IW_ERR_IO, "cannot read the list of CPUs in /sys/devices/system/cpu/online");
    }
    *set = online;
    if (opts->cpus != NULL) {
        *set = (iw_cpu_set){{0}};
        for (size_t i = 0; i < opts->cpu_count; i++) {
            iw_cpu_set_add(set, opts->cpus[i]);
        }
    }
    return iw_cpu_set_is_within(set, &online)
               ? IW_OK
               : iwi_fail(log, IW_ERR_RANGE, "some of these CPUs are not online; those online are %s", text);
}

/* The ring must be a power of two, at least a page. */
static size_t ring_bytes_of(const iw_watch_opts *opts)
{
    const int64_t wanted = opts->ring_bytes > 0 ? opts->ring_bytes : CHOSEN_RING_BYTES;
    size_t bytes = LEAST_RING_BYTES;

    while (bytes < MOST_RING_BYTES && (int64_t)bytes < wanted) {
        bytes *= 2;
    }
    return bytes;
}

static iw_status new_recording(struct watcher *w, const iw_cpu_set *cpus)
{
    iw_recording *recording;
    size_t used = 0;

    IW_TRY(iw_recording_new(w->log, iw_cpu_set_count(cpus), &recording));
    w->result->recording = w->detours.recording = recording;
    recording->probe = IW_PROBE_WATCH;
    recording->attribution = IW_ATTRIBUTION_LEVEL_BPF;
    for (uint32_t cpu = 0; cpu < IW_CPU_SET_MOST; cpu++) {
        if (iw_cpu_set_has(cpus, cpu)) {
            recording->cpus[used].cpu = cpu;
            recording->cpus[used++].threshold_ns = (double)w->opts->threshold_ns;
        }
    }
    IW_TRY(iwi_recording_origin_node(w->log, root, w->opts->command, recording));
    return iw_recording_set(w->log, recording, "job", w->job.text);
}

static iw_status set_number(struct watcher *w, const char *name, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64, value);
    return iw_recording_set(w->log, w->result->recording, name, text);
}

/* Shorter detours need not go through the ring. */
static __u64 least_told_ns(const iw_watch_opts *opts)
{
    const int64_t kept_ns = opts->wants_sums_only ? INT64_MAX : opts->threshold_ns;

    return (__u64)(opts->on_event != NULL ? iwi_min(kept_ns, opts->notable_ns) : kept_ns);
}

static iw_status begin(struct watcher *w)
{
    struct iwi_bpf_config config = {.threshold_ns = least_told_ns(w->opts),
                                    .notable_ns =
                                        w->opts->on_event != NULL ? (__u64)w->opts->notable_ns : UINT64_MAX,
                                    .wants_stacks = w->opts->on_event != NULL};
    const int64_t from_ns = iwi_now_ns();
    iw_cpu_set cpus;

    IW_TRY(choose_cpus(w->log, w->opts, &cpus));
    IW_TRY(iwi_job_find(w->log, root, w->opts, &w->job));
    IW_TRY(job_configure(w->log, &w->job, &config));
    w->result->job = strdup(w->job.text);
    if (w->result->job == NULL) {
        return iwi_fail(w->log, IW_ERR_NOMEM, "out of memory");
    }
    IW_TRY(iwi_kernel_side_open(w->opening, &config, &cpus, ring_bytes_of(w->opts), &w->side));
    IW_TRY(job_follow(w->log, &w->job, &w->side));
    w->seen_from_ns = iwi_now_ns();
    IW_TRY(iwi_kernel_side_start(w->log, &w->side));
    w->result->load_ns = iwi_now_ns() - from_ns;
    IW_TRY(new_recording(w, &cpus));
    IW_TRY(iwi_detour_log_begin(&w->detours));
    IW_TRY(set_number(w, "start_raw_ns", (uint64_t)w->detours.zero.raw_ns));
    if (w->detours.sink != NULL) {
        IW_TRY(w->detours.sink->begin(w->detours.sink->arg, w->result->recording));
    }
    return IW_OK;
}

/* ---- meanwhile ---- */

static bool wants_end(const struct watcher *w, int64_t done_ns)
{
    const iw_progress *progress = &w->opts->progress;
    const int64_t total_ns = w->opts->duration_ns;
    const iw_progress_now now = {total_ns > 0 ? (double)done_ns / (double)total_ns : 0.0, (uint64_t)done_ns,
                                 (uint64_t)total_ns};

    return (progress->step != NULL && !progress->step(progress->arg, &now)) ||
           job_has_ended(&w->job, &w->side, w->opts->wants_sums_only);
}

static iw_status follow(struct watcher *w, int64_t done_ns)
{
    IW_TRY(iwi_detour_log_drain(&w->detours));
    if (done_ns >= w->step_ns) {
        w->step_ns = done_ns + iwi_min(done_ns, LONGEST_STEP_NS);
        iwi_detour_log_send(&w->detours);
    }
    if (w->opts->on_snapshot != NULL && done_ns >= w->snapshot_ns) {
        w->snapshot_ns = done_ns + w->opts->snapshot_ns;
        IW_TRY(watch_result_fill(&w->detours, w->result));
        w->result->watched_ns = iwi_now_ns() - w->seen_from_ns;
        w->opts->on_snapshot(w->opts->arg, w->result);
    }
    return IW_OK;
}

/* A thread at real-time priority may be held until its period is over, while its CPU is idle
 * (sched_rt_runtime_us of sched_rt_period_us): for so long a job that nothing was seen of is waited for. */
static const int64_t UNSEEN_NS = 1000000000;

static bool is_unseen(const struct watcher *w)
{
    for (size_t cpu = 0; cpu < w->side.cpu_count; cpu++) {
        if (w->side.cpus[cpu].totals.wanted_ns > 0) {
            return false;
        }
    }
    return true;
}

static bool is_time_left(const struct watcher *w, int64_t done_ns)
{
    const int64_t total_ns = w->opts->duration_ns;

    return total_ns == 0 || done_ns < total_ns ||
           (done_ns < total_ns + UNSEEN_NS && !w->opts->wants_sums_only && is_unseen(w));
}

static iw_status watch(struct watcher *w)
{
    const int64_t start_ns = iwi_now_ns(), total_ns = w->opts->duration_ns;
    const bool is_calm = w->opts->wants_sums_only && w->opts->on_event == NULL;
    const int64_t drain_ns = is_calm ? SUMS_ONLY_DRAIN_NS : DRAIN_NS;
    int64_t done_ns = 0;

    while (is_time_left(w, done_ns) && !wants_end(w, done_ns)) {
        const int64_t rest_ns = total_ns > done_ns ? iwi_min(drain_ns, total_ns - done_ns) : drain_ns;
        const struct timespec pause = {.tv_sec = rest_ns / 1000000000,
                                       .tv_nsec = (long)(rest_ns % 1000000000)};

        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL); /* signals may end it: then ask earlier */
        done_ns = iwi_now_ns() - start_ns;
        IW_TRY(follow(w, done_ns));
    }
    return IW_OK;
}

/* ---- after ---- */

static iw_status complete(struct watcher *w)
{
    const iw_watch_result *result = w->result;

    IW_TRY(set_number(w, "start_raw_ns", (uint64_t)w->detours.zero.raw_ns)); /* what was cut has lost it */
    IW_TRY(set_number(w, "watched_ns", (uint64_t)result->watched_ns));
    IW_TRY(set_number(w, "wanted_ns", result->totals.wanted_ns));
    IW_TRY(set_number(w, "wait_own_ns", result->totals.wait_own_ns));
    IW_TRY(set_number(w, "wait_waking_ns", result->totals.wait_waking_ns));
    IW_TRY(set_number(w, "throttled_ns", result->totals.throttled_ns));
    IW_TRY(set_number(w, "steal_unplaced_ns", result->totals.steal_unplaced_ns));
    return set_number(w, "kernel_events_lost", result->losses.detours + result->losses.skipped);
}

static iw_status end(struct watcher *w)
{
    iwi_kernel_side_detach(&w->side);
    w->result->watched_ns = iwi_now_ns() - w->seen_from_ns; /* until then they count */
    IW_TRY(iwi_detour_log_end(&w->detours));
    IW_TRY(watch_result_fill(&w->detours, w->result));
    iwi_detour_log_send(&w->detours);
    if (w->opts->wants_sums_only) {
        return IW_OK;
    }
    IW_TRY(iwi_watch_keep_rows(w->log, w->result));
    return complete(w);
}

static iw_status check_opts(const iw_log *log, const iw_watch_opts *opts)
{
    if (opts->duration_ns < 0 || opts->duration_ns > IW_TIME_INPUT_MAX / IW_PS_PER_NS) {
        return iwi_fail(log, IW_ERR_RANGE, "a duration of %" PRId64 " ns is not between 0 and 240 h",
                        opts->duration_ns);
    }
    if (opts->threshold_ns < 0 || opts->notable_ns < 0 || opts->snapshot_ns < 0) {
        return iwi_fail(log, IW_ERR_RANGE, "thresholds and intervals must not be negative");
    }
    return IW_OK;
}

iw_status iwi_watch_run(const iw_log *log, const iw_log *opening, const iw_watch_opts *opts,
                        iw_watch_result **result_p)
{
    struct watcher w = {.log = log, .opening = opening, .opts = opts, .step_ns = FIRST_STEP_NS};
    iw_status status;

    IW_TRY(check_opts(log, opts));
    w.result = iwi_new_array(log, 1, sizeof *w.result);
    if (w.result == NULL) {
        return IW_ERR_NOMEM;
    }
    w.detours.log = log;
    w.detours.opts = opts;
    w.detours.side = &w.side;
    w.detours.sink = opts->sink;
    status = begin(&w);
    if (status == IW_OK) {
        status = watch(&w);
    }
    if (status == IW_OK) {
        status = end(&w);
    }
    iwi_detour_log_release(&w.detours);
    iwi_kernel_side_close(&w.side);
    if (status != IW_OK) {
        iw_watch_result_free(w.result);
        return status;
    }
    *result_p = w.result;
    return IW_OK;
}
