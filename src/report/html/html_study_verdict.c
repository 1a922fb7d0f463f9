/* What a study says in words, and all series in one table.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html/html_study.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/noise_report.h"
#include "report/kinds/reach_report.h"

/* Of all series, or of one system's. */
struct tally {
    size_t count, dominated;
    const iw_series *first, *last;  /* where noise takes over with the fewest and the most ranks; or NULL */
    const iw_series *worst, *least; /* by the slowdown on the most ranks; or NULL */
};

static double final_slowdown(const iw_series *series)
{
    return iwi_mean_slowdown(iwi_last_cell(series));
}

static void count_in(struct tally *t, const iw_series *series)
{
    const double slowdown = final_slowdown(series);

    t->count++;
    if (series->inflection > 0.0) {
        t->dominated++;
        if (t->first == NULL || series->inflection < t->first->inflection) {
            t->first = series;
        }
        if (t->last == NULL || series->inflection > t->last->inflection) {
            t->last = series;
        }
    }
    if (!isnan(slowdown) && (t->worst == NULL || slowdown > final_slowdown(t->worst))) {
        t->worst = series;
    }
    if (!isnan(slowdown) && (t->least == NULL || slowdown < final_slowdown(t->least))) {
        t->least = series;
    }
}

static struct tally tally_of(const struct iwi_study_page *page, const iw_series *like)
{
    struct tally t = {.count = 0};

    for (size_t i = 0; i < page->count; i++) {
        if (like == NULL || iwi_dim_is_same(IWI_DIM_SYSTEM, like, &page->series[i])) {
            count_in(&t, &page->series[i]);
        }
    }
    return t;
}

/* " (95 % CI 430 to 610)", "" if there is none. */
static void append_interval(char *paragraph, const iw_series *series)
{
    char interval[IWI_PHRASE_SIZE];

    if (iwi_inflection_interval_text(series, interval)[0] != '\0') {
        iwi_append(paragraph, " (95 %% CI %s)", interval);
    }
}

/* "113.2 times as long on 1,048,576 ranks", "2.61 % slower on 8 ranks": of the mean. */
static void append_final(char *paragraph, const iw_series *series)
{
    const iw_cell_result *cell = iwi_last_cell(series);
    const double slowdown = final_slowdown(series);
    char number[IWI_NUMBER_SIZE];

    if (slowdown >= 1.0) {
        iwi_append(paragraph, "%s times as long", iwi_factor_text(1.0 + slowdown, number));
    } else {
        iwi_append(paragraph, "%s %s", iwi_percent_text(fabs(slowdown), number),
                   slowdown < 0.0 ? "faster" : "slower");
    }
    iwi_append(paragraph, " on %s ranks", iwi_ranks_text(cell->ranks, number));
}

static uint32_t most_ranks(const iw_study_results *results)
{
    uint32_t most = 0;

    for (size_t i = 0; i < results->count; i++) {
        most = results->cells[i].ranks > most ? results->cells[i].ranks : most;
    }
    return most;
}

/* "3 of 6 series", "all 6 series". */
static void append_dominated(char *paragraph, const struct tally *t)
{
    if (t->dominated == t->count) {
        iwi_append(paragraph, "all %zu series", t->count);
    } else {
        iwi_append(paragraph, "%zu of %zu series", t->dominated, t->count);
    }
}

static void write_headline(const struct iwi_study_page *page, const struct tally *t)
{
    char paragraph[IWI_PARAGRAPH_SIZE] = "", label[IWI_PHRASE_SIZE], text[IWI_PHRASE_SIZE];

    if (t->dominated == 0) {
        iwi_append(paragraph, "Noise does not take over%s, up to %s ranks.",
                   t->count > 1 ? " in any series" : "", iwi_ranks_text(most_ranks(page->results), text));
    } else if (t->count == 1) {
        iwi_append(paragraph, "Noise takes over %s", iwi_inflection_text(t->first, text));
        append_interval(paragraph, t->first);
        iwi_append(paragraph, ".");
    } else {
        iwi_append(paragraph, "Noise takes over in ");
        append_dominated(paragraph, t);
        iwi_append(paragraph, ", first for %.120s: %s", iwi_series_label(page, t->first, IWI_DIMS, label),
                   iwi_inflection_text(t->first, text));
        append_interval(paragraph, t->first);
        iwi_append(paragraph, ".");
    }
    if (t->worst != NULL) {
        iwi_append(paragraph, " Hit worst is %.120s: ", iwi_series_label(page, t->worst, IWI_DIMS, label));
        append_final(paragraph, t->worst);
        iwi_append(paragraph, " in the mean, compared with no noise.");
    }
    iwi_html_paragraph(page->html->out, NULL, "%s", paragraph);
}

/* "chic: in 3 of 6 series, between 512 and 4,096 ranks". */
static void write_system(const struct iwi_study_page *page, const iw_series *like)
{
    const struct tally t = tally_of(page, like);
    char paragraph[IWI_PARAGRAPH_SIZE] = "", low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];
    char text[IWI_PHRASE_SIZE];

    if (t.count == 1 || t.dominated == 0) {
        iwi_append(paragraph, "%s", iwi_inflection_text(like, text));
        if (t.count == 1) {
            append_interval(paragraph, like);
        }
    } else {
        iwi_append(paragraph, "in ");
        append_dominated(paragraph, &t);
        iwi_append(paragraph, ", ");
        if (t.first == t.last) {
            iwi_append(paragraph, "%s", iwi_inflection_text(t.first, text));
        } else {
            iwi_append(paragraph, "between %s and %s ranks", iwi_about_ranks_text(t.first->inflection, low),
                       iwi_about_ranks_text(t.last->inflection, high));
        }
    }
    if (t.worst != NULL) {
        iwi_append(paragraph, "; %s", t.count == 1 ? "" : "at worst ");
        append_final(paragraph, t.worst);
    }
    (void)fputs("<li><strong>", page->html->out);
    iwi_html_format(page->html->out, "%s", like->cells[0]->system);
    (void)fputs("</strong>: ", page->html->out);
    iwi_html_prose(page->html->out, paragraph);
    (void)fputs("</li>\n", page->html->out);
}

static void write_systems(const struct iwi_study_page *page)
{
    enum { MOST = 16 };
    unsigned written = 0;

    (void)fputs("<ul>\n", page->html->out);
    for (size_t i = 0; i < page->count && written < MOST; i++) {
        /* Styles count the systems in their order. */
        if (iwi_dim_style(page, IWI_DIM_SYSTEM, &page->series[i]) == written) {
            write_system(page, &page->series[i]);
            written++;
        }
    }
    (void)fputs("</ul>\n", page->html->out);
    if (written == MOST) {
        iwi_html_paragraph(page->html->out, "note", "Further systems are in the table below.");
    }
}

/* How sure we are, and what is missing. */
static void write_certainty(const struct iwi_study_page *page)
{
    const iw_study_results *results = page->results;
    uint64_t fewest = UINT64_MAX, most = 0;
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE], trials[IWI_PHRASE_SIZE];
    char recorded[IWI_PARAGRAPH_SIZE] = "";

    for (size_t i = 0; i < results->count; i++) {
        fewest = results->cells[i].trials < fewest ? results->cells[i].trials : fewest;
        most = results->cells[i].trials > most ? results->cells[i].trials : most;
    }
    if (most == 1) {
        snprintf(trials, sizeof trials, "the only trial");
    } else {
        snprintf(trials, sizeof trials, "the median of %s%s%s trials", iwi_ranks_text(fewest, low),
                 fewest < most ? " to " : "", fewest < most ? iwi_ranks_text(most, high) : "");
    }
    iwi_html_paragraph(page->html->out, "note",
                       "Noise takes over where %s reaches %.4g times the time without noise and stays there; "
                       "between the simulated numbers of ranks it is interpolated. %s",
                       trials, 1.0 + results->threshold,
                       most < IW_LEAST_TRIALS
                           ? "So few trials do not tell how sure this is."
                           : "Its intervals are those of the medians, of 95 % or a little more.");
    iwi_append_bounds(recorded, results);
    iwi_append_extrapolated(recorded, results);
    if (recorded[0] != '\0') {
        iwi_html_paragraph(page->html->out, NULL, "%s", recorded + 1); /* it begins with a blank */
    }
    if (results->count < results->expected) {
        iwi_html_paragraph(page->html->out, NULL,
                           "This study is not finished: %zu of %zu cells are here. Run it again to go on.",
                           results->count, results->expected);
    }
}

void iwi_html_study_verdict(const struct iwi_study_page *page)
{
    const struct tally all = tally_of(page, NULL);
    FILE *out = page->html->out;

    (void)fputs("<section class=\"verdict\" aria-labelledby=\"verdict\">\n<h2 id=\"verdict\">Verdict</h2>\n",
                out);
    if (page->count == 0) {
        iwi_html_paragraph(out, NULL, "There is nothing yet: none of %zu cells has ended.",
                           page->results->expected);
    } else {
        write_headline(page, &all);
        if (page->varies[IWI_DIM_SYSTEM]) {
            write_systems(page);
        }
        write_certainty(page);
    }
    (void)fputs("</section>\n", out);
}

/* ---- overview ---- */

static void write_overview_heads(const struct iwi_study_page *page)
{
    static const char *const heads[] = {"Noise takes over, ranks (median)",
                                        "95 % CI",
                                        "Mean slowdown on the most ranks",
                                        "95 % CI",
                                        "Median slowdown there",
                                        "Most ranks",
                                        "Without noise"};
    FILE *out = page->html->out;

    for (int dim = 0; dim < IWI_DIMS; dim++) {
        if (page->varies[dim] || dim == IWI_DIM_SYSTEM) {
            iwi_html_head(out, true, "%s", iwi_dim_name((enum iwi_dim)dim, false));
        }
    }
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        iwi_html_head(out, false, "%s", heads[i]);
    }
    iwi_html_head(out, false, "Noise, share of time");
    iwi_html_head(out, true, "Noise");
    iwi_html_table_body(out);
}

static void write_inflection_cells(FILE *out, const iw_series *series)
{
    char number[IWI_NUMBER_SIZE], interval[IWI_PHRASE_SIZE];

    iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                  series->inflection > 0.0 ? iwi_about_ranks_text(series->inflection, number) : "none");
    iwi_inflection_interval_text(series, interval);
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", interval[0] != '\0' ? interval : "-");
}

static void write_overview_row(const struct iwi_study_page *page, const iw_series *series)
{
    const iw_cell_result *cell = iwi_last_cell(series);
    FILE *out = page->html->out;
    char text[IWI_PHRASE_SIZE];

    iwi_html_row_begin(out);
    for (int dim = 0; dim < IWI_DIMS; dim++) {
        if (page->varies[dim] || dim == IWI_DIM_SYSTEM) {
            iwi_html_cell(out, dim == IWI_DIM_SYSTEM ? IWI_CELL_ROW_HEAD_WORDS : IWI_CELL_WORDS, "%s",
                          iwi_dim_label((enum iwi_dim)dim, series, text));
        }
    }
    write_inflection_cells(out, series);
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_slowdown_text(iwi_mean_slowdown(cell), text));
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                  iwi_slowdown_span_text(iwi_cell_slowdown(cell, cell->makespan_ns.mean_low),
                                         iwi_cell_slowdown(cell, cell->makespan_ns.mean_high), text));
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_slowdown_text(iwi_median_slowdown(cell), text));
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ranks_text(cell->ranks, text));
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ns_time_text(cell->noiseless_ns, text));
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                  isnan(cell->noise_share) ? "-" : iwi_share_text(cell->noise_share, text));
    iwi_html_cell(out, IWI_CELL_WORDS, "%s", cell->noise);
    iwi_html_row_end(out);
}

void iwi_html_study_overview(const struct iwi_study_page *page)
{
    FILE *out = page->html->out;

    iwi_html_section(out, "overview", "All series");
    iwi_html_table_begin(out, "Where noise takes over, and what the most ranks take");
    write_overview_heads(page);
    for (size_t i = 0; i < page->count; i++) {
        write_overview_row(page, &page->series[i]);
    }
    iwi_html_table_end(out);
}
