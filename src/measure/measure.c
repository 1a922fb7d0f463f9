/* Measures all chosen CPUs at once: from options to a recording.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/measure.h>

#include <math.h>

#include <idlewave/time.h>

#include "base/base.h"
#include "measure/crew.h"
#include "measure/origin.h"
#include "measure/sysinfo.h"

static const char root[] = ""; /* this machine's own /proc and /sys */

static const int64_t LEAST_QUANTUM_NS = 1000;

/* At most this part of the free memory becomes room for events. */
static const double MEMORY_PART = 0.5;

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
    const uint64_t free_bytes = iwi_sysinfo_available_bytes(root);
    const double fitting = MEMORY_PART * (double)free_bytes / IWI_MARK_BYTES / (double)cpu_count;
    const uint64_t chosen = iwi_probe_ops_of(opts->probe)->room(opts);

    if (opts->max_events == 0) {
        *room_p = (double)chosen <= fitting ? chosen : (size_t)fitting;
        return IW_OK;
    }
    if ((double)opts->max_events > fitting) {
        return iwi_fail(log, IW_ERR_NOMEM,
                        "room for %" PRIu64 " events on each of %zu CPUs is more than half of the free memory"
                        ": at most %.0f fit",
                        opts->max_events, cpu_count, floor(fitting));
    }
    *room_p = opts->max_events;
    return IW_OK;
}

static iw_status fill(const iw_log *log, struct iwi_crew *crew, iw_recording *recording)
{
    for (size_t i = 0; i < crew->count; i++) {
        struct iwi_worker *worker = &crew->workers[i];

        recording->cpus[i].cpu = worker->cpu;
        IW_TRY(worker->probe.ops->finish(log, &worker->probe, &recording->cpus[i]));
        if (recording->cpus[i].length_ns <= 0) {
            return iwi_fail(log, IW_ERR_IO, "CPU %" PRIu32 ": ended before anything was measured",
                            worker->cpu);
        }
    }
    return IW_OK;
}

/* Measures, and makes the recording. */
static iw_status measure(const iw_log *log, const iw_measure_opts *opts, struct iwi_clock *clock,
                         const struct iwi_origin *origin, struct iwi_crew *crew, iw_recording **recording_p)
{
    iw_recording *recording;
    iw_status status;

    IW_TRY(iwi_crew_measure(log, opts, clock, crew));
    iwi_clock_refine(clock);
    IW_TRY(iw_recording_new(log, crew->count, &recording));
    recording->probe = opts->probe;
    recording->rung = IW_RUNG_NONE;
    recording->quantum_ns = opts->probe != IW_PROBE_SELFISH ? opts->quantum_ns : 0;
    status = fill(log, crew, recording);
    if (status == IW_OK) {
        status = iwi_origin_set(log, origin, opts, crew, clock, recording);
    }
    if (status != IW_OK) {
        iw_recording_free(recording);
        return status;
    }
    *recording_p = recording;
    return IW_OK;
}

static iw_status measure_cpus(const iw_log *log, const iw_measure_opts *opts, const struct iwi_cpus *cpus,
                              iw_recording **recording_p)
{
    struct iwi_probe probe = {.ops = iwi_probe_ops_of(opts->probe), .threshold = opts->threshold};
    struct iwi_clock clock;
    struct iwi_origin origin;
    struct iwi_crew crew;
    iw_status status;
    size_t room = 0;

    IW_TRY(choose_room(log, opts, cpus->count, &room));
    IW_TRY(iwi_origin_begin(log, root, cpus, &origin));
    iwi_clock_open(root, &clock);
    probe.clock = &clock;
    probe.quantum = iwi_clock_ticks(&clock, opts->quantum_ns);
    status = iwi_crew_start(log, cpus, &probe, room, &crew);
    if (status == IW_OK) {
        status = measure(log, opts, &clock, &origin, &crew, recording_p);
    }
    iwi_crew_release(&crew);
    iwi_origin_release(&origin);
    return status;
}

iw_status iw_measure(const iw_log *log, const iw_measure_opts *opts, iw_recording **recording_p)
{
    struct iwi_cpus cpus;
    iw_status status;

    IW_TRY(check_opts(log, opts));
    IW_TRY(iwi_cpus_choose(log, opts->cpus, opts->cpu_count, &cpus));
    status = measure_cpus(log, opts, &cpus, recording_p);
    iwi_cpus_release(&cpus);
    return status;
}
