/* Where the time on the critical path went, as a table with bars.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/report.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

enum { LABEL_COLUMNS = 32, BAR_COLUMNS = 12, TIME_SIZE = 24 };

/* Eighths of a character cell: U+2588 is a full block, U+258F one eighth. */
static void write_bar(FILE *out, double share)
{
    const int eighths = (int)lround(fmin(fmax(share, 0.0), 1.0) * BAR_COLUMNS * 8);

    for (int i = 0; i < eighths / 8; i++) {
        (void)fputs("\xe2\x96\x88", out);
    }
    if (eighths % 8 > 0) {
        (void)fprintf(out, "\xe2\x96%c", 0x90 - eighths % 8);
    }
    (void)fprintf(out, "%*s", BAR_COLUMNS - (eighths + 7) / 8, "");
}

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

static void write_row(FILE *out, const char *label, iw_time part_ps, iw_time total_ps, double mean_ps)
{
    const double share = total_ps > 0 ? (double)part_ps / (double)total_ps : 0.0;
    char time[TIME_SIZE], mean[TIME_SIZE];

    write_label(out, label);
    (void)fprintf(out, " %10s %5.1f %% ", iw_format_time(part_ps, time, sizeof time), 100.0 * share);
    write_bar(out, share);
    (void)fprintf(out, " %10s\n", iw_format_time((iw_time)llround(mean_ps), mean, sizeof mean));
}

/* Parts in words; noise goes by the names of its sources. */
static const char *const part_texts[IW_PART_NOISE] = {
    [IW_PART_COMPUTE] = "computation",
    [IW_PART_DELAY] = "injected delays",
    [IW_PART_OVERHEAD] = "overhead (o, O)",
    [IW_PART_LATENCY] = "latency (L)",
    [IW_PART_GAP] = "gap (g)",
    [IW_PART_BYTES] = "bytes (G)",
    [IW_PART_RENDEZVOUS] = "rendezvous control messages",
};

void iwi_write_explain_text(const iw_sim_result *result, const iw_origin *origin, FILE *out)
{
    const iw_explain *explain = result->explain;
    char label[IWI_PART_LABEL_SIZE], paragraph[IWI_PARAGRAPH_SIZE] = "";
    double mean_ps = 0.0;

    iwi_append(paragraph,
               "Where the time goes on the path to the end of rank %" PRIu32
               ", which ends last (trial %" PRIu64 ", %" PRIu64
               " messages), and on average over the paths of all ranks (%.1f messages):",
               explain->last_rank, explain->trial, explain->last.hops, explain->mean_hops);
    (void)fputc('\n', out);
    iwi_write_wrapped(out, paragraph);
    (void)fprintf(out, "\n  %-*s %10s %7s %-*s %10s\n", LABEL_COLUMNS, "", "last rank", "share", BAR_COLUMNS,
                  "", "mean");
    for (int i = 0; i < IW_PARTS && iwi_part_label(origin, i, label); i++) {
        mean_ps += explain->mean_ps[i];
        if (explain->last.part_ps[i] != 0 || explain->mean_ps[i] > 0.0) {
            write_row(out, i < IW_PART_NOISE ? part_texts[i] : label, explain->last.part_ps[i],
                      explain->makespan_ps, explain->mean_ps[i]);
        }
    }
    write_row(out, "total", explain->makespan_ps, explain->makespan_ps, mean_ps);
}
