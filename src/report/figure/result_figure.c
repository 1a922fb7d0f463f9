/* The figures of single simulations: when trials or ranks end, and what the critical path is made of.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/figure/result_figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* ---- distribution ---- */

/* Where the longest time is so many times the shortest, the axis is logarithmic. */
static const double WIDE_RANGE = 10.0;

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Every trial where all are known. */
static void add_trials(struct iwi_figure *figure, const json_t *values_ns)
{
    const size_t count = json_array_size(values_ns);
    double *sorted_ns = iwi_new_array(NULL, count, sizeof *sorted_ns);
    struct iwi_mark *steps = iwi_figure_mark(figure, IWI_MARK_STEP, iwi_series_ink(0), NULL);

    if (sorted_ns == NULL) {
        figure->is_broken = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        sorted_ns[i] = json_number_value(json_array_get(values_ns, i));
    }
    qsort(sorted_ns, count, sizeof *sorted_ns, compare_numbers);
    iwi_mark_add(figure, steps, (double[]){sorted_ns[0], 0.0});
    for (size_t i = 0; i < count; i++) {
        iwi_mark_add(figure, steps, (double[]){sorted_ns[i], (double)(i + 1) / (double)count});
    }
    free(sorted_ns);
}

static void add_quantiles(struct iwi_figure *figure, const struct iwi_distribution *d)
{
    struct iwi_mark *line = iwi_figure_mark(figure, IWI_MARK_LINE, iwi_series_ink(0), NULL);

    for (size_t i = 0; i < d->count; i++) {
        iwi_mark_add(figure, line, (double[]){d->time_ns[i], d->percent[i] / 100.0});
    }
}

static const json_t *interval_of(const json_t *result, const struct iwi_distribution *d)
{
    const json_t *interval = json_object_get(json_object_get(result, "makespan_ns"), "mean_ci95");

    return json_is_array(interval) && !d->is_of_ranks ? interval : NULL;
}

static void add_marks(struct iwi_figure *figure, const json_t *result, const struct iwi_distribution *d)
{
    const json_t *interval = interval_of(result, d);
    struct iwi_mark *mark;

    if (interval != NULL) {
        mark = iwi_figure_mark(figure, IWI_MARK_BAND, iwi_series_ink(0), NULL);
        for (size_t i = 0; i < 2; i++) {
            iwi_mark_add(figure, mark, (double[]){json_number_value(json_array_get(interval, i)), 0.0, 1.0});
        }
    }
    if (iwi_result_is_disturbed(result)) {
        mark = iwi_figure_mark(figure, IWI_MARK_RULE_X, IWI_INK_TEXT, NULL);
        mark->dash = IWI_DOTTED;
        iwi_mark_add_named(figure, mark, (double[]){iwi_result_number(result, "noiseless_ns")},
                           "without noise", false);
    }
    if (!d->is_of_ranks && json_array_size(d->values_ns) > 1) {
        add_trials(figure, d->values_ns);
    } else {
        add_quantiles(figure, d);
    }
}

static void add_time(struct iwi_figure *figure, const json_t *result, const char *name, double ns)
{
    const double slowdown = iwi_result_slowdown(result, ns);
    char number[IWI_NUMBER_SIZE];

    iwi_figure_cell(figure, "%s", name);
    iwi_figure_cell(figure, "%s", iwi_ns_time_text(ns, number));
    iwi_figure_cell(figure, "%s", iwi_slowdown_text(slowdown, number));
}

static void add_times_table(struct iwi_figure *figure, const json_t *result, const struct iwi_distribution *d)
{
    const char *of = d->is_of_ranks ? "ranks" : "trials";
    char name[IWI_NUMBER_SIZE];

    iwi_figure_table(figure, d->is_of_ranks ? "End times of the ranks" : "End times of the trials");
    iwi_figure_head(figure, true, "Have ended");
    iwi_figure_head(figure, false, "By then");
    iwi_figure_head(figure, false, "Slowdown");
    add_time(figure, result, "without noise", iwi_result_number(result, "noiseless_ns"));
    for (size_t i = 0; i < d->count; i++) {
        if (d->percent[i] <= 0.0 || d->percent[i] >= 100.0) {
            snprintf(name, sizeof name, "the %s of the %s", d->percent[i] <= 0.0 ? "first" : "last", of);
        } else {
            snprintf(name, sizeof name, "%g %% of the %s", d->percent[i], of);
        }
        add_time(figure, result, name, d->time_ns[i]);
    }
    if (!d->is_of_ranks) {
        add_time(figure, result, "mean", iwi_result_number(json_object_get(result, "makespan_ns"), "mean"));
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

iw_status iwi_result_times_figure(const iw_log *log, const json_t *result, struct iwi_figure **figure_p)
{
    char message[IWI_PARAGRAPH_SIZE] = "";
    struct iwi_distribution d;
    struct iwi_figure *figure;
    double low_ns;

    iwi_result_distribution(result, &d);
    IW_TRY(iwi_figure_new(log, d.is_of_ranks ? "When the ranks end" : "When the trials end", &figure));
    low_ns = iwi_result_is_disturbed(result) ? fmin(d.time_ns[0], iwi_result_number(result, "noiseless_ns"))
                                             : d.time_ns[0];
    figure->height = 0.46;
    figure->is_wide = true;
    figure->x =
        (struct iwi_figure_axis){.label = "Time",
                                 .unit = IWI_AXIS_NS,
                                 .is_log = low_ns > 0.0 && d.time_ns[d.count - 1] > WIDE_RANGE * low_ns};
    figure->y =
        (struct iwi_figure_axis){.label = d.is_of_ranks ? "Ranks that have ended" : "Trials that have ended",
                                 .unit = IWI_AXIS_SHARE,
                                 .high = 1.0};
    add_marks(figure, result, &d);
    add_times_table(figure, result, &d);
    write_times_message(result, &d, message);
    figure->message = iwi_figure_text(figure, "%s", message);
    *figure_p = figure;
    return IW_OK;
}

/* ---- critical path ---- */

/* Of a part, on average over trials; NaN if that is not known. */
static double average_ns(const json_t *explain, const char *name)
{
    const json_t *parts = json_object_get(json_object_get(explain, "average"), "parts_ns");

    return iwi_result_number(json_object_get(parts, name), "mean");
}

/* Parts that no path has are left out of the plot. */
static bool is_used(const json_t *explain, const char *name)
{
    return iwi_result_number(json_object_get(explain, "parts"), name) > 0.0 ||
           iwi_result_number(json_object_get(explain, "mean_parts"), name) > 0.0 ||
           average_ns(explain, name) > 0.0;
}

enum { PATH_LAST, PATH_AVERAGE_RANK, PATH_AVERAGE_TRIAL };

static double part_ns(const json_t *explain, int row, const char *name)
{
    const double ns =
        row == PATH_AVERAGE_TRIAL
            ? average_ns(explain, name)
            : iwi_result_number(json_object_get(explain, row == PATH_LAST ? "parts" : "mean_parts"), name);

    return fmax(ns, 0.0);
}

/* Parts of the network have colours of their own; what is none of them is a source of noise. */
static enum iwi_ink ink_of_part(const char *name, size_t index)
{
    return strcmp(iwi_part_words(name), name) == 0 ? IWI_INK_NOISE : iwi_series_ink(index);
}

static void add_parts(struct iwi_figure *figure, const json_t *explain)
{
    const double half = 0.22, offset = 0.06; /* of a row, below its name */
    double from_ns[PATH_AVERAGE_TRIAL + 1] = {0.0};
    json_t *parts = json_object_get(explain, "parts"), *value;
    const char *name;
    size_t index = 0;

    json_object_foreach(parts, name, value)
    {
        struct iwi_mark *bars;

        if (!is_used(explain, name)) {
            continue;
        }
        bars = iwi_figure_mark(figure, IWI_MARK_BAR, ink_of_part(name, index), iwi_part_words(name));
        for (size_t row = 0; row < figure->y.name_count; row++) {
            const double ns = part_ns(explain, (int)row, name), middle = (double)row + 1.0 + offset;
            char text[IWI_NUMBER_SIZE];

            iwi_mark_add_named(figure, bars,
                               (double[]){from_ns[row], from_ns[row] + ns, middle - half, middle + half},
                               iwi_ns_time_text(ns, text), false);
            from_ns[row] += ns;
        }
        index++;
    }
}

static double sum_of(json_t *parts)
{
    double sum = 0.0;
    const char *name;
    json_t *value;

    json_object_foreach(parts, name, value)
    {
        sum += json_number_value(value);
    }
    return fmax(sum, 1e-3);
}

static void add_average(struct iwi_figure *figure, const json_t *explain, const char *name)
{
    const json_t *part =
        json_object_get(json_object_get(json_object_get(explain, "average"), "parts_ns"), name);
    const json_t *interval = json_object_get(part, "ci95");
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    iwi_figure_cell(figure, "%s", iwi_ns_time_text(iwi_result_number(part, "mean"), low));
    if (json_array_size(interval) == 2) {
        iwi_figure_cell(figure, "%s to %s",
                        iwi_ns_time_text(json_number_value(json_array_get(interval, 0)), low),
                        iwi_ns_time_text(json_number_value(json_array_get(interval, 1)), high));
    } else {
        iwi_figure_cell(figure, "-");
    }
}

static void add_path_table(struct iwi_figure *figure, const json_t *explain)
{
    const bool has_average = json_is_object(json_object_get(explain, "average"));
    json_t *parts = json_object_get(explain, "parts"), *means = json_object_get(explain, "mean_parts");
    const double sum = sum_of(parts), mean_sum = sum_of(means);
    char text[IWI_NUMBER_SIZE];
    const char *name;
    json_t *value;

    iwi_figure_table(figure, "What the critical path is made of");
    iwi_figure_head(figure, true, "Part");
    iwi_figure_head(figure, false, "Path of the last rank");
    iwi_figure_head(figure, false, "Share");
    iwi_figure_head(figure, false, "Path of the average rank");
    iwi_figure_head(figure, false, "Share");
    if (has_average) {
        iwi_figure_head(figure, false, "Last rank, average of the trials");
        iwi_figure_head(figure, false, "95 %% CI");
    }
    json_object_foreach(parts, name, value)
    {
        const double ns = json_number_value(value), mean_ns = iwi_result_number(means, name);

        iwi_figure_cell(figure, "%s", iwi_part_words(name));
        iwi_figure_cell(figure, "%s", iwi_ns_time_text(ns, text));
        iwi_figure_cell(figure, "%s", iwi_percent_text(ns / sum, text));
        iwi_figure_cell(figure, "%s", iwi_ns_time_text(mean_ns, text));
        iwi_figure_cell(figure, "%s", iwi_percent_text(mean_ns / mean_sum, text));
        if (has_average) {
            add_average(figure, explain, name);
        }
    }
}

static void write_path_message(const json_t *explain, char *message)
{
    json_t *parts = json_object_get(explain, "parts");
    const char *name, *largest = "nothing";
    double most = 0.0;
    char number[IWI_NUMBER_SIZE];
    json_t *value;

    json_object_foreach(parts, name, value)
    {
        if (json_number_value(value) > most) {
            most = json_number_value(value);
            largest = name;
        }
    }
    iwi_append(message,
               "The path of dependences that ends with the last rank, rank %" PRIu64
               ", in the trial with the median "
               "time: most of it, %s, is %.120s; it has %" PRIu64 " messages.",
               iwi_result_count(explain, "last_rank"), iwi_percent_text(most / sum_of(parts), number),
               iwi_part_words(largest), iwi_result_count(explain, "hops"));
    if (json_is_object(json_object_get(explain, "average"))) {
        iwi_append(message, " The third bar is the average of such paths over %" PRIu64 " trials.",
                   iwi_result_count(json_object_get(explain, "average"), "trials"));
    }
}

iw_status iwi_result_path_figure(const iw_log *log, const json_t *explain, struct iwi_figure **figure_p)
{
    char message[IWI_PARAGRAPH_SIZE] = "";
    struct iwi_figure *figure;

    IW_TRY(iwi_figure_new(log, "The critical path", &figure));
    figure->is_wide = true;
    figure->x = (struct iwi_figure_axis){.label = "Time", .unit = IWI_AXIS_NS};
    figure->y = (struct iwi_figure_axis){.label = "", .unit = IWI_AXIS_NAMES};
    iwi_axis_name(figure, &figure->y, "last rank");
    iwi_axis_name(figure, &figure->y, "average rank");
    if (json_is_object(json_object_get(explain, "average"))) {
        iwi_axis_name(figure, &figure->y, "last rank, average of the trials");
    }
    figure->height = 0.12 + 0.1 * (double)figure->y.name_count;
    add_parts(figure, explain);
    add_path_table(figure, explain);
    write_path_message(explain, message);
    figure->message = iwi_figure_text(figure, "%s", message);
    *figure_p = figure;
    return IW_OK;
}
