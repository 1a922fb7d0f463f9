/* Reads the JSON of one simulation, and its values.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/result_report.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/json_file.h"

/* ---- values ---- */

double iwi_result_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

uint64_t iwi_result_count(const json_t *object, const char *key)
{
    const double value = iwi_result_number(object, key);

    return value >= 0.0 && value < 0x1p64 ? (uint64_t)value : 0;
}

const char *iwi_result_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "-";
}

/* Files of "idlewave.simulate/1" have no such intervals. */
static double bound_of(const json_t *object, const char *key, size_t index)
{
    const json_t *bound = json_array_get(json_object_get(object, key), index);

    return json_is_number(bound) ? json_number_value(bound) : NAN;
}

iw_summary iwi_result_summary(const json_t *result, const char *key)
{
    const json_t *object = json_object_get(result, key);

    return (iw_summary){
        .count = (size_t)iwi_result_count(result, "trials"),
        .min = iwi_result_number(object, "min"),
        .q1 = iwi_result_number(object, "q1"),
        .median = iwi_result_number(object, "median"),
        .q3 = iwi_result_number(object, "q3"),
        .max = iwi_result_number(object, "max"),
        .mean = iwi_result_number(object, "mean"),
        .median_low = bound_of(object, "median_ci95", 0),
        .median_high = bound_of(object, "median_ci95", 1),
        .mean_low = bound_of(object, "mean_ci95", 0),
        .mean_high = bound_of(object, "mean_ci95", 1),
    };
}

const char *iwi_result_nodes(const json_t *object, char buf[IW_NODES_TEXT_SIZE])
{
    return iw_nodes_text(iwi_result_count(object, "ranks_per_node"),
                         iwi_result_count(object, "recorded_cpus"),
                         json_string_value(json_object_get(object, "noise_cpus")), buf);
}

size_t iwi_result_sources(const json_t *result)
{
    return json_array_size(json_object_get(result, "noise"));
}

bool iwi_result_is_disturbed(const json_t *result)
{
    return iwi_result_sources(result) > 0 || iwi_result_count(result, "delays") > 0;
}

double iwi_result_slowdown(const json_t *result, double time_ns)
{
    const double noiseless_ns = iwi_result_number(result, "noiseless_ns");

    return noiseless_ns > 0.0 ? (time_ns - noiseless_ns) / noiseless_ns : NAN;
}

/* ---- files ---- */

static iw_status need_number(const iw_log *log, const char *path, const json_t *object, const char *within,
                             const char *key)
{
    if (json_is_number(json_object_get(object, key))) {
        return IW_OK;
    }
    return iwi_fail(log, IW_ERR_FORMAT, "'%s' is no whole result of a simulation: no number '%s%s' in it",
                    path, within, key);
}

static iw_status check(const iw_log *log, const char *path, const json_t *result)
{
    static const char *const needed[] = {"ranks", "trials", "noiseless_ns"};
    static const char *const times[] = {"min", "q1", "median", "q3", "max", "mean"};
    const char *schema = json_string_value(json_object_get(result, "schema"));

    if (schema == NULL ||
        (strcmp(schema, "idlewave.simulate/2") != 0 && strcmp(schema, "idlewave.simulate/1") != 0)) {
        return iwi_fail(log, IW_ERR_FORMAT,
                        "'%s' is no result of a simulation: its schema is not \"idlewave.simulate/2\"", path);
    }
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        IW_TRY(need_number(log, path, result, "", needed[i]));
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        IW_TRY(need_number(log, path, json_object_get(result, "makespan_ns"), "makespan_ns.", times[i]));
    }
    return IW_OK;
}

iw_status iwi_result_load(const iw_log *log, const char *path, json_t **object_p)
{
    json_t *result;
    iw_status status;

    IW_TRY(iwi_json_load(log, path, &result));
    status = check(log, path, result);
    if (status == IW_OK) {
        *object_p = result;
    } else {
        json_decref(result);
    }
    return status;
}
