/* What the result of a simulation says: computed once, for all media.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/stats/select.h"
#include "features/simulate/simulate_report.h"
#include "kit/text/words.h"

/* What it consists of besides. */
struct made {
    iw_simulation simulation; /* the first member: it is what callers hold */
    struct iwi_arena arena;
};

double iwi_end_percent(size_t index)
{
    static const double percents[IW_END_QUANTILES] = {0.0,  1.0,  5.0,  10.0, 25.0, 50.0,
                                                      75.0, 90.0, 95.0, 99.0, 100.0};

    return percents[index];
}

/* ---- times ---- */

static double slowdown_of(double makespan_ps, iw_time noiseless_ps)
{
    return noiseless_ps > 0 ? (makespan_ps - (double)noiseless_ps) / (double)noiseless_ps : NAN;
}

/* To the picosecond, which is what there is. */
static double whole_ps(double ns, iw_time unused)
{
    (void)unused;
    return round(ns * (double)IW_PS_PER_NS) / (double)IW_PS_PER_NS;
}

static double slowdown_of_ns(double ns, iw_time noiseless_ps)
{
    return slowdown_of(ns * (double)IW_PS_PER_NS, noiseless_ps);
}

/* Quantiles, means and their intervals commute with the linear T -> T/T0 - 1. */
static iw_summary map_summary(const iw_summary *s, double (*map)(double, iw_time), iw_time arg)
{
    return (iw_summary){s->count,
                        map(s->min, arg),
                        map(s->q1, arg),
                        map(s->median, arg),
                        map(s->q3, arg),
                        map(s->max, arg),
                        map(s->mean, arg),
                        map(s->median_low, arg),
                        map(s->median_high, arg),
                        map(s->mean_low, arg),
                        map(s->mean_high, arg)};
}

static iw_status find_ends(const iw_log *log, const iw_sim_result *result, iw_ends *ends)
{
    const bool is_of_ranks = result->trials == 1 && result->end_ps != NULL;
    const iw_time *times_ps = is_of_ranks ? result->end_ps : result->makespan_ps;
    const size_t count = is_of_ranks ? result->ranks : (size_t)result->trials;
    double *values_ps = iwi_new_array(log, count, sizeof *values_ps);

    if (values_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        values_ps[i] = (double)times_ps[i];
    }
    ends->is_of_ranks = is_of_ranks;
    for (size_t i = 0; i < IW_END_QUANTILES; i++) {
        ends->quantiles_ns[i] =
            round(iwi_select_quantile(values_ps, count, iwi_end_percent(i) / 100.0)) / (double)IW_PS_PER_NS;
    }
    free(values_ps);
    return IW_OK;
}

static iw_status list_trials(const iw_log *log, const iw_sim_result *result, struct made *made)
{
    iw_trial *trials = iwi_arena_take(&made->arena, (size_t)result->trials, sizeof *trials);

    if (trials == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the times of %" PRIu64 " trials",
                        result->trials);
    }
    for (uint64_t i = 0; i < result->trials; i++) {
        trials[i] = (iw_trial){result->first_trial + i, result->makespan_ps[i],
                               slowdown_of((double)result->makespan_ps[i], result->noiseless_ps)};
    }
    made->simulation.trial_times = trials;
    made->simulation.trial_time_count = (size_t)result->trials;
    return IW_OK;
}

/* ---- origin ---- */

static void list_noise(const iw_noise *noise, struct made *made)
{
    const size_t count = noise != NULL ? iw_noise_source_count(noise) : 0;
    iw_source_share *sources = iwi_arena_take(&made->arena, count, sizeof *sources);
    iw_simulation *simulation = &made->simulation;
    char cpus[256];

    for (size_t i = 0; sources != NULL && i < count; i++) {
        sources[i] = (iw_source_share){iw_noise_source_name(noise, i), iw_noise_source_share(noise, i)};
    }
    simulation->noise = sources;
    simulation->noise_count = sources != NULL ? count : 0;
    if (noise == NULL) {
        return;
    }
    simulation->sync = iw_noise_sync(noise);
    simulation->align = iw_noise_nodes_aligned(noise);
    simulation->cores_per_rank = iw_noise_cores_per_rank(noise);
    simulation->loop = iw_noise_loop(noise);
    if (iw_noise_recorded_cpus(noise) > 0) {
        simulation->ranks_per_node = iw_noise_ranks_per_node(noise);
        simulation->recorded_cpus = iw_noise_recorded_cpus(noise);
        if (iw_noise_cpus(noise) != NULL) {
            simulation->noise_cpus =
                iwi_arena_text(&made->arena, "%s", iw_cpu_set_text(iw_noise_cpus(noise), cpus, sizeof cpus));
        }
    }
}

static iw_status fill(const iw_log *log, const iw_sim_result *result, const iw_origin *origin,
                      struct made *made)
{
    iw_simulation *simulation = &made->simulation;
    iw_summary makespan_ns;

    *simulation = (iw_simulation){
        .what = origin->what,
        .command = origin->command,
        .run = *result,
        .delays = origin->delay_count,
        .compute_bytes = origin->compute_bytes,
        .spare_cores = origin->spare_cores,
        .node_speed = origin->node_speed,
        .net = origin->net,
        .net_segments = origin->net->segments,
        .net_segment_count = origin->net->segment_count,
        .recording =
            origin->certainty != NULL && origin->certainty->reach.watched_s > 0.0 ? origin->certainty : NULL,
        .traced = origin->traced,
        .independence = origin->independence,
        .steady = origin->steady,
        .node_wide = origin->node_wide,
    };
    if (origin->caveats != NULL) {
        simulation->caveats = *origin->caveats;
    }
    iw_caveats_of_net(origin->net, result->ranks, &simulation->caveats);
    if (origin->traced != NULL) {
        iw_caveats_of_traced(origin->traced, origin->what, &simulation->caveats);
    }
    IW_TRY(iw_summarize_trials(log, result, &makespan_ns));
    simulation->makespan_ns = map_summary(&makespan_ns, whole_ps, 0);
    simulation->slowdown = map_summary(&makespan_ns, slowdown_of_ns, result->noiseless_ps);
    IW_TRY(find_ends(log, result, &simulation->distribution));
    IW_TRY(list_trials(log, result, made));
    list_noise(origin->noise, made);
    if (result->explain != NULL) {
        IW_TRY(iwi_explained_find(log, result, origin, &made->arena, &simulation->explain));
    }
    return made->arena.is_broken ? iwi_fail(log, IW_ERR_NOMEM, "out of memory for the result") : IW_OK;
}

iw_status iw_simulation_new(const iw_log *log, const iw_sim_result *result, const iw_origin *origin,
                            iw_simulation **simulation_p)
{
    struct made *made = iwi_new_array(log, 1, sizeof *made);
    const iw_status status = made != NULL ? fill(log, result, origin, made) : IW_ERR_NOMEM;

    if (status == IW_OK) {
        *simulation_p = &made->simulation;
    } else if (made != NULL) {
        iw_simulation_free(&made->simulation);
    }
    return status;
}

void iw_simulation_free(iw_simulation *simulation)
{
    if (simulation != NULL) {
        iwi_arena_free(&((struct made *)simulation)->arena);
        free(simulation);
    }
}
