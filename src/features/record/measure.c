/* Measures all chosen CPUs at once: from options to a recording.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/measure.h>

#include <math.h>
#include <time.h>

#include <idlewave/time.h>

#include "core/base/available.h"
#include "core/base/base.h"
#include "core/base/opts.h"
#include "features/record/recording_origin.h"
#include "kit/machine/sysinfo.h"

static const char root[] = ""; /* this machine's own /proc and /sys */

static const int64_t LEAST_QUANTUM_NS = 1000;

/* The caller asks a few times a second whether to end: each asking is a small detour on some CPU. */
static const int64_t ASK_NS = 250000000;

/* Detours are brought in after 1, 2, 4, 8 and 16 s, then every 10 s: each time is a detour of some
 * milliseconds, and what is not brought in yet is lost when the process is killed. */
static const int64_t FIRST_STEP_NS = 1000000000, LONGEST_STEP_NS = 10000000000;

/* The kernel's events are fetched more often: their rings are small. */
static const int64_t DRAIN_NS = 2000000000;

/* At most this part of the free memory becomes room for events: of as many as wanted, and as chosen. */
static const double MEMORY_PART = 0.5, CHOSEN_PART = 0.125;

static iw_status check_opts(const iw_log *log, const iw_measure_opts *opts)
{
    const int64_t longest_ns = IW_TIME_INPUT_MAX / IW_PS_PER_NS;

    if (opts->duration_ns <= 0 || opts->duration_ns > longest_ns) {
        return iwi_fail(log, IW_ERR_RANGE, "a duration of %" PRId64 " ns is not between 1 ns and 240 h",
                        opts->duration_ns);
    }
    if (!(opts->threshold >= 2.0 && opts->threshold <= 1e6)) {
        return iwi_fail(log, IW_ERR_RANGE, "a threshold of %g times t_min is not between 2 and 1e6",
                        opts->threshold);
    }
    if (opts->probe == IW_PROBE_SELFISH) {
        return IW_OK;
    }
    if (opts->attribution > IW_ATTRIBUTION_NONE) {
        return iwi_fail(
            log, IW_ERR_RANGE,
            "attribution needs the probe selfish: quanta do not show when something happened in them");
    }
    if (opts->quantum_ns < LEAST_QUANTUM_NS || opts->quantum_ns > opts->duration_ns) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "a quantum of %" PRId64 " ns is not between %" PRId64 " ns and the duration",
                        opts->quantum_ns, LEAST_QUANTUM_NS);
    }
    return IW_OK;
}

/* Events of each CPU that there is room for: as many as wanted, or what the duration may need. */
static iw_status choose_room(const iw_log *log, const iw_measure_opts *opts, size_t cpu_count, size_t *room_p)
{
    const uint64_t free_bytes = iwi_available_bytes(root);
    const double per_byte = 1.0 / IWI_MARK_BYTES / (double)cpu_count;
    const double fitting = MEMORY_PART * (double)free_bytes * per_byte;
    const uint64_t chosen = iwi_probe_ops_of(opts->probe)->room(opts);

    if (opts->max_events == 0) {
        *room_p = (size_t)fmin((double)chosen, CHOSEN_PART * (double)free_bytes * per_byte);
        return IW_OK;
    }
    if ((double)opts->max_events > fitting) {
        return iwi_fail(log, IW_ERR_NOMEM,
                        "room for %" PRIu64
                        " events on each of %zu CPUs is more than half of the free memory; at most %.0f fit",
                        opts->max_events, cpu_count, floor(fitting));
    }
    *room_p = opts->max_events;
    return IW_OK;
}

/* ---- while it is measured ---- */

static void sleep_ns(int64_t ns)
{
    const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL); /* signals may end it: then ask earlier */
}

/* When what is to be done next. */
struct agenda {
    int64_t step_ns, drain_ns;
};

/* Brings in what there is, if it is time for that. */
static iw_status follow(struct agenda *agenda, int64_t done_ns, struct iwi_detour_collector *collector)
{
    if (done_ns >= agenda->step_ns) {
        agenda->step_ns = done_ns + iwi_min(done_ns, LONGEST_STEP_NS);
        agenda->drain_ns = done_ns + DRAIN_NS;
        return iwi_detour_collector_step(collector);
    }
    if (done_ns >= agenda->drain_ns) {
        agenda->drain_ns = done_ns + DRAIN_NS;
        return iwi_attribution_drain(collector->attribution);
    }
    return IW_OK;
}

/* Sleeps through the window but for that. */
static iw_status watch(const iw_measure_opts *opts, struct iwi_detour_collector *collector)
{
    const struct iwi_clock *clock = collector->clock;
    struct agenda agenda = {FIRST_STEP_NS, DRAIN_NS};
    int64_t done_ns = -1;

    while (done_ns < opts->duration_ns) {
        const uint64_t now = iwi_clock_now(clock);

        done_ns = now > collector->zero ? iwi_clock_whole_ns(clock, now - collector->zero) : 0;
        if (iwi_wants_end(opts, done_ns)) {
            iwi_probe_threads_stop(collector->probe_threads);
            return now > collector->zero ? IW_OK : iwi_ended_too_early(collector->log);
        }
        if (done_ns < opts->duration_ns) {
            IW_TRY(follow(&agenda, done_ns, collector));
        }
        sleep_ns(iwi_max(iwi_min(ASK_NS, opts->duration_ns - done_ns), 0));
    }
    return IW_OK;
}

static iw_status measure(const iw_log *log, const iw_measure_opts *opts,
                         const struct iwi_recording_origin *origin, struct iwi_detour_collector *collector)
{
    iw_status status;

    collector->zero =
        iwi_probe_threads_open_window(collector->probe_threads, collector->clock, opts->duration_ns);
    status = watch(opts, collector);
    if (status != IW_OK) {
        iwi_probe_threads_stop(collector->probe_threads);
    }
    iwi_probe_threads_join(collector->probe_threads);
    IW_TRY(status);
    iwi_probe_threads_warn_of_moved(log, collector->probe_threads);
    IW_TRY(iwi_detour_collector_finish(collector));
    return iwi_recording_origin_complete(log, origin, opts, collector);
}

/* ---- before and after ---- */

static iw_status open_attribution(const iw_log *log, const iw_measure_opts *opts,
                                  const struct iwi_clock *clock,
                                  const struct iwi_probe_threads *probe_threads, iw_recording *recording,
                                  struct iwi_attributor *attribution)
{
    struct iwi_watched *watched = iwi_new_array(log, probe_threads->count, sizeof *watched);

    *attribution = (struct iwi_attributor){0};
    if (watched == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < probe_threads->count; i++) {
        watched[i] = (struct iwi_watched){probe_threads->workers[i].cpu, probe_threads->workers[i].tid};
    }
    return iwi_attribution_open(log, root, opts, clock, watched, probe_threads->count, recording,
                                attribution);
}

/* The recording with all that is known of it before. */
static iw_status prepare(const iw_log *log, const iw_measure_opts *opts,
                         const struct iwi_recording_origin *origin, struct iwi_clock *clock,
                         struct iwi_detour_collector *collector)
{
    IW_TRY(iw_recording_new(log, collector->probe_threads->count, &collector->recording));
    collector->recording->probe = opts->probe;
    collector->recording->quantum_ns = opts->probe != IW_PROBE_SELFISH ? opts->quantum_ns : 0;
    IW_TRY(open_attribution(log, opts, clock, collector->probe_threads, collector->recording,
                            collector->attribution));
    IW_TRY(iwi_probe_threads_prepare(log, opts, collector->probe_threads));
    iwi_clock_refine(clock);
    IW_TRY(iwi_detour_collector_begin(collector));
    IW_TRY(iwi_recording_origin_set(log, origin, opts, collector));
    if (collector->sink != NULL) {
        IW_TRY(collector->sink->begin(collector->sink->arg, collector->recording));
    }
    return iwi_attribution_begin(collector->attribution);
}

static iw_status measure_crew(const iw_log *log, const iw_measure_opts *opts, const struct iwi_cpus *cpus,
                              struct iwi_clock *clock, struct iwi_probe_threads *probe_threads,
                              iw_recording **recording_p)
{
    struct iwi_attributor attribution = {0};
    struct iwi_recording_origin origin;
    struct iwi_detour_collector collector = {.log = log,
                                             .clock = clock,
                                             .probe_threads = probe_threads,
                                             .attribution = &attribution,
                                             .sink = opts->sink};
    iw_status status = iwi_recording_origin_begin(log, root, cpus, &origin);

    if (status == IW_OK) {
        status = prepare(log, opts, &origin, clock, &collector);
    }
    if (status == IW_OK) {
        status = measure(log, opts, &origin, &collector);
    }
    iwi_attribution_close(&attribution);
    iwi_detour_collector_release(&collector);
    iwi_recording_origin_release(&origin);
    if (status != IW_OK) {
        iwi_probe_threads_stop(probe_threads); /* it writes into the recording */
        iwi_probe_threads_join(probe_threads);
        iw_recording_free(collector.recording);
        return status;
    }
    *recording_p = collector.recording;
    return IW_OK;
}

static iw_status measure_cpus(const iw_log *log, const iw_measure_opts *opts, const struct iwi_cpus *cpus,
                              iw_recording **recording_p)
{
    struct iwi_probe_run probe = {.ops = iwi_probe_ops_of(opts->probe), .threshold = opts->threshold};
    struct iwi_clock clock;
    struct iwi_probe_threads probe_threads;
    iw_status status;
    size_t room = 0;

    IW_TRY(choose_room(log, opts, cpus->count, &room));
    iwi_clock_open(root, &clock);
    probe.clock = &clock;
    probe.quantum = iwi_clock_ticks(&clock, opts->quantum_ns);
    status = iwi_probe_threads_start(log, opts, cpus, &probe, room, &probe_threads);
    if (status == IW_OK) {
        status = measure_crew(log, opts, cpus, &clock, &probe_threads, recording_p);
    }
    iwi_probe_threads_release(&probe_threads);
    return status;
}

iw_status iw_measure(const iw_log *log, const iw_measure_opts *given, iw_recording **recording_p)
{
    iw_measure_opts known = IW_MEASURE_OPTS_INIT;
    const iw_measure_opts *opts = &known;
    struct iwi_cpus cpus;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_MEASURE_OPTS_INIT", given, &known));
    IW_TRY(check_opts(log, opts));
    IW_TRY(iwi_cpus_choose(log, opts->cpus, opts->cpu_count, &cpus));
    status = measure_cpus(log, opts, &cpus, recording_p);
    iwi_cpus_release(&cpus);
    return status;
}
