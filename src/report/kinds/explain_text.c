/* Where the time on the critical path went, as a table with bars; its average; what hurt most.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/result_report.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

enum { LABEL_COLUMNS = 32, BAR_COLUMNS = 12 };

/* Long labels (paths) keep their end, which tells them apart. */
static void write_label(FILE *out, const char *label)
{
    const size_t length = strlen(label);

    if (length <= LABEL_COLUMNS) {
        (void)fprintf(out, "  %-*s", LABEL_COLUMNS, label);
    } else {
        (void)fprintf(out, "  ...%s", label + length - (LABEL_COLUMNS - 3));
    }
}

static void write_row(FILE *out, const char *label, double part_ns, double total_ns, double mean_ns)
{
    const double share = total_ns > 0.0 ? part_ns / total_ns : 0.0;
    char time[IWI_NUMBER_SIZE], mean[IWI_NUMBER_SIZE];

    write_label(out, label);
    (void)fprintf(out, " %10s %5.1f %% ", iwi_ns_time_text(part_ns, time), 100.0 * share);
    (void)fprintf(out, "%*s %10s\n", BAR_COLUMNS - iwi_write_bar(out, share, BAR_COLUMNS), "",
                  iwi_ns_time_text(mean_ns, mean));
}

const char *iwi_part_words(const char *name)
{
    static const char *const words[IW_PART_NOISE] = {
        [IW_PART_COMPUTE] = "computation",
        [IW_PART_DELAY] = "injected delays",
        [IW_PART_OVERHEAD] = "overhead (o, O)",
        [IW_PART_LATENCY] = "latency (L)",
        [IW_PART_GAP] = "gap (g)",
        [IW_PART_BYTES] = "bytes (G)",
        [IW_PART_RENDEZVOUS] = "rendezvous control messages",
    };

    for (int i = 0; i < IW_PART_NOISE; i++) {
        if (strcmp(name, iw_part_name((iw_part)i)) == 0) {
            return words[i];
        }
    }
    return name;
}

/* ---- the median trial ---- */

static void write_median(const json_t *explain, FILE *out)
{
    const double total_ns = iwi_result_number(explain, "makespan_ns");
    json_t *parts = json_object_get(explain, "parts"), *means = json_object_get(explain, "mean_parts"),
           *value;
    char paragraph[IWI_PARAGRAPH_SIZE] = "";
    double mean_sum_ns = 0.0;
    const char *name;

    iwi_append(paragraph,
               "Where the time goes on the path to the end of rank %" PRIu64
               ", which ends last (trial %" PRIu64 ", %" PRIu64
               " messages), and on average over the paths of all ranks (%.1f messages):",
               iwi_result_count(explain, "last_rank"), iwi_result_count(explain, "trial"),
               iwi_result_count(explain, "hops"), iwi_result_number(explain, "mean_hops"));
    (void)fputc('\n', out);
    iwi_write_wrapped(out, paragraph);
    (void)fprintf(out, "\n  %-*s %10s %7s %-*s %10s\n", LABEL_COLUMNS, "", "last rank", "share", BAR_COLUMNS,
                  "", "mean");
    json_object_foreach(parts, name, value)
    {
        const double part_ns = json_number_value(value), mean_ns = iwi_result_number(means, name);

        mean_sum_ns += isnan(mean_ns) ? 0.0 : mean_ns;
        if (part_ns != 0.0 || mean_ns > 0.0) {
            write_row(out, iwi_part_words(name), part_ns, total_ns, mean_ns);
        }
    }
    write_row(out, "total", total_ns, total_ns, mean_sum_ns);
}

static void write_worst(const json_t *worst, FILE *out)
{
    if (json_array_size(worst) > 0) {
        (void)fputs("\nWhat hurt most on this path:\n", out);
    }
    for (size_t i = 0; i < json_array_size(worst); i++) {
        char paragraph[IWI_PARAGRAPH_SIZE] = "";

        iwi_hit_words(json_array_get(worst, i), paragraph);
        iwi_write_item(out, paragraph);
    }
}

/* ---- the average ---- */

static void write_mean(FILE *out, const char *label, const json_t *mean, double total_ns)
{
    const double mean_ns = iwi_result_number(mean, "mean");
    const json_t *interval = json_object_get(mean, "ci95");
    char time[IWI_NUMBER_SIZE], low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    write_label(out, label);
    (void)fprintf(out, " %10s %5.1f %%", iwi_ns_time_text(mean_ns, time), 100.0 * mean_ns / total_ns);
    if (json_array_size(interval) != 2) { /* too few trials */
        (void)fprintf(out, " %11s\n", "-");
        return;
    }
    (void)fprintf(out, " %11s to %s\n", iwi_ns_time_text(json_number_value(json_array_get(interval, 0)), low),
                  iwi_ns_time_text(json_number_value(json_array_get(interval, 1)), high));
}

static void write_average(const json_t *result, const json_t *average, FILE *out)
{
    const json_t *makespan = json_object_get(average, "makespan_ns");
    const double total_ns = fmax(iwi_result_number(makespan, "mean"), 1e-3);
    char paragraph[IWI_PARAGRAPH_SIZE] = "", largest[IWI_PARAGRAPH_SIZE] = "";
    json_t *parts = json_object_get(average, "parts_ns"), *value;
    const char *name;

    iwi_average_words(result, paragraph);
    (void)fputc('\n', out);
    iwi_write_wrapped(out, paragraph);
    (void)fprintf(out, "\n  %-*s %10s %7s     %s\n", LABEL_COLUMNS, "", "mean", "share",
                  "95 % CI of the mean");
    json_object_foreach(parts, name, value)
    {
        if (iwi_result_number(value, "mean") > 0.0) {
            write_mean(out, iwi_part_words(name), value, total_ns);
        }
    }
    write_mean(out, "total", makespan, total_ns);
    iwi_largest_words(average, largest);
    if (largest[0] != '\0') {
        (void)fputc('\n', out);
        iwi_write_wrapped(out, largest);
    }
}

void iwi_write_explain_text(const json_t *result, FILE *out)
{
    const json_t *explain = json_object_get(result, "explain");
    const json_t *average = json_object_get(explain, "average");
    char share[IWI_PARAGRAPH_SIZE] = "";

    write_median(explain, out);
    write_worst(json_object_get(explain, "worst"), out);
    if (json_is_object(average)) {
        write_average(result, average, out);
    }
    iwi_share_words(explain, share);
    if (share[0] != '\0') {
        (void)fputc('\n', out);
        iwi_write_wrapped(out, share);
    }
}
