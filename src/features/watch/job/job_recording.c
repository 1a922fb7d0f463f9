/* Makes a recording of what ranks lost.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/job/job_recording.h"

#include <stdio.h>
#include <stdlib.h>

#include <idlewave/watch.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "kit/machine/sysinfo.h"

IWI_COMPARE(compare_ranks, struct iwi_job_rank, IWI_RISING(rank))

static iw_status set_number(const iw_log *log, iw_recording *recording, const char *name, int64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRId64, value);
    return iw_recording_set(log, recording, name, text);
}

static iw_status describe(const iw_log *log, const struct iwi_job_seen *seen, const iw_job_watch_opts *opts,
                          iw_recording *recording)
{
    struct iwi_sysinfo info;

    iwi_sysinfo_read("", &info);
    IW_TRY(iw_recording_set(log, recording, "host", info.host));
    IW_TRY(iw_recording_set(log, recording, "kernel", info.kernel));
    IW_TRY(iw_recording_set(log, recording, "command", opts->command != NULL ? opts->command : "unknown"));
    IW_TRY(iw_recording_set(log, recording, "version", iw_version()));
    IW_TRY(iw_recording_set(log, recording, "watched", opts->wants_wanted_time ? "threads" : "ranks"));
    IW_TRY(iw_recording_set(log, recording, "clock", "CLOCK_MONOTONIC"));
    IW_TRY(set_number(log, recording, "clock_error_ns", seen->clock_error_ns));
    IW_TRY(set_number(log, recording, "start_mono_ns", seen->start_ns));
    return set_number(log, recording, "kernel_events_lost", (int64_t)seen->lost);
}

static iw_status copy_sources(const iw_log *log, const struct iwi_job_seen *seen, iw_recording *recording,
                              uint32_t *others_p)
{
    const iw_recording *from = seen->sources;
    uint32_t number;

    for (size_t i = 1; i < from->source_count; i++) {
        IW_TRY(iw_recording_source(log, recording, from->sources[i].kind, from->sources[i].name, &number));
    }
    return others_p != NULL
               ? iw_recording_source(log, recording, IW_CLASS_THREAD, "other ranks of the job", others_p)
               : IW_OK;
}

static iw_status fill(const iw_log *log, const struct iwi_job_seen *seen, const iw_job_watch_opts *opts,
                      iw_recording *recording)
{
    struct iwi_job_span span = {
        .zero_ns = seen->start_ns, .end_ns = seen->end_ns, .is_wanted_time = opts->wants_wanted_time};
    int64_t own_ns, all_own_ns = 0;

    recording->rung = seen->rung;
    IW_TRY(copy_sources(log, seen, recording, opts->wants_wanted_time ? NULL : &span.others));
    for (size_t i = 0; i < seen->rank_count; i++) {
        iw_detours *detours = &recording->cpus[i];

        detours->cpu = (uint32_t)seen->ranks[i].rank;
        detours->t_min_ns = detours->threshold_ns = 1.0;
        IW_TRY(iwi_job_detours(log, &seen->ranks[i], seen->cpus, seen->cpu_count, &span, detours, &own_ns));
        all_own_ns += own_ns;
    }
    if (opts->wants_wanted_time) {
        recording->probe = IW_PROBE_WATCH;
        IW_TRY(set_number(log, recording, "wait_own_ns", all_own_ns));
    }
    return describe(log, seen, opts, recording);
}

iw_status iwi_job_recording(const iw_log *log, const struct iwi_job_seen *seen, const iw_job_watch_opts *opts,
                            iw_recording **recording_p)
{
    iw_recording *recording;
    iw_status status;

    if (seen->rank_count == 0) {
        return iwi_fail(log, IW_ERR_IO, "no %s of the job was seen to run on this node",
                        opts->wants_wanted_time ? "thread" : "rank");
    }
    iwi_sort(seen->ranks, seen->rank_count, compare_ranks);
    IW_TRY(iw_recording_new(log, seen->rank_count, &recording));
    status = fill(log, seen, opts, recording);
    if (status != IW_OK) {
        iw_recording_free(recording);
        return status;
    }
    *recording_p = recording;
    return IW_OK;
}
