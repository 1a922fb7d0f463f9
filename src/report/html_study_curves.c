/* Slowdown over ranks, series that differ in one thing side by side.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html_study.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

/* One figure: members differ only in `dim`. */
struct comparison {
    const struct iwi_study_page *page;
    enum iwi_dim dim;
    size_t count;
    const iw_series **members;
};

/* ---- data ---- */

static json_t *points_of(const iw_series *series)
{
    json_t *points = json_array();

    for (size_t i = 0; i < series->count; i++) {
        const iw_cell_result *cell = series->cells[i];
        const iw_summary *time = &cell->makespan_ns;

        (void)json_array_append_new(
            points, json_pack("[I, o, o, o]", (json_int_t)cell->ranks,
                              iwi_html_number(1.0 + iwi_median_slowdown(cell)),
                              iwi_html_number(1.0 + iwi_cell_slowdown(cell, time->median_low)),
                              iwi_html_number(1.0 + iwi_cell_slowdown(cell, time->median_high))));
    }
    return points;
}

static json_t *data_of(const struct comparison *c)
{
    json_t *all = json_array();
    char label[IWI_PHRASE_SIZE];

    for (size_t i = 0; i < c->count; i++) {
        iwi_dim_label(c->dim, c->members[i], label);
        (void)json_array_append_new(
            all, json_pack("{s:o, s:I, s:o, s:o}", "label", iwi_json_text(label), "style",
                           (json_int_t)iwi_dim_style(c->page, c->dim, c->members[i]), "points",
                           points_of(c->members[i]), "inflection", iwi_inflection_json(c->members[i])));
    }
    return json_pack("{s:s, s:o, s:o}", "kind", "curves", "threshold",
                     iwi_html_number(c->page->results->threshold), "series", all);
}

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

/* ---- table ---- */

static int compare_ranks(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* All numbers of ranks that any member has, ascending. */
static uint32_t *ranks_of(const struct comparison *c, size_t *count_p)
{
    size_t used = 0, kept = 0;
    uint32_t *ranks;

    for (size_t i = 0; i < c->count; i++) {
        used += c->members[i]->count;
    }
    ranks = iwi_new_array(NULL, used, sizeof *ranks);
    used = 0;
    for (size_t i = 0; ranks != NULL && i < c->count; i++) {
        for (size_t k = 0; k < c->members[i]->count; k++) {
            ranks[used++] = c->members[i]->cells[k]->ranks;
        }
    }
    if (ranks != NULL) {
        qsort(ranks, used, sizeof *ranks, compare_ranks);
        for (size_t i = 0; i < used; i++) {
            if (kept == 0 || ranks[kept - 1] != ranks[i]) {
                ranks[kept++] = ranks[i];
            }
        }
    }
    *count_p = kept;
    return ranks;
}

static const iw_cell_result *cell_of(const iw_series *series, uint32_t ranks)
{
    for (size_t i = 0; i < series->count; i++) {
        if (series->cells[i]->ranks == ranks) {
            return series->cells[i];
        }
    }
    return NULL;
}

static void write_slowdown(FILE *out, const iw_cell_result *cell)
{
    const double slowdown = cell != NULL ? iwi_median_slowdown(cell) : NAN;
    char median[IWI_NUMBER_SIZE], range[IWI_RANGE_SIZE];

    if (cell == NULL || isnan(slowdown)) {
        iwi_html_cell(out, IWI_CELL_NUMBER, "-");
        iwi_html_cell(out, IWI_CELL_NUMBER, "-");
        return;
    }
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_slowdown_text(slowdown, median));
    if (isnan(cell->makespan_ns.median_low)) {
        iwi_html_cell(out, IWI_CELL_NUMBER, "-");
    } else {
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                      iwi_slowdown_range_text(iwi_cell_slowdown(cell, cell->makespan_ns.median_low),
                                              iwi_cell_slowdown(cell, cell->makespan_ns.median_high), range));
    }
}

static void write_table(FILE *out, const void *arg)
{
    const struct comparison *c = arg;
    char text[IWI_PHRASE_SIZE], number[IWI_NUMBER_SIZE];
    size_t count;
    uint32_t *ranks = ranks_of(c, &count);

    iwi_html_head(out, false, "Ranks");
    for (size_t i = 0; i < c->count; i++) {
        iwi_html_head(out, false, "%s", iwi_dim_label(c->dim, c->members[i], text));
        iwi_html_head(out, false, "95 %% CI");
    }
    iwi_html_table_body(out);
    for (size_t r = 0; ranks != NULL && r < count; r++) {
        iwi_html_row_begin(out);
        iwi_html_cell(out, IWI_CELL_ROW_HEAD, "%s", iwi_ranks_text(ranks[r], number));
        for (size_t i = 0; i < c->count; i++) {
            write_slowdown(out, cell_of(c->members[i], ranks[r]));
        }
        iwi_html_row_end(out);
    }
    free(ranks);
}

/* ---- figures ---- */

static iw_status write_figure(const struct comparison *c)
{
    char title[IWI_PHRASE_SIZE], caption[2 * IWI_PHRASE_SIZE], message[IWI_PARAGRAPH_SIZE] = "";

    iwi_series_label(c->page, c->members[0], c->dim, title);
    snprintf(caption, sizeof caption, "%s: slowdown of the median, and its 95 %% confidence interval", title);
    append_extremes(c, message);
    append_inflections(c, message);
    return iwi_html_figure(c->page->html, &(struct iwi_figure){.title = title,
                                                               .message = message,
                                                               .data = data_of(c),
                                                               .table_caption = caption,
                                                               .write_table = write_table,
                                                               .arg = c});
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
