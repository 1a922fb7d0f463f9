/* The table of one simulation: its keys, and what they cannot say.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/simulate/reach_report.h"
#include "features/simulate/simulate_report.h"
#include "features/tables.h"
#include "kit/text/words.h"

/* ---- names ---- */

IWI_NAMED(engine_name, value <= IW_ENGINE_WINDOW ? iw_engine_name((iw_engine)value) : NULL)
IWI_NAMES(rules_name, [IW_RULES_IDLEWAVE] = "idlewave", [IW_RULES_LOGGOPSIM] = "loggopsim")

IWI_NAMES(rendezvous_name, [IW_RENDEZVOUS_IDEAL] = "ideal", [IW_RENDEZVOUS_RTS_CTS] = "rts-cts")
IWI_NAMED(replica_name, value <= IW_REPLICA_COPY ? iw_replica_compute_name((iw_replica_compute)value) : NULL)

IWI_NAMES(quantile_name, "p0", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p100")

/* ---- tables ---- */

double iwi_messages_per_second(const void *object)
{
    const iw_sim_result *run = object;
    const double messages = (double)run->messages * (double)run->trials;

    return run->engine_seconds > 0 && !run->is_resumed ? round(messages / run->engine_seconds) : NAN;
}

static bool has_speeds(const void *object)
{
    return ((const iw_sim_result *)object)->slowest_node > 0.0;
}

static const struct iwi_field run_fields[] = {
    IWI_VALUE(iw_sim_result, ranks),
    IWI_VALUE(iw_sim_result, trials),
    IWI_VALUE(iw_sim_result, first_trial, .about = "`--first-trial`"),
    IWI_VALUE(iw_sim_result, seed),
    IWI_ENUM(iw_sim_result, engine, "engine", engine_name, .about = "that ran"),
    IWI_CHARS(iw_sim_result, engine_note,
              .about = "why `auto` did not take flow, or why a trace had to be stored message by message"),
    IWI_ENUM(iw_sim_result, rules, "rules", rules_name),
    IWI_ENUM(iw_sim_result, rendezvous, "rendezvous", rendezvous_name),
    IWI_VALUE(iw_sim_result, lanes),
    IWI_VALUE(iw_sim_result, threads, .about = "of each process"),
    IWI_VALUE(iw_sim_result, processes, .about = "1 without a launcher"),
    IWI_ENUM(iw_sim_result, parallel, "parallel", iwi_split_name,
             .about = "what processes and threads share"),
    IWI_VALUE_AS(iw_sim_result, is_resumed, "resumed", .about = "from a restart point of `--checkpoint`"),
    IWI_VALUE(iw_sim_result, messages, .about = "of one trial"),
    IWI_TIME(iw_sim_result, noiseless_ps, "noiseless_ns",
             .about = "makespan without noise and without delays"),
    IWI_VALUE(iw_sim_result, slowest_node, .is_there = has_speeds, .is_optional = true,
              .about = "how many times as long the slowest node computes, where their speeds differ"),
    IWI_VALUE(iw_sim_result, engine_seconds,
              .about = "wall time of all trials, without the noiseless run and the explanation; of a resumed "
                       "run since it resumed"),
    IWI_REAL_OF("messages_per_second", iwi_messages_per_second, .about = "null for a resumed run"),
    IWI_VALUE(iw_sim_result, peak_rss_bytes, .about = "of the process"),
};
static const struct iwi_schema run_schema = IWI_SCHEMA(iw_sim_result, run_fields);

static const struct iwi_field ends_fields[] = {
    IWI_VALUE(iw_ends, is_of_ranks,
              .about = "end times of the ranks of a single trial; false: makespans of the trials"),
    IWI_VALUES_BY_NAME(iw_ends, quantiles_ns, quantile_name,
                       .about = "time by which this percentage has ended"),
};
static const struct iwi_schema ends_schema = IWI_SCHEMA(iw_ends, ends_fields);

static const struct iwi_field trial_fields[] = {
    IWI_VALUE_AS(iw_trial, number, "trial"),
    IWI_TIME(iw_trial, makespan_ps, "makespan_ns"),
    IWI_VALUE(iw_trial, slowdown),
};
static const struct iwi_schema trial_schema = IWI_SCHEMA(iw_trial, trial_fields);

static const struct iwi_field source_fields[] = {
    IWI_VALUE(iw_source_share, spec, .about = "as given"),
    IWI_VALUE(iw_source_share, share,
              .about = "of the time that it takes in the long run; null for `bernoulli`"),
};
static const struct iwi_schema source_schema = IWI_SCHEMA(iw_source_share, source_fields);

/* A network, and what its segments are beyond some size. */
#define COSTS(T)                                                                                         \
    IWI_TIME(T, L_ps, "L_ns"), IWI_TIME(T, o_send_ps, "o_send_ns"), IWI_TIME(T, o_recv_ps, "o_recv_ns"), \
        IWI_TIME(T, g_ps, "g_ns"), IWI_PER_BYTE(T, G, "G_ns_per_byte"), IWI_PER_BYTE(T, O, "O_ns_per_byte")
IWI_OF(bool, is_by_device, iw_net_costs, it->is_device_progress)
static const struct iwi_field costs_fields[] = {
    COSTS(iw_net_costs),
    IWI_VALUE(iw_net_costs, is_device_progress, .is_there = is_by_device, .is_optional = true,
              .about = "a device moves messages"),
};
static const struct iwi_schema costs_schema = IWI_SCHEMA(iw_net_costs, costs_fields);

static bool has_taper(const void *object)
{
    return ((const iw_net_inner *)object)->taper > 0.0;
}

static const struct iwi_field inner_fields[] = {
    IWI_CHARS(iw_net_inner, name),
    IWI_VALUE(iw_net_inner, ranks, .about = "of a group"),
    IWI_INLINE(iw_net_inner, costs, costs_schema),
    IWI_VALUE(iw_net_inner, taper, .is_there = has_taper, .is_optional = true,
              .about = "how much narrower the links out of a group are"),
};
static const struct iwi_schema inner_schema = IWI_SCHEMA(iw_net_inner, inner_fields);

IWI_OF(bool, has_levels, iw_net, it->inner_count > 0)
IWI_NAMES(placement_name, [IW_PLACEMENT_BLOCK] = "block", [IW_PLACEMENT_ROUND_ROBIN] = "round-robin",
          [IW_PLACEMENT_LIST] = "list")

static const char *sharing_name(unsigned sharing)
{
    static const char *const names[] = {[IW_NIC_MAX_RATE] = "max-rate", [IW_NIC_QUEUES] = "queues"};

    return sharing < sizeof names / sizeof names[0] ? names[sharing] : NULL;
}

static bool has_nics(const void *object)
{
    return ((const iw_net *)object)->nics.count > 0;
}

static const struct iwi_field nics_fields[] = {
    IWI_VALUE(iw_net_nics, count),
    IWI_PER_BYTE(iw_net_nics, G, "G_ns_per_byte"),
    IWI_VALUE(iw_net_nics, node_level, .about = "which of `inner` is the node"),
    IWI_VALUE(iw_net_nics, active, .about = "ranks of a node that share them at once; 0: all"),
    IWI_VALUE_AS(iw_net_nics, has_rails, "rails", .about = "each rank has one of them"),
    IWI_ENUM(iw_net_nics, sharing, "sharing", sharing_name),
};
static const struct iwi_schema nics_schema = IWI_SCHEMA(iw_net_nics, nics_fields);

static bool has_memory(const void *object)
{
    return ((const iw_net *)object)->memory.ranks > 0;
}

IWI_OF(bool, has_net_noise, iw_net, iw_net_is_noisy(it))
IWI_OF(bool, has_series, iw_net_noise, it->series.count > 0)

static const struct iwi_field delay_fields[] = {
    IWI_VALUE(iw_net_noise_point, share),
    IWI_TIME(iw_net_noise_point, delay_ps, "delay_ns"),
};
static const struct iwi_schema delay_schema = IWI_SCHEMA(iw_net_noise_point, delay_fields);

static const struct iwi_field series_fields[] = {
    /* not the delays: there may be a million */
    IWI_VALUE(iw_delay_series, count),
    IWI_TIME(iw_delay_series, every_ps, "every_ns"),
    IWI_TIME(iw_delay_series, mean_ps, "mean_ns"),
    IWI_TIME(iw_delay_series, longest_ps, "longest_ns"),
};
static const struct iwi_schema series_schema = IWI_SCHEMA(iw_delay_series, series_fields);

static const struct iwi_field net_noise_fields[] = {
    IWI_OBJECTS_IN_PLACE(iw_net_noise, points, point_count, delay_schema),
    IWI_OBJECT(iw_net_noise, series, series_schema, .is_there = has_series, .is_optional = true),
};
static const struct iwi_schema net_noise_schema = IWI_SCHEMA(iw_net_noise, net_noise_fields);

static const struct iwi_field net_fields[] = {
    IWI_CHARS(iw_net, name),
    IWI_INLINE(iw_net, costs, costs_schema),
    IWI_VALUE(iw_net, S_bytes, .about = "larger messages use rendezvous"),
    IWI_OBJECTS_IN_PLACE(iw_net, inner, inner_count, inner_schema, .is_there = has_levels,
                         .is_optional = true, .about = "levels, from the inside out"),
    IWI_ENUM(iw_net, placement, "placement", placement_name, .is_there = has_levels, .is_optional = true),
    IWI_OBJECT(iw_net, nics, nics_schema, .is_there = has_nics, .is_optional = true,
               .about = "where nodes have some"),
    IWI_OBJECT(iw_net, memory, iwi_memory_schema, .is_there = has_memory, .is_optional = true,
               .about = "where it is known"),
    IWI_OBJECT(iw_net, noise, net_noise_schema, .is_there = has_net_noise, .is_optional = true,
               .about = "of a network that delays messages"),
};
static const struct iwi_schema net_schema = IWI_SCHEMA(iw_net, net_fields);

static const struct iwi_field segment_fields[] = {
    IWI_VALUE(iw_net_segment, from_bytes, .about = "size from which on these costs hold"),
    COSTS(iw_net_segment),
};
static const struct iwi_schema segment_schema = IWI_SCHEMA(iw_net_segment, segment_fields);

static const struct iwi_field certainty_fields[] = {
    IWI_INLINE(iw_certainty, reach, iwi_reach_schema),
    IWI_ESTIMATE(iw_certainty, slowdown,
                 .about = "T/T0 - 1, mean of the trials; the interval counts the trials, the recording and "
                          "what is unseen. No upper end where it is a bound"),
};
static const struct iwi_schema certainty_schema = IWI_SCHEMA(iw_certainty, certainty_fields);

static const struct iwi_field independence_fields[] = {
    IWI_ESTIMATE(iw_independence, independent, .about = "slowdown if nodes were independent"),
    IWI_ESTIMATE(iw_independence, overstated, .about = "how much more that is, trial by trial"),
    IWI_VALUE(iw_independence, nodes, .about = "of the job"),
    IWI_VALUE(iw_independence, recorded_nodes),
    IWI_INLINE(iw_independence, window, iwi_wall_window_schema),
};
static const struct iwi_schema independence_schema = IWI_SCHEMA(iw_independence, independence_fields);

static const struct iwi_field steady_fields[] = {
    IWI_VALUE(iw_steady, repetitions),
    IWI_ESTIMATE(iw_steady, slowdown, .about = "of each later repetition, once the start is over"),
    IWI_ESTIMATE(iw_steady, start_ns, .about = "what the start adds"),
};
static const struct iwi_schema steady_schema = IWI_SCHEMA(iw_steady, steady_fields);
IWI_OF(bool, has_steady, iw_simulation, it->steady != NULL)

IWI_NAMES(align_name, [IW_ALIGN_NONE] = "none", [IW_ALIGN_WALL] = "wall")
IWI_OF(bool, is_aligned, iw_simulation, it->align != IW_ALIGN_NONE)
IWI_OF(bool, has_independence, iw_simulation, it->independence != NULL)
IWI_OF(bool, has_node_wide, iw_simulation, it->node_wide != NULL)

static const struct iwi_field traced_fields[] = {
    IWI_VALUE(iw_traced, ranks, .about = "that were traced"),
    IWI_VALUE(iw_traced, replicas, .about = "how often they are simulated"),
    IWI_TIME(iw_traced, run_ps, "run_ns", .about = "how long the traced run took, by the wall clock"),
    IWI_VALUE(iw_traced, mpi_share,
              .about = "of the time of all its ranks, in MPI; of training, in collectives"),
    IWI_VALUE(iw_traced, cpu_share,
              .about = "CPU time, as a share of the time between calls; null if the trace has no CPU times"),
    IWI_VALUE(iw_traced, is_by_cpu, .about = "computation is predicted as CPU time, not by the wall clock"),
    IWI_ENUM(iw_traced, replica_compute, "replica_compute", replica_name),
    IWI_VALUE(iw_traced, has_p2p,
              .about = "point-to-point messages are simulated; with more than one replica they carry delays "
                       "no further than `ranks`"),
    IWI_VALUE(iw_traced, is_training, .about = "a run of training, not of MPI"),
};
static const struct iwi_schema traced_schema = IWI_SCHEMA(iw_traced, traced_fields);

/* Of many trials the quantiles say it; CSV has them all. */
IWI_OF(bool, has_few_trials, iw_simulation, it->trial_time_count <= IWI_MOST_TRIAL_TIMES)
IWI_OF(double, median_level, iw_simulation, iw_median_level(it->makespan_ns.count))

static bool has_cores(const void *object)
{
    return ((const iw_simulation *)object)->cores_per_rank > 1;
}

IWI_OF(bool, has_bytes, iw_simulation, it->compute_bytes > 0)
IWI_OF(bool, has_spare_cores, iw_simulation, it->spare_cores > 0)
IWI_OF(bool, has_node_speed, iw_simulation, it->node_speed != NULL)

static const char *loop_name(unsigned loop)
{
    return iw_loop_name((iw_loop)loop);
}

static const struct iwi_field simulation_fields[] = {
    IWI_VALUE(iw_simulation, what, .about = "patterns joined by `+`, or the file's name"),
    IWI_VALUE(iw_simulation, command),
    IWI_INLINE(iw_simulation, run, run_schema),
    IWI_OBJECT(iw_simulation, makespan_ns, iwi_summary_schema, .about = "over the trials"),
    IWI_OBJECT(iw_simulation, slowdown, iwi_summary_schema,
               .about = "makespan / noiseless - 1: 0.5 is half as long again. The verdict is its mean"),
    IWI_REAL_OF("median_level", median_level,
                .about =
                    "probability that the interval of the median covers the true one: 0.95 or a little more"),
    IWI_OBJECT(iw_simulation, distribution, ends_schema,
               .about = "when the trials end, or the ranks of a single one (up to 2^24)"),
    IWI_OBJECTS(iw_simulation, trial_times, trial_time_count, trial_schema, .is_row = true,
                .is_there = has_few_trials, .about = "null for more than 1,000; CSV has all"),
    IWI_OBJECTS(iw_simulation, noise, noise_count, source_schema),
    IWI_ENUM(iw_simulation, sync, "sync", iwi_sync_name),
    IWI_ENUM(iw_simulation, align, "align", align_name, .is_there = is_aligned, .is_optional = true,
             .about = "recorded nodes are aligned by the wall clock"),
    IWI_POINTER(iw_simulation, independence, independence_schema, .is_there = has_independence,
                .is_optional = true, .about = "with `--align wall`: what independent nodes would give"),
    IWI_POINTER(iw_simulation, steady, steady_schema, .is_there = has_steady, .is_optional = true,
                .about = "of a pattern that is repeated under noise"),
    IWI_POINTER(iw_simulation, node_wide, iwi_estimate_schema, .is_there = has_node_wide, .is_optional = true,
                .about = "slowdown if all noise hit the ranks of a node together, where several meet copies "
                         "of one recorded CPU"),
    IWI_VALUE(iw_simulation, ranks_per_node, .about = "0 if nothing is recorded"),
    IWI_VALUE(iw_simulation, cores_per_rank, .is_there = has_cores, .is_optional = true),
    IWI_ENUM(iw_simulation, loop, "loop", loop_name, .is_there = has_cores, .is_optional = true,
             .about = "how the cores of a rank share compute phases"),
    IWI_VALUE(iw_simulation, recorded_cpus,
              .about = "CPUs that recordings have of a node, the most; equal to `ranks_per_node` where ranks "
                       "are placed as recorded"),
    IWI_VALUE(iw_simulation, noise_cpus, .may_be_null = true,
              .about = "CPUs of recordings that were used; null: all"),
    IWI_VALUE(iw_simulation, spare_cores, .is_there = has_spare_cores, .is_optional = true,
              .about = "of each node, left to the operating system"),
    IWI_VALUE(iw_simulation, node_speed, .is_there = has_node_speed, .is_optional = true,
              .about = "law or file of the speeds of nodes"),
    IWI_VALUE(iw_simulation, compute_bytes, .is_there = has_bytes, .is_optional = true,
              .about = "that each compute phase moves"),
    IWI_VALUE(iw_simulation, delays, .about = "injected"),
    IWI_POINTER(iw_simulation, net, net_schema,
                .about =
                    "as used, after `--net-scale` and single overrides; costs are those of a rank alone"),
    IWI_OBJECTS(iw_simulation, net_segments, net_segment_count, segment_schema,
                .about = "of measured networks, the costs from each size on"),
    IWI_POINTER(iw_simulation, recording, certainty_schema,
                .about = "what the recording behind the noise can show of this job: an estimate up to some "
                         "number of ranks, a lower bound beyond"),
    IWI_POINTER(iw_simulation, traced, traced_schema, .about = "of a trace, the run that was traced"),
    IWI_POINTER(iw_simulation, explain, iwi_explained_schema,
                .about = "with `--explain`: where the time went in the trial with the median makespan"),
    IWI_INLINE(iw_simulation, caveats, iwi_caveats_schema),
};
const struct iwi_schema iwi_simulation_schema = IWI_SCHEMA(iw_simulation, simulation_fields);

static iw_status refuse(const iw_log *log, const char *name, const char *what)
{
    return iwi_fail(log, IW_ERR_FORMAT, "'%s': %s", name, what);
}

iw_status iwi_simulation_check(const iw_log *log, const char *name, const void *subject)
{
    const iw_simulation *s = subject;
    const double *ns = s->distribution.quantiles_ns;

    if (s->net == NULL) {
        return refuse(log, name, "net: is null");
    }
    if (s->run.ranks == 0 || s->run.trials == 0 || s->makespan_ns.count == 0) {
        return refuse(log, name, "there are no ranks or no trials");
    }
    for (size_t i = 0; i < IW_END_QUANTILES; i++) {
        if (!(ns[i] >= 0.0) || (i > 0 && ns[i] < ns[i - 1])) {
            return refuse(log, name, "distribution.quantiles_ns: are no rising times");
        }
    }
    return s->explain != NULL ? iwi_explained_check(log, name, s->explain) : IW_OK;
}
