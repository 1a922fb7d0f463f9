/* A benchmark for people: the verdict, the numbers, how sure they are.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/bench_report.h"

enum { MOST_RANK_ROWS = 16 };

/* ---- means ---- */

static void write_means(FILE *out, const char *name, const json_t *times)
{
    static const char *const keys[] = {"qt_ns", "bt_ns", "qtbt_ns"};
    const json_t *ends = json_object_get(json_object_get(times, "qtbt_ns"), "ci95");
    char number[2][IWI_NUMBER_SIZE];

    (void)fprintf(out, "  %-22s", name);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        (void)fprintf(
            out, " %10s",
            iwi_ns_time_text(iwi_result_number(json_object_get(times, keys[i]), "mean"), number[0]));
    }
    if (json_is_array(ends)) {
        (void)fprintf(out, "  [%s, %s]",
                      iwi_ns_time_text(json_number_value(json_array_get(ends, 0)), number[0]),
                      iwi_ns_time_text(json_number_value(json_array_get(ends, 1)), number[1]));
    }
    (void)fputc('\n', out);
}

static void write_phase(FILE *out, const char *name, double ns, const json_t *slowdown)
{
    const double share = iwi_result_number(slowdown, "share");
    char number[IWI_NUMBER_SIZE], interval[IWI_RANGE_SIZE];

    (void)fprintf(out, "  %-22s %10s", name, iwi_ns_time_text(ns, number));
    if (!isnan(share)) {
        (void)fprintf(out, " %12s  %s", iwi_slowdown_text(share, number),
                      iwi_bench_interval_text(slowdown, interval));
    }
    (void)fputc('\n', out);
}

/* Without, with, simulated: times of blocks, the only ones that a simulation has, too. */
static void write_phases(FILE *out, const json_t *bench)
{
    const json_t *simulated = json_object_get(bench, "simulated");

    (void)fprintf(out, "\nA phase, by the times of whole blocks:\n\n  %-22s %10s %12s  %s\n", "", "time",
                  "slowdown", "95 % interval");
    write_phase(out, "without injected noise", iwi_bench_number(bench, "quiet", "phase_ns", "mean"), NULL);
    write_phase(out, "with injected noise", iwi_bench_number(bench, "noisy", "phase_ns", "mean"),
                json_object_get(bench, "slowdown"));
    if (json_is_object(simulated)) {
        write_phase(out, "simulated without", iwi_result_number(simulated, "noiseless_ns"), NULL);
        write_phase(out, "simulated with", iwi_result_number(simulated, "noisy_ns"),
                    json_object_get(simulated, "slowdown"));
    }
}

static void write_table(FILE *out, const json_t *bench)
{
    const json_t *noisy = json_object_get(bench, "noisy");
    const json_t *slowdown = json_object_get(bench, "max_slowdown");
    char number[IWI_NUMBER_SIZE], interval[IWI_RANGE_SIZE];

    (void)fprintf(out, "\nMeans of the slowest rank of each phase:\n\n  %-22s %10s %10s %10s  %s\n", "",
                  "work", "operation", "both", "95 % interval of both");
    write_means(out, json_is_object(noisy) ? "without injected noise" : "measured",
                json_object_get(bench, "quiet"));
    if (json_is_object(noisy)) {
        write_means(out, "with injected noise", noisy);
    }
    if (json_is_object(noisy) && strcmp(iwi_result_text(bench, "operation"), "barrier") == 0) {
        (void)fprintf(out, "  %-22s %10s %10s %10s  %s\n", "slowdown", "", "",
                      iwi_slowdown_text(iwi_result_number(slowdown, "share"), number),
                      iwi_bench_interval_text(slowdown, interval));
    }
}

/* ---- quantiles ---- */

static const char *quantile_name(size_t index, char buf[IWI_NUMBER_SIZE])
{
    if (index == 0 || index + 1 == IW_BENCH_QUANTILES) {
        return index == 0 ? "shortest" : "longest";
    }
    snprintf(buf, IWI_NUMBER_SIZE, "%g %%", 100.0 * iw_bench_quantile(index));
    return buf;
}

static void write_quantiles(FILE *out, const json_t *bench)
{
    const bool has_noise = json_is_object(json_object_get(bench, "noisy"));
    char name[IWI_NUMBER_SIZE], number[IWI_NUMBER_SIZE];

    (void)fprintf(out, "\nHow long phases take (work and operation):\n\n  %-10s %14s%s\n", "",
                  has_noise ? "without noise" : "time", has_noise ? "     with noise" : "");
    for (size_t i = 0; i < IW_BENCH_QUANTILES; i++) {
        static const char *const kinds[] = {"quiet", "noisy"};

        (void)fprintf(out, "  %-10s", quantile_name(i, name));
        for (size_t kind = 0; kind < (has_noise ? 2 : 1); kind++) {
            const json_t *value = json_object_get(json_object_get(bench, kinds[kind]), "qtbt_ns");

            (void)fprintf(out, " %14s",
                          iwi_ns_time_text(iwi_result_number(json_object_get(value, "quantiles"),
                                                             iwi_bench_quantile_key(i)),
                                           number));
        }
        (void)fputc('\n', out);
    }
}

/* ---- ranks ---- */

static void write_rank(FILE *out, const json_t *rank, bool has_noise)
{
    const json_t *quiet = json_object_get(rank, "quiet"), *noisy = json_object_get(rank, "noisy");
    char number[IWI_NUMBER_SIZE];

    (void)fprintf(out, "  %5" PRIu64 "  %-20.20s", iwi_result_count(rank, "rank"),
                  iwi_result_text(rank, "host"));
    (void)fprintf(out, " %10s", iwi_ns_time_text(iwi_result_number(quiet, "qt_ns"), number));
    (void)fprintf(out, " %10s", iwi_ns_time_text(iwi_result_number(quiet, "bt_ns"), number));
    if (has_noise) {
        (void)fprintf(out, " %10s", iwi_ns_time_text(iwi_result_number(noisy, "qt_ns"), number));
        (void)fprintf(out, " %10s", iwi_ns_time_text(iwi_result_number(noisy, "bt_ns"), number));
    }
    (void)fputc('\n', out);
}

static void write_ranks(FILE *out, const json_t *bench)
{
    const json_t *ranks = json_object_get(bench, "per_rank");
    const bool has_noise = json_is_object(json_object_get(bench, "noisy"));
    const size_t count = json_array_size(ranks);

    (void)fprintf(out, "\nMeans of the ranks%s:\n\n  %5s  %-20s %10s %10s%s\n",
                  has_noise ? ", without and with noise" : "", "rank", "host", "work", "operation",
                  has_noise ? "       work  operation" : "");
    for (size_t i = 0; i < count && i < MOST_RANK_ROWS; i++) {
        write_rank(out, json_array_get(ranks, i), has_noise);
    }
    if (count > MOST_RANK_ROWS) {
        (void)fprintf(out, "  and %zu more\n", count - MOST_RANK_ROWS);
    }
}

/* ---- all ---- */

void iwi_bench_text(const json_t *bench, FILE *out)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    iwi_bench_verdict(bench, text);
    iwi_write_wrapped(out, text);
    text[0] = '\0';
    iwi_bench_prediction(bench, text);
    if (text[0] != '\0') {
        (void)fputc('\n', out);
        iwi_write_wrapped(out, text);
    }
    if (json_is_object(json_object_get(bench, "noisy"))) {
        write_phases(out, bench);
    }
    write_table(out, bench);
    write_quantiles(out, bench);
    write_ranks(out, bench);
    (void)fputs("\nHow sure that is:\n", out);
    for (int i = 0; i < IWI_BENCH_NOTES; i++) {
        if (iwi_bench_note(bench, i, text)) {
            iwi_write_item(out, text);
        }
    }
}

iw_status iw_bench_write_text(const iw_log *log, const iw_bench_result *result, const iw_bench_origin *origin,
                              FILE *out)
{
    json_t *bench = iwi_bench_object(result, origin);

    if (bench == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the result");
    }
    iwi_bench_text(bench, out);
    json_decref(bench);
    return iwi_check_written(log, out, "the result");
}

iw_status iw_bench_report_text(const iw_log *log, const char *path, FILE *out)
{
    json_t *bench;

    IW_TRY(iwi_bench_load(log, path, &bench));
    iwi_bench_text(bench, out);
    json_decref(bench);
    return iwi_check_written(log, out, "the report");
}
