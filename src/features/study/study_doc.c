/* What studies, runs and estimates of them say.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include <idlewave/study.h>

#include "core/base/base.h"
#include "features/study/study_report.h"
#include "features/tables.h"
#include "kit/text/words.h"

/* ======== a run ======== */

static const struct iwi_field run_fields[] = {
    IWI_VALUE(iw_study_outcome, folder, .about = "folder of the results"),
    IWI_VALUE(iw_study_outcome, shard, .about = "number of this shard, from 1"),
    IWI_VALUE(iw_study_outcome, shards),
    IWI_VALUE(iw_study_outcome, cells, .about = "of this shard"),
    IWI_VALUE(iw_study_outcome, found, .about = "finished before this run"),
    IWI_VALUE(iw_study_outcome, run, .about = "run by this process"),
    IWI_VALUE(iw_study_outcome, others, .about = "cells that other processes finished during this run"),
    IWI_VALUE(iw_study_outcome, elsewhere, .about = "cells still running in other processes"),
    IWI_VALUE(iw_study_outcome, is_stopped, .about = "it was interrupted; the same command resumes it"),
    IWI_VALUE(iw_study_outcome, seconds, .about = "duration of the run"),
};
static const struct iwi_schema run_schema = IWI_SCHEMA(iw_study_outcome, run_fields);

static iw_status check_run(const iw_log *log, const char *name, const void *subject)
{
    const iw_study_outcome *outcome = subject;

    if (outcome->elsewhere > outcome->cells) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': elsewhere: more than 'cells'", name);
    }
    return IW_OK;
}

/* Of one of several shards. */
static const char *of_shard(struct iwi_document *doc, const iw_study_outcome *outcome)
{
    return outcome->shards > 1
               ? iwi_doc_printf(doc, " of shard %" PRIu32 " of %" PRIu32, outcome->shard, outcome->shards)
               : "";
}

static void say_done(struct iwi_document *doc, const iw_study_outcome *outcome)
{
    iwi_verdict(doc, "Done: %zu cell%s%s in %s", outcome->cells, iwi_plural_s(outcome->cells),
                of_shard(doc, outcome), iwi_seconds(doc, outcome->seconds));
    if (outcome->others > 0) {
        iwi_doc_append(doc, ", %zu of them by other processes", outcome->others);
    }
    if (outcome->found > 0) {
        iwi_doc_append(doc, " (%zu finished before)", outcome->found);
    }
    iwi_doc_append(doc, ".");
}

static void write_run(struct iwi_document *doc, const void *subject)
{
    const iw_study_outcome *outcome = subject;

    iwi_title(doc, "A run of a study in '%s'", outcome->folder);
    if (outcome->is_stopped) {
        iwi_verdict(doc, "Interrupted: %zu of %zu cells%s finished.",
                    outcome->found + outcome->run + outcome->others, outcome->cells, of_shard(doc, outcome));
    } else if (outcome->elsewhere > 0) {
        iwi_verdict(doc, "Finished here: %zu of %zu cells%s; other processes run the rest (%zu).",
                    outcome->cells - outcome->elsewhere, outcome->cells, of_shard(doc, outcome),
                    outcome->elsewhere);
    } else {
        say_done(doc, outcome);
    }
}

const struct iwi_kind iwi_study_run_kind = {
    .name = "study-run",
    .schema_id = "idlewave.study-run/1",
    .about = "A run of a study, from `idlewave study --format json`; its results are in its folder",
    .schema = &run_schema,
    .write_doc = write_run,
    .check = check_run,
};

IWI_DOC(iw_study_run_doc, iw_study_outcome, outcome, iwi_study_run_kind)

/* ======== an estimate ======== */

static const struct iwi_field row_fields[] = {
    IWI_VALUE(iw_study_estimate_row, system),
    IWI_VALUE(iw_study_estimate_row, work),
    IWI_VALUE(iw_study_estimate_row, least_ranks),
    IWI_VALUE(iw_study_estimate_row, most_ranks),
    IWI_VALUE(iw_study_estimate_row, cells, .about = "to run"),
    IWI_VALUE(iw_study_estimate_row, core_seconds),
    IWI_VALUE(iw_study_estimate_row, largest_bytes, .about = "memory of its largest cell"),
};
static const struct iwi_schema row_schema = IWI_SCHEMA(iw_study_estimate_row, row_fields);

static const struct iwi_field estimate_fields[] = {
    IWI_VALUE(iw_study_estimate, shard, .about = "number of this shard, from 1"),
    IWI_VALUE(iw_study_estimate, shards),
    IWI_VALUE(iw_study_estimate, cells, .about = "of this shard"),
    IWI_VALUE(iw_study_estimate, found, .about = "finished cells"),
    IWI_VALUE(iw_study_estimate, processes),
    IWI_VALUE(iw_study_estimate, threads, .about = "of each process"),
    IWI_VALUE(iw_study_estimate, core_seconds,
              .about = "CPU time of all threads for all unfinished cells, from samples on this machine"),
    IWI_VALUE(iw_study_estimate, wall_seconds, .about = "with all threads of all processes busy"),
    IWI_VALUE(iw_study_estimate, memory_bytes,
              .about = "of one process, with its largest cells side by side"),
    IWI_OBJECTS(iw_study_estimate, rows, row_count, row_schema, .is_row = true,
                .about = "one for each system and work with cells to run"),
};
static const struct iwi_schema estimate_schema = IWI_SCHEMA(iw_study_estimate, estimate_fields);

static iw_status check_estimate(const iw_log *log, const char *name, const void *subject)
{
    const iw_study_estimate *estimate = subject;

    if (estimate->found > estimate->cells) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': found: more than 'cells'", name);
    }
    return IW_OK;
}

static void say_cost(struct iwi_document *doc, const iw_study_estimate *estimate)
{
    const size_t left = estimate->cells - estimate->found;

    iwi_verdict(doc, "%s", "");
    if (estimate->shards > 1) {
        iwi_doc_append(doc, "Shard %" PRIu32 " of %" PRIu32 ". ", estimate->shard, estimate->shards);
    }
    if (left == 0) {
        iwi_doc_append(doc, "Nothing to do: all cells (%zu) are finished.", estimate->cells);
        return;
    }
    iwi_doc_append(doc, "%zu cell%s about %s on ", left, left == 1 ? " needs" : "s need",
                   iwi_seconds(doc, estimate->wall_seconds));
    if (estimate->processes > 1) {
        iwi_doc_append(doc, "%" PRIu32 " processes with ", estimate->processes);
    }
    iwi_doc_append(doc, "%" PRIu32 " thread%s and %s of memory%s.", estimate->threads,
                   iwi_plural_s(estimate->threads), iwi_memory_size(doc, (double)estimate->memory_bytes),
                   estimate->processes > 1 ? " each" : "");
    if (estimate->found > 0) {
        iwi_verdict(doc, "%zu more finished before.", estimate->found);
    }
}

static void write_estimate(struct iwi_document *doc, const void *subject)
{
    const iw_study_estimate *estimate = subject;

    iwi_title(doc, "Cost of the study");
    say_cost(doc, estimate);
    if (estimate->row_count == 0) {
        return;
    }
    IWI_TABLE(doc, "", {"system", IWI_WORDS}, {"work", IWI_WORDS}, {"ranks", IWI_NUMBER},
              {"cells", IWI_NUMBER}, {"1 core", IWI_NUMBER}, {"memory", IWI_NUMBER});
    for (size_t i = 0; i < estimate->row_count; i++) {
        const iw_study_estimate_row *row = &estimate->rows[i];

        iwi_row(doc, row->system, row->work,
                row->least_ranks == row->most_ranks
                    ? iwi_doc_printf(doc, "%" PRIu32, row->most_ranks)
                    : iwi_doc_printf(doc, "%" PRIu32 " to %" PRIu32, row->least_ranks, row->most_ranks),
                iwi_doc_printf(doc, "%zu", row->cells), iwi_seconds(doc, row->core_seconds),
                iwi_memory_size(doc, (double)row->largest_bytes));
    }
    iwi_unfold(doc);
    iwi_section(doc, "certainty", "How sure");
    iwi_item(doc,
             "In total %s of CPU time of all threads: starting and reading as they took now, the rest from a "
             "small part of each kind of cell. Nine of ten such forecasts were within 1.5 times of what a "
             "run took. Memory is that of the largest cell.",
             iwi_seconds(doc, estimate->core_seconds));
}

const struct iwi_kind iwi_study_estimate_kind = {
    .name = "study-estimate",
    .schema_id = "idlewave.study-estimate/2",
    .about = "Cost of a study, from `idlewave study --dry-run --format json`",
    .schema = &estimate_schema,
    .write_doc = write_estimate,
    .check = check_estimate,
};

IWI_DOC(iw_study_estimate_doc, iw_study_estimate, estimate, iwi_study_estimate_kind)

/* ======== comparisons ======== */

/* The series like number `first` but for the dimension; none if an earlier one has them already. */
static void gather(const struct iwi_panels *panels, struct iwi_comparison *c, size_t first)
{
    c->count = 0;
    for (size_t i = 0; i < panels->series_count; i++) {
        if (iwi_differ_only_in(c->dim, &panels->series[first], &panels->series[i])) {
            if (i < first) {
                c->count = 0;
                return;
            }
            c->members[c->count++] = &panels->series[i];
        }
    }
}

/* In sections after the first, what has nothing to be compared with has been shown before. */
static void say_dim(const struct iwi_study_view *view, enum iwi_dim dim, bool is_first)
{
    const struct iwi_panels *panels = &view->panels;
    struct iwi_document *doc = view->doc;
    struct iwi_comparison c = {
        .dim = dim, .members = iwi_arena_take(&doc->arena, panels->series_count, sizeof(iw_series *))};

    iwi_section(doc, iwi_doc_printf(doc, "slowdown-%d", (int)dim),
                !panels->varies[dim]
                    ? "Relative time"
                    : iwi_doc_printf(doc, "%s%s side by side", dim > IWI_DIMS ? "Values of " : "",
                                     iwi_dim_name(dim, true)));
    if (is_first) {
        iwi_note(doc, "Lines: the median time divided by the time without noise. Bands: its 95 %% confidence "
                      "interval. Triangles: where noise takes over, with its confidence interval as a bar "
                      "below. Both axes are logarithmic.");
    }
    for (size_t i = 0; c.members != NULL && i < panels->series_count; i++) {
        gather(panels, &c, i);
        if (c.count > (is_first ? 0 : 1)) {
            struct iwi_figure *figure =
                iwi_study_show_curves(view, &c, iwi_series_label(doc, panels, c.members[0], dim));

            if (figure != NULL) {
                figure->is_wide = is_first;
            }
        }
    }
}

void iwi_study_say_slowdowns(const struct iwi_study_view *view)
{
    bool is_first = true;

    for (int dim = 0; dim < IWI_ALL_DIMS; dim++) {
        if (view->panels.varies[dim] && dim != IWI_DIM_SETTINGS) { /* they are compared each alone */
            say_dim(view, (enum iwi_dim)dim, is_first);
            is_first = false;
        }
    }
    if (is_first) {
        say_dim(view, IWI_DIM_SYSTEM, true);
    }
}

/* ======== results ======== */

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
                         ? iwi_doc_printf(doc, "%s", iwi_about_ranks_text(series->inflection, text))
                         : "none";
    cells[count++] = interval_text(doc, series);
    cells[count++] =
        iwi_doc_printf(doc, "%s", iwi_slowdown_column_text(iwi_mean_slowdown(cell), largest, number));
    cells[count++] = iwi_doc_printf(
        doc, "%s",
        iwi_slowdown_span_column_text(mean_slowdown_low(cell), mean_slowdown_high(cell), largest, text));
    cells[count++] =
        iwi_doc_printf(doc, "%s", iwi_slowdown_column_text(iwi_median_slowdown(cell), largest, number));
    cells[count++] = iwi_doc_printf(doc, "%s", iwi_ranks_text(cell->ranks, text));
    cells[count++] = iwi_ns(doc, cell->noiseless_ns);
    cells[count++] =
        isnan(cell->noise_share) ? "-" : iwi_doc_printf(doc, "%s", iwi_share_text(cell->noise_share, text));
    cells[count++] = cell->noise;
    iwi_row_cells(doc, cells);
}

static void say_overview(const struct iwi_study_view *view)
{
    static const char *const heads[] = {"Noise takes over, ranks (median)",
                                        "95 % CI",
                                        "Mean on the most ranks, relative to no noise",
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
    iwi_table(view->doc, "Where noise takes over, and times on the most ranks", columns, count);
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
        IWI_TABLE(doc, "How, when and where the results were made", {"What", IWI_WORDS},
                  {"Value", IWI_WORDS});
        for (size_t i = 0; i < results->attribute_count; i++) {
            iwi_row(doc, results->attributes[i].name, results->attributes[i].value);
        }
        iwi_unfold(doc);
    }
    iwi_paragraph(doc, "Text of the study:");
    iwi_code(doc, "%s", results->text);
}

static void say_cells(const struct iwi_study_view *view)
{
    struct iwi_document *doc = view->doc;

    iwi_only_in(doc, IWI_ON_PAGES);
    if (iwi_wants(doc, IWI_ON_PAGES)) {
        if (view->panels.varies[IWI_DIM_SYSTEM]) {
            iwi_study_say_systems(doc, &view->panels);
        }
        iwi_study_say_slowdowns(view);
        say_overview(view);
    }
    iwi_study_say_panels(view);
    iwi_only_in(doc, IWI_EVERYWHERE);
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
    iwi_only_in(doc, IWI_ON_PAGES);
    say_origin(doc, results);
    iwi_panels_release(&view.panels);
}

const struct iwi_kind iwi_study_kind = {.name = "study", .schema = &study_schema, .write_doc = write_doc};

IWI_DOC(iw_study_doc, iw_study_results, results, iwi_study_kind)
