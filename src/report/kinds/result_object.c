/* A result as one JSON object, schema "idlewave.simulate/2"; docs/reference/formats/simulate-json.md.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/result_report.h"

#include <math.h>

#include <idlewave/idlewave.h>

#include "base/base.h"
#include "report/kinds/json_file.h"
#include "report/kinds/reach_report.h"

json_t *iwi_json_ns(double ps)
{
    return isfinite(ps) ? iwi_json_number(round(ps) / 1000.0) : json_null();
}

/* To the picosecond, which is what there is. */
static json_t *exact_ns(double ns)
{
    return iwi_json_ns(ns * (double)IW_PS_PER_NS);
}

static json_t *interval(double low, double high, json_t *(*write)(double))
{
    return isnan(low) || isnan(high) ? json_null() : json_pack("[o, o]", write(low), write(high));
}

static json_t *summary(const iw_summary *s, json_t *(*write)(double))
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "mean", write(s->mean), "mean_ci95",
                     interval(s->mean_low, s->mean_high, write), "median", write(s->median), "median_ci95",
                     interval(s->median_low, s->median_high, write), "median_level",
                     iwi_json_number(iw_median_level(s->count)), "min", write(s->min), "q1", write(s->q1),
                     "q3", write(s->q3), "max", write(s->max));
}

/* Only measured networks have them. */
static json_t *segments_array(const iw_net *net)
{
    const double fs_per_ns = 1e6;
    json_t *array = json_array();

    for (uint32_t i = 0; i < net->segment_count; i++) {
        const iw_net_segment *s = &net->segments[i];

        (void)json_array_append_new(
            array,
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "from_bytes", iwi_json_count(s->from_bytes),
                      "L_ns", iwi_json_ns((double)s->L_ps), "o_send_ns", iwi_json_ns((double)s->o_send_ps),
                      "o_recv_ns", iwi_json_ns((double)s->o_recv_ps), "g_ns", iwi_json_ns((double)s->g_ps),
                      "G_ns_per_byte", iwi_json_number((double)s->G / fs_per_ns), "O_ns_per_byte",
                      iwi_json_number((double)s->O / fs_per_ns)));
    }
    return array;
}

static json_t *net_object(const iw_net *net)
{
    const double fs_per_ns = 1e6;
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", iwi_json_text(net->name), "L_ns",
                  iwi_json_ns((double)net->L_ps), "o_send_ns", iwi_json_ns((double)net->o_send_ps),
                  "o_recv_ns", iwi_json_ns((double)net->o_recv_ps), "g_ns", iwi_json_ns((double)net->g_ps),
                  "G_ns_per_byte", iwi_json_number((double)net->G / fs_per_ns), "O_ns_per_byte",
                  iwi_json_number((double)net->O / fs_per_ns), "S_bytes", iwi_json_count(net->S_bytes));

    if (net->segment_count > 0) {
        (void)json_object_set_new(object, "segments", segments_array(net));
    }
    return object;
}

static json_t *noise_array(const iw_origin *origin)
{
    json_t *array = json_array();

    for (size_t i = 0; i < iwi_source_count(origin); i++) {
        json_t *source =
            json_pack("{s:o, s:o}", "spec", iwi_json_text(iw_noise_source_name(origin->noise, i)), "share",
                      iwi_json_number(iw_noise_source_share(origin->noise, i)));

        (void)json_array_append_new(array, source);
    }
    return array;
}

/* What ran: the part of the object before the times. */
static json_t *run_object(const iw_sim_result *result)
{
    json_t *object = json_pack("{s:s, s:o, s:o, s:o, s:o, s:s}", "schema", "idlewave.simulate/2", "ranks",
                               iwi_json_count(result->ranks), "trials", iwi_json_count(result->trials),
                               "first_trial", iwi_json_count(result->first_trial), "seed",
                               iwi_json_count(result->seed), "engine", iw_engine_name(result->engine));

    if (result->engine_note[0] != '\0') {
        (void)json_object_set_new(object, "engine_note", iwi_json_text(result->engine_note));
    }
    (void)json_object_set_new(object, "rules",
                              iwi_json_text(result->rules == IW_RULES_LOGGOPSIM ? "loggopsim" : "idlewave"));
    (void)json_object_set_new(object, "rendezvous",
                              iwi_json_text(result->rendezvous == IW_RENDEZVOUS_IDEAL ? "ideal" : "rts-cts"));
    (void)json_object_set_new(object, "lanes", iwi_json_count(result->lanes));
    (void)json_object_set_new(object, "threads", iwi_json_count(result->threads));
    (void)json_object_set_new(object, "processes", iwi_json_count(result->processes));
    (void)json_object_set_new(object, "parallel",
                              iwi_json_text(result->parallel == IW_PARALLEL_RANKS ? "ranks" : "trials"));
    (void)json_object_set_new(object, "resumed", json_boolean(result->is_resumed));
    (void)json_object_set_new(object, "messages", iwi_json_count(result->messages));
    return object;
}

/* The seconds are those since a restart point, the messages all: they make no rate. */
static json_t *cost_object(const iw_sim_result *result)
{
    const double messages = (double)result->messages * (double)result->trials;
    const bool is_known = result->engine_seconds > 0 && !result->is_resumed;
    const double rate = is_known ? round(messages / result->engine_seconds) : NAN;

    return json_pack("{s:o, s:o, s:o}", "engine_seconds",
                     iwi_json_number(round(result->engine_seconds * 1e9) / 1e9), "messages_per_second",
                     iwi_json_number(rate), "peak_rss_bytes", iwi_json_count(result->peak_rss_bytes));
}

static json_t *times_object(const iw_sim_result *result, const iw_origin *origin,
                            const iw_summary *makespan_ns)
{
    const iw_summary slowdown = iwi_slowdown_summary(makespan_ns, result->noiseless_ps);
    const iw_sync sync = origin->noise != NULL ? iw_noise_sync(origin->noise) : IW_SYNC_NONE;

    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:s}", "noiseless_ns", iwi_json_ns((double)result->noiseless_ps), "makespan_ns",
        summary(makespan_ns, exact_ns), "slowdown", summary(&slowdown, iwi_json_number), "noise",
        noise_array(origin), "sync", iwi_sync_name(sync));

    if (origin->noise != NULL) {
        iwi_json_add_nodes(object, iw_noise_ranks_per_node(origin->noise),
                           iw_noise_recorded_cpus(origin->noise), iw_noise_cpus(origin->noise));
    }
    (void)json_object_set_new(object, "delays", iwi_json_count(origin->delay_count));
    (void)json_object_set_new(object, "net", net_object(origin->net));
    return object;
}

/* Adds all of `more`, which is used up; false if it is missing. */
static bool add_all(json_t *object, json_t *more)
{
    const bool is_there = json_object_update(object, more) == 0;

    json_decref(more);
    return is_there;
}

static iw_status fill(const iw_log *log, const iw_sim_result *result, const iw_origin *origin,
                      const iw_summary *makespan_ns, json_t *object)
{
    json_t *rest =
        json_pack("{s:s, s:o, s:o, s:o}", "version", iw_version(), "command", iwi_json_text(origin->command),
                  "what", iwi_json_text(origin->what), "distribution", iwi_distribution_object(log, result));
    json_t *explain = NULL;
    bool is_whole = add_all(object, times_object(result, origin, makespan_ns));

    is_whole = add_all(object, cost_object(result)) && is_whole;
    is_whole = add_all(object, rest) && is_whole;
    is_whole =
        json_object_set_new(object, "recording",
                            origin->certainty != NULL ? iwi_certainty_object(origin->certainty, origin->set)
                                                      : json_null()) == 0 &&
        is_whole;
    if (origin->traced != NULL) {
        is_whole = json_object_set_new(object, "traced", iwi_traced_object(origin->traced)) == 0 && is_whole;
    }
    if (result->explain != NULL) {
        IW_TRY(iwi_explain_object(log, result, origin, &explain));
        is_whole = json_object_set_new(object, "explain", explain) == 0 && is_whole;
    }
    return is_whole ? IW_OK : iwi_fail(log, IW_ERR_NOMEM, "out of memory for the result");
}

iw_status iwi_result_new(const iw_log *log, const iw_sim_result *result, const iw_origin *origin,
                         json_t **object_p)
{
    iw_summary makespan_ns;
    json_t *object;
    iw_status status;

    IW_TRY(iw_summarize_trials(log, result, &makespan_ns));
    object = run_object(result);
    status = fill(log, result, origin, &makespan_ns, object);
    if (status != IW_OK) {
        json_decref(object);
        return status;
    }
    *object_p = object;
    return IW_OK;
}
