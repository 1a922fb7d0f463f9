/* How the times of one series are distributed, over ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html_study.h"

#include <math.h>

#include "base/base.h"

struct box_plot {
    const struct iwi_study_page *page;
    const iw_series *series;
};

/* Smallest and largest time of the series and of those that differ in the system only: side by side they have
 * the same axis. */
static json_t *limits_of(const struct box_plot *p)
{
    double low_ns = INFINITY, high_ns = 0.0;

    for (size_t i = 0; i < p->page->count; i++) {
        const iw_series *other = &p->page->series[i];

        for (size_t k = 0; iwi_differ_only_in(IWI_DIM_SYSTEM, p->series, other) && k < other->count; k++) {
            const iw_cell_result *cell = other->cells[k];

            low_ns = fmin(low_ns, fmin(cell->noiseless_ns, cell->makespan_ns.min));
            high_ns = fmax(high_ns, fmax(cell->noiseless_ns, cell->makespan_ns.max));
        }
    }
    return json_pack("[o, o]", iwi_html_number(low_ns), iwi_html_number(high_ns));
}

static json_t *data_of(const struct box_plot *p)
{
    json_t *points = json_array();

    for (size_t i = 0; i < p->series->count; i++) {
        const iw_cell_result *cell = p->series->cells[i];
        const iw_summary *time = &cell->makespan_ns;

        (void)json_array_append_new(points,
                                    json_pack("[I, o, o, o, o, o, o, o, o]", (json_int_t)cell->ranks,
                                              iwi_html_number(cell->noiseless_ns), iwi_html_number(time->min),
                                              iwi_html_number(cell->p5_ns), iwi_html_number(time->q1),
                                              iwi_html_number(time->median), iwi_html_number(time->q3),
                                              iwi_html_number(cell->p95_ns), iwi_html_number(time->max)));
    }
    return json_pack("{s:s, s:I, s:o, s:o, s:o}", "kind", "boxes", "style",
                     (json_int_t)iwi_dim_style(p->page, IWI_DIM_SYSTEM, p->series), "limits", limits_of(p),
                     "inflection", iwi_inflection_json(p->series), "points", points);
}

static void write_message(const struct box_plot *p, char *message)
{
    const iw_cell_result *cell = iwi_last_cell(p->series);
    const iw_summary *time = &cell->makespan_ns;
    char text[5][IWI_NUMBER_SIZE], at[IWI_PHRASE_SIZE], interval[IWI_PHRASE_SIZE];

    iwi_append(message, "At %s ranks the mean is %s, ", iwi_ranks_text(cell->ranks, text[0]),
               iwi_ns_time_text(time->mean, text[1]));
    iwi_append(message, "the median %s, against %s without noise", iwi_ns_time_text(time->median, text[1]),
               iwi_ns_time_text(cell->noiseless_ns, text[2]));
    if (cell->trials > 1) {
        iwi_append(message, "; the middle half of %s trials takes %s to %s",
                   iwi_ranks_text(cell->trials, text[0]), iwi_ns_time_text(time->q1, text[3]),
                   iwi_ns_time_text(time->q3, text[4]));
    }
    if (p->series->inflection <= 0.0) {
        iwi_append(message, ". Noise does not take over up to %s ranks.",
                   iwi_ranks_text(cell->ranks, text[0]));
        return;
    }
    iwi_append(message, ". Noise takes over %s", iwi_inflection_text(p->series, at));
    iwi_inflection_interval_text(p->series, interval);
    iwi_append(message, "%s%s%s.", interval[0] != '\0' ? " (95 % CI " : "", interval,
               interval[0] != '\0' ? ")" : "");
}

static void write_interval(FILE *out, double low_ns, double high_ns)
{
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    if (isnan(low_ns)) {
        iwi_html_cell(out, IWI_CELL_NUMBER, "-");
    } else {
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s to %s", iwi_ns_time_text(low_ns, low),
                      iwi_ns_time_text(high_ns, high));
    }
}

static void write_row(FILE *out, const iw_cell_result *cell)
{
    const iw_summary *time = &cell->makespan_ns;
    const double times_ns[] = {cell->noiseless_ns, time->min, cell->p5_ns,  time->q1,
                               time->median,       time->q3,  cell->p95_ns, time->max};
    char text[IWI_NUMBER_SIZE];

    iwi_html_row_begin(out);
    iwi_html_cell(out, IWI_CELL_ROW_HEAD, "%s", iwi_ranks_text(cell->ranks, text));
    for (size_t i = 0; i < sizeof times_ns / sizeof times_ns[0]; i++) {
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ns_time_text(times_ns[i], text));
    }
    write_interval(out, time->median_low, time->median_high);
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ns_time_text(time->mean, text));
    write_interval(out, time->mean_low, time->mean_high);
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_slowdown_text(iwi_mean_slowdown(cell), text));
    iwi_html_row_end(out);
}

static void write_table(FILE *out, const void *arg)
{
    static const char *const heads[] = {
        "Ranks",  "Without noise",       "Least",          "5 %",  "Quarter",
        "Median", "3 quarters",          "95 %",           "Most", "95 % CI of the median",
        "Mean",   "95 % CI of the mean", "Slowdown (mean)"};
    const struct box_plot *p = arg;

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        iwi_html_head(out, false, "%s", heads[i]);
    }
    iwi_html_table_body(out);
    for (size_t i = 0; i < p->series->count; i++) {
        write_row(out, p->series->cells[i]);
    }
}

static iw_status write_figure(const struct box_plot *p)
{
    char title[IWI_PHRASE_SIZE], caption[2 * IWI_PHRASE_SIZE], message[IWI_PARAGRAPH_SIZE] = "";

    iwi_series_label(p->page, p->series, IWI_DIMS, title);
    snprintf(caption, sizeof caption, "%s: times of the trials, by number of ranks", title);
    write_message(p, message);
    return iwi_html_figure(p->page->html, &(struct iwi_figure){.title = title,
                                                               .message = message,
                                                               .data = data_of(p),
                                                               .table_caption = caption,
                                                               .write_table = write_table,
                                                               .arg = p});
}

iw_status iwi_html_study_boxes(const struct iwi_study_page *page)
{
    FILE *out = page->html->out;

    iwi_html_section(out, "times", "How times are distributed");
    iwi_html_paragraph(
        out, "note",
        "Boxes: the middle half of the trials, with the median. Whiskers: from 5 %% to 95 %% of "
        "the trials. Dots: the shortest and the longest. Dotted line: without noise. Dashed "
        "upright line: where noise takes over. Both axes are logarithmic; systems with the same "
        "work have the same axis of time.");
    (void)fputs("<div class=\"figures pairs\">\n", out);
    for (size_t first = 0; first < page->count; first++) {
        bool is_done = false;

        for (size_t i = 0; i < first && !is_done; i++) {
            is_done = iwi_differ_only_in(IWI_DIM_SYSTEM, &page->series[i], &page->series[first]);
        }
        for (size_t i = first; i < page->count && !is_done; i++) {
            if (iwi_differ_only_in(IWI_DIM_SYSTEM, &page->series[first], &page->series[i])) {
                IW_TRY(write_figure(&(struct box_plot){.page = page, .series = &page->series[i]}));
            }
        }
    }
    (void)fputs("</div>\n", out);
    return IW_OK;
}
