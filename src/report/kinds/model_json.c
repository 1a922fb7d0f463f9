/* What models say, for programs: one JSON object, schema "idlewave.model/1", or a line of CSV for each row.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/model.h>

#include <inttypes.h>
#include <math.h>

#include <idlewave/idlewave.h>

#include "base/base.h"
#include "report/kinds/json_file.h"
#include "report/kinds/model_report.h"

static const char *barrier_name(const iw_model_report *report)
{
    return report->question.barrier == IW_MODEL_DISSEMINATION ? "dissemination" : "tree";
}

static json_t *estimate_object(iw_estimate estimate)
{
    return json_pack("{s:o, s:o, s:o}", "value", iwi_json_number(estimate.value), "low",
                     iwi_json_number(estimate.low), "high", iwi_json_number(estimate.high));
}

static json_t *check_object(const iw_model_report *report, size_t i)
{
    if (report->checks == NULL || report->checks[i].trials == 0) {
        return json_null();
    }
    return json_pack("{s:o, s:o}", "trials", iwi_json_count(report->checks[i].trials), "mean_ns",
                     estimate_object(report->checks[i].mean_ns));
}

static json_t *row_object(const iw_model_report *report, size_t i)
{
    const iw_model_row *row = &report->rows[i];
    const iw_source *source = iwi_model_dominant(report, i);

    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o}", "ranks", iwi_json_count(row->ranks), "noiseless_ns",
        iwi_json_number(row->noiseless_ns), "slowest_ns", estimate_object(row->slowest_ns), "at_least_ns",
        estimate_object(row->low_ns), "at_most_ns", estimate_object(row->high_ns), "median_ns",
        iwi_json_number(row->median_ns), "rests_on", iw_support_name(row->support), "worst_source",
        source != NULL ? iwi_json_text(iwi_model_source_name(source)) : json_null(), "simulated",
        check_object(report, i));
}

static json_t *rows_array(const iw_model_report *report)
{
    json_t *array = json_array();

    for (size_t i = 0; i < report->count; i++) {
        (void)json_array_append_new(array, row_object(report, i));
    }
    return array;
}

static json_t *horizon_object(const iw_window_horizon *horizon)
{
    static const char *const refusals[] = {
        [IW_REFUSAL_NONE] = "none",       [IW_REFUSAL_SHORT] = "short", [IW_REFUSAL_FEW] = "few",
        [IW_REFUSAL_MIXTURE] = "mixture", [IW_REFUSAL_HEAVY] = "heavy",
    };

    if (horizon == NULL) {
        return json_null();
    }
    return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "phases", iwi_json_number(horizon->phases),
                     "observed_ranks", iwi_json_number(horizon->observed_ranks), "tail_ranks",
                     iwi_json_number(horizon->tail_ranks), "refusal", refusals[horizon->refusal], "record_s",
                     iwi_json_number(horizon->record_s), "tail_shape", iwi_json_number(horizon->tail_shape),
                     "tail_from_ns", iwi_json_number(horizon->tail_from_ns));
}

static json_t *chains_object(const iw_model_chain *chains)
{
    static const char *const keys[] = {"one_way", "both_ways"};
    json_t *object;

    if (chains == NULL) {
        return json_null();
    }
    object = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        (void)json_object_set_new(object, keys[i],
                                  json_pack("{s:o, s:o, s:o}", "growth", iwi_json_number(chains[i].growth),
                                            "phase_ns", iwi_json_number(chains[i].phase_ns),
                                            "decay_ns_per_rank",
                                            iwi_json_number(chains[i].decay_ns_per_rank)));
    }
    return object;
}

iw_status iw_model_write_json(const iw_log *log, const iw_model_report *report, FILE *out)
{
    const size_t cpu_count = report->recording != NULL ? report->recording->cpu_count : 0;
    json_t *object =
        json_pack("{s:s, s:o}", "schema", "idlewave.model/1", "noise", iwi_json_text(report->noise));
    json_t *rest = json_pack(
        "{s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "net",
        report->net != NULL ? iwi_json_text(report->net) : json_null(), "work_ns",
        iwi_json_number(report->question.work_ns), "latency_ns", iwi_json_number(report->question.latency_ns),
        "barrier", barrier_name(report), "half_ranks", iwi_json_number(report->half_ranks), "half_rule",
        isnan(report->half_ranks) ? json_null() : json_string(iw_half_rule_name(report->half_rule)),
        "first_doubled", iwi_json_number(report->first_doubled), "last_doubled",
        iwi_json_number(report->last_doubled), "neighbours", chains_object(report->chains), "horizon",
        horizon_object(report->horizon), "rows", rows_array(report), "version", iw_version(), "command",
        iwi_json_text(report->command));

    iwi_json_add_nodes(object, cpu_count, cpu_count, report->cpus);
    (void)json_object_update(object, rest);
    json_decref(rest);
    return iwi_json_write(log, object, out, "the answers of the model");
}

/* Nothing between the commas where there is no number. */
static void write_field(FILE *out, double value)
{
    (void)fputc(',', out);
    if (!isnan(value) && !isinf(value)) {
        iwi_write_real(out, value);
    }
}

iw_status iw_model_write_csv(const iw_log *log, const iw_model_report *report, FILE *out)
{
    (void)fputs("ranks,noiseless_ns,slowest_ns,at_least_ns,at_most_ns,low95_ns,high95_ns,median_ns,rests_on,"
                "worst_source,simulated_ns,simulated_low95_ns,simulated_high95_ns\n",
                out);
    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];
        const iw_source *source = iwi_model_dominant(report, i);
        const iw_estimate none = {(double)NAN, (double)NAN, (double)NAN};
        const bool is_checked = report->checks != NULL && report->checks[i].trials > 0;
        const iw_estimate simulated = is_checked ? report->checks[i].mean_ns : none;

        (void)fprintf(out, "%" PRIu64, row->ranks);
        write_field(out, row->noiseless_ns);
        write_field(out, row->slowest_ns.value);
        write_field(out, row->low_ns.value);
        write_field(out, row->high_ns.value);
        write_field(out, row->low_ns.low);
        write_field(out, row->high_ns.high);
        write_field(out, row->median_ns);
        (void)fprintf(out, ",%s,", iw_support_name(row->support));
        iwi_write_csv_field(out, source != NULL ? iwi_model_source_name(source) : "");
        write_field(out, simulated.value);
        write_field(out, simulated.low);
        write_field(out, simulated.high);
        (void)fputc('\n', out);
    }
    return iwi_check_written(log, out, "the answers of the model");
}
