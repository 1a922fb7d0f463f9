/* The page of a benchmark, from the JSON that `bench` wrote.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "base/base.h"
#include "report/figure/bench_figure.h"

static void write_title(FILE *out, const void *subject)
{
    char operation[IWI_NUMBER_SIZE];

    (void)fprintf(out, "bench %s", iwi_bench_operation_text(subject, operation));
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

static iw_status write_histogram(struct iwi_html *html, const json_t *bench, bool is_noisy)
{
    struct iwi_figure *figure;
    iw_status status = IW_OK;

    IW_TRY(iwi_bench_figure(html->log, bench, is_noisy, &figure));
    if (figure != NULL) {
        status = iwi_html_figure(html, figure);
        iwi_figure_free(figure);
    }
    return status;
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
    const json_t *bench = subject;
    FILE *out = html->out;
    char operation[IWI_NUMBER_SIZE];

    (void)fputs("<header>\n<h1>", out);
    iwi_html_format(out, "bench %s", iwi_bench_operation_text(bench, operation));
    (void)fputs("</h1>\n", out);
    iwi_html_paragraph(out, "subtitle", "Phases of work and an operation, on %" PRIu64 " ranks",
                       iwi_result_count(bench, "ranks"));
    (void)fputs("</header>\n<main>\n", out);
    write_verdict(out, bench);
    iwi_html_section(out, "times", "How long phases take");
    write_comparison(out, bench);
    (void)fputs("<div class=\"figures\">\n", out);
    IW_TRY(write_histogram(html, bench, false));
    IW_TRY(write_histogram(html, bench, true));
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

iw_status iwi_bench_html(const iw_log *log, const json_t *bench, FILE *out)
{
    return iwi_html_write(log, &bench_kind, bench, out);
}

iw_status iw_bench_write_html(const iw_log *log, const char *path, FILE *out)
{
    json_t *bench;
    iw_status status;

    IW_TRY(iwi_bench_load(log, path, &bench));
    status = iwi_bench_html(log, bench, out);
    json_decref(bench);
    return status;
}
