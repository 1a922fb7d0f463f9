/* Steps of the ranks of a trace, the timeline of them, and where the time of the ranks went.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/trace/trace_open.h"

#include <idlewave/files.h>
#include <idlewave/timeline.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/base/order.h"
#include "kit/timeline/step_gap.h"

/* ---- which computations begin a step ---- */

static uint64_t count_gaps(const struct iw_trace *trace)
{
    uint64_t count = 0;

    for (uint32_t r = 0; r < trace->rank_count; r++) {
        count += trace->ranks[r].call_count;
    }
    return count;
}

iw_status iwi_trace_step_gap(const iw_log *log, const struct iw_trace *trace, iw_time *gap_ps_p)
{
    struct iwi_gap *gaps = iwi_new_array(log, (size_t)count_gaps(trace), sizeof *gaps);
    size_t count = 0;
    iw_status status;

    if (gaps == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t r = 0; r < trace->rank_count; r++) {
        for (uint64_t i = 0; i < trace->ranks[r].call_count; i++) {
            const iw_time time_ps = trace->ranks[r].calls[i].compute_wall_ps;

            if (time_ps > 0) {
                gaps[count++] = (struct iwi_gap){time_ps, r};
            }
        }
    }
    status = iwi_step_gap(log, gaps, count, trace->rank_count, gap_ps_p);
    free(gaps);
    return status;
}

/* ---- steps ---- */

static iw_time begin_of(const struct iwi_trace_rank *rank)
{
    return rank->calls[0].enter_ps - rank->calls[0].compute_wall_ps;
}

static iw_time first_begin(const struct iw_trace *trace)
{
    iw_time first_ps = INT64_MAX;

    for (uint32_t r = 0; r < trace->rank_count; r++) {
        if (trace->ranks[r].call_count > 0) {
            first_ps = iwi_min(first_ps, begin_of(&trace->ranks[r]));
        }
    }
    return first_ps == INT64_MAX ? 0 : first_ps;
}

iw_time iwi_trace_end(const struct iw_trace *trace)
{
    const iw_time zero_ps = first_begin(trace);
    iw_time end_ps = 0;

    for (uint32_t r = 0; r < trace->rank_count; r++) {
        const struct iwi_trace_rank *rank = &trace->ranks[r];

        if (rank->call_count > 0) {
            const struct iwi_call *last = &rank->calls[rank->call_count - 1];

            end_ps = iwi_max(end_ps, last->enter_ps + last->call_ps + rank->last_compute_wall_ps - zero_ps);
        }
    }
    return end_ps;
}

/* One rank on its way through its calls. */
struct walk {
    const iw_step_sink *sink;
    uint32_t rank;
    iw_time gap_ps, at_ps;
    iw_step step; /* that it is in */
    bool has_phase;
};

static void end_step(struct walk *walk)
{
    if (walk->has_phase || walk->at_ps > walk->step.begin_ps) {
        walk->sink->step(walk->sink->arg, walk->rank, &walk->step);
    }
}

static void spend(struct walk *walk, iw_state state, iw_time time_ps)
{
    walk->step.state_ps[state] += time_ps;
    walk->at_ps += time_ps;
}

static void compute(struct walk *walk, iw_time time_ps)
{
    if (time_ps > 0 && time_ps >= walk->gap_ps) {
        end_step(walk);
        walk->step = (iw_step){.begin_ps = walk->at_ps};
        walk->has_phase = true;
    }
    spend(walk, IW_STATE_COMPUTE, time_ps);
}

static bool only_starts(const struct iwi_call *call)
{
    return call->kind == IWI_CALL_ISEND || call->kind == IWI_CALL_IRECV || call->kind == IWI_CALL_ICOLLECTIVE;
}

void iwi_trace_steps(const struct iw_trace *trace, iw_time gap_ps, const iw_step_sink *sink)
{
    const iw_time zero_ps = first_begin(trace);

    for (uint32_t r = 0; r < trace->rank_count; r++) {
        const struct iwi_trace_rank *rank = &trace->ranks[r];
        struct walk walk = {.sink = sink, .rank = r, .gap_ps = gap_ps};

        if (rank->call_count == 0) {
            continue;
        }
        walk.at_ps = walk.step.begin_ps = begin_of(rank) - zero_ps;
        for (uint64_t i = 0; i < rank->call_count; i++) {
            const struct iwi_call *call = &rank->calls[i];
            const iw_time before_ps = iwi_max(0, call->enter_ps - zero_ps - walk.at_ps);
            const iw_time compute_ps = iwi_min(before_ps, call->compute_wall_ps);

            compute(&walk, compute_ps);
            spend(&walk, IW_STATE_WAIT, before_ps - compute_ps); /* in polls, which are no calls */
            spend(&walk, only_starts(call) ? IW_STATE_COMM : IW_STATE_WAIT, call->call_ps);
        }
        compute(&walk, rank->last_compute_wall_ps);
        end_step(&walk);
    }
}

/* ---- the timeline ---- */

static iw_status check(const iw_log *log, const char *path, const struct iw_trace *trace)
{
    if (strcmp(trace->origin, "liballprof") == 0) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s': ranks in liballprof traces have separate clocks and cannot be aligned; use an "
                        "OTF2 trace ('idlewave trace')",
                        path);
    }
    if (count_gaps(trace) == 0) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED, "'%s': no MPI calls", path);
    }
    return IW_OK;
}

static void fill(const char *path, const struct iw_trace *trace, iw_timeline_opts *opts)
{
    (void)snprintf(opts->about.origin, sizeof opts->about.origin, "traced");
    if (opts->about.title[0] == '\0') {
        (void)snprintf(opts->about.title, sizeof opts->about.title, "%s", path);
    }
    opts->about.ranks = trace->rank_count;
    if (opts->expected_ps == 0) {
        opts->expected_ps = iwi_trace_end(trace);
    }
}

static iw_status make(const iw_log *log, const struct iw_trace *trace, iw_time gap_ps, iw_timeline *timeline)
{
    const iw_step_sink sink = iw_timeline_sink(timeline);

    if (gap_ps == 0) {
        IW_TRY(iwi_trace_step_gap(log, trace, &gap_ps));
    }
    iwi_trace_steps(trace, gap_ps, &sink);
    return iw_timeline_finish(log, timeline);
}

iw_status iw_timeline_of_trace(const iw_log *log, const iw_trace *trace, const char *name, iw_time gap_ps,
                               const iw_timeline_opts *opts, iw_timeline **timeline_p)
{
    iw_timeline_opts wanted = IW_TIMELINE_OPTS_INIT;
    iw_timeline *timeline = NULL;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_TIMELINE_OPTS_INIT", opts, &wanted));
    IW_TRY(check(log, name, trace));
    fill(name, trace, &wanted);
    status = iw_timeline_new(log, &wanted, &timeline);
    if (status == IW_OK) {
        status = make(log, trace, gap_ps, timeline);
    }
    if (status != IW_OK) {
        iw_timeline_free(timeline);
        return status;
    }
    *timeline_p = timeline;
    return IW_OK;
}

iw_status iw_timeline_from_trace(const iw_log *log, const char *path, iw_time gap_ps,
                                 const iw_timeline_opts *opts, iw_timeline **timeline_p)
{
    iw_trace *trace = NULL;
    iw_status status;

    IW_TRY(iw_trace_open(log, path, &trace));
    status = iw_timeline_of_trace(log, trace, path, gap_ps, opts, timeline_p);
    iw_trace_free(trace);
    return status;
}

/* ---- a traced run at a glance: where the time of its ranks went ---- */

IWI_COMPARE(by_time, iw_trace_function, IWI_FALLING(time_ps), IWI_TEXT(name))

static iw_status list_functions(const iw_log *log, const struct iw_trace *trace, iw_trace_summary *summary)
{
    const struct iwi_function_uses *uses = &trace->uses;

    summary->functions = iwi_new_array(log, uses->count, sizeof *summary->functions);
    if (summary->functions == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < uses->count; i++) {
        iw_trace_function *function = &summary->functions[i];

        *function = (iw_trace_function){
            .calls = uses->of[i].calls, .bytes = uses->of[i].bytes, .time_ps = uses->of[i].time_ps};
        memcpy(function->name, uses->of[i].name, sizeof function->name);
        summary->calls += function->calls;
        summary->bytes += function->bytes;
    }
    summary->function_count = uses->count;
    iwi_sort(summary->functions, uses->count, by_time);
    return IW_OK;
}

static iw_time computed(const struct iwi_trace_rank *rank)
{
    iw_time compute_ps = rank->last_compute_wall_ps;

    for (uint64_t i = 0; i < rank->call_count; i++) {
        compute_ps += rank->calls[i].compute_wall_ps;
    }
    return iwi_min(compute_ps, rank->wall_ps);
}

static void weigh_ranks(const struct iw_trace *trace, iw_trace_summary *summary)
{
    double wall_ps = 0.0, compute_ps = 0.0;

    summary->mpi_least = 1.0;
    for (uint32_t r = 0; r < trace->rank_count; r++) {
        const iw_time own_ps = computed(&trace->ranks[r]), own_wall_ps = trace->ranks[r].wall_ps;
        const double share = own_wall_ps > 0 ? 1.0 - (double)own_ps / (double)own_wall_ps : 0.0;

        wall_ps += (double)own_wall_ps;
        compute_ps += (double)own_ps;
        summary->mpi_least = share < summary->mpi_least ? share : summary->mpi_least;
        summary->mpi_most = share > summary->mpi_most ? share : summary->mpi_most;
        if (own_ps > summary->compute_most_ps) {
            summary->compute_most_ps = own_ps;
            summary->most_rank = r;
        }
        summary->run_ps = iwi_max(summary->run_ps, own_wall_ps);
    }
    summary->mpi_share = wall_ps > 0.0 ? 1.0 - compute_ps / wall_ps : 0.0;
    summary->compute_mean_ps = (iw_time)(compute_ps / (double)trace->rank_count);
}

iw_status iw_trace_summarize(const iw_log *log, const iw_trace *trace, iw_trace_summary **summary_p)
{
    iw_trace_summary *summary = iwi_new_array(log, 1, sizeof *summary);
    iw_status status;

    if (summary == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(summary->origin, trace->origin, sizeof summary->origin);
    summary->ranks = trace->rank_count;
    summary->is_training = trace->is_training;
    summary->threaded_ranks = trace->threaded.ranks;
    summary->threaded_rank = trace->threaded.first;
    summary->threads = trace->threaded.threads;
    weigh_ranks(trace, summary);
    if (strcmp(trace->origin, "liballprof") != 0) { /* whose ranks have clocks of their own */
        summary->run_ps = iwi_max(summary->run_ps, iwi_trace_end(trace));
    }
    status = list_functions(log, trace, summary);
    if (status != IW_OK) {
        iw_trace_summary_free(summary);
        return status;
    }
    *summary_p = summary;
    return IW_OK;
}

void iw_trace_summary_free(iw_trace_summary *summary)
{
    if (summary != NULL) {
        free(summary->functions);
        free(summary);
    }
}

iw_status iw_trace_describe_program(const iw_log *log, const iw_trace *trace, const iw_trace_opts *given,
                                    iw_traced *traced_p)
{
    iw_trace_opts known = IW_TRACE_OPTS_INIT;
    const iw_trace_opts *opts = &known;
    iw_trace_summary *summary;
    iw_trace_info info;
    uint32_t fixed_groups;

    IW_TRY(IWI_READ_OPTS(log, "IW_TRACE_OPTS_INIT", given, &known));
    IW_TRY(iwi_trace_fixed_groups(log, trace, opts->grow, &fixed_groups));
    IW_TRY(iw_trace_summarize(log, trace, &summary));
    iw_trace_describe(trace, &info);
    *traced_p =
        (iw_traced){.ranks = info.ranks,
                    .replicas = opts->ranks > info.ranks ? opts->ranks / info.ranks : 1,
                    .run_ps = summary->run_ps,
                    .mpi_share = summary->mpi_share,
                    .cpu_share = info.compute_timed_ps > 0
                                     ? fmin((double)info.compute_cpu_ps / (double)info.compute_timed_ps, 1.0)
                                     : NAN,
                    .is_by_cpu = trace->has_cpu_time && opts->clock != IW_COMPUTE_WALL,
                    .has_p2p = info.sends > 0 && !opts->drops_p2p,
                    .replica_compute = opts->replica_compute,
                    .is_training = trace->is_training,
                    .fixed_groups = fixed_groups,
                    .opaque = trace->is_training ? 0 : info.opaque};
    memcpy(traced_p->lost, trace->lost, sizeof traced_p->lost);
    iw_trace_summary_free(summary);
    return IW_OK;
}
