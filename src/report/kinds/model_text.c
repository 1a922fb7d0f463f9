/* What models say, for people: the verdict, a table of ranks, what was simulated, how sure.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/model.h>

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/model_report.h"
#include "report/kinds/noise_report.h"
#include "report/kinds/study_report.h"

enum { SUPPORT_COLUMNS = 9, SOURCE_COLUMNS = 12 };

const char *iwi_any_ranks_text(double ranks, char buf[IWI_NUMBER_SIZE])
{
    if (isnan(ranks) || isinf(ranks)) {
        snprintf(buf, IWI_NUMBER_SIZE, "-");
    } else if (ranks < 1e15) {
        iwi_ranks_text((uint64_t)ceil(ranks - 1e-6), buf);
    } else {
        const double decade = floor(log10(ranks));

        snprintf(buf, IWI_NUMBER_SIZE, "%.2f * 10^%.0f", ranks / pow(10, decade), decade);
    }
    return buf;
}

const iw_source *iwi_model_dominant(const iw_model_report *report, size_t row)
{
    if (report->recording == NULL || report->dominant == NULL ||
        report->dominant[row] >= report->recording->source_count) {
        return NULL;
    }
    return &report->recording->sources[report->dominant[row]];
}

const char *iwi_model_source_name(const iw_source *source)
{
    return source->name[0] != '\0' ? source->name : iw_class_name(source->kind);
}

bool iwi_model_is_exact(const iw_model_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];

        if (row->support != IW_SUPPORT_REFUSED && row->low_ns.low < row->high_ns.high) {
            return false;
        }
    }
    return true;
}

static double slowdown_at(double time_ns, const iw_model_row *row)
{
    return time_ns / row->noiseless_ns - 1;
}

/* Bounds that sampling puts below no slowdown are none. */
static const char *slowdown_text(double time_ns, const iw_model_row *row, char buf[IWI_NUMBER_SIZE])
{
    const double slowdown = slowdown_at(time_ns, row);

    if (isinf(slowdown)) {
        snprintf(buf, IWI_NUMBER_SIZE, "inf");
        return buf;
    }
    return iwi_slowdown_text(isnan(slowdown) ? slowdown : fmax(slowdown, 0), buf);
}

static const char *time_text(double ns, char buf[IWI_NUMBER_SIZE])
{
    if (isinf(ns)) {
        snprintf(buf, IWI_NUMBER_SIZE, "no mean");
        return buf;
    }
    return iwi_ns_time_text(ns, buf);
}

static void write_support(FILE *out, const iw_model_report *report, size_t i)
{
    const iw_source *source = iwi_model_dominant(report, i);
    char name[IWI_NAME_SIZE];

    if (source != NULL) {
        (void)fprintf(out, "  %-*s %s\n", SUPPORT_COLUMNS, iw_support_name(report->rows[i].support),
                      iwi_plain_name(iwi_model_source_name(source), SOURCE_COLUMNS, name));
    } else {
        (void)fprintf(out, "  %s\n", iw_support_name(report->rows[i].support));
    }
}

static void write_exact_rows(FILE *out, const iw_model_report *report)
{
    const bool has_median = report->is_cone;
    char ranks[IWI_NUMBER_SIZE], noiseless[IWI_NUMBER_SIZE], mean[IWI_NUMBER_SIZE], median[IWI_NUMBER_SIZE],
        slowdown[IWI_NUMBER_SIZE];

    (void)fprintf(out, "\n%14s %11s %11s%s%s %9s  %s\n", "ranks", "noiseless", "mean", has_median ? " " : "",
                  has_median ? "     median" : "", "slowdown", "rests on");
    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];

        (void)fprintf(out, "%14s %11s %11s", iwi_ranks_text(row->ranks, ranks),
                      time_text(row->noiseless_ns, noiseless), time_text(row->high_ns.value, mean));
        if (has_median) {
            (void)fprintf(out, " %11s", time_text(row->median_ns, median));
        }
        (void)fprintf(out, " %9s", slowdown_text(row->high_ns.value, row, slowdown));
        write_support(out, report, i);
    }
}

/* "4.10-6.20 %", "4.10 % up": the upper bound is refused, "-": both are */
static const char *slowdowns_text(const iw_model_row *row, char buf[IWI_RANGE_SIZE])
{
    const double high = slowdown_at(row->high_ns.high, row);
    char low[IWI_NUMBER_SIZE];

    slowdown_text(row->low_ns.low, row, low);
    if (isnan(row->low_ns.low)) {
        snprintf(buf, IWI_RANGE_SIZE, "-");
    } else if (!isfinite(high)) {
        snprintf(buf, IWI_RANGE_SIZE, isnan(high) ? "%s up" : "%s-inf", low);
    } else {
        iwi_slowdown_span_text(fmax(slowdown_at(row->low_ns.low, row), 0), fmax(high, 0), buf);
    }
    return buf;
}

/* Bounds include the interval of what they rest on. Rows behind the first without any answer have none. */
static void write_bounded_rows(FILE *out, const iw_model_report *report)
{
    char ranks[IWI_NUMBER_SIZE], noiseless[IWI_NUMBER_SIZE], low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE],
        slowdowns[IWI_RANGE_SIZE];

    (void)fprintf(out, "\n%11s %9s %9s %9s %13s  %s%s\n", "ranks", "noiseless", "at least", "at most",
                  "slowdown", "rests on", report->recording != NULL ? "  worst source" : "");
    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];

        if (isnan(row->low_ns.low)) {
            (void)fprintf(out, "%11s%s refused\n", iwi_ranks_text(row->ranks, ranks),
                          i + 1 < report->count ? " and more:" : ":");
            return;
        }
        (void)fprintf(out, "%11s %9s %9s %9s %13s", iwi_ranks_text(row->ranks, ranks),
                      time_text(row->noiseless_ns, noiseless), time_text(row->low_ns.low, low),
                      time_text(row->high_ns.high, high), slowdowns_text(row, slowdowns));
        write_support(out, report, i);
    }
}

/* The model's number and how far the simulator's mean is from it, or where it lies between the bounds. */
static const char *compared_text(const iw_model_row *row, const iw_model_check *check,
                                 char buf[IWI_NUMBER_SIZE])
{
    if (row->support == IW_SUPPORT_REFUSED) {
        snprintf(buf, IWI_NUMBER_SIZE, "-");
    } else if (check->mean_ns.high < row->low_ns.low) {
        snprintf(buf, IWI_NUMBER_SIZE, "%.3f, below", check->mean_ns.value / row->low_ns.low);
    } else if (check->mean_ns.low > row->high_ns.high) {
        snprintf(buf, IWI_NUMBER_SIZE, "%.3f, above", check->mean_ns.value / row->high_ns.high);
    } else if (row->low_ns.low < row->high_ns.high) {
        snprintf(buf, IWI_NUMBER_SIZE, "within bounds");
    } else {
        snprintf(buf, IWI_NUMBER_SIZE, "%.3f", check->mean_ns.value / row->high_ns.value);
    }
    return buf;
}

static void write_checks(FILE *out, const iw_model_report *report)
{
    const bool is_exact = iwi_model_is_exact(report);
    char ranks[IWI_NUMBER_SIZE], low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE], mean[IWI_NUMBER_SIZE],
        mean_low[IWI_NUMBER_SIZE], mean_high[IWI_NUMBER_SIZE], compared[IWI_NUMBER_SIZE];

    (void)fprintf(out, "\n%11s %19s %9s %19s  %s\n", "ranks", "model", "simulated", "95 % interval",
                  is_exact ? "ratio" : "verdict");
    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];
        const iw_model_check *check = &report->checks[i];
        char model[IWI_RANGE_SIZE], interval[IWI_RANGE_SIZE];

        if (check->trials == 0 || isnan(row->low_ns.low)) {
            continue;
        }
        snprintf(model, sizeof model, "%s%s%s", is_exact ? "" : time_text(row->low_ns.low, low),
                 is_exact ? "" : " - ", time_text(row->high_ns.high, high));
        snprintf(interval, sizeof interval, "%s - %s", time_text(check->mean_ns.low, mean_low),
                 time_text(check->mean_ns.high, mean_high));
        (void)fprintf(out, "%11s %19s %9s %19s  %s\n", iwi_ranks_text(row->ranks, ranks), model,
                      time_text(check->mean_ns.value, mean), interval, compared_text(row, check, compared));
    }
}

iw_status iw_model_write_text(const iw_log *log, const iw_model_report *report, FILE *out)
{
    iwi_write_model_verdict(out, report);
    if (iwi_model_is_exact(report) && report->recording == NULL) {
        write_exact_rows(out, report);
    } else {
        write_bounded_rows(out, report);
    }
    if (report->checks != NULL) {
        write_checks(out, report);
    }
    iwi_write_model_limits(out, report);
    return iwi_check_written(log, out, "the answers of the model");
}
