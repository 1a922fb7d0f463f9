/* What a study says, in words: where noise takes over, on which system, and how badly.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/study_report.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/noise_report.h"
#include "report/kinds/reach_report.h"

enum { NAME_COLUMNS = 63, SYSTEM_COLUMNS = 16, WHERE_COLUMNS = 26, INTERVAL_COLUMNS = 18 };

/* ---- the first paragraph ---- */

struct extremes {
    size_t over;            /* series in which noise takes over */
    const iw_series *first; /* of them the one with the fewest ranks */
    const iw_cell_result *worst;
    uint32_t most_ranks;
    uint64_t least_trials, most_trials;
};

static struct extremes find_extremes(const struct iwi_panels *panels)
{
    struct extremes e = {.least_trials = UINT64_MAX};

    for (size_t s = 0; s < panels->series_count; s++) {
        const iw_series *series = &panels->series[s];
        const iw_cell_result *worst = iwi_worst_of_series(series);

        if (series->inflection > 0.0) {
            e.over++;
            e.first = e.first == NULL || series->inflection < e.first->inflection ? series : e.first;
        }
        if (worst != NULL && (e.worst == NULL || iwi_mean_slowdown(worst) > iwi_mean_slowdown(e.worst))) {
            e.worst = worst;
        }
        for (size_t i = 0; i < series->count; i++) {
            const iw_cell_result *cell = series->cells[i];

            e.most_ranks = cell->ranks > e.most_ranks ? cell->ranks : e.most_ranks;
            e.least_trials = cell->trials < e.least_trials ? cell->trials : e.least_trials;
            e.most_trials = cell->trials > e.most_trials ? cell->trials : e.most_trials;
        }
    }
    return e;
}

/* "chic: allreduce:ring, 1 MiB" */
static void append_place(char *paragraph, const iw_cell_result *cell)
{
    const struct iwi_panel panel = {.cell = cell};
    char title[IWI_PHRASE_SIZE], name[IWI_NAME_SIZE];

    iwi_append(paragraph, "%s: %s", iwi_plain_name(cell->system, NAME_COLUMNS, name),
               iwi_panel_title(&panel, title));
}

static void append_over(char *paragraph, const struct iwi_panels *panels, const struct extremes *e)
{
    char where[IWI_PHRASE_SIZE], number[IWI_NUMBER_SIZE];

    if (e->over == 0) {
        iwi_append(paragraph, "Noise takes over nowhere, up to %s ranks.",
                   iwi_ranks_text(e->most_ranks, number));
        return;
    }
    iwi_append(paragraph, "Noise takes over ");
    if (panels->series_count > 1) {
        iwi_append(paragraph, "in %zu of %zu cases, first ", e->over, panels->series_count);
    }
    iwi_append(paragraph, "%s (", iwi_inflection_text(e->first, where));
    append_place(paragraph, e->first->cells[0]);
    iwi_append(paragraph, ").");
}

static void append_worst(char *paragraph, const iw_cell_result *worst)
{
    char number[IWI_NUMBER_SIZE], slower[IWI_PHRASE_SIZE];

    iwi_append(paragraph, " The worst case (");
    append_place(paragraph, worst);
    iwi_append(paragraph, ", %s rank%s) %s without noise", iwi_ranks_text(worst->ranks, number),
               worst->ranks == 1 ? "" : "s", iwi_slower_text(iwi_mean_slowdown(worst), slower));
    if (worst->recording.seconds > 0.0 && !isnan(worst->recording.record_s)) {
        iwi_append(paragraph, ", or more");
    }
    if (worst->trials > 1) {
        iwi_append(paragraph, " (mean; median %s)", iwi_slowdown_text(iwi_median_slowdown(worst), number));
    }
    iwi_append(paragraph, ".");
}

static void write_certainty(const struct iwi_page *page, const iw_study_results *results,
                            const struct extremes *e)
{
    char paragraph[IWI_PARAGRAPH_SIZE] = "", trials[IWI_NUMBER_SIZE], most[IWI_NUMBER_SIZE];

    iwi_append(paragraph, "%zu cell%s of ", results->count, results->count == 1 ? "" : "s");
    iwi_append(paragraph, "%s", iwi_ranks_text(e->least_trials, trials));
    if (e->most_trials > e->least_trials) {
        iwi_append(paragraph, " to %s", iwi_ranks_text(e->most_trials, most));
    }
    iwi_append(paragraph,
               " trial%s. Noise takes over where the median trial takes at least %.4g times as long as "
               "without noise, from there on; what it costs is told by the mean.",
               e->most_trials == 1 ? "" : "s", 1.0 + results->threshold);
    iwi_append_bounds(paragraph, results);
    iwi_append_extrapolated(paragraph, results);
    iwi_write_wrapped(page->out, paragraph);
}

/* ---- the table ---- */

static void write_series(const struct iwi_page *page, const iw_series *series)
{
    const iw_cell_result *worst = iwi_worst_of_series(series);
    char name[IWI_NAME_SIZE], where[IWI_PHRASE_SIZE], interval[IWI_PHRASE_SIZE], number[IWI_NUMBER_SIZE];

    iwi_plain_name(series->cells[0]->system, NAME_COLUMNS, name);
    if (strlen(name) > SYSTEM_COLUMNS) { /* on a line of its own, so that it need not be cut */
        (void)fprintf(page->out, "  %s\n", name);
        name[0] = '\0';
    }
    (void)fprintf(page->out, "  %-*s ", SYSTEM_COLUMNS, name);
    iwi_ink(page, series->inflection > 0.0 ? "31" : "32");
    (void)fprintf(page->out, "%-*s", WHERE_COLUMNS, iwi_inflection_text(series, where));
    iwi_ink(page, "");
    (void)fprintf(page->out, " %-*s %14s\n", INTERVAL_COLUMNS, iwi_inflection_interval_text(series, interval),
                  iwi_slowdown_text(worst != NULL ? iwi_mean_slowdown(worst) : NAN, number));
}

static void write_panel(const struct iwi_page *page, const struct iwi_panel *panel)
{
    char title[IWI_PHRASE_SIZE];

    (void)fputc('\n', page->out);
    iwi_ink(page, "1");
    iwi_write_wrapped(page->out, iwi_panel_title(panel, title));
    iwi_ink(page, "");
    (void)fprintf(page->out, "  %-*s %-*s %-*s %14s\n", SYSTEM_COLUMNS, "system", WHERE_COLUMNS,
                  "noise takes over", INTERVAL_COLUMNS, "95 % CI", "worst mean");
    for (size_t i = 0; i < panel->count; i++) {
        write_series(page, panel->series[i]);
    }
}

void iwi_write_study_verdict(const struct iwi_page *page, const iw_study_results *results,
                             const struct iwi_panels *panels)
{
    const struct extremes e = find_extremes(panels);
    char paragraph[IWI_PARAGRAPH_SIZE] = "";

    append_over(paragraph, panels, &e);
    if (e.worst != NULL) {
        append_worst(paragraph, e.worst);
    }
    iwi_ink(page, "1");
    iwi_write_wrapped(page->out, paragraph);
    iwi_ink(page, "");
    write_certainty(page, results, &e);
    for (size_t i = 0; i < panels->count; i++) {
        write_panel(page, &panels->panels[i]);
    }
}
