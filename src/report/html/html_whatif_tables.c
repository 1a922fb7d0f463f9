/* Tables of the page of a what-if: savings as bars with their intervals.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The bars are SVG in the cells of the tables: they need no script, and go on paper as they are.
 */
#include "report/html/html_whatif.h"

#include <math.h>
#include <string.h>

#include "report/kinds/noise_report.h"
#include "report/kinds/result_report.h"

enum { BAR_WIDTH = 210, BAR_HEIGHT = 18, MOST_RANKED = 10 };

/* One scale for all bars of the page. */
struct scale {
    double low, high;
};

static struct scale scale_of(const json_t *whatif)
{
    struct scale scale = {0.0, 0.0};
    const json_t *change;

    for (size_t i = 0; (change = iwi_whatif_change(whatif, NULL, i)) != NULL; i++) {
        const iw_estimate saving = iwi_whatif_estimate(change, "saving");

        scale.low = fmin(scale.low, fmin(saving.value, saving.low));
        scale.high = fmax(scale.high, fmax(saving.value, saving.high));
    }
    scale.high = scale.high > scale.low ? scale.high : scale.low + 1.0;
    return scale;
}

static double place_of(const struct scale *scale, double value)
{
    return 2.0 + (BAR_WIDTH - 4) * (value - scale->low) / (scale->high - scale->low);
}

/* The head of the column of bars. */
static void write_scale(FILE *out, const struct scale *scale)
{
    (void)fprintf(out, "<th scope=\"col\" class=\"bar words\">%.3g to %.3g points</th>", 100.0 * scale->low,
                  100.0 * scale->high);
}

static void write_line(FILE *out, double x1, double y1, double x2, double y2)
{
    (void)fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"var(--ink)\"/>", x1,
                  y1, x2, y2);
}

/* From 0 to the value, and over it the interval. The numbers stand beside it. */
static void write_bar(FILE *out, const struct scale *scale, iw_estimate saving)
{
    const double zero = place_of(scale, 0.0), middle = BAR_HEIGHT / 2.0, cap = 3.5;
    const char *colour = saving.low > 0.0 ? "var(--series-0)" : "var(--series-6)";

    (void)fprintf(out, "<td class=\"bar words\"><svg width=\"%d\" height=\"%d\" aria-hidden=\"true\">",
                  BAR_WIDTH, BAR_HEIGHT);
    if (isfinite(saving.value)) {
        const double end = place_of(scale, saving.value);

        (void)fprintf(out,
                      "<rect x=\"%.1f\" y=\"3\" width=\"%.1f\" height=\"%d\" fill=\"%s\" opacity=\"0.75\"/>",
                      fmin(zero, end), fabs(end - zero), BAR_HEIGHT - 6, colour);
    }
    write_line(out, zero, 0.0, zero, BAR_HEIGHT);
    if (saving.low < saving.high) {
        const double low = place_of(scale, saving.low), high = place_of(scale, saving.high);

        write_line(out, low, middle, high, middle);
        write_line(out, low, middle - cap, low, middle + cap);
        write_line(out, high, middle - cap, high, middle + cap);
    }
    (void)fputs("</svg></td>", out);
}

static void write_name(FILE *out, const json_t *change)
{
    char name[IWI_CHANGE_NAME_SIZE];

    iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", iwi_whatif_change_name(change, name));
}

static void write_saving(FILE *out, const struct scale *scale, const json_t *change)
{
    const iw_estimate saving = iwi_whatif_estimate(change, "saving");
    char text[IWI_ESTIMATE_SIZE];

    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_whatif_points_text(saving, text));
    write_bar(out, scale, saving);
}

/* ---- what to do ---- */

static void write_ranked(FILE *out, const struct scale *scale, const json_t *change)
{
    const json_t *remedy = json_object_get(change, "remedy");

    iwi_html_row_begin(out);
    write_name(out, change);
    write_saving(out, scale, change);
    if (json_is_object(remedy)) {
        iwi_html_cell(out, IWI_CELL_WORDS, "%s: %s", iwi_result_text(remedy, "name"),
                      iwi_result_text(remedy, "how"));
    } else {
        iwi_html_cell(out, IWI_CELL_WORDS, " ");
    }
    iwi_html_row_end(out);
}

size_t iwi_html_whatif_ranking(FILE *out, const json_t *whatif)
{
    const struct scale scale = scale_of(whatif);
    const json_t *change;
    size_t worth = 0;

    for (size_t i = 0; (change = iwi_whatif_change(whatif, "source", i)) != NULL; i++) {
        if (!iwi_whatif_is_worth_it(change)) {
            continue;
        }
        if (worth == 0) {
            iwi_html_table_begin(out, "What each source costs, the largest first; lines over the bars are "
                                      "95 % intervals");
            iwi_html_head(out, true, "Without");
            iwi_html_head(out, false, "Saves");
            write_scale(out, &scale);
            iwi_html_head(out, true, "To do");
            iwi_html_table_body(out);
        }
        if (worth++ < MOST_RANKED) {
            write_ranked(out, &scale, change);
        }
    }
    if (worth > 0) {
        iwi_html_table_end(out);
    }
    return worth;
}

/* ---- what else ---- */

static bool is_source(const json_t *change)
{
    const char *kind = iwi_result_text(change, "kind");

    return strcmp(kind, "source") == 0 || strcmp(kind, "rest") == 0;
}

void iwi_html_whatif_others(FILE *out, const json_t *whatif)
{
    const struct scale scale = scale_of(whatif);
    const json_t *change;
    char left[IWI_ESTIMATE_SIZE];
    bool is_begun = false;

    for (size_t i = 0; (change = iwi_whatif_change(whatif, NULL, i)) != NULL; i++) {
        if (is_source(change)) {
            continue;
        }
        if (!is_begun) {
            iwi_html_table_begin(out, "Several sources at once, and what else can be done");
            iwi_html_head(out, true, "Change");
            iwi_html_head(out, false, "Saves");
            write_scale(out, &scale);
            iwi_html_head(out, false, "Slowdown that is left");
            iwi_html_table_body(out);
            is_begun = true;
        }
        iwi_html_row_begin(out);
        write_name(out, change);
        write_saving(out, &scale, change);
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                      iwi_whatif_slowdown_text(iwi_whatif_estimate(change, "slowdown"), left));
        iwi_html_row_end(out);
    }
    if (is_begun) {
        iwi_html_table_end(out);
    }
}

/* ---- everything ---- */

void iwi_html_whatif_table(FILE *out, const json_t *whatif)
{
    const json_t *change;
    char text[IWI_ESTIMATE_SIZE], share[IWI_NUMBER_SIZE];

    iwi_html_table_begin(out, "All that was simulated; in brackets 95 % intervals");
    iwi_html_head(out, true, "Change");
    iwi_html_head(out, true, "Kind");
    iwi_html_head(out, false, "Share of CPU time");
    iwi_html_head(out, false, "Slowdown that is left");
    iwi_html_head(out, false, "Saves");
    iwi_html_table_body(out);
    iwi_html_row_begin(out);
    iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "as it is");
    iwi_html_cell(out, IWI_CELL_WORDS, "now");
    iwi_html_cell(out, IWI_CELL_NUMBER, "-");
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                  iwi_whatif_slowdown_text(iwi_whatif_estimate(whatif, "now"), text));
    iwi_html_cell(out, IWI_CELL_NUMBER, "-");
    iwi_html_row_end(out);
    for (size_t i = 0; (change = iwi_whatif_change(whatif, NULL, i)) != NULL; i++) {
        const double taken = iwi_result_number(change, "share");

        iwi_html_row_begin(out);
        write_name(out, change);
        iwi_html_cell(out, IWI_CELL_WORDS, "%s", iwi_result_text(change, "kind"));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", taken > 0.0 ? iwi_share_text(taken, share) : "-");
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                      iwi_whatif_slowdown_text(iwi_whatif_estimate(change, "slowdown"), text));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                      iwi_whatif_points_text(iwi_whatif_estimate(change, "saving"), text));
        iwi_html_row_end(out);
    }
    iwi_html_table_end(out);
}
