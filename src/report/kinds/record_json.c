/* What has just been measured, as one JSON object, schema "idlewave.record/1".
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/measure.h>
#include <idlewave/whatif.h>

#include <math.h>

#include <jansson.h>

#include <idlewave/idlewave.h>

#include "base/base.h"
#include "report/kinds/record.h"
#include "report/kinds/report.h"
#include "schema/json_util.h"

enum { REAL_DIGITS = 15 };

struct iwi_resolution iwi_resolution(const iw_recording *recording)
{
    struct iwi_resolution limits = {HUGE_VAL, HUGE_VAL, 0.0};

    for (size_t i = 0; i < recording->cpu_count; i++) {
        limits.t_min_ns = fmin(limits.t_min_ns, recording->cpus[i].t_min_ns);
        limits.threshold_ns = fmin(limits.threshold_ns, recording->cpus[i].threshold_ns);
    }
    limits.limit_hz = 1e9 / (2.0 * limits.t_min_ns);
    return limits;
}

static json_t *attribute(const iw_recording *recording, const char *name)
{
    const char *value = iw_recording_get(recording, name);

    return value != NULL ? iwi_json_text(value) : json_null();
}

static json_t *cpu_numbers(const iw_recording *recording)
{
    json_t *array = json_array();

    for (size_t i = 0; i < recording->cpu_count; i++) {
        (void)json_array_append_new(array, iwi_json_count(recording->cpus[i].cpu));
    }
    return array;
}

static json_t *origin(const iw_recording *recording, const char *path)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:s}", "schema", "idlewave.record/1",
                     "file", iwi_json_text(path), "host", attribute(recording, "host"), "cpus",
                     cpu_numbers(recording), "probe", iw_probe_name(recording->probe), "rung",
                     iw_rung_name(recording->rung), "attribution_note",
                     attribute(recording, "attribution_note"), "clock", attribute(recording, "clock"),
                     "command", attribute(recording, "command"), "version", iw_version());
}

static json_t *verdict(const iw_recording *recording, const iw_noise_facts *facts)
{
    const struct iwi_resolution limits = iwi_resolution(recording);

    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "watched_ns", iwi_json_number(facts->watched_ns),
        "share", iwi_json_number(facts->all.share), "count", iwi_json_count(facts->all.count), "rate_hz",
        iwi_json_number(facts->all.rate_hz), "max_ns", iwi_json_number(facts->all.max_ns), "dropped",
        iwi_json_count(facts->dropped), "t_min_ns", iwi_json_number(limits.t_min_ns), "threshold_ns",
        iwi_json_number(limits.threshold_ns), "detection_limit_hz", iwi_json_number(limits.limit_hz));
}

/* Ranks that meet after each 1 and 10 ms of work. */
static json_t *reach(const iw_recording *recording)
{
    static const double works_s[] = {1e-3, 10e-3};
    json_t *array = json_array();

    for (size_t i = 0; i < sizeof works_s / sizeof works_s[0]; i++) {
        (void)json_array_append_new(array, json_pack("{s:o, s:o}", "work_ns",
                                                     iwi_json_number(1e9 * works_s[i]), "ranks",
                                                     iwi_json_number(iw_reach_ranks(recording, works_s[i]))));
    }
    return array;
}

iw_status iw_measure_write_json(const iw_log *log, const iw_recording *recording, const char *path, FILE *out)
{
    iw_noise_facts *facts;
    json_t *object, *numbers;
    bool is_made;

    IW_TRY(iw_noise_facts_new(log, recording, IWI_RECORD_LONG_NS, &facts));
    object = origin(recording, path);
    numbers = verdict(recording, facts);
    iw_noise_facts_free(facts);
    is_made = object != NULL && numbers != NULL && json_object_update(object, numbers) == 0 &&
              json_object_set_new(object, "reach", reach(recording)) == 0;
    if (is_made && json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(REAL_DIGITS)) == 0) {
        (void)fputc('\n', out);
    }
    json_decref(object);
    json_decref(numbers);
    return is_made ? iwi_check_written(log, out, "the JSON result")
                   : iwi_fail(log, IW_ERR_NOMEM, "out of memory for the JSON result");
}
