/* A benchmark as one JSON object, schema "idlewave.bench/1"; its phases as CSV.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "base/base.h"
#include "report/kinds/bench_report.h"
#include "report/kinds/json_file.h"

static const char *const quantile_keys[IW_BENCH_QUANTILES] = {"p0",  "p5",  "p25",   "p50", "p75",
                                                              "p95", "p99", "p99.9", "p100"};

const char *iwi_bench_quantile_key(size_t index)
{
    return quantile_keys[index];
}

/* null where there is none. */
static json_t *interval(double low, double high)
{
    return isfinite(low) && isfinite(high) ? json_pack("[o, o]", iwi_json_number(low), iwi_json_number(high))
                                           : json_null();
}

static json_t *value_object(const iw_bench_value *value)
{
    json_t *quantiles = json_object();

    for (size_t i = 0; i < IW_BENCH_QUANTILES; i++) {
        (void)json_object_set_new(quantiles, quantile_keys[i], iwi_json_number(value->quantile_ns[i]));
    }
    return json_pack("{s:o, s:o, s:o}", "mean", iwi_json_number(value->mean_ns), "ci95",
                     interval(value->low_ns, value->high_ns), "quantiles", quantiles);
}

static json_t *bins_array(const iw_bench_result *result, int kind)
{
    json_t *array = json_array();

    for (size_t i = 0; i < IW_BENCH_BINS; i++) {
        (void)json_array_append_new(array, json_pack("[o, o, o]", iwi_json_number(result->bin_begin_ns[i]),
                                                     iwi_json_number(result->bin_begin_ns[i + 1]),
                                                     iwi_json_count(result->bins[kind][i])));
    }
    return array;
}

static json_t *times_object(const iw_bench_result *result, int kind)
{
    const iw_bench_times *times = &result->times[kind];

    return times->count == 0
               ? json_null()
               : json_pack("{s:o, s:{s:o, s:o}, s:o, s:o, s:o, s:o, s:o}", "phases",
                           iwi_json_count(times->count), "phase_ns", "mean", iwi_json_number(times->phase_ns),
                           "ci95", interval(times->phase_low_ns, times->phase_high_ns), "qt_ns",
                           value_object(&times->qt), "bt_ns", value_object(&times->bt), "qtbt_ns",
                           value_object(&times->qtbt), "operation_ns", value_object(&times->op), "histogram",
                           bins_array(result, kind));
}

static json_t *slowdown_object(const iw_bench_slowdown *slowdown)
{
    return json_pack("{s:o, s:o}", "share", iwi_json_number(slowdown->share), "ci95",
                     interval(slowdown->low, slowdown->high));
}

/* ---- noise ---- */

static json_t *noise_object(const iw_bench_result *result, const iw_bench_origin *origin)
{
    json_t *sources = json_array(), *object;
    double made_ns = 0.0, skipped_ns = 0.0;
    uint64_t cut_short = 0;

    if (!result->samples->has_noise) {
        json_decref(sources);
        return json_null();
    }
    for (size_t i = 0; i < origin->noise_count; i++) {
        (void)json_array_append_new(sources, iwi_json_text(origin->noises[i]));
    }
    for (uint32_t i = 0; i < result->samples->ranks; i++) {
        const iw_bench_injected *injected = &result->samples->of_rank[i].injected;

        made_ns += injected->made_ns;
        skipped_ns += injected->skipped_ns;
        cut_short += injected->cut_short_count;
    }
    object = json_pack(
        "{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "sources", sources, "back_end",
        origin->back_end, "sync", origin->sync, "skew_ns", iwi_json_number(origin->skew_ns), "planned_share",
        iwi_json_number(result->planned_share), "injected_share", iwi_json_number(result->injected_share),
        "as_recorded_share", iwi_json_number(result->as_recorded_share), "as_recorded_event_share",
        iwi_json_number(result->as_recorded_event_share), "floor_ns",
        iwi_json_number(result->samples->of_rank[0].injected.floor_ns / result->time_scale), "skipped_share",
        iwi_json_number(skipped_ns > 0.0 ? skipped_ns / (made_ns + skipped_ns) : 0.0), "cut_short",
        iwi_json_count(cut_short));
    iwi_json_add_nodes(object, origin->ranks_per_node, origin->recorded_cpus, origin->cpus);
    return object;
}

static json_t *baseline_object(const iw_bench_result *result)
{
    const iw_bench_baseline *baseline = &result->baseline;

    return baseline->path[0] == '\0'
               ? json_null()
               : json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "file", iwi_json_text(baseline->path), "ranks",
                           iwi_json_count(baseline->ranks), "quantum_ns",
                           iwi_json_number(baseline->quantum_ns), "qtbt_ns",
                           iwi_json_number(baseline->qtbt_ns), "qtbt_ci95_ns",
                           interval(baseline->low_ns, baseline->high_ns), "slowdown",
                           slowdown_object(&result->against_baseline));
}

static json_t *simulated_object(const iw_bench_result *result)
{
    const iw_bench_simulated *simulated = &result->simulated;
    const double difference = result->slowdown.share - simulated->slowdown.share;

    return simulated->trials == 0
               ? json_null()
               : json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "net",
                           iwi_json_text(simulated->net), "trials", iwi_json_count(simulated->trials),
                           "phases", iwi_json_count(simulated->phases), "noiseless_ns",
                           iwi_json_number(simulated->noiseless_ns), "noisy_ns",
                           iwi_json_number(simulated->noisy_ns), "slowdown",
                           slowdown_object(&simulated->slowdown), "difference", iwi_json_number(difference),
                           "ratio", iwi_json_number(result->slowdown.share / simulated->slowdown.share),
                           "agrees",
                           result->agreement == IW_BENCH_UNCLEAR
                               ? json_null()
                               : json_boolean(result->agreement == IW_BENCH_AGREES),
                           "beyond_chance", (int)result->is_beyond_chance);
}

/* ---- ranks ---- */

static json_t *injected_object(const iw_bench_injected *injected)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "planned_share",
        iwi_json_number(injected->planned_share), "as_recorded_share",
        iwi_json_number(injected->as_recorded_share), "made", iwi_json_count(injected->made_count), "made_ns",
        iwi_json_number(injected->made_ns), "skipped", iwi_json_count(injected->skipped_count), "skipped_ns",
        iwi_json_number(injected->skipped_ns), "cut_short", iwi_json_count(injected->cut_short_count),
        "floor_ns", iwi_json_number(injected->floor_ns), "late_p99_ns",
        iwi_json_number(injected->late_p99_ns));
}

static json_t *means_object(const iw_bench_rank *rank, int kind, double scale)
{
    return json_pack("{s:o, s:o}", "qt_ns", iwi_json_number(rank->qt_ns[kind] * scale), "bt_ns",
                     iwi_json_number(rank->bt_ns[kind] * scale));
}

static json_t *ranks_array(const iw_bench_result *result)
{
    const double scale = 1.0 / result->time_scale;
    json_t *array = json_array();

    for (uint32_t i = 0; i < result->samples->ranks; i++) {
        const iw_bench_rank *rank = &result->samples->of_rank[i];
        const bool has_noise = result->samples->has_noise;

        (void)json_array_append_new(
            array, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rank", iwi_json_count(i), "host",
                             iwi_json_text(rank->host), "phases", iwi_json_count(rank->phases), "iterations",
                             iwi_json_count(rank->iterations), "undisturbed_ns",
                             iwi_json_number(rank->undisturbed_ns * scale), "quiet",
                             means_object(rank, IW_BENCH_QUIET, scale), "noisy",
                             has_noise ? means_object(rank, IW_BENCH_NOISY, scale) : json_null(), "injected",
                             has_noise ? injected_object(&rank->injected) : json_null()));
    }
    return array;
}

/* ---- all ---- */

static void set_about(json_t *object, const iw_bench_result *result, const iw_bench_origin *origin)
{
    const iw_bench_samples *samples = result->samples;

    (void)json_object_set_new(object, "schema", json_string("idlewave.bench/1"));
    (void)json_object_set_new(object, "command", iwi_json_text(origin->command));
    (void)json_object_set_new(object, "operation", json_string(iw_bench_op_name(samples->op)));
    (void)json_object_set_new(object, "bytes", iwi_json_count(samples->bytes));
    (void)json_object_set_new(object, "quantum_ns", iwi_json_number(result->quantum_ns));
    (void)json_object_set_new(object, "time_scale", iwi_json_number(result->time_scale));
    (void)json_object_set_new(object, "ranks", iwi_json_count(samples->ranks));
    (void)json_object_set_new(object, "hosts", iwi_json_count(samples->hosts));
    (void)json_object_set_new(object, "mpi", iwi_json_text(samples->mpi));
    (void)json_object_set_new(object, "mpi_version", iwi_json_text(samples->mpi_version));
    (void)json_object_set_new(object, "clock", iwi_json_text(samples->clock));
    (void)json_object_set_new(object, "warning",
                              samples->warning[0] != '\0' ? iwi_json_text(samples->warning) : json_null());
    (void)json_object_set_new(object, "seconds", iwi_json_number(samples->seconds));
    (void)json_object_set_new(object, "phases", iwi_json_count(samples->phases));
    (void)json_object_set_new(object, "kept", iwi_json_count(samples->count));
    (void)json_object_set_new(object, "stride", iwi_json_count(samples->stride));
    (void)json_object_set_new(object, "left_out", iwi_json_count(samples->left_out));
    (void)json_object_set_new(object, "block_phases", iwi_json_count(samples->block_phases));
}

json_t *iwi_bench_object(const iw_bench_result *result, const iw_bench_origin *origin)
{
    json_t *object = json_object();

    if (object == NULL) {
        return NULL;
    }
    set_about(object, result, origin);
    (void)json_object_set_new(object, "own_noise_share", iwi_json_number(result->own_share));
    (void)json_object_set_new(object, "quiet", times_object(result, IW_BENCH_QUIET));
    (void)json_object_set_new(object, "noisy", times_object(result, IW_BENCH_NOISY));
    (void)json_object_set_new(object, "noise", noise_object(result, origin));
    (void)json_object_set_new(object, "slowdown",
                              result->samples->has_noise ? slowdown_object(&result->slowdown) : json_null());
    (void)json_object_set_new(object, "max_slowdown",
                              result->samples->has_noise ? slowdown_object(&result->max_slowdown)
                                                         : json_null());
    (void)json_object_set_new(object, "pair_slowdown", iwi_json_number(result->pair_slowdown));
    (void)json_object_set_new(object, "baseline", baseline_object(result));
    (void)json_object_set_new(object, "simulated", simulated_object(result));
    (void)json_object_set_new(object, "per_rank", ranks_array(result));
    return object;
}

iw_status iw_bench_write_json(const iw_log *log, const iw_bench_result *result, const iw_bench_origin *origin,
                              FILE *out)
{
    return iwi_json_write(log, iwi_bench_object(result, origin), out, "the result");
}

iw_status iw_bench_write_csv(const iw_log *log, const iw_bench_samples *samples, FILE *out)
{
    (void)fputs("phase,block,noise,qt_ns,bt_ns,qtbt_ns,op_ns\n", out);
    for (size_t i = 0; i < samples->count; i++) {
        (void)fprintf(out, "%" PRIu64 ",%" PRIu32 ",%d,%.0f,%.0f,%.0f,%.0f\n", (uint64_t)i * samples->stride,
                      samples->block[i], samples->is_noisy[i] ? 1 : 0, samples->qt_ns[i], samples->bt_ns[i],
                      samples->qtbt_ns[i], samples->op_ns[i]);
    }
    return iwi_check_written(log, out, "the phases");
}
