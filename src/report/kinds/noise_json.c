/* Recordings as one JSON object, schema "idlewave.noise/1"; docs/reference/formats/noise-json.md.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include <stdlib.h>

#include <jansson.h>

#include <idlewave/idlewave.h>

#include "base/base.h"
#include "report/kinds/noise_report.h"
#include "schema/json_util.h"

/* Adds all of `more`, which is used up; nothing if either is missing. */
static json_t *joined(json_t *object, json_t *more)
{
    if (object != NULL && (more == NULL || json_object_update(object, more) != 0)) {
        json_decref(object);
        object = NULL;
    }
    json_decref(more);
    return object;
}

static json_t *number_or_null(double value)
{
    return value > 0.0 ? iwi_json_number(value) : json_null();
}

static json_t *row_object(const iw_noise_row *row)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "count", iwi_json_count(row->count), "rate_hz",
                     iwi_json_number(row->rate_hz), "share", iwi_json_number(row->share), "median_ns",
                     iwi_json_number(row->median_ns), "p99_ns", iwi_json_number(row->p99_ns), "max_ns",
                     iwi_json_number(row->max_ns));
}

static json_t *source_object(const iw_source *source, const iw_noise_row *row)
{
    json_t *object =
        json_pack("{s:s, s:o}", "class", iw_class_name(source->kind), "name", iwi_json_text(source->name));
    json_t *period = json_pack("{s:o}", "period_ns", number_or_null(row->period_ns));

    return joined(joined(object, row_object(row)), period);
}

static json_t *cpu_object(const iw_detours *cpu, const iw_noise_row *row)
{
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o}", "cpu", iwi_json_count(cpu->cpu), "length_ns",
                               iwi_json_number((double)cpu->length_ns), "t_min_ns",
                               iwi_json_number(cpu->t_min_ns), "threshold_ns",
                               iwi_json_number(cpu->threshold_ns), "dropped", iwi_json_count(cpu->dropped));

    return joined(object, row_object(row));
}

/* The largest share first, as in the table for people; NULL when out of memory. */
static json_t *sources_array(const iw_log *log, const iw_recording *recording, const iw_noise_facts *facts)
{
    size_t *order = iwi_new_array(log, recording->source_count, sizeof *order);
    const size_t count = order != NULL ? iwi_order_rows(facts->by_source, recording->source_count, order) : 0;
    json_t *array = order != NULL ? json_array() : NULL;

    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(
            array, source_object(&recording->sources[order[i]], &facts->by_source[order[i]]));
    }
    free(order);
    return array;
}

static json_t *cpus_array(const iw_recording *recording, const iw_noise_facts *facts)
{
    json_t *array = json_array();

    for (size_t i = 0; i < recording->cpu_count; i++) {
        (void)json_array_append_new(array, cpu_object(&recording->cpus[i], &facts->by_cpu[i]));
    }
    return array;
}

static json_t *attributes_object(const iw_recording *recording)
{
    json_t *object = json_object();

    for (size_t i = 0; i < recording->attribute_count; i++) {
        (void)json_object_set_new(object, recording->attributes[i].name,
                                  iwi_json_text(recording->attributes[i].value));
    }
    return object;
}

static void add_warning(void *arg, const char *text)
{
    (void)json_array_append_new(arg, iwi_json_text(text));
}

static json_t *warnings_array(const iw_recording *recording, const iw_noise_facts *facts)
{
    json_t *array = json_array();

    iwi_noise_warnings(recording, facts, add_warning, array);
    return array;
}

static json_t *recording_object(const iw_log *log, const iw_recording *recording, const iw_noise_facts *facts,
                                const char *name)
{
    json_t *object = json_pack(
        "{s:s, s:o, s:s, s:s, s:o, s:o}", "schema", "idlewave.noise/1", "name", iwi_json_text(name), "probe",
        iw_probe_name(recording->probe), "rung", iw_rung_name(recording->rung), "quantum_ns",
        number_or_null((double)recording->quantum_ns), "watched_ns", iwi_json_number(facts->watched_ns));
    json_t *verdict =
        json_pack("{s:o, s:o, s:o, s:o}", "dropped", iwi_json_count(facts->dropped), "long_ns",
                  iwi_json_number(facts->long_ns), "critical_ranks", number_or_null(facts->critical_ranks),
                  "rare_limit_ns", iwi_json_number(facts->rare_limit_ns));
    json_t *rest =
        json_pack("{s:o, s:o, s:o, s:o, s:s}", "sources", sources_array(log, recording, facts), "cpus",
                  cpus_array(recording, facts), "warnings", warnings_array(recording, facts), "attributes",
                  attributes_object(recording), "version", iw_version());

    return joined(joined(joined(object, row_object(&facts->all)), verdict), rest);
}

iw_status iw_noise_write_json(const iw_log *log, const iw_recording *recording, const iw_noise_facts *facts,
                              const char *name, FILE *out)
{
    return iwi_json_write(log, recording_object(log, recording, facts, name), out, "the JSON report");
}
