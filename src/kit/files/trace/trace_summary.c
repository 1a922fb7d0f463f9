/* A traced run at a glance: where the time of its ranks went.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/files.h>
#include <idlewave/timeline.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/base/order.h"
#include "kit/files/trace/trace_steps.h"

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

iw_status iw_trace_recall(const iw_log *log, const iw_trace *trace, const iw_trace_opts *given,
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
