/* Studies: where noise takes over, on which systems, and how the times of all cells are distributed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/study/study_report.h"
#include "features/tables.h"
#include "kit/text/words.h"

/* ---- the table: a line of CSV for each cell ---- */

#define SLOWDOWN(name, member)                                    \
    static double name(const void *object)                        \
    {                                                             \
        const iw_cell_result *cell = object;                      \
                                                                  \
        return iwi_cell_slowdown(cell, cell->makespan_ns.member); \
    }

SLOWDOWN(mean_slowdown, mean)
SLOWDOWN(mean_slowdown_low, mean_low)
SLOWDOWN(mean_slowdown_high, mean_high)
SLOWDOWN(median_slowdown, median)
SLOWDOWN(median_slowdown_low, median_low)
SLOWDOWN(median_slowdown_high, median_high)

static const struct iwi_field cell_fields[] = {
    IWI_CHARS(iw_cell_result, id),
    IWI_VALUE(iw_cell_result, system),
    IWI_VALUE(iw_cell_result, work),
    IWI_VALUE(iw_cell_result, net),
    IWI_VALUE(iw_cell_result, noise),
    IWI_VALUE(iw_cell_result, ranks),
    IWI_VALUE(iw_cell_result, bytes),
    IWI_ENUM(iw_cell_result, sync, "sync", iwi_sync_name),
    IWI_VALUE(iw_cell_result, net_scale),
    IWI_VALUE(iw_cell_result, trials),
    IWI_VALUE(iw_cell_result, seed),
    IWI_VALUE(iw_cell_result, messages),
    IWI_VALUE(iw_cell_result, noise_share),
    IWI_VALUE(iw_cell_result, noiseless_ns),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.min, "min_ns"),
    IWI_VALUE(iw_cell_result, p5_ns),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.q1, "q1_ns"),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.median, "median_ns"),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.q3, "q3_ns"),
    IWI_VALUE(iw_cell_result, p95_ns),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.max, "max_ns"),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.mean, "mean_ns"),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.mean_low, "mean_ns_low"),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.mean_high, "mean_ns_high"),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.median_low, "median_ns_low"),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.median_high, "median_ns_high"),
    IWI_REAL_OF("mean_slowdown", mean_slowdown),
    IWI_REAL_OF("mean_slowdown_low", mean_slowdown_low),
    IWI_REAL_OF("mean_slowdown_high", mean_slowdown_high),
    IWI_REAL_OF("median_slowdown", median_slowdown),
    IWI_REAL_OF("median_slowdown_low", median_slowdown_low),
    IWI_REAL_OF("median_slowdown_high", median_slowdown_high),
    IWI_VALUE(iw_cell_result, settings, .may_be_null = true),
};
static const struct iwi_schema cell_schema = IWI_SCHEMA(iw_cell_result, cell_fields);

static const struct iwi_field study_fields[] = {
    IWI_OBJECTS(iw_study_results, cells, count, cell_schema, .is_row = true),
};
static const struct iwi_schema study_schema = IWI_SCHEMA(iw_study_results, study_fields);

/* ---- all series ---- */

static const char *interval_text(struct iwi_document *doc, const iw_series *series)
{
    const char *interval = iwi_inflection_interval_text(doc, series);

    return interval[0] != '\0' ? interval : "-";
}

/* Of what the rows of all series say: they have one notation. */
static double largest_slowdown(const struct iwi_study_view *view)
{
    double largest = 0;

    for (size_t i = 0; i < view->panels.series_count; i++) {
        const iw_cell_result *cell = iwi_last_cell(&view->panels.series[i]);

        largest = fmax(largest, fmax(iwi_mean_slowdown(cell), iwi_median_slowdown(cell)));
        largest = fmax(largest, mean_slowdown_high(cell)); /* may be NaN */
    }
    return largest;
}

static void say_series(const struct iwi_study_view *view, const iw_series *series, double largest)
{
    struct iwi_document *doc = view->doc;
    const iw_cell_result *cell = iwi_last_cell(series);
    const char *cells[IWI_MOST_COLUMNS + 1] = {NULL};
    char text[IWI_RANGE_SIZE], number[IWI_NUMBER_SIZE];
    size_t count = 0;

    for (int dim = 0; dim < IWI_DIMS; dim++) {
        if (view->panels.varies[dim] || dim == IWI_DIM_SYSTEM) {
            cells[count++] = iwi_dim_label(doc, (enum iwi_dim)dim, series);
        }
    }
    cells[count++] = series->inflection > 0.0
                         ? iwi_say(doc, "%s", iwi_about_ranks_text(series->inflection, text))
                         : "none";
    cells[count++] = interval_text(doc, series);
    cells[count++] = iwi_say(doc, "%s", iwi_slowdown_column_text(iwi_mean_slowdown(cell), largest, number));
    cells[count++] = iwi_say(
        doc, "%s",
        iwi_slowdown_span_column_text(mean_slowdown_low(cell), mean_slowdown_high(cell), largest, text));
    cells[count++] = iwi_say(doc, "%s", iwi_slowdown_column_text(iwi_median_slowdown(cell), largest, number));
    cells[count++] = iwi_say(doc, "%s", iwi_ranks_text(cell->ranks, text));
    cells[count++] = iwi_ns(doc, cell->noiseless_ns);
    cells[count++] =
        isnan(cell->noise_share) ? "-" : iwi_say(doc, "%s", iwi_share_text(cell->noise_share, text));
    cells[count++] = cell->noise;
    iwi_row_cells(doc, cells);
}

static void say_overview(const struct iwi_study_view *view)
{
    static const char *const heads[] = {"Noise takes over, ranks (median)",
                                        "95 % CI",
                                        "Mean on the most ranks, against no noise",
                                        "95 % CI",
                                        "Median there",
                                        "Most ranks",
                                        "Without noise",
                                        "Noise, share of time"};
    const double largest = largest_slowdown(view);
    struct iwi_column columns[IWI_MOST_COLUMNS];
    size_t count = 0;

    for (int dim = 0; dim < IWI_DIMS; dim++) {
        if (view->panels.varies[dim] || dim == IWI_DIM_SYSTEM) {
            columns[count++] = (struct iwi_column){iwi_dim_name((enum iwi_dim)dim, false), IWI_WORDS};
        }
    }
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        columns[count++] = (struct iwi_column){heads[i], IWI_NUMBER};
    }
    columns[count++] = (struct iwi_column){"Noise", IWI_WORDS};
    iwi_section(view->doc, "overview", "All series");
    iwi_table(view->doc, "Where noise takes over, and what the most ranks take", columns, count);
    for (size_t i = 0; i < view->panels.series_count; i++) {
        say_series(view, &view->panels.series[i], largest);
    }
    iwi_unfold(view->doc);
}

/* ---- all of it ---- */

static void say_origin(struct iwi_document *doc, const iw_study_results *results)
{
    iwi_section(doc, "origin", "Origin");
    if (results->attribute_count > 0) {
        IWI_TABLE(doc, "How, when and where this was made", {"What", IWI_WORDS}, {"Value", IWI_WORDS});
        for (size_t i = 0; i < results->attribute_count; i++) {
            iwi_row(doc, results->attributes[i].name, results->attributes[i].value);
        }
        iwi_unfold(doc);
    }
    iwi_paragraph(doc, "The study as it was written:");
    iwi_code(doc, "%s", results->text);
}

static void say_cells(const struct iwi_study_view *view)
{
    struct iwi_document *doc = view->doc;

    iwi_only(doc, IWI_ON_PAGES);
    if (iwi_wants(doc, IWI_ON_PAGES)) {
        if (view->panels.varies[IWI_DIM_SYSTEM]) {
            iwi_study_say_systems(doc, &view->panels);
        }
        iwi_study_say_slowdowns(view);
        say_overview(view);
    }
    iwi_study_say_panels(view);
    iwi_only(doc, IWI_EVERYWHERE);
    iwi_section(doc, "certainty", "How sure");
    iwi_study_say_notes(doc, view->results);
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_study_results *results = subject;
    struct iwi_study_view view = {.doc = doc, .results = results};
    char cells[IWI_NUMBER_SIZE];

    doc->status = iwi_panels_new(doc->log, results, &view.panels);
    if (doc->status != IW_OK) {
        return;
    }
    iwi_title(doc, "%s",
              results->title != NULL && results->title[0] != '\0' ? results->title : results->name);
    iwi_subtitle(doc, "Study %s: %zu series, %s cells", results->name, view.panels.series_count,
                 iwi_ranks_text(results->count, cells));
    iwi_study_say_verdict(doc, results, &view.panels);
    if (view.panels.series_count > 0) {
        say_cells(&view);
    }
    iwi_only(doc, IWI_ON_PAGES);
    say_origin(doc, results);
    iwi_panels_release(&view.panels);
}

const struct iwi_kind iwi_study_kind = {.name = "study", .schema = &study_schema, .write_doc = write_doc};

iw_doc iw_study_doc(const iw_study_results *results)
{
    return (iw_doc){&iwi_study_kind, results};
}
