/* How the times of one series are distributed, over ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html/html_study.h"

#include <math.h>

#include "base/base.h"
#include "report/figure/study_figure.h"

struct box_plot {
    const struct iwi_study_page *page;
    const iw_series *series;
};

/* Systems that are compared side by side have the same axis of time. */
static void find_limits(const struct box_plot *p, double *low_ns, double *high_ns)
{
    for (size_t i = 0; i < p->page->count; i++) {
        if (iwi_differ_only_in(IWI_DIM_SYSTEM, p->series, &p->page->series[i])) {
            iwi_study_limits(&p->page->series[i], low_ns, high_ns);
        }
    }
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

static iw_status write_figure(const struct box_plot *p)
{
    const struct iwi_drawn_series drawn = {.series = p->series,
                                           .style = iwi_dim_style(p->page, IWI_DIM_SYSTEM, p->series)};
    char title[IWI_PHRASE_SIZE], message[IWI_PARAGRAPH_SIZE] = "";
    double low_ns = INFINITY, high_ns = 0.0;
    struct iwi_figure *figure;
    iw_status status;

    iwi_series_label(p->page, p->series, IWI_DIMS, title);
    write_message(p, message);
    find_limits(p, &low_ns, &high_ns);
    IW_TRY(iwi_study_boxes_figure(p->page->html->log, &drawn, 1, p->page->results->threshold, low_ns, high_ns,
                                  title, &figure));
    figure->message = message;
    status = iwi_html_figure(p->page->html, figure);
    iwi_figure_free(figure);
    return status;
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
