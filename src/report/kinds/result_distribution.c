/* How end times are distributed: over the trials, or over the ranks of a single one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "report/kinds/result_report.h"
#include "schema/json_util.h"
#include "stats/select.h"

static const struct {
    const char *key;
    double percent;
} quantiles[IWI_QUANTILES] = {{"p0", 0.0},   {"p1", 1.0},   {"p5", 5.0},    {"p10", 10.0},
                              {"p25", 25.0}, {"p50", 50.0}, {"p75", 75.0},  {"p90", 90.0},
                              {"p95", 95.0}, {"p99", 99.0}, {"p100", 100.0}};

/* ---- writing ---- */

static json_t *quantiles_object(double *values_ps, size_t count)
{
    json_t *object = json_object();

    for (size_t i = 0; i < IWI_QUANTILES; i++) {
        const double ps = iwi_select_quantile(values_ps, count, quantiles[i].percent / 100.0);

        (void)json_object_set_new(object, quantiles[i].key, iwi_json_ns(ps));
    }
    return object;
}

static json_t *values_array(const iw_sim_result *result)
{
    json_t *array = json_array();

    for (uint64_t i = 0; i < result->trials; i++) {
        (void)json_array_append_new(array, iwi_json_ns((double)result->makespan_ps[i]));
    }
    return array;
}

json_t *iwi_distribution_object(const iw_log *log, const iw_sim_result *result)
{
    const bool is_of_ranks = result->trials == 1 && result->end_ps != NULL;
    const iw_time *times_ps = is_of_ranks ? result->end_ps : result->makespan_ps;
    const size_t count = is_of_ranks ? result->ranks : (size_t)result->trials;
    double *values_ps = iwi_new_array(log, count, sizeof *values_ps);
    json_t *object;

    if (values_ps == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        values_ps[i] = (double)times_ps[i];
    }
    object = json_pack("{s:s, s:o}", "of", is_of_ranks ? "ranks" : "trials", "quantiles_ns",
                       quantiles_object(values_ps, count));
    free(values_ps);
    if (object != NULL && result->trials <= IWI_MOST_TRIAL_VALUES) {
        (void)json_object_set_new(object, "trials_ns", values_array(result));
    }
    return object;
}

/* ---- reading ---- */

static void add(struct iwi_distribution *d, double percent, double time_ns)
{
    if (isfinite(time_ns)) {
        d->percent[d->count] = percent;
        d->time_ns[d->count++] = time_ns;
    }
}

/* Any that is no number makes the list useless: its places are the numbers of the trials. */
static bool is_numbers(const json_t *array)
{
    bool is_all = json_array_size(array) > 0;

    for (size_t i = 0; i < json_array_size(array) && is_all; i++) {
        is_all = json_is_number(json_array_get(array, i));
    }
    return is_all;
}

void iwi_result_distribution(const json_t *result, struct iwi_distribution *d)
{
    const json_t *object = json_object_get(result, "distribution");
    const json_t *known = json_object_get(object, "quantiles_ns"),
                 *values = json_object_get(object, "trials_ns");
    const iw_summary all = iwi_result_summary(result, "makespan_ns");
    const char *of = json_string_value(json_object_get(object, "of"));

    *d = (struct iwi_distribution){.is_of_ranks = of != NULL && of[0] == 'r'};
    for (size_t i = 0; i < IWI_QUANTILES; i++) {
        add(d, quantiles[i].percent, iwi_result_number(known, quantiles[i].key));
    }
    if (d->count == 0) {
        const double fallback[] = {all.min, all.q1, all.median, all.q3, all.max};

        for (size_t i = 0; i < 5; i++) {
            add(d, 25.0 * (double)i, fallback[i]);
        }
        d->is_of_ranks = false;
    }
    d->values_ns = is_numbers(values) ? values : NULL;
}
