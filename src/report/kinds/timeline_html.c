/* The page of a timeline: a picture to zoom into, and the waves as a table.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/timeline_html.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/html/html.h"
#include "report/kinds/noise_report.h"
#include "report/kinds/traced_report.h"
#include "report/kinds/wave_report.h"

static void write_title(FILE *out, const void *subject)
{
    const struct iwi_timeline_page *page = subject;

    (void)fprintf(out, "Timeline of %s", page->name);
}

static void write_header(FILE *out, const struct iwi_timeline_page *page)
{
    const iw_timeline_about *about = iw_timeline_describe(page->timeline);
    char ranks[IWI_NUMBER_SIZE], time[IWI_NUMBER_SIZE];

    (void)fputs("<header>\n<h1>", out);
    iwi_html_format(out, "Timeline of %s", page->name);
    (void)fputs("</h1>\n", out);
    iwi_html_paragraph(out, "subtitle", "%s%s%s, %s ranks, %s", about->title,
                       about->title[0] != '\0' ? ": " : "", about->origin,
                       iwi_count_text(about->ranks, ranks),
                       iw_format_time(iw_timeline_end(page->timeline), time, sizeof time));
    (void)fputs("</header>\n<main>\n", out);
}

/* ---- verdict ---- */

/* The verdict of `wave` as one line. */
static void verdict(const struct iwi_timeline_page *page, char text[IWI_PARAGRAPH_SIZE])
{
    if (page->summary != NULL && !iw_waves_are_followed(page->waves)) {
        iwi_trace_no_waves(page->summary, page->waves, text);
        return;
    }
    if (page->waves != NULL) {
        iwi_waves_verdict(page->waves, text);
    } else {
        iwi_append(text, "Nobody looked for waves: too little is known exactly.");
    }
}

static void write_verdict(FILE *out, const struct iwi_timeline_page *page)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    (void)fputs("<section class=\"verdict\" aria-labelledby=\"verdict\">\n<h2 id=\"verdict\">Verdict</h2>\n",
                out);
    if (page->summary != NULL) {
        iwi_trace_verdict(page->summary, text);
        iwi_html_paragraph(out, NULL, "%s", text);
        text[0] = '\0';
    }
    verdict(page, text);
    iwi_html_paragraph(out, NULL, "%s", text);
    (void)fputs("</section>\n", out);
}

/* ---- the functions of a trace ---- */

static void write_functions(FILE *out, const iw_trace_summary *summary)
{
    static const char *const heads[] = {"Calls", "Sent", "Time", "Of MPI"};
    const double all_ps = iwi_trace_mpi_ps(summary);
    char time[IWI_NUMBER_SIZE], share[IWI_NUMBER_SIZE], volume[IWI_NUMBER_SIZE],
        threads[IWI_PARAGRAPH_SIZE] = "";

    iwi_html_section(out, "functions", "MPI functions");
    iwi_trace_threads(summary, threads);
    if (threads[0] != '\0') {
        iwi_html_paragraph(out, NULL, "%s", threads);
    }
    iwi_html_table_begin(out, "Sums over all ranks; of collectives, what is sent is the data of each rank");
    iwi_html_head(out, true, "Function");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        iwi_html_head(out, false, "%s", heads[i]);
    }
    iwi_html_table_body(out);
    for (size_t i = 0; i < summary->function_count; i++) {
        const iw_trace_function *function = &summary->functions[i];

        iwi_html_row_begin(out);
        iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", function->name);
        iwi_html_cell(out, IWI_CELL_NUMBER, "%" PRIu64, function->calls);
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                      function->bytes > 0 ? iwi_volume_text(function->bytes, volume) : "-");
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_time_text(function->time_ps, time));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                      all_ps > 0.0 ? iwi_percent_text((double)function->time_ps / all_ps, share) : "-");
        iwi_html_row_end(out);
    }
    iwi_html_table_end(out);
}

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

static void write_legend(FILE *out)
{
    static const struct {
        iw_state state;
        const char *text;
    } rows[] = {{IW_STATE_COMPUTE, "work"},
                {IW_STATE_WAIT, "idle: waits for others"},
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

static void write_picture(FILE *out, const struct iwi_timeline_page *page)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    verdict(page, text);
    (void)fputs("<figure class=\"timeline\">\n<h3>What the ranks do over time</h3>\n", out);
    (void)fputs(tools, out);
    write_legend(out);
    (void)fputs("<div class=\"stage\">\n<canvas id=\"timeline\" tabindex=\"0\" role=\"img\" aria-label=\"",
                out);
    iwi_html_format(out, "Timeline of all ranks. %s The table below has the numbers.", text);
    (void)fputs(
        "\"></canvas>\n<div class=\"tip\" id=\"timeline-tip\" hidden></div>\n</div>\n"
        "<p class=\"note\" id=\"timeline-shown\" aria-live=\"polite\"></p>\n"
        "<noscript><p>The picture needs JavaScript; the table below does not.</p></noscript>\n"
        "<figcaption>Each row is a rank, rank 0 the lowest. Wheel or pinch zooms, with Shift only the "
        "time, with Alt only the ranks; drag moves. Keyboard: + and \xe2\x88\x92, arrows, 0 shows all. "
        "Within a step only the sums are exact: first a delay, then work, noise, messages, waiting."
        "</figcaption>\n</figure>\n",
        out);
}

/* ---- waves ---- */

/* Seconds as time with its unit: "-1.250 us". */
static const char *seconds_text(double seconds, char buf[IWI_NUMBER_SIZE])
{
    char time[IWI_NUMBER_SIZE];

    snprintf(buf, IWI_NUMBER_SIZE, "%s%s", seconds * (double)IW_PS_PER_S <= -0.5 ? "\xe2\x88\x92" : "",
             iwi_time_text((iw_time)round(fabs(seconds) * (double)IW_PS_PER_S), time));
    return buf;
}

/* "321.9 (320.1 to 323.4)"; nothing where nothing was fitted. */
static void write_estimate(FILE *out, const iw_estimate *estimate,
                           const char *(*text)(double value, char buf[IWI_NUMBER_SIZE]))
{
    char value[IWI_NUMBER_SIZE], low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    if (!isfinite(estimate->value)) {
        iwi_html_cell(out, IWI_CELL_NUMBER, "-");
    } else if (!isfinite(estimate->low) || !isfinite(estimate->high)) {
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", text(estimate->value, value));
    } else {
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s (%s to %s)", text(estimate->value, value),
                      text(estimate->low, low), text(estimate->high, high));
    }
}

static void write_wave(FILE *out, size_t index, const iw_wave *wave)
{
    char number[IWI_NUMBER_SIZE];

    iwi_html_row_begin(out);
    iwi_html_cell(out, IWI_CELL_ROW_HEAD, "%zu", index + 1);
    iwi_html_cell(out, IWI_CELL_NUMBER, "%" PRIu32, wave->origin_rank);
    iwi_html_cell(out, IWI_CELL_NUMBER, "%" PRIu64, iwi_step_number(wave->origin_step));
    iwi_html_cell(out, IWI_CELL_WORDS, "%s", wave->direction > 0 ? "higher ranks" : "lower ranks");
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iw_format_time(wave->delay_ps, number, sizeof number));
    iwi_html_cell(out, IWI_CELL_NUMBER, "%zu", wave->front_count);
    write_estimate(out, &wave->speed, iwi_speed_text);
    write_estimate(out, &wave->ranks_per_step, iwi_speed_text);
    write_estimate(out, &wave->decay_s, seconds_text);
    iwi_html_cell(out, IWI_CELL_WORDS, "%s, at rank %" PRIu32 ", %s", iw_wave_end_text(wave->end),
                  wave->end_rank, iw_format_time(wave->end_ps, number, sizeof number));
    iwi_html_row_end(out);
}

static void write_waves(FILE *out, const iw_waves *waves)
{
    static const struct {
        bool is_words;
        const char *text;
    } heads[] = {{false, "Wave"},      {false, "From rank"},      {false, "Step"},
                 {true, "Towards"},    {false, "Delay"},          {false, "Ranks"},
                 {false, "Ranks/s"},   {false, "Ranks per step"}, {false, "Decay per rank"},
                 {true, "How it ends"}};

    iwi_html_section(out, "waves", "Waves");
    if (waves == NULL || waves->wave_count == 0) {
        iwi_html_paragraph(out, NULL, waves == NULL ? "Not looked for." : "None was found.");
        return;
    }
    iwi_html_table_begin(out, "Speed of the leading front and decay of the idle time, with 95 % intervals");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        iwi_html_head(out, heads[i].is_words, "%s", heads[i].text);
    }
    iwi_html_table_body(out);
    for (size_t i = 0; i < waves->wave_count; i++) {
        write_wave(out, i, &waves->waves[i]);
    }
    iwi_html_table_end(out);
}

/* ---- what is known ---- */

static void write_fact(FILE *out, const char *what, const char *value)
{
    iwi_html_row_begin(out);
    iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", what);
    iwi_html_cell(out, IWI_CELL_WORDS, "%s", value);
    iwi_html_row_end(out);
}

static void write_time_fact(FILE *out, const char *what, iw_time time_ps)
{
    char number[IWI_NUMBER_SIZE];

    write_fact(out, what, iw_format_time(time_ps, number, sizeof number));
}

static void write_facts(FILE *out, const struct iwi_timeline_page *page)
{
    const iw_timeline_about *about = iw_timeline_describe(page->timeline);
    char text[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE];

    iwi_html_section(out, "origin", "What is known");
    iwi_html_table_begin(out, "The run");
    iwi_html_head(out, true, "What");
    iwi_html_head(out, true, "Value");
    iwi_html_table_body(out);
    write_fact(out, "What ran", about->title);
    write_fact(out, "Ranks", iwi_count_text(about->ranks, number));
    write_time_fact(out, "End of the last rank", iw_timeline_end(page->timeline));
    if (iw_timeline_is_whole(page->timeline)) {
        iwi_append(text, "every step of every rank");
    } else if (iw_timeline_exact_ranks(page->timeline) == 0) {
        iwi_append(text, "nothing: all is shown as cells");
    } else {
        iwi_append(text, "%s ranks from rank %" PRIu32 " on; the others as cells",
                   iwi_count_text(iw_timeline_exact_ranks(page->timeline), number),
                   iw_timeline_exact_rank(page->timeline, 0));
    }
    write_fact(out, "Known exactly", text);
    if (page->waves != NULL) {
        write_time_fact(out, "Ordinary computation of a step", page->waves->exec_ps);
        write_time_fact(out, "Ordinary rest of a step", page->waves->comm_ps);
        write_time_fact(out, "Longer waiting is idle time of a wave", page->waves->threshold_ps);
        if (page->waves->expected_speed > 0.0) {
            char speed[IWI_NUMBER_SIZE];

            snprintf(text, sizeof text, "%s ranks/s", iwi_speed_text(page->waves->expected_speed, speed));
            write_fact(out, "Expected speed", text);
        }
    }
    iwi_html_table_end(out);
}

/* ---- page ---- */

static iw_status write_body(struct iwi_html *html, const void *subject)
{
    const struct iwi_timeline_page *page = subject;
    FILE *out = html->out;
    json_t *data;

    IW_TRY(iwi_timeline_data(html->log, page, &data));
    write_header(out, page);
    write_verdict(out, page);
    if (page->summary != NULL) {
        write_functions(out, page->summary);
    }
    write_picture(out, page);
    if (page->summary == NULL || iw_waves_are_followed(page->waves)) {
        write_waves(out, page->waves);
    }
    write_facts(out, page);
    (void)fputs("</main>\n<script type=\"application/json\" id=\"timeline-data\">", out);
    (void)json_dumpf(data, out, JSON_COMPACT); /* has no '<': timeline_code.c */
    (void)fputs("</script>\n", out);
    json_decref(data);
    return IW_OK;
}

static iw_status write_page(const iw_log *log, const struct iwi_timeline_page *page, FILE *out)
{
    const struct iwi_html_kind kind = {.name = "timeline-page",
                                       .write_title = write_title,
                                       .write_body = write_body,
                                       .style = &iwi_asset_timeline_css,
                                       .scripts = {&iwi_asset_timeline_cells_js, &iwi_asset_timeline_js}};

    return iwi_html_write(log, &kind, page, out);
}

iw_status iw_timeline_write_html(const iw_log *log, const iw_timeline *timeline, const iw_waves *waves,
                                 const char *name, FILE *out)
{
    const struct iwi_timeline_page page = {.timeline = timeline, .waves = waves, .name = name};

    return write_page(log, &page, out);
}

iw_status iw_trace_write_html(const iw_log *log, const iw_trace_summary *summary, const iw_timeline *timeline,
                              const iw_waves *waves, const char *name, FILE *out)
{
    const struct iwi_timeline_page page = {
        .timeline = timeline, .waves = waves, .summary = summary, .name = name};

    return write_page(log, &page, out);
}
