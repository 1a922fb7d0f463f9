/* A traced run: how long, how much of it in MPI, in which functions, then its waves.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include <idlewave/timeline.h>
#include <idlewave/wave.h>

#include "core/base/base.h"
#include "features/tables.h"
#include "features/wave/timeline_report.h"
#include "features/wave/wave_report.h"
#include "kit/doc/doc.h"
#include "kit/figure/figure.h"

/* The page of a timeline: a document with a picture to zoom into. */

/* ---- the picture ---- */

/* What web/timeline.js finds by its id. */
static const char tools[] =
    "<div class=\"tools\" id=\"timeline-tools\" hidden>\n"
    "<button type=\"button\" data-do=\"in\" aria-label=\"Zoom in\">+</button>\n"
    "<button type=\"button\" data-do=\"out\" aria-label=\"Zoom out\">\xe2\x88\x92</button>\n"
    "<button type=\"button\" data-do=\"all\">All</button>\n"
    "<button type=\"button\" data-do=\"wave\">Waves</button>\n"
    "<label><input type=\"checkbox\" id=\"timeline-fronts\" checked> Fronts and fits</label>\n"
    "<label>Cells show <select id=\"timeline-channel\"><option value=\"mean\">the mean of their "
    "ranks</option>"
    "<option value=\"max\">their most disturbed rank</option></select></label>\n"
    "</div>\n";

static void traced_say_verdict(struct iwi_document *doc, const iw_traced_run *run);
static void traced_say_functions(struct iwi_document *doc, const iw_trace_summary *summary);

static void write_legend(FILE *out)
{
    static const struct {
        iw_state state;
        const char *text;
    } rows[] = {{IW_STATE_COMPUTE, "work"},
                {IW_STATE_WAIT, "idle: waiting for others"},
                {IW_STATE_DELAY, "injected delay"},
                {IW_STATE_NOISE, "noise"},
                {IW_STATE_COMM, "messages"}};

    (void)fputs("<ul class=\"legend states\">", out);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        (void)fprintf(out, "<li><span class=\"swatch %s\"></span>%s</li>", iw_state_name(rows[i].state),
                      rows[i].text);
    }
    (void)fputs("</ul>\n", out);
}

static void write_figure(FILE *out)
{
    (void)fputs("<figure class=\"timeline\">\n<h3>Activity of the ranks over time</h3>\n", out);
    (void)fputs(tools, out);
    write_legend(out);
    (void)fputs(
        "<div class=\"stage\">\n<canvas id=\"timeline\" tabindex=\"0\" role=\"img\" aria-label=\"Timeline of "
        "all ranks. The verdict has the result, the tables below have the numbers.\"></canvas>\n<div "
        "class=\"tip\" id=\"timeline-tip\" hidden></div>\n</div>\n"
        "<p class=\"note\" id=\"timeline-shown\" aria-live=\"polite\"></p>\n"
        "<noscript><p>The picture needs JavaScript; the tables below do not.</p></noscript>\n"
        "<figcaption>Each row is a rank, rank 0 the lowest. Wheel or pinch to zoom, with Shift only the "
        "time, with Alt only the ranks; drag to move. Keyboard: + and \xe2\x88\x92, arrows, 0 shows all. "
        "Within a step only the sums are exact, shown in this order: delay, work, noise, messages, waiting."
        "</figcaption>\n</figure>\n",
        out);
}

static iw_status write_picture(const iw_log *log, const void *subject, FILE *out)
{
    json_t *data;

    IW_TRY(iwi_timeline_data(log, subject, &data));
    write_figure(out);
    (void)fputs("<script type=\"application/json\" id=\"timeline-data\">", out);
    (void)json_dumpf(data, out, JSON_COMPACT); /* has no '<': timeline_data.c */
    (void)fputs("</script>\n", out);
    json_decref(data);
    return IW_OK;
}

/* ---- words ---- */

static void say_verdict(struct iwi_document *doc, const struct iwi_timeline_page *page)
{
    if (page->run.summary != NULL) {
        traced_say_verdict(doc, &page->run);
    } else if (page->run.waves != NULL) {
        iwi_waves_say_verdict(doc, page->run.waves);
    } else {
        iwi_verdict(doc, "Waves not searched: too few ranks are known exactly.");
    }
}

static const char *known_exactly(struct iwi_document *doc, const iw_timeline *timeline)
{
    if (iw_timeline_is_whole(timeline)) {
        return "every step of every rank";
    }
    if (iw_timeline_exact_ranks(timeline) == 0) {
        return "nothing: all ranks are shown as cells";
    }
    return iwi_doc_printf(doc, "%s ranks from rank %" PRIu32 "; the others as cells",
                          iwi_count(doc, iw_timeline_exact_ranks(timeline)),
                          iw_timeline_exact_rank(timeline, 0));
}

static void say_facts(struct iwi_document *doc, const iw_timeline *timeline)
{
    const iw_timeline_about *about = iw_timeline_describe(timeline);

    iwi_section(doc, "origin", "Contents");
    IWI_TABLE(doc, "The run", {"What", IWI_WORDS}, {"Value", IWI_WORDS});
    iwi_row(doc, "Program", about->title);
    iwi_row(doc, "Ranks", iwi_count(doc, about->ranks));
    iwi_row(doc, "End of the last rank", iwi_ps(doc, iw_timeline_end(timeline)));
    iwi_row(doc, "Known exactly", known_exactly(doc, timeline));
}

static void write_timeline(struct iwi_document *doc, const void *subject)
{
    const struct iwi_timeline_page *page = subject;
    const iw_timeline_about *about = iw_timeline_describe(page->timeline);

    iwi_title(doc, "Timeline of %s", page->name);
    iwi_subtitle(doc, "%s%s%s, %s ranks, %s", about->title, about->title[0] != '\0' ? ": " : "",
                 about->origin, iwi_count(doc, about->ranks), iwi_ps(doc, iw_timeline_end(page->timeline)));
    say_verdict(doc, page);
    iwi_html_block(doc, write_picture, page);
    if (page->run.summary != NULL) {
        traced_say_functions(doc, page->run.summary);
    }
    if (page->run.summary == NULL ? page->run.waves != NULL : iw_waves_are_followed(page->run.waves)) {
        iwi_section(doc, "waves", "Waves");
        iwi_waves_say(doc, page->run.waves);
    }
    say_facts(doc, page->timeline);
}

static const struct iwi_kind page_kind = {
    .name = "timeline-page",
    .write_doc = write_timeline,
    .style = &iwi_asset_timeline_css,
    .scripts = {&iwi_asset_timeline_cells_js, &iwi_asset_timeline_js},
};

iw_status iw_traced_run_write_html(const iw_log *log, const iw_traced_run *run, const iw_timeline *timeline,
                                   const char *name, FILE *out)
{
    const struct iwi_timeline_page page = {.timeline = timeline, .run = *run, .name = name};

    return iw_doc_write(log, (iw_doc){&page_kind, &page}, IW_DOC_HTML, NULL, out);
}

enum { LEAST_REACH = 3, MOST_ROWS = 10, LEAST_PART = 200 /* of the longest */ };

/* ---- the table ---- */

static const struct iwi_field function_fields[] = {
    IWI_CHARS(iw_trace_function, name),
    IWI_VALUE(iw_trace_function, calls),
    IWI_VALUE(iw_trace_function, bytes, .about = "sent by the calls; for collectives, the data of each rank"),
    IWI_TIME(iw_trace_function, time_ps, "time_ns", .about = "sum over all ranks"),
};
static const struct iwi_schema function_schema = IWI_SCHEMA(iw_trace_function, function_fields);

static bool is_threaded(const void *object)
{
    return ((const iw_trace_summary *)object)->threaded_ranks > 0;
}

static const struct iwi_field summary_fields[] = {
    IWI_CHARS(iw_trace_summary, origin, .about = "tracing tool: `idlewave`, `liballprof`, `eztrace`, ..."),
    IWI_VALUE(iw_trace_summary, ranks),
    IWI_VALUE(iw_trace_summary, is_training,
              .about = "a training run: times in MPI are those in collectives"),
    IWI_TIME(iw_trace_summary, run_ps, "run_ns",
             .about = "from the first rank's start to the last rank's end"),
    IWI_VALUE(iw_trace_summary, mpi_share, .about = "of the time of all ranks, in MPI"),
    IWI_VALUE(iw_trace_summary, mpi_least, .about = "of the rank with the least"),
    IWI_VALUE(iw_trace_summary, mpi_most, .about = "of the rank with the most"),
    IWI_TIME(iw_trace_summary, compute_mean_ps, "compute_mean_ns",
             .about = "outside of MPI, mean of the ranks"),
    IWI_TIME(iw_trace_summary, compute_most_ps, "compute_most_ns", .about = "the longest"),
    IWI_VALUE(iw_trace_summary, most_rank, .about = "rank with the longest"),
    IWI_VALUE(iw_trace_summary, calls, .about = "of all functions"),
    IWI_VALUE(iw_trace_summary, bytes, .about = "of all functions"),
    IWI_VALUE(iw_trace_summary, threaded_ranks, .about = "ranks that call MPI from several threads"),
    IWI_VALUE(iw_trace_summary, threaded_rank, .is_there = is_threaded, .about = "the first of them"),
    IWI_VALUE(iw_trace_summary, threads, .is_there = is_threaded, .about = "how many it has"),
    IWI_OBJECTS(iw_trace_summary, functions, function_count, function_schema, .is_row = true,
                .about = "of MPI, most time first"),
};
static const struct iwi_schema summary_schema = IWI_SCHEMA(iw_trace_summary, summary_fields);

static const struct iwi_field run_fields[] = {
    IWI_INLINE_POINTER(iw_traced_run, summary, summary_schema, .is_row = true),
    IWI_POINTER(iw_traced_run, waves, iwi_waves_schema, .about = "null: not searched"),
};
static const struct iwi_schema run_schema = IWI_SCHEMA(iw_traced_run, run_fields);

/* ---- words ---- */

/* "1.50 MiB"; "-" for nothing */
static const char *volume(struct iwi_document *doc, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes;
    size_t i = 0;

    while (value >= 1023.5 && i < 5) {
        value /= 1024.0;
        i++;
    }
    return bytes == 0 ? "-"
                      : iwi_doc_printf(doc, "%.*f %s",
                                       i == 0 || value >= 99.95 ? 0
                                       : value >= 9.995         ? 1
                                                                : 2,
                                       value, units[i]);
}

static void say_run(struct iwi_document *doc, const iw_trace_summary *summary)
{
    const char *least = iwi_percent(doc, summary->mpi_least), *most = iwi_percent(doc, summary->mpi_most);

    iwi_verdict(doc, "%" PRIu32 " rank%s ran for %s and spent %s of it in %s", summary->ranks,
                iwi_plural_s(summary->ranks), iwi_ps(doc, summary->run_ps),
                iwi_percent(doc, summary->mpi_share), summary->is_training ? "collectives" : "MPI");
    if (summary->ranks > 1 && strcmp(least, most) != 0) {
        iwi_doc_append(doc, " (ranks: %s to %s)", least, most);
    }
    if (summary->function_count > 0) {
        iwi_doc_append(doc, ", most of that in %s", summary->functions[0].name);
    }
    iwi_doc_append(doc, ".");
    if (summary->ranks > 1 && summary->compute_mean_ps > 0) {
        iwi_doc_append(doc,
                       " Load imbalance: the longest computation, %s on rank %" PRIu32
                       ", is %s times the mean, %s.",
                       iwi_ps(doc, summary->compute_most_ps), summary->most_rank,
                       iwi_factor(doc, (double)summary->compute_most_ps / (double)summary->compute_mean_ps),
                       iwi_ps(doc, summary->compute_mean_ps));
    }
}

bool iw_waves_are_followed(const iw_waves *waves)
{
    for (size_t i = 0; waves != NULL && i < waves->wave_count; i++) {
        if (waves->waves[i].front_count >= LEAST_REACH) {
            return true;
        }
    }
    return false;
}

static void say_no_waves(struct iwi_document *doc, const iw_traced_run *run)
{
    if (run->waves == NULL) {
        iwi_verdict(doc, "Idle waves not searched: %s.",
                    strcmp(run->summary->origin, "liballprof") == 0
                        ? "ranks in liballprof traces have separate clocks"
                        : "too few steps");
    } else if (run->summary->ranks <= LEAST_REACH) {
        iwi_verdict(doc, "Idle waves need at least %d ranks; the run has %" PRIu32 ".", LEAST_REACH,
                    run->summary->ranks);
    } else {
        iwi_verdict(doc, "No idle wave extends over %d ranks or more", LEAST_REACH);
        if (run->waves->delay_count > 0) {
            iwi_doc_append(doc, "; 'idlewave wave' shows how far %s",
                           run->waves->delay_count == 1
                               ? "the delay gets"
                               : iwi_doc_printf(doc, "the %zu delays get", run->waves->delay_count));
        }
        iwi_doc_append(doc, ".");
    }
}

/* Paragraphs of the verdict: the run, then its waves, or why none are shown. */
static void traced_say_verdict(struct iwi_document *doc, const iw_traced_run *run)
{
    say_run(doc, run->summary);
    if (iw_waves_are_followed(run->waves)) {
        iwi_waves_say_verdict(doc, run->waves);
    } else {
        say_no_waves(doc, run);
    }
}

/* ---- functions ---- */

static double mpi_ps(const iw_trace_summary *summary)
{
    double sum_ps = 0.0;

    for (size_t i = 0; i < summary->function_count; i++) {
        sum_ps += (double)summary->functions[i].time_ps;
    }
    return sum_ps;
}

/* Those whose bars can be seen; the longest comes first. */
static size_t drawn_count(const iw_trace_summary *summary)
{
    size_t count = 0;

    while (count < summary->function_count && count < MOST_ROWS &&
           summary->functions[count].time_ps >= summary->functions[0].time_ps / LEAST_PART) {
        count++;
    }
    return count;
}

static iw_status make_figure(struct iwi_document *doc, const iw_trace_summary *summary,
                             struct iwi_figure **figure_p)
{
    const size_t count = drawn_count(summary);
    struct iwi_figure *figure;
    struct iwi_mark *bars;

    IW_TRY(iwi_figure_new(doc->log, "Time in MPI functions", &figure));
    bars = iwi_bar_rows_begin(figure, "Time, sum over all ranks", IWI_AXIS_NS, count);
    for (size_t i = 0; i < count; i++) {
        const iw_trace_function *function = &summary->functions[i];

        iwi_bar_rows_add(figure, bars, function->name,
                         (iw_estimate){(double)function->time_ps / 1e3, NAN, NAN},
                         iwi_ps(doc, function->time_ps), false);
    }
    figure->message = iwi_figure_text(figure, "Time that all ranks spent in a function, waiting included%s.",
                                      count < summary->function_count ? "; the others take less" : "");
    *figure_p = figure;
    return IW_OK;
}

static void say_threads(struct iwi_document *doc, const iw_trace_summary *summary)
{
    if (is_threaded(summary)) {
        iwi_paragraph(doc,
                      "Rank %" PRIu32 " called MPI from %" PRIu32
                      " threads%s; their calls are treated as sequential, so shares and predictions are too "
                      "high where they overlapped.",
                      summary->threaded_rank, summary->threads,
                      summary->threaded_ranks > 1 ? ", others from several too" : "");
    }
}

/* A section: the time in each MPI function. */
static void traced_say_functions(struct iwi_document *doc, const iw_trace_summary *summary)
{
    const double all_ps = mpi_ps(summary);

    if (summary->function_count > 0) {
        iwi_section(doc, "functions", "MPI functions");
        IWI_TABLE(doc, "", {"function", IWI_WORDS}, {"calls", IWI_NUMBER}, {"sent", IWI_NUMBER},
                  {"time", IWI_NUMBER}, {"of MPI", IWI_NUMBER});
        for (size_t i = 0; i < summary->function_count; i++) {
            const iw_trace_function *function = &summary->functions[i];

            iwi_row(doc, function->name, iwi_doc_printf(doc, "%" PRIu64, function->calls),
                    volume(doc, function->bytes), iwi_ps(doc, function->time_ps),
                    all_ps > 0.0 ? iwi_percent(doc, (double)function->time_ps / all_ps) : "-");
        }
        iwi_note(doc, "Times are sums over all ranks; of collectives, 'sent' goes to all partners.");
    }
    say_threads(doc, summary);
}

/* ---- the document ---- */

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_traced_run *run = subject;
    struct iwi_figure *figure = NULL;
    iw_status made = IW_OK;

    iwi_title(doc, "A traced run of %" PRIu32 " rank%s", run->summary->ranks,
              iwi_plural_s(run->summary->ranks));
    traced_say_verdict(doc, run);
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    if (run->summary->function_count > 0) {
        made = make_figure(doc, run->summary, &figure);
    }
    iwi_show_figure(doc, made, figure);
    iwi_only_in(doc, IWI_EVERYWHERE);
    traced_say_functions(doc, run->summary);
    if (iw_waves_are_followed(run->waves)) {
        iwi_section(doc, "waves", "Waves");
        iwi_waves_say(doc, run->waves);
    }
}

const struct iwi_kind iwi_trace_kind = {
    .name = "trace",
    .schema_id = "idlewave.trace/1",
    .about = "A traced run, from `idlewave report TRACE --format json`. Wall-clock times, from the end of "
             "`MPI_Init` to `MPI_Finalize`. CSV has a line for each function",
    .schema = &run_schema,
    .write_doc = write_doc,
};

IWI_DOC(iw_traced_run_doc, iw_traced_run, run, iwi_trace_kind)
