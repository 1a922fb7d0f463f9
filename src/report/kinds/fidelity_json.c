/* Self-checks for programs: one JSON object, schema "idlewave.fidelity/1".
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/fidelity.h>

#include <jansson.h>

#include <idlewave/idlewave.h>

#include "base/base.h"
#include "schema/json_util.h"

static json_t *quantiles_array(const iw_fidelity *f)
{
    json_t *array = json_array();

    for (size_t q = 0; q < IW_FIDELITY_QUANTILES; q++) {
        (void)json_array_append_new(
            array, json_pack("{s:o, s:o, s:o}", "q", iwi_json_number(iw_fidelity_quantile(q)), "expected_ns",
                             iwi_json_number(f->quantile_expected_ns[q]), "observed_ns",
                             iwi_json_number(f->quantile_observed_ns[q])));
    }
    return array;
}

static json_t *host_object(const iw_fidelity *f)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:b}", "share", iwi_json_number(f->host_share), "rate_hz",
                     iwi_json_number(f->host_rate_hz), "share_meanwhile", iwi_json_number(f->own_share),
                     "rate_meanwhile_hz", iwi_json_number(f->own_rate_hz), "right", f->is_own_right);
}

static json_t *power_object(const iw_fidelity *f)
{
    return json_pack("{s:o, s:o, s:o, s:b}", "expected", iwi_json_number(f->power_expected), "observed",
                     iwi_json_number(f->power_observed), "by_host", iwi_json_number(f->power_by_host),
                     "right", f->is_power_right);
}

static json_t *count_object(const iw_fidelity *f)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "hidden",
                     iwi_json_count(f->hidden_count), "hidden_by_host", iwi_json_number(f->hidden_by_host),
                     "expected", iwi_json_count(f->planned_count), "observed",
                     iwi_json_count(f->matched_count), "merged", iwi_json_count(f->merged_count), "excess",
                     iwi_json_count(f->excess_count), "own", iwi_json_count(f->own_count), "all",
                     iwi_json_count(f->observed_count), "right", f->is_count_right);
}

static json_t *durations_object(const iw_fidelity *f)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "compared", iwi_json_count(f->compared_count),
                     "quantiles", quantiles_array(f), "ks", iwi_json_number(f->ks), "wasserstein_ns",
                     iwi_json_number(f->wasserstein_ns), "kl", iwi_json_number(f->kl), "right",
                     f->are_quantiles_right);
}

static json_t *fidelity_object(const iw_fidelity *f)
{
    return json_pack("{s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "right", iw_fidelity_is_right(f),
                     "can_tell", iw_fidelity_can_tell(f), "time_scale", iwi_json_number(f->time_scale),
                     "watched_ns", iwi_json_number(f->watched_ns), "power", power_object(f), "count",
                     count_object(f), "durations", durations_object(f), "host", host_object(f),
                     "late_spread_ns", iwi_json_number(f->late_spread_ns));
}

static json_t *costs_object(const iw_inject_costs *costs)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "floor_ns", iwi_json_number(costs->floor_ns),
                     "overhead_ns", iwi_json_number(costs->overhead_ns), "late_share",
                     iwi_json_number(costs->late_share), "late_p50_ns", iwi_json_number(costs->late_p50_ns),
                     "late_p99_ns", iwi_json_number(costs->late_p99_ns), "gap_ns",
                     iwi_json_number(costs->gap_ns));
}

static json_t *trace_object(const iw_inject_facts *facts)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "events", iwi_json_count(facts->event_count),
                     "as_recorded", iwi_json_count(facts->as_recorded_count), "made",
                     iwi_json_count(facts->made_count), "noise_ns", iwi_json_number(facts->noise_ns),
                     "as_recorded_ns", iwi_json_number(facts->as_recorded_ns), "made_ns",
                     iwi_json_number(facts->made_ns), "length_ns", iwi_json_number((double)facts->length_ns));
}

static json_t *counts_object(const iw_inject_counts *counts)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "made", iwi_json_count(counts->made_count), "skipped",
                     iwi_json_count(counts->skipped_count), "made_ns", iwi_json_number(counts->made_ns),
                     "skipped_ns", iwi_json_number(counts->skipped_ns), "late_max_ns",
                     iwi_json_number(counts->late_max_ns));
}

iw_status iw_fidelity_write_json(const iw_log *log, const iw_fidelity_report *report, FILE *out)
{
    json_t *object = json_pack(
        "{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "schema", "idlewave.fidelity/1", "noise",
        iwi_json_text(report->noise), "back_end", report->back_end, "costs", costs_object(&report->costs),
        "trace", trace_object(&report->facts), "injected", counts_object(&report->counts), "fidelity",
        fidelity_object(&report->fidelity), "kl_ratio", iwi_json_number(iw_fidelity_kl_ratio(report)),
        "naive", report->has_naive ? fidelity_object(&report->naive) : json_null(), "version", iw_version());

    return iwi_json_write(log, object, out, "the JSON report");
}
