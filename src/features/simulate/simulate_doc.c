/* The documents of simulations and forecasts, and their tables.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include <idlewave/noise_set.h>

#include "core/base/base.h"
#include "features/simulate/simulate.h"
#include "features/simulate/simulate_report.h"
#include "features/tables.h"
#include "kit/text/words.h"

/* ======== tables ======== */

/* ---- names ---- */

IWI_NAMED(engine_name, value <= IW_ENGINE_WINDOW ? iw_engine_name((iw_engine)value) : NULL)
IWI_NAMES(rules_name, [IW_RULES_IDLEWAVE] = "idlewave", [IW_RULES_LOGGOPSIM] = "loggopsim")

IWI_NAMES(rendezvous_name, [IW_RENDEZVOUS_IDEAL] = "ideal", [IW_RENDEZVOUS_RTS_CTS] = "rts-cts")
IWI_NAMED(replica_name, value <= IW_REPLICA_COPY ? iw_replica_compute_name((iw_replica_compute)value) : NULL)

IWI_NAMES(quantile_name, "p0", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p100")

/* ---- tables ---- */

/* Of an iw_sim_result; NaN after a restart: the seconds are those since then, the messages all. */
static double speed_of_run(const void *object)
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
              .about = "why `auto` did not choose flow, or why a trace had to be stored message by message"),
    IWI_ENUM(iw_sim_result, rules, "rules", rules_name),
    IWI_ENUM(iw_sim_result, rendezvous, "rendezvous", rendezvous_name),
    IWI_VALUE(iw_sim_result, lanes),
    IWI_VALUE(iw_sim_result, threads, .about = "of each process"),
    IWI_VALUE(iw_sim_result, processes, .about = "1 without a launcher"),
    IWI_ENUM(iw_sim_result, parallel, "parallel", iwi_split_name,
             .about = "what processes and threads share"),
    IWI_VALUE_AS(iw_sim_result, is_resumed, "resumed", .about = "from a checkpoint of `--checkpoint`"),
    IWI_VALUE(iw_sim_result, messages, .about = "of one trial"),
    IWI_TIME(iw_sim_result, noiseless_ps, "noiseless_ns",
             .about = "makespan without noise and without delays"),
    IWI_VALUE(iw_sim_result, slowest_node, .is_there = has_speeds, .is_optional = true,
              .about = "time factor of the slowest node, where their speeds differ"),
    IWI_VALUE(iw_sim_result, engine_seconds,
              .about = "wall time of all trials, without the noiseless run and the explanation; of a resumed "
                       "run, since it resumed"),
    IWI_REAL_OF("messages_per_second", speed_of_run, .about = "null for a resumed run"),
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
    IWI_VALUE(iw_net_segment, from_bytes, .about = "smallest size with these costs"),
    COSTS(iw_net_segment),
};
static const struct iwi_schema segment_schema = IWI_SCHEMA(iw_net_segment, segment_fields);

static const struct iwi_field certainty_fields[] = {
    IWI_INLINE(iw_certainty, reach, iwi_reach_schema),
    IWI_ESTIMATE(iw_certainty, slowdown,
                 .about = "T/T0 - 1, mean of the trials; the interval covers the trials, the recording and "
                          "unrecorded events. No upper limit where only a lower limit is known"),
};
static const struct iwi_schema certainty_schema = IWI_SCHEMA(iw_certainty, certainty_fields);

static const struct iwi_field independence_fields[] = {
    IWI_ESTIMATE(iw_independence, independent, .about = "slowdown if nodes were independent"),
    IWI_ESTIMATE(iw_independence, overstated, .about = "excess over the aligned slowdown, trial by trial"),
    IWI_VALUE(iw_independence, nodes, .about = "of the job"),
    IWI_VALUE(iw_independence, recorded_nodes),
    IWI_INLINE(iw_independence, window, iwi_wall_window_schema),
};
static const struct iwi_schema independence_schema = IWI_SCHEMA(iw_independence, independence_fields);

static const struct iwi_field steady_fields[] = {
    IWI_VALUE(iw_steady, repetitions),
    IWI_ESTIMATE(iw_steady, slowdown, .about = "of each repetition after the start"),
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
    IWI_VALUE(iw_traced, replicas, .about = "number of copies that are simulated"),
    IWI_TIME(iw_traced, run_ps, "run_ns", .about = "wall time of the traced run"),
    IWI_VALUE(iw_traced, mpi_share,
              .about = "of the time of all its ranks, in MPI; of training, in collectives"),
    IWI_VALUE(iw_traced, cpu_share,
              .about = "CPU time, as a share of the time between calls; null if the trace has no CPU times"),
    IWI_VALUE(iw_traced, is_by_cpu,
              .about = "computation is predicted from CPU time, not from the wall clock"),
    IWI_ENUM(iw_traced, replica_compute, "replica_compute", replica_name),
    IWI_VALUE(iw_traced, has_p2p,
              .about = "point-to-point messages are simulated; with several replicas they spread delays to "
                       "at most `ranks` ranks"),
    IWI_VALUE(iw_traced, is_training, .about = "a training run, not MPI"),
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
    return iw_loop_schedule_name((iw_loop_schedule)loop);
}

static const struct iwi_field simulation_fields[] = {
    IWI_VALUE(iw_simulation, what, .about = "patterns joined by `+`, or the file's name"),
    IWI_VALUE(iw_simulation, command),
    IWI_INLINE(iw_simulation, run, run_schema),
    IWI_OBJECT(iw_simulation, makespan_ns, iwi_summary_schema, .about = "over the trials"),
    IWI_OBJECT(iw_simulation, slowdown, iwi_summary_schema,
               .about = "makespan / noiseless - 1: 0.5 means 50 % longer. The verdict states its mean"),
    IWI_REAL_OF("median_level", median_level,
                .about =
                    "probability that the interval of the median covers the true one: 0.95 or a little more"),
    IWI_OBJECT(iw_simulation, distribution, ends_schema,
               .about = "end times of the trials, or of the ranks of a single trial (up to 2^24)"),
    IWI_OBJECTS(iw_simulation, trial_times, trial_time_count, trial_schema, .is_row = true,
                .is_there = has_few_trials, .about = "null for more than 1,000; CSV has all"),
    IWI_OBJECTS(iw_simulation, noise, noise_count, source_schema),
    IWI_ENUM(iw_simulation, sync, "sync", iwi_sync_name),
    IWI_ENUM(iw_simulation, align, "align", align_name, .is_there = is_aligned, .is_optional = true,
             .about = "recorded nodes are aligned by the wall clock"),
    IWI_POINTER(iw_simulation, independence, independence_schema, .is_there = has_independence,
                .is_optional = true, .about = "with `--align wall`: the slowdown with independent nodes"),
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
              .about = "most CPUs that a recording has of a node; equal to `ranks_per_node` where ranks are "
                       "placed as recorded"),
    IWI_VALUE(iw_simulation, noise_cpus, .may_be_null = true,
              .about = "recorded CPUs that were used; null: all"),
    IWI_VALUE(iw_simulation, spare_cores, .is_there = has_spare_cores, .is_optional = true,
              .about = "of each node, left to the operating system"),
    IWI_VALUE(iw_simulation, node_speed, .is_there = has_node_speed, .is_optional = true,
              .about = "law or file of the speeds of nodes"),
    IWI_VALUE(iw_simulation, compute_bytes, .is_there = has_bytes, .is_optional = true,
              .about = "that each compute phase moves"),
    IWI_VALUE(iw_simulation, delays, .about = "injected"),
    IWI_POINTER(iw_simulation, net, net_schema,
                .about = "as used, after `--net-scale` and overrides; costs are those of a single rank"),
    IWI_OBJECTS(iw_simulation, net_segments, net_segment_count, segment_schema,
                .about = "of measured networks, the costs from each size on"),
    IWI_POINTER(iw_simulation, recording, certainty_schema,
                .about = "how far the recording supports the prediction: an estimate up to some number of "
                         "ranks, a lower limit beyond"),
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

static iw_status simulation_check(const iw_log *log, const char *name, const void *subject)
{
    const iw_simulation *s = subject;
    const double *ns = s->distribution.quantiles_ns;

    if (s->net == NULL) {
        return refuse(log, name, "net: null");
    }
    if (s->run.ranks == 0 || s->run.trials == 0 || s->makespan_ns.count == 0) {
        return refuse(log, name, "no ranks or no trials");
    }
    for (size_t i = 0; i < IW_END_QUANTILES; i++) {
        if (!(ns[i] >= 0.0) || (i > 0 && ns[i] < ns[i - 1])) {
            return refuse(log, name, "distribution.quantiles_ns: not in ascending order");
        }
    }
    return s->explain != NULL ? iwi_explained_check(log, name, s->explain) : IW_OK;
}

/* ======== forecasts ======== */

/* ---- the table ---- */

IWI_OF(bool, is_possible, iw_split_plan, it->refusal[0] == '\0')

static const struct iwi_field way_fields[] = {
    IWI_CHARS(iw_split_plan, refusal, .about = "why it is impossible; then all other keys are null"),
    IWI_VALUE(iw_split_plan, workers, .is_there = is_possible,
              .about = "threads with work, of all processes"),
    IWI_VALUE(iw_split_plan, lanes, .is_there = is_possible),
    IWI_VALUE(iw_split_plan, batches, .is_there = is_possible, .about = "of the busiest worker"),
    IWI_VALUE_AS(iw_split_plan, messages, "messages_per_batch", .is_there = is_possible,
                 .about = "for each lane"),
    IWI_VALUE_AS(iw_split_plan, bytes_sent, "bytes_sent_per_batch", .is_there = is_possible,
                 .about = "of the busiest worker"),
    IWI_VALUE_AS(iw_split_plan, exchanges, "exchanges_per_batch", .is_there = is_possible),
    IWI_VALUE(iw_split_plan, compute_s, .is_there = is_possible, .about = "of all its batches"),
    IWI_VALUE(iw_split_plan, exchange_s, .is_there = is_possible, .about = "of all its batches"),
    IWI_VALUE(iw_split_plan, process_bytes, .is_there = is_possible, .about = "memory of one process"),
};
static const struct iwi_schema way_schema = IWI_SCHEMA(iw_split_plan, way_fields);

static const struct iwi_field forecast_fields[] = {
    IWI_ENUM(iw_forecast, engine, "engine", engine_name, .about = "that would run"),
    IWI_CHARS(iw_forecast, engine_note, .about = "why not flow"),
    IWI_VALUE(iw_forecast, ranks),
    IWI_VALUE(iw_forecast, trials),
    IWI_VALUE(iw_forecast, redrawn, .about = "of the trials, those for the interval of an extrapolation"),
    IWI_VALUE(iw_forecast, messages, .about = "of one trial"),
    IWI_VALUE(iw_forecast, processes),
    IWI_VALUE(iw_forecast, nodes),
    IWI_VALUE(iw_forecast, threads, .about = "of each process"),
    IWI_VALUE(iw_forecast, cpu_s, .about = "CPU time of all threads and processes, from start to end"),
    IWI_VALUE(iw_forecast, elapsed_s, .about = "if each of them has a CPU for itself"),
    IWI_VALUE(iw_forecast, message_s, .about = "per message, on one core of this machine"),
    IWI_VALUE(iw_forecast, room_bytes, .about = "memory that one process can have on this machine"),
    IWI_ENUM(iw_forecast, chosen, "parallel", iwi_split_name, .about = "the faster split that fits"),
    IWI_CHARS(iw_forecast, reason, .about = "why it was chosen"),
    IWI_OBJECT(iw_forecast, trials_split, way_schema),
    IWI_OBJECT(iw_forecast, ranks_split, way_schema),
};
static const struct iwi_schema forecast_schema = IWI_SCHEMA(iw_forecast, forecast_fields);

/* ---- words ---- */

/* ---- the document ---- */

static void say_verdict(struct iwi_document *doc, const iw_forecast *forecast)
{
    const bool are_ranks_split = forecast->chosen == IW_PARALLEL_RANKS;
    const iw_split_plan *way = are_ranks_split ? &forecast->ranks_split : &forecast->trials_split;

    iwi_verdict(
        doc, "About %s, %s of CPU time, and %s per process, with the %s split over %" PRIu32 " worker%s: %s.",
        iwi_seconds(doc, forecast->elapsed_s), iwi_seconds(doc, forecast->cpu_s),
        iwi_memory_size(doc, (double)way->process_bytes), are_ranks_split ? "ranks" : "trials", way->workers,
        iwi_plural_s(way->workers), forecast->reason);
    if ((double)way->process_bytes > forecast->room_bytes) {
        iwi_doc_append(doc, " Not enough memory: a process can use %s on this machine.",
                       iwi_memory_size(doc, forecast->room_bytes));
    }
}

static void say_forecast_facts(struct iwi_document *doc, const iw_forecast *forecast)
{
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"", IWI_WORDS});
    iwi_row(doc, "ranks", iwi_doc_printf(doc, "%" PRIu32, forecast->ranks));
    iwi_row(doc, "messages",
            iwi_doc_printf(doc, "%" PRIu64 "%s, %s each", forecast->messages,
                           forecast->trials > 1 ? " per trial" : "", iwi_ns(doc, forecast->message_s * 1e9)));
    iwi_row(doc, "trials",
            forecast->redrawn == 0
                ? iwi_doc_printf(doc, "%" PRIu64, forecast->trials)
                : iwi_doc_printf(doc,
                                 "%" PRIu64 ", %" PRIu64 " of them from laws fitted to resampled recordings",
                                 forecast->trials, forecast->redrawn));
    iwi_row(doc, "engine",
            iwi_doc_printf(doc, forecast->engine_note[0] != '\0' ? "%s (%s)" : "%s%s",
                           iw_engine_name(forecast->engine), forecast->engine_note));
    iwi_row(doc, "started as",
            iwi_doc_printf(doc, "%" PRIu32 " process%s of %" PRIu32 " thread%s on %" PRIu32 " node%s",
                           forecast->processes, forecast->processes == 1 ? "" : "es", forecast->threads,
                           iwi_plural_s(forecast->threads), forecast->nodes, iwi_plural_s(forecast->nodes)));
}

/* Times and memory are those of the busiest worker and of one process. */
static void say_way(struct iwi_document *doc, const char *name, const iw_split_plan *way, bool is_chosen)
{
    if (is_possible(way)) {
        iwi_row(doc, iwi_doc_printf(doc, is_chosen ? "%s *" : "%s", name),
                iwi_doc_printf(doc, "%" PRIu32, way->workers), iwi_doc_printf(doc, "%" PRIu32, way->lanes),
                iwi_doc_printf(doc, "%" PRIu64, way->batches),
                iwi_seconds(doc, way->compute_s + way->exchange_s), iwi_seconds(doc, way->compute_s),
                iwi_seconds(doc, way->exchange_s), iwi_memory_size(doc, way->bytes_sent),
                iwi_memory_size(doc, (double)way->process_bytes));
    }
}

static void say_refusal(struct iwi_document *doc, const char *name, const iw_split_plan *way)
{
    if (!is_possible(way)) {
        iwi_note(doc, "The %s cannot be split: %s.", name, way->refusal);
    }
}

static void write_forecast(struct iwi_document *doc, const void *subject)
{
    const iw_forecast *forecast = subject;
    const bool are_ranks_split = forecast->chosen == IW_PARALLEL_RANKS;

    iwi_title(doc, "Cost of the simulation");
    say_verdict(doc, forecast);
    say_forecast_facts(doc, forecast);
    IWI_TABLE(doc, "", {"split", IWI_WORDS}, {"workers", IWI_NUMBER}, {"lanes", IWI_NUMBER},
              {"batches", IWI_NUMBER}, {"time", IWI_NUMBER}, {"compute", IWI_NUMBER},
              {"exchange", IWI_NUMBER}, {"sent", IWI_NUMBER}, {"memory", IWI_NUMBER});
    say_way(doc, "trials", &forecast->trials_split, !are_ranks_split);
    say_way(doc, "ranks", &forecast->ranks_split, are_ranks_split);
    say_refusal(doc, "trials", &forecast->trials_split);
    say_refusal(doc, "ranks", &forecast->ranks_split);
    iwi_section(doc, "certainty", "How sure");
    iwi_item(doc,
             "CPU time is that of all threads and processes: starting and reading as they took now, then "
             "the run without noise, trials and explanations from a sample of each. Nine of ten such "
             "forecasts were within 1.5 times of what a run took.");
    iwi_item(doc, "Batches and bytes sent per batch are those of the busiest worker; memory is that of one "
                  "process, for the state of its ranks.");
}

const struct iwi_kind iwi_forecast_kind = {
    .name = "forecast",
    .schema_id = "idlewave.forecast/2",
    .about = "Cost of a simulation, from `idlewave simulate --dry-run --format json`",
    .schema = &forecast_schema,
    .write_doc = write_forecast,
};

IWI_DOC(iw_forecast_doc, iw_forecast, forecast, iwi_forecast_kind)

/* ======== simulations ======== */

static const char *ns_words(struct iwi_document *doc, double ns, double largest)
{
    (void)largest;
    return iwi_ns(doc, ns);
}

static void say_times_row(struct iwi_document *doc, const char *name, const iw_summary *s,
                          const char *(*text)(struct iwi_document *, double, double))
{
    iwi_row(doc, name, text(doc, s->mean, s->max), text(doc, s->min, s->max), text(doc, s->q1, s->max),
            text(doc, s->median, s->max), text(doc, s->q3, s->max), text(doc, s->max, s->max));
}

static void say_times(struct iwi_document *doc, const iw_simulation *s)
{
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"mean", IWI_NUMBER}, {"min", IWI_NUMBER}, {"q1", IWI_NUMBER},
              {"median", IWI_NUMBER}, {"q3", IWI_NUMBER}, {"max", IWI_NUMBER});
    say_times_row(doc, "makespan", &s->makespan_ns, ns_words);
    if (!isnan(s->slowdown.mean)) {
        say_times_row(doc, iwi_slowdown_head(s->slowdown.max), &s->slowdown, iwi_slower_in_column);
    }
}

static void say_noise(struct iwi_document *doc, const iw_simulation *s)
{
    char nodes[IW_NODES_TEXT_SIZE];

    for (size_t i = 0; i < s->noise_count; i++) {
        iwi_row(doc, i == 0 ? "noise" : "",
                iwi_doc_printf(doc, "%s (%s)", s->noise[i].spec,
                               isnan(s->noise[i].share) ? "share depends on the work"
                                                        : iwi_percent(doc, s->noise[i].share)));
    }
    if (s->noise_count > 0 && iw_nodes_text(s->ranks_per_node, s->cores_per_rank, s->recorded_cpus,
                                            s->noise_cpus, nodes)[0] != '\0') {
        iwi_row(doc, "", iwi_doc_printf(doc, "%s", nodes));
    }
    if (s->noise_count > 0 && s->sync != IW_SYNC_NONE) {
        iwi_row(doc, "", iwi_doc_printf(doc, "synchronised: %s", iwi_sync_name(s->sync)));
    }
    if (s->noise_count > 0 && s->align == IW_ALIGN_WALL) {
        iwi_row(doc, "", "recorded nodes aligned by the wall clock");
    }
    if (s->delays > 0) {
        iwi_row(doc, "delays", iwi_doc_printf(doc, "%" PRIu64 " injected", s->delays));
    }
}

/* ", 2 threads", ", 4 processes of 1 thread, each with some of the ranks" */
static const char *split_words(struct iwi_document *doc, const iw_sim_result *run)
{
    const bool are_ranks_split = run->parallel == IW_PARALLEL_RANKS;
    const char *processes =
        run->processes > 1 ? iwi_doc_printf(doc, " %" PRIu32 " processes of", run->processes) : "";

    return iwi_doc_printf(
        doc, ",%s %" PRIu32 " thread%s%s", processes, run->threads, iwi_plural_s(run->threads),
        (uint64_t)run->threads * run->processes <= 1 || (!are_ranks_split && run->processes <= 1) ? ""
        : are_ranks_split ? ", each with some of the ranks"
                          : ", each with some of the trials");
}

static void say_engine(struct iwi_document *doc, const iw_sim_result *run)
{
    const double rss_mib = (double)run->peak_rss_bytes / 0x1p20, rate_hz = speed_of_run(run);

    iwi_row(doc, "messages",
            iwi_doc_printf(doc, "%" PRIu64 "%s", run->messages, run->trials > 1 ? " per trial" : ""));
    iwi_row(doc, "engine",
            iwi_doc_printf(doc, "%s%s, %" PRIu32 " lane%s%s", iw_engine_name(run->engine),
                           run->rules == IW_RULES_LOGGOPSIM ? " by LogGOPSim's rules" : "", run->lanes,
                           iwi_plural_s(run->lanes), split_words(doc, run)));
    if (run->engine_note[0] != '\0') {
        iwi_row(doc, "", iwi_doc_printf(doc, "(%s)", run->engine_note));
    }
    iwi_row(doc, "took",
            iwi_doc_printf(doc, "%s%s, %s", iwi_ns(doc, run->engine_seconds * 1e9),
                           rate_hz > 0.0 ? iwi_doc_printf(doc, ", %smessages/s", iwi_si(doc, rate_hz)) : "",
                           rss_mib < 1000 ? iwi_doc_printf(doc, "%.3g MiB", rss_mib)
                                          : iwi_doc_printf(doc, "%.1f GiB", rss_mib / 1024)));
    if (run->is_resumed) {
        iwi_row(doc, "", "(resumed from a checkpoint: time since then)");
    }
}

/* "; the start adds 0.71 ms" */
static const char *start_words(struct iwi_document *doc, iw_estimate start_ns)
{
    return start_ns.low > 0.0
               ? iwi_doc_printf(doc, "; the start adds %s", iwi_ns(doc, start_ns.value))
               : iwi_doc_printf(doc, "; the start adds at most %s", iwi_ns(doc, fmax(0.0, start_ns.high)));
}

/* Each repetition once the start is over. Beyond the reach of a recording it is as little known as the run.
 */
static void say_steady(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_steady *steady = s->steady;
    char range[IWI_RANGE_SIZE];

    if (steady != NULL && !isnan(steady->slowdown.value) &&
        (s->recording == NULL || !s->recording->reach.is_bound)) {
        iwi_row(doc, "steady",
                iwi_doc_printf(doc, "each repetition: %s (95 %% CI %s)%s",
                               iwi_slower(doc, steady->slowdown.value),
                               iwi_slowdown_range_text(steady->slowdown.low, steady->slowdown.high,
                                                       steady->slowdown.value, range),
                               start_words(doc, steady->start_ns)));
    }
}

static void say_facts(struct iwi_document *doc, const iw_simulation *s, bool has_times)
{
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"", IWI_WORDS});
    iwi_unfold(doc);
    if (!has_times) {
        iwi_row(doc, "makespan", iwi_ns(doc, s->makespan_ns.mean));
    }
    if (iwi_is_disturbed(s)) {
        iwi_row(doc, "noiseless", iwi_ps(doc, s->run.noiseless_ps));
    }
    say_steady(doc, s);
    iwi_say_traced(doc, s->traced);
    say_noise(doc, s);
    iwi_say_machine(doc, s);
    say_engine(doc, &s->run);
}

/* Of a single trial whose end times are known. Of several, the table of times says it. */
static void say_ends(struct iwi_document *doc, const iw_simulation *s)
{
    const double *ns = s->distribution.quantiles_ns, quiet_ns = (double)s->run.noiseless_ps / 1e3;
    const bool has_slowdown = iwi_is_disturbed(s) && quiet_ns > 0.0;
    const size_t last = IW_END_QUANTILES - 1;

    if (!s->distribution.is_of_ranks || s->run.ranks < 2) {
        return;
    }
    if (ns[0] == ns[last]) {
        iwi_paragraph(doc, "All ranks end at %s.", iwi_ns(doc, ns[0]));
        return;
    }
    iwi_only_in(doc, IWI_IN_TEXT); /* pages have a figure */
    iwi_section(doc, "ends", "When the ranks end");
    IWI_TABLE(doc, "", {"ranks", IWI_NUMBER}, {"by then", IWI_NUMBER},
              {has_slowdown ? iwi_slowdown_head(ns[last] / quiet_ns - 1.0) : "", IWI_NUMBER}, {"", IWI_BAR});
    iwi_unfold(doc);
    for (size_t i = 0; i <= last; i++) {
        iwi_row(doc,
                i == 0      ? "the first"
                : i == last ? "all"
                            : iwi_doc_printf(doc, "%g %%", iwi_end_percent(i)),
                iwi_ns(doc, ns[i]),
                has_slowdown ? iwi_slower_in_column(doc, ns[i] / quiet_ns - 1.0, ns[last] / quiet_ns - 1.0)
                             : "");
        iwi_bar(doc, (iw_estimate){ns[i] - ns[0], NAN, NAN});
    }
    iwi_only_in(doc, IWI_EVERYWHERE);
}

static void say_figures(struct iwi_document *doc, const iw_simulation *s)
{
    struct iwi_figure *figure = NULL;
    iw_status status = iwi_ends_figure(doc->log, s, &figure);

    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    iwi_show_figure(doc, status, figure);
    if (s->explain != NULL) {
        figure = NULL;
        status = iwi_path_figure(doc, s->explain, &figure);
        iwi_show_figure(doc, status, figure);
    }
    iwi_only_in(doc, IWI_EVERYWHERE);
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_simulation *s = subject;
    const bool has_times = s->makespan_ns.count > 1 && iwi_is_noisy(s);

    iwi_title(doc, "%s, %" PRIu32 " rank%s, %" PRIu64 " trial%s", s->what, s->run.ranks,
              iwi_plural_s(s->run.ranks), s->run.trials, iwi_plural_s(s->run.trials));
    iwi_say_caveats(doc, &s->caveats, NULL);
    iwi_say_simulation_verdict(doc, s);
    if (s->independence != NULL) {
        iwi_say_independence(doc, s->independence);
    }
    if (s->node_wide != NULL) {
        iwi_say_node_wide(doc, *s->node_wide);
    }
    say_figures(doc, s);
    if (has_times) {
        say_times(doc, s);
    }
    say_facts(doc, s, has_times);
    say_ends(doc, s);
    iwi_say_explained(doc, s);
    iwi_say_simulation_certainty(doc, s);
    iwi_only_in(doc, IWI_ON_PAGES);
    iwi_section(doc, "origin", "How this was made");
    iwi_code(doc, "%s", s->command);
}

const struct iwi_kind iwi_simulate_kind = {
    .name = "simulate",
    .schema_id = "idlewave.simulate/4",
    .about = "A simulation, from `idlewave simulate --format json`. CSV has a line for each trial",
    .older_id = "idlewave.simulate/3",
    .schema = &iwi_simulation_schema,
    .write_doc = write_doc,
    .check = simulation_check,
};

IWI_DOC(iw_simulation_doc, iw_simulation, simulation, iwi_simulate_kind)
