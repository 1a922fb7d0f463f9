/* The figure of one simulation that shows how its makespans are distributed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html_result.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "report/json_util.h"

/* ---- distribution ---- */

/* Where the longest time is so many times the shortest, the axis is logarithmic. */
static const double WIDE_RANGE = 10.0;

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void add_point(json_t *points, double time_ns, double share)
{
    (void)json_array_append_new(points,
                                json_pack("[o, o]", iwi_html_number(time_ns), iwi_html_number(share)));
}

/* [time, share of the trials that take no longer]: all trials where they are known, else the quantiles. */
static json_t *points_of(const iw_log *log, const struct iwi_distribution *d)
{
    const size_t count = json_array_size(d->values_ns);
    double *sorted_ns = iwi_new_array(log, count, sizeof *sorted_ns);
    json_t *points = json_array();

    if (d->is_of_ranks || count < 2 || sorted_ns == NULL) {
        for (size_t i = 0; i < d->count; i++) {
            add_point(points, d->time_ns[i], d->percent[i] / 100.0);
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            sorted_ns[i] = json_number_value(json_array_get(d->values_ns, i));
        }
        qsort(sorted_ns, count, sizeof *sorted_ns, compare_numbers);
        add_point(points, sorted_ns[0], 0.0);
        for (size_t i = 0; i < count; i++) {
            add_point(points, sorted_ns[i], (double)(i + 1) / (double)count);
        }
    }
    free(sorted_ns);
    return points;
}

static json_t *times_data(const iw_log *log, const json_t *result, const struct iwi_distribution *d)
{
    const json_t *interval = json_object_get(json_object_get(result, "makespan_ns"), "mean_ci95");
    const double noiseless_ns =
        iwi_result_is_disturbed(result) ? iwi_result_number(result, "noiseless_ns") : NAN;
    const double low_ns = fmin(d->time_ns[0], isnan(noiseless_ns) ? INFINITY : noiseless_ns);
    const double high_ns = d->time_ns[d->count - 1];
    const bool is_steps = !d->is_of_ranks && json_array_size(d->values_ns) > 1;

    return json_pack("{s:s, s:s, s:b, s:b, s:o, s:o, s:o}", "kind", "ecdf", "label",
                     d->is_of_ranks ? "Ranks that have ended" : "Trials that have ended", "steps", is_steps,
                     "log", low_ns > 0.0 && high_ns > WIDE_RANGE * low_ns, "noiseless",
                     iwi_html_number(noiseless_ns), "interval",
                     json_is_array(interval) && !d->is_of_ranks ? json_deep_copy(interval) : json_null(),
                     "points", points_of(log, d));
}

struct times_table {
    const json_t *result;
    const struct iwi_distribution *distribution;
};

static void write_time(FILE *out, const json_t *result, const char *name, double ns)
{
    const double slowdown = iwi_result_slowdown(result, ns);
    char number[IWI_NUMBER_SIZE];

    iwi_html_row_begin(out);
    iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", name);
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ns_time_text(ns, number));
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_slowdown_text(slowdown, number));
    iwi_html_row_end(out);
}

static void write_times_table(FILE *out, const void *arg)
{
    const struct times_table *table = arg;
    const struct iwi_distribution *d = table->distribution;
    const char *of = d->is_of_ranks ? "ranks" : "trials";
    char name[IWI_NUMBER_SIZE];

    iwi_html_head(out, true, "Have ended");
    iwi_html_head(out, false, "By then");
    iwi_html_head(out, false, "Slowdown");
    iwi_html_table_body(out);
    write_time(out, table->result, "without noise", iwi_result_number(table->result, "noiseless_ns"));
    for (size_t i = 0; i < d->count; i++) {
        if (d->percent[i] <= 0.0 || d->percent[i] >= 100.0) {
            snprintf(name, sizeof name, "the %s of the %s", d->percent[i] <= 0.0 ? "first" : "last", of);
        } else {
            snprintf(name, sizeof name, "%g %% of the %s", d->percent[i], of);
        }
        write_time(out, table->result, name, d->time_ns[i]);
    }
    if (!d->is_of_ranks) {
        write_time(out, table->result, "mean",
                   iwi_result_number(json_object_get(table->result, "makespan_ns"), "mean"));
    }
}

/* The time at which so many percent have ended; NaN if no quantile tells. */
static double time_at(const struct iwi_distribution *d, double percent)
{
    for (size_t i = 0; i < d->count; i++) {
        if (d->percent[i] == percent) {
            return d->time_ns[i];
        }
    }
    return NAN;
}

static void write_times_message(const json_t *result, const struct iwi_distribution *d, char *message)
{
    const char *of = d->is_of_ranks ? "ranks" : "trials";
    const double first_ns = d->time_ns[0], last_ns = d->time_ns[d->count - 1];
    char text[2][IWI_NUMBER_SIZE];

    if (first_ns == last_ns) {
        iwi_append(message, "All %s end after %s.", of, iwi_ns_time_text(last_ns, text[0]));
    } else {
        iwi_append(message, "Half of the %s have ended by %s, ", of,
                   iwi_ns_time_text(time_at(d, 50.0), text[0]));
        iwi_append(message, "all of them between %s and %s.", iwi_ns_time_text(first_ns, text[0]),
                   iwi_ns_time_text(last_ns, text[1]));
    }
    if (iwi_result_is_disturbed(result)) {
        iwi_append(message, " Dotted: without noise, %s.",
                   iwi_ns_time_text(iwi_result_number(result, "noiseless_ns"), text[0]));
    }
    if (!d->is_of_ranks &&
        json_is_array(json_object_get(json_object_get(result, "makespan_ns"), "mean_ci95"))) {
        iwi_append(message, " Band: 95 %% CI of the mean.");
    }
}

iw_status iwi_html_result_times(struct iwi_html *html, const json_t *result)
{
    struct iwi_distribution d;
    const struct times_table table = {result, &d};
    char message[IWI_PARAGRAPH_SIZE] = "";

    iwi_result_distribution(result, &d);
    write_times_message(result, &d, message);
    return iwi_html_figure(
        html, &(struct iwi_figure){.title = d.is_of_ranks ? "When the ranks end" : "When the trials end",
                                   .message = message,
                                   .data = times_data(html->log, result, &d),
                                   .table_caption =
                                       d.is_of_ranks ? "End times of the ranks" : "End times of the trials",
                                   .write_table = write_times_table,
                                   .arg = &table});
}
