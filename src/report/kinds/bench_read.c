/* Reads the JSON of a benchmark, and its values.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/bench_report.h"
#include "report/kinds/json_file.h"

static const char schema_name[] = "idlewave.bench/1";

double iwi_bench_number(const json_t *object, const char *first, const char *second, const char *key)
{
    return iwi_result_number(json_object_get(json_object_get(object, first), second), key);
}

static iw_status check(const iw_log *log, const char *path, const json_t *bench)
{
    static const char *const needed[] = {"ranks", "quantum_ns", "phases"};
    static const char *const times[] = {"phase_ns", "qt_ns", "bt_ns", "qtbt_ns", "operation_ns"};
    const char *schema = json_string_value(json_object_get(bench, "schema"));

    if (schema == NULL || strcmp(schema, schema_name) != 0) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is no result of bench: its schema is not \"%s\"", path,
                        schema_name);
    }
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!json_is_number(json_object_get(bench, needed[i]))) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s' is no whole result of bench: no number '%s' in it",
                            path, needed[i]);
        }
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (isnan(iwi_bench_number(bench, "quiet", times[i], "mean"))) {
            return iwi_fail(log, IW_ERR_FORMAT,
                            "'%s' is no whole result of bench: no number 'quiet.%s.mean' in it", path,
                            times[i]);
        }
    }
    return IW_OK;
}

iw_status iwi_bench_load(const iw_log *log, const char *path, json_t **object_p)
{
    json_t *bench;
    iw_status status;

    IW_TRY(iwi_json_load(log, path, &bench));
    status = check(log, path, bench);
    if (status == IW_OK) {
        *object_p = bench;
    } else {
        json_decref(bench);
    }
    return status;
}

bool iw_bench_is_result(const char *path)
{
    return iwi_json_has_schema(path, "idlewave.bench/");
}

iw_status iw_bench_load_baseline(const iw_log *log, const char *path, iw_bench_baseline *baseline_p)
{
    const json_t *value, *ends;
    json_t *bench;

    IW_TRY(iwi_bench_load(log, path, &bench));
    value = json_object_get(json_object_get(bench, "quiet"), "qtbt_ns");
    ends = json_object_get(value, "ci95");
    *baseline_p = (iw_bench_baseline){
        .qtbt_ns = iwi_result_number(value, "mean"),
        .low_ns = json_is_array(ends) ? json_number_value(json_array_get(ends, 0)) : NAN,
        .high_ns = json_is_array(ends) ? json_number_value(json_array_get(ends, 1)) : NAN,
        .quantum_ns = iwi_result_number(bench, "quantum_ns"),
        .ranks = (uint32_t)iwi_result_count(bench, "ranks"),
        .bytes = iwi_result_count(bench, "bytes"),
    };
    snprintf(baseline_p->op, sizeof baseline_p->op, "%s", iwi_result_text(bench, "operation"));
    snprintf(baseline_p->path, sizeof baseline_p->path, "%s", path);
    json_decref(bench);
    return IW_OK;
}
