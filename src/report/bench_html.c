/* The page of a benchmark, from the JSON that `bench` wrote.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "base/base.h"
#include "report/bench_parts.h"

static void write_title(FILE *out, const void *subject)
{
    char operation[IWI_NUMBER_SIZE];

    (void)fprintf(out, "bench %s", iwi_bench_op_text(subject, operation));
}

static void write_verdict(FILE *out, const json_t *bench)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    iwi_bench_verdict(bench, text);
    (void)fputs("<section class=\"verdict\" aria-labelledby=\"verdict\">\n<h2 id=\"verdict\">Verdict</h2>\n",
                out);
    iwi_html_paragraph(out, NULL, "%s", text);
    text[0] = '\0';
    iwi_bench_prediction(bench, text);
    if (text[0] != '\0') {
        iwi_html_paragraph(out, NULL, "%s", text);
    }
    (void)fputs("</section>\n", out);
}

/* ---- without, with, simulated ---- */

static void write_slowdown_cells(FILE *out, const json_t *slowdown)
{
    const double share = iwi_result_number(slowdown, "share");
    char number[IWI_NUMBER_SIZE], interval[IWI_RANGE_SIZE];

    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", isnan(share) ? "" : iwi_slowdown_text(share, number));
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_bench_interval_text(slowdown, interval));
}

static void write_measured_row(FILE *out, const char *name, const json_t *times, const json_t *slowdown)
{
    static const char *const keys[] = {"qt_ns", "bt_ns", "qtbt_ns", "phase_ns"};
    char number[IWI_NUMBER_SIZE];

    iwi_html_row_begin(out);
    iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", name);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                      iwi_ns_time_text(iwi_result_number(json_object_get(times, keys[i]), "mean"), number));
    }
    write_slowdown_cells(out, slowdown);
    iwi_html_row_end(out);
}

static void write_simulated_row(FILE *out, const char *name, double ns, const json_t *slowdown)
{
    char number[IWI_NUMBER_SIZE];

    iwi_html_row_begin(out);
    iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", name);
    for (int i = 0; i < 3; i++) {
        iwi_html_cell(out, IWI_CELL_NUMBER, " ");
    }
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ns_time_text(ns, number));
    write_slowdown_cells(out, slowdown);
    iwi_html_row_end(out);
}

static void write_comparison(FILE *out, const json_t *bench)
{
    static const char *const heads[] = {"Work",          "Operation", "Both",
                                        "Time of phase", "Slowdown",  "95 % interval"};
    const json_t *simulated = json_object_get(bench, "simulated"), *noisy = json_object_get(bench, "noisy");

    iwi_html_table_begin(
        out, "Means of the slowest rank of each phase; the time of a phase by that of whole blocks");
    iwi_html_head(out, true, "Phases");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        iwi_html_head(out, false, "%s", heads[i]);
    }
    iwi_html_table_body(out);
    write_measured_row(out, json_is_object(noisy) ? "without injected noise" : "measured",
                       json_object_get(bench, "quiet"), NULL);
    if (json_is_object(noisy)) {
        write_measured_row(out, "with injected noise", noisy, json_object_get(bench, "slowdown"));
    }
    if (json_is_object(simulated)) {
        write_simulated_row(out, "simulated without noise", iwi_result_number(simulated, "noiseless_ns"),
                            NULL);
        write_simulated_row(out, "simulated with the same noise", iwi_result_number(simulated, "noisy_ns"),
                            json_object_get(simulated, "slowdown"));
    }
    iwi_html_table_end(out);
}

/* ---- histograms ---- */

static void write_quantile_table(FILE *out, const void *arg)
{
    const json_t *quantiles = json_object_get(json_object_get(arg, "qtbt_ns"), "quantiles");
    char number[IWI_NUMBER_SIZE];

    iwi_html_head(out, true, "Share of the phases");
    iwi_html_head(out, false, "Take no longer than");
    iwi_html_table_body(out);
    for (size_t i = 0; i < IW_BENCH_QUANTILES; i++) {
        iwi_html_row_begin(out);
        iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%g %%", 100.0 * iw_bench_quantile(i));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                      iwi_ns_time_text(iwi_result_number(quantiles, iwi_bench_quantile_key(i)), number));
        iwi_html_row_end(out);
    }
}

/* Where bins are that are not empty. */
struct range {
    double low, high;
};

static bool is_used(const json_t *bin)
{
    return json_number_value(json_array_get(bin, 2)) > 0.0;
}

static void widen(struct range *range, const json_t *histogram)
{
    for (size_t i = 0; i < json_array_size(histogram); i++) {
        const json_t *bin = json_array_get(histogram, i);

        if (is_used(bin)) {
            range->low = fmin(range->low, json_number_value(json_array_get(bin, 0)));
            range->high = fmax(range->high, json_number_value(json_array_get(bin, 1)));
        }
    }
}

/* One for both pictures: they are there to be compared. */
static struct range range_of(const json_t *bench)
{
    struct range range = {INFINITY, 0.0};

    widen(&range, json_object_get(json_object_get(bench, "quiet"), "histogram"));
    widen(&range, json_object_get(json_object_get(bench, "noisy"), "histogram"));
    return range;
}

static json_t *histogram_data(const json_t *histogram, const struct range *range)
{
    json_t *bins = json_array();

    for (size_t i = 0; i < json_array_size(histogram); i++) {
        const json_t *bin = json_array_get(histogram, i);

        if (is_used(bin)) {
            (void)json_array_append_new(
                bins, json_pack("[o, o, I]", iwi_html_number(json_number_value(json_array_get(bin, 0))),
                                iwi_html_number(json_number_value(json_array_get(bin, 1))),
                                (json_int_t)json_number_value(json_array_get(bin, 2))));
        }
    }
    return json_pack("{s:s, s:o, s:[o, o]}", "kind", "histogram", "bins", bins, "range",
                     iwi_html_number(range->low), iwi_html_number(range->high));
}

static iw_status write_histogram(struct iwi_html *html, const char *title, const json_t *times,
                                 const struct range *range)
{
    const json_t *quantiles = json_object_get(json_object_get(times, "qtbt_ns"), "quantiles");
    char message[IWI_PARAGRAPH_SIZE] = "", number[3][IWI_NUMBER_SIZE];

    if (json_array_size(json_object_get(times, "histogram")) == 0) {
        return IW_OK;
    }
    iwi_append(message,
               "Half of the phases take at most %s, 99 %% at most %s, the longest %s. Both axes are "
               "logarithmic.",
               iwi_ns_time_text(iwi_result_number(quantiles, "p50"), number[0]),
               iwi_ns_time_text(iwi_result_number(quantiles, "p99"), number[1]),
               iwi_ns_time_text(iwi_result_number(quantiles, "p100"), number[2]));
    return iwi_html_figure(
        html, &(struct iwi_figure){.title = title,
                                   .message = message,
                                   .data = histogram_data(json_object_get(times, "histogram"), range),
                                   .table_caption = "How long phases take",
                                   .write_table = write_quantile_table,
                                   .arg = times});
}

/* ---- ranks ---- */

static void write_time_cell(FILE *out, const json_t *object, const char *key)
{
    char number[IWI_NUMBER_SIZE];

    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ns_time_text(iwi_result_number(object, key), number));
}

static void write_ranks(FILE *out, const json_t *bench)
{
    const json_t *ranks = json_object_get(bench, "per_rank");
    const bool has_noise = json_is_object(json_object_get(bench, "noisy"));

    iwi_html_table_begin(out, "Means of each rank");
    iwi_html_head(out, false, "Rank");
    iwi_html_head(out, true, "Host");
    iwi_html_head(out, false, "Work undisturbed");
    iwi_html_head(out, false, "Work");
    iwi_html_head(out, false, "Operation");
    if (has_noise) {
        iwi_html_head(out, false, "Work with noise");
        iwi_html_head(out, false, "Operation with noise");
        iwi_html_head(out, false, "Detours made");
    }
    iwi_html_table_body(out);
    for (size_t i = 0; i < json_array_size(ranks); i++) {
        const json_t *rank = json_array_get(ranks, i);

        iwi_html_row_begin(out);
        iwi_html_cell(out, IWI_CELL_ROW_HEAD, "%" PRIu64, iwi_result_count(rank, "rank"));
        iwi_html_cell(out, IWI_CELL_WORDS, "%s", iwi_result_text(rank, "host"));
        write_time_cell(out, rank, "undisturbed_ns");
        write_time_cell(out, json_object_get(rank, "quiet"), "qt_ns");
        write_time_cell(out, json_object_get(rank, "quiet"), "bt_ns");
        if (has_noise) {
            write_time_cell(out, json_object_get(rank, "noisy"), "qt_ns");
            write_time_cell(out, json_object_get(rank, "noisy"), "bt_ns");
            iwi_html_cell(out, IWI_CELL_NUMBER, "%" PRIu64,
                          iwi_result_count(json_object_get(rank, "injected"), "made"));
        }
        iwi_html_row_end(out);
    }
    iwi_html_table_end(out);
}

/* ---- page ---- */

static void write_origin(FILE *out, const json_t *bench)
{
    char text[IWI_PARAGRAPH_SIZE];

    for (int i = 0; i < IWI_BENCH_NOTES; i++) {
        if (iwi_bench_note(bench, i, text)) {
            iwi_html_paragraph(out, NULL, "%s", text);
        }
    }
    iwi_html_values(out, "How this was made", bench);
}

static iw_status write_body(struct iwi_html *html, const void *subject)
{
    const json_t *bench = subject, *noisy = json_object_get(bench, "noisy");
    const struct range range = range_of(bench);
    FILE *out = html->out;
    char operation[IWI_NUMBER_SIZE];

    (void)fputs("<header>\n<h1>", out);
    iwi_html_format(out, "bench %s", iwi_bench_op_text(bench, operation));
    (void)fputs("</h1>\n", out);
    iwi_html_paragraph(out, "subtitle", "Phases of work and an operation, on %" PRIu64 " ranks",
                       iwi_result_count(bench, "ranks"));
    (void)fputs("</header>\n<main>\n", out);
    write_verdict(out, bench);
    iwi_html_section(out, "times", "How long phases take");
    write_comparison(out, bench);
    (void)fputs("<div class=\"figures\">\n", out);
    IW_TRY(write_histogram(html, json_is_object(noisy) ? "Phases without injected noise" : "Phases",
                           json_object_get(bench, "quiet"), &range));
    if (json_is_object(noisy)) {
        IW_TRY(write_histogram(html, "Phases with injected noise", noisy, &range));
    }
    (void)fputs("</div>\n", out);
    iwi_html_section(out, "ranks", "Ranks");
    write_ranks(out, bench);
    iwi_html_section(out, "origin", "How sure that is");
    write_origin(out, bench);
    (void)fputs("</main>\n", out);
    return IW_OK;
}

static const struct iwi_html_kind bench_kind = {
    .name = "bench", .write_title = write_title, .write_body = write_body};

iw_status iwi_bench_html(const iw_log *log, const json_t *bench, enum iwi_html_plots plots, FILE *out)
{
    return iwi_html_write(log, &bench_kind, bench, plots, out);
}

iw_status iw_bench_write_html(const iw_log *log, const char *path, FILE *out)
{
    json_t *bench;
    iw_status status;

    IW_TRY(iwi_bench_load(log, path, &bench));
    status = iwi_bench_html(log, bench, IWI_HTML_BEST, out);
    json_decref(bench);
    return status;
}
