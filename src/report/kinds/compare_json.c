/* Comparisons for programs: one JSON object, schema "idlewave.noise-compare/1", or the sources as CSV.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <jansson.h>

#include <idlewave/idlewave.h>

#include "base/base.h"
#include "report/kinds/compare_report.h"
#include "schema/json_util.h"

static json_t *value_object(const iw_compare_value *value)
{
    return json_pack("{s:o, s:o, s:o, s:[o, o]}", "a", iwi_json_number(value->a), "b",
                     iwi_json_number(value->b), "difference", iwi_json_number(value->b - value->a), "ci95",
                     iwi_json_number(value->low), iwi_json_number(value->high));
}

static json_t *distance_object(const iw_compare_distance *value)
{
    return json_pack("{s:o, s:o, s:o}", "distance", iwi_json_number(value->distance), "by_chance",
                     iwi_json_number(value->by_chance), "p", iwi_json_number(value->p));
}

static json_t *side_object(const char *name, const iw_recording *recording, const iw_compare_side *side)
{
    return json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
                     iwi_json_text(name), "probe", iw_probe_name(recording->probe), "rung",
                     iw_rung_name(recording->rung), "cpus", iwi_json_count(side->cpu_count), "watched_ns",
                     iwi_json_number(side->watched_ns), "length_ns", iwi_json_number((double)side->length_ns),
                     "block_ns", iwi_json_number((double)side->block_ns), "blocks",
                     iwi_json_count(side->block_count), "threshold_ns", iwi_json_number(side->threshold_ns),
                     "count", iwi_json_count(side->count), "left_out", iwi_json_count(side->left_out),
                     "dropped", iwi_json_count(side->dropped));
}

static json_t *source_object(const iw_compare_source *source)
{
    return json_pack("{s:s, s:o, s:b, s:b, s:o}", "class", iw_class_name(source->source.kind), "name",
                     iwi_json_text(source->source.name), "in_a", source->is_in_a, "in_b", source->is_in_b,
                     "share", value_object(&source->share));
}

/* null: they cannot be compared. */
static json_t *sources_array(const iw_noise_comparison *c)
{
    json_t *array = c->has_sources ? json_array() : json_null();

    for (size_t i = 0; i < c->source_count; i++) {
        (void)json_array_append_new(array, source_object(&c->sources[i]));
    }
    return array;
}

static void add_note(void *arg, const char *text)
{
    (void)json_array_append_new(arg, iwi_json_text(text));
}

static json_t *notes_array(const iw_compared *compared)
{
    json_t *array = json_array();

    iwi_compare_notes(compared, add_note, array);
    return array;
}

static json_t *comparison_object(const iw_compared *compared)
{
    static const char *const verdicts[] = {[IW_COMPARE_SAME] = "same",
                                           [IW_COMPARE_BETTER] = "better",
                                           [IW_COMPARE_SLIGHT] = "slight",
                                           [IW_COMPARE_WORSE] = "worse",
                                           [IW_COMPARE_UNKNOWN] = "unknown"};
    const iw_noise_comparison *c = compared->comparison;

    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
                     "s:o, s:s}",
                     "schema", "idlewave.noise-compare/1", "verdict", verdicts[c->verdict], "metric",
                     iw_compare_metric_name(c->opts.metric), "tolerance", iwi_json_number(c->opts.tolerance),
                     "seed", iwi_json_count(c->opts.seed), "replicates", iwi_json_count(c->opts.replicates),
                     "a", side_object(compared->name_a, compared->a, &c->a), "b",
                     side_object(compared->name_b, compared->b, &c->b), "threshold_ns",
                     iwi_json_number(c->threshold_ns), "share", value_object(&c->metrics[IW_COMPARE_SHARE]),
                     "rate_hz", value_object(&c->metrics[IW_COMPARE_RATE]), "median_ns",
                     value_object(&c->metrics[IW_COMPARE_MEDIAN]), "p99_ns",
                     value_object(&c->metrics[IW_COMPARE_P99]), "longest_ns",
                     value_object(&c->metrics[IW_COMPARE_LONGEST]), "ks", distance_object(&c->ks),
                     "wasserstein_ns", distance_object(&c->wasserstein_ns), "sources", sources_array(c),
                     "notes", notes_array(compared), "version", iw_version());
}

iw_status iw_compare_write_json(const iw_log *log, const iw_compared *compared, FILE *out)
{
    return iwi_json_write(log, comparison_object(compared), out, "the JSON report");
}

iw_status iw_compare_write_csv(const iw_log *log, const iw_compared *compared, FILE *out)
{
    const iw_noise_comparison *c = compared->comparison;

    (void)fputs("class,source,share_a,share_b,difference,low,high\n", out);
    for (size_t i = 0; i < c->source_count; i++) {
        const iw_compare_value *share = &c->sources[i].share;
        const double numbers[] = {share->a, share->b, share->b - share->a, share->low, share->high};

        (void)fprintf(out, "%s,", iw_class_name(c->sources[i].source.kind));
        iwi_write_csv_field(out, c->sources[i].source.name);
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            (void)fputc(',', out);
            iwi_write_real(out, numbers[k]);
        }
        (void)fputc('\n', out);
    }
    return iwi_check_written(log, out, "the sources");
}
