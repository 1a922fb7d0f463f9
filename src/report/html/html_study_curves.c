/* Slowdown over ranks, series that differ in one thing side by side.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html/html_study.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "report/figure/study_figure.h"

/* One figure: members differ only in `dim`. */
struct comparison {
    const struct iwi_study_page *page;
    enum iwi_dim dim;
    size_t count;
    const iw_series **members;
};

/* ---- words ---- */

static const iw_series *extreme(const struct comparison *c, double sign)
{
    const iw_series *found = NULL;
    double best = -INFINITY;

    for (size_t i = 0; i < c->count; i++) {
        const double slowdown = sign * iwi_median_slowdown(iwi_last_cell(c->members[i]));

        if (slowdown > best) {
            found = c->members[i];
            best = slowdown;
        }
    }
    return found;
}

static void append_extremes(const struct comparison *c, char *message)
{
    const iw_series *most = extreme(c, 1.0), *least = extreme(c, -1.0);
    char ranks[IWI_NUMBER_SIZE], label[IWI_PHRASE_SIZE], outcome[IWI_PHRASE_SIZE];

    if (most == NULL) {
        return;
    }
    iwi_append(message, "By the median, at %s ranks %.80s %s",
               iwi_ranks_text(iwi_last_cell(most)->ranks, ranks), iwi_dim_label(c->dim, most, label),
               iwi_outcome_text(iwi_last_cell(most), outcome));
    if (most != least) {
        iwi_append(message, ", the most; %.80s %s, the least", iwi_dim_label(c->dim, least, label),
                   iwi_outcome_text(iwi_last_cell(least), outcome));
    }
    iwi_append(message, ". ");
}

static void append_inflections(const struct comparison *c, char *message)
{
    enum { MOST = 6 };
    char label[IWI_PHRASE_SIZE], at[IWI_PHRASE_SIZE];
    size_t dominated = 0;

    for (size_t i = 0; i < c->count; i++) {
        dominated += c->members[i]->inflection > 0.0;
    }
    if (dominated == 0) {
        iwi_append(message, "Noise never takes over.");
    } else if (c->count > MOST) {
        iwi_append(message, "Noise takes over in %zu of %zu.", dominated, c->count);
    } else {
        iwi_append(message, "Noise takes over: ");
        for (size_t i = 0; i < c->count; i++) {
            iwi_append(message, "%s%.80s %s", i > 0 ? "; " : "", iwi_dim_label(c->dim, c->members[i], label),
                       iwi_inflection_text(c->members[i], at));
        }
        iwi_append(message, ".");
    }
}

/* ---- figures ---- */

static iw_status make_figure(const struct comparison *c, const char *title, struct iwi_figure **figure_p)
{
    struct iwi_drawn_series *drawn = iwi_new_array(c->page->html->log, c->count, sizeof *drawn);
    char(*labels)[IWI_PHRASE_SIZE] = iwi_new_array(c->page->html->log, c->count, sizeof *labels);
    iw_status status = IW_ERR_NOMEM;

    if (drawn != NULL && labels != NULL) {
        for (size_t i = 0; i < c->count; i++) {
            drawn[i] = (struct iwi_drawn_series){.series = c->members[i],
                                                 .label = iwi_dim_label(c->dim, c->members[i], labels[i]),
                                                 .style = iwi_dim_style(c->page, c->dim, c->members[i])};
        }
        status = iwi_study_curves_figure(c->page->html->log, drawn, c->count, c->page->results->threshold,
                                         title, figure_p);
    }
    free(labels);
    free(drawn);
    return status;
}

static iw_status write_figure(const struct comparison *c)
{
    char title[IWI_PHRASE_SIZE], message[IWI_PARAGRAPH_SIZE] = "";
    struct iwi_figure *figure;
    iw_status status;

    iwi_series_label(c->page, c->members[0], c->dim, title);
    append_extremes(c, message);
    append_inflections(c, message);
    IW_TRY(make_figure(c, title, &figure));
    figure->message = message;
    status = iwi_html_figure(c->page->html, figure);
    iwi_figure_free(figure);
    return status;
}

/* The series like number `first` but for the dimension; none if an earlier one has them already. */
static void gather(struct comparison *c, size_t first)
{
    const struct iwi_study_page *page = c->page;

    c->count = 0;
    for (size_t i = 0; i < page->count; i++) {
        if (iwi_differ_only_in(c->dim, &page->series[first], &page->series[i])) {
            if (i < first) {
                c->count = 0;
                return;
            }
            c->members[c->count++] = &page->series[i];
        }
    }
}

static iw_status write_section(struct comparison *c, bool is_first)
{
    char title[IWI_PHRASE_SIZE], id[IWI_NUMBER_SIZE];

    snprintf(title, sizeof title, "%s side by side", iwi_dim_name(c->dim, true));
    snprintf(id, sizeof id, "slowdown-%d", (int)c->dim);
    iwi_html_section(c->page->html->out, id, c->page->varies[c->dim] ? title : "Slowdown");
    if (is_first) {
        iwi_html_paragraph(c->page->html->out, "note",
                           "Lines: the median time divided by the time without noise. Bands: its 95 %% "
                           "confidence interval. Triangles: where noise takes over, the bar below it the "
                           "confidence interval of that. Both axes are logarithmic.");
    }
    (void)fprintf(c->page->html->out, "<div class=\"figures%s\">\n", is_first ? "" : " pairs");
    for (size_t i = 0; i < c->page->count; i++) {
        gather(c, i);
        /* In later sections, what has nothing to be compared with has been shown before. */
        if (c->count > (is_first ? 0 : 1)) {
            IW_TRY(write_figure(c));
        }
    }
    (void)fputs("</div>\n", c->page->html->out);
    return IW_OK;
}

iw_status iwi_html_study_curves(const struct iwi_study_page *page)
{
    struct comparison c = {.page = page};
    bool is_first = true;
    iw_status status = IW_OK;

    c.members = iwi_new_array(page->html->log, page->count, sizeof(iw_series *));
    if (c.members == NULL) {
        return IW_ERR_NOMEM;
    }
    for (int dim = 0; status == IW_OK && dim < IWI_DIMS; dim++) {
        if (page->varies[dim]) {
            c.dim = (enum iwi_dim)dim;
            status = write_section(&c, is_first);
            is_first = false;
        }
    }
    if (status == IW_OK && is_first) {
        c.dim = IWI_DIM_SYSTEM;
        status = write_section(&c, true);
    }
    free(c.members);
    return status;
}
