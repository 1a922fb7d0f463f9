/* Reports of the JSON that `simulate` wrote: text for people, and all its numbers as CSV.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "base/base.h"
#include "report/kinds/result_report.h"

enum { BAR_COLUMNS = 40 };

/* ---- text ---- */

static void write_quantile(FILE *out, const json_t *result, const struct iwi_distribution *d, size_t i)
{
    const double first_ns = d->time_ns[0], last_ns = d->time_ns[d->count - 1];
    const double slowdown = iwi_result_slowdown(result, d->time_ns[i]);
    char name[IWI_NUMBER_SIZE], number[IWI_NUMBER_SIZE];

    if (d->percent[i] <= 0.0 || d->percent[i] >= 100.0) {
        snprintf(name, sizeof name, "%s", d->percent[i] <= 0.0 ? "the first" : "all");
    } else {
        snprintf(name, sizeof name, "%g %%", d->percent[i]);
    }
    (void)fprintf(out, "  %11s %10s", name, iwi_ns_time_text(d->time_ns[i], number));
    if (iwi_result_is_disturbed(result)) {
        (void)fprintf(out, " %11s", iwi_slowdown_text(slowdown, number));
    }
    if (d->time_ns[i] > first_ns) {
        (void)fputs("  ", out);
        (void)iwi_write_bar(out, (d->time_ns[i] - first_ns) / (last_ns - first_ns), BAR_COLUMNS);
    }
    (void)fputc('\n', out);
}

static void write_distribution(FILE *out, const json_t *result)
{
    struct iwi_distribution d;
    const char *of;
    char time[IWI_NUMBER_SIZE];

    iwi_result_distribution(result, &d);
    of = d.is_of_ranks ? "ranks" : "trials";
    if (d.time_ns[0] == d.time_ns[d.count - 1]) {
        if (iwi_result_count(result, of) > 1) {
            (void)fprintf(out, "\nAll %s end after %s.\n", of, iwi_ns_time_text(d.time_ns[0], time));
        }
        return;
    }
    (void)fprintf(out, "\nWhen the %s end (bars: from the first to the last):\n\n  %11s %10s%s\n", of, of,
                  "by then", iwi_result_is_disturbed(result) ? "    slowdown" : "");
    for (size_t i = 0; i < d.count; i++) {
        write_quantile(out, result, &d, i);
    }
}

iw_status iw_result_report_text(const iw_log *log, const char *path, FILE *out)
{
    json_t *result;

    IW_TRY(iwi_result_load(log, path, &result));
    iwi_write_result_text(result, out);
    write_distribution(out, result);
    json_decref(result);
    return iwi_check_written(log, out, "the report");
}

/* ---- CSV ---- */

static void write_row(FILE *out, const char *kind, const char *name, double time_ns, double slowdown)
{
    (void)fprintf(out, "%s,", kind);
    iwi_write_csv_field(out, name);
    (void)fputc(',', out);
    if (isfinite(time_ns)) {
        iwi_write_real(out, time_ns);
    }
    (void)fputc(',', out);
    if (isfinite(slowdown)) {
        iwi_write_real(out, slowdown);
    }
    (void)fputc('\n', out);
}

static void write_numbered(FILE *out, const json_t *result, const char *kind, double number, double time_ns)
{
    char name[IWI_NUMBER_SIZE];

    snprintf(name, sizeof name, "%.15g", number);
    write_row(out, kind, name, time_ns, iwi_result_slowdown(result, time_ns));
}

static void write_times(FILE *out, const json_t *result)
{
    const double first_trial = fmax(iwi_result_number(result, "first_trial"), 0.0);
    const double noiseless_ns = iwi_result_number(result, "noiseless_ns");
    struct iwi_distribution d;

    iwi_result_distribution(result, &d);
    write_row(out, "noiseless", "", noiseless_ns, iwi_result_slowdown(result, noiseless_ns));
    for (size_t i = 0; i < d.count; i++) {
        write_numbered(out, result, d.is_of_ranks ? "ranks percentile" : "trials percentile", d.percent[i],
                       d.time_ns[i]);
    }
    for (size_t i = 0; i < json_array_size(d.values_ns); i++) {
        write_numbered(out, result, "trial", first_trial + (double)i,
                       json_number_value(json_array_get(d.values_ns, i)));
    }
}

static void write_parts(FILE *out, const char *kind, json_t *parts)
{
    const char *name;
    json_t *value;

    json_object_foreach(parts, name, value)
    {
        const json_t *time = json_is_object(value) ? json_object_get(value, "mean") : value;

        write_row(out, kind, name, json_is_number(time) ? json_number_value(time) : NAN, NAN);
    }
}

iw_status iw_result_report_csv(const iw_log *log, const char *path, FILE *out)
{
    const json_t *explain;
    json_t *result;

    IW_TRY(iwi_result_load(log, path, &result));
    explain = json_object_get(result, "explain");
    (void)fputs("kind,name,time_ns,slowdown\n", out);
    write_times(out, result);
    write_parts(out, "part of the last rank", json_object_get(explain, "parts"));
    write_parts(out, "part of the average rank", json_object_get(explain, "mean_parts"));
    write_parts(out, "part of the average trial",
                json_object_get(json_object_get(explain, "average"), "parts_ns"));
    json_decref(result);
    return iwi_check_written(log, out, "the CSV report");
}
