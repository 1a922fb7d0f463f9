/* The page of a timeline: a document with a picture to zoom into.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/wave/timeline_html.h"

#include <idlewave/wave.h>

#include "core/base/base.h"
#include "features/wave/traced_report.h"
#include "features/wave/wave_report.h"
#include "kit/doc/doc.h"

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

static void write_figure(FILE *out)
{
    (void)fputs("<figure class=\"timeline\">\n<h3>What the ranks do over time</h3>\n", out);
    (void)fputs(tools, out);
    write_legend(out);
    (void)fputs(
        "<div class=\"stage\">\n<canvas id=\"timeline\" tabindex=\"0\" role=\"img\" "
        "aria-label=\"Timeline of all ranks. The verdict says what there is to see, the tables below have "
        "the "
        "numbers.\"></canvas>\n<div class=\"tip\" id=\"timeline-tip\" hidden></div>\n</div>\n"
        "<p class=\"note\" id=\"timeline-shown\" aria-live=\"polite\"></p>\n"
        "<noscript><p>The picture needs JavaScript; the tables below do not.</p></noscript>\n"
        "<figcaption>Each row is a rank, rank 0 the lowest. Wheel or pinch zooms, with Shift only the "
        "time, with Alt only the ranks; drag moves. Keyboard: + and \xe2\x88\x92, arrows, 0 shows all. "
        "Within a step only the sums are exact: first a delay, then work, noise, messages, waiting."
        "</figcaption>\n</figure>\n",
        out);
}

static iw_status write_picture(const iw_log *log, const void *subject, FILE *out)
{
    json_t *data;

    IW_TRY(iwi_timeline_data(log, subject, &data));
    write_figure(out);
    (void)fputs("<script type=\"application/json\" id=\"timeline-data\">", out);
    (void)json_dumpf(data, out, JSON_COMPACT); /* has no '<': timeline_code.c */
    (void)fputs("</script>\n", out);
    json_decref(data);
    return IW_OK;
}

/* ---- words ---- */

static void say_verdict(struct iwi_document *doc, const struct iwi_timeline_page *page)
{
    if (page->run.summary != NULL) {
        iwi_traced_say_verdict(doc, &page->run);
    } else if (page->run.waves != NULL) {
        iwi_waves_say_verdict(doc, page->run.waves);
    } else {
        iwi_verdict(doc, "Nobody looked for waves: too little is known exactly.");
    }
}

static const char *known_exactly(struct iwi_document *doc, const iw_timeline *timeline)
{
    if (iw_timeline_is_whole(timeline)) {
        return "every step of every rank";
    }
    if (iw_timeline_exact_ranks(timeline) == 0) {
        return "nothing: all is shown as cells";
    }
    return iwi_say(doc, "%s ranks from rank %" PRIu32 " on; the others as cells",
                   iwi_count(doc, iw_timeline_exact_ranks(timeline)), iw_timeline_exact_rank(timeline, 0));
}

static void say_facts(struct iwi_document *doc, const iw_timeline *timeline)
{
    const iw_timeline_about *about = iw_timeline_describe(timeline);

    iwi_section(doc, "origin", "What is known");
    IWI_TABLE(doc, "The run", {"What", IWI_WORDS}, {"Value", IWI_WORDS});
    iwi_row(doc, "What ran", about->title);
    iwi_row(doc, "Ranks", iwi_count(doc, about->ranks));
    iwi_row(doc, "End of the last rank", iwi_ps(doc, iw_timeline_end(timeline)));
    iwi_row(doc, "Known exactly", known_exactly(doc, timeline));
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const struct iwi_timeline_page *page = subject;
    const iw_timeline_about *about = iw_timeline_describe(page->timeline);

    iwi_title(doc, "Timeline of %s", page->name);
    iwi_subtitle(doc, "%s%s%s, %s ranks, %s", about->title, about->title[0] != '\0' ? ": " : "",
                 about->origin, iwi_count(doc, about->ranks), iwi_ps(doc, iw_timeline_end(page->timeline)));
    say_verdict(doc, page);
    iwi_html_block(doc, write_picture, page);
    if (page->run.summary != NULL) {
        iwi_traced_say_functions(doc, page->run.summary);
    }
    if (page->run.summary == NULL ? page->run.waves != NULL : iw_waves_are_followed(page->run.waves)) {
        iwi_section(doc, "waves", "Waves");
        iwi_waves_say(doc, page->run.waves);
    }
    say_facts(doc, page->timeline);
}

static const struct iwi_kind page_kind = {
    .name = "timeline-page",
    .write_doc = write_doc,
    .style = &iwi_asset_timeline_css,
    .scripts = {&iwi_asset_timeline_cells_js, &iwi_asset_timeline_js},
};

iw_status iw_traced_run_write_html(const iw_log *log, const iw_traced_run *run, const iw_timeline *timeline,
                                   const char *name, FILE *out)
{
    const struct iwi_timeline_page page = {.timeline = timeline, .run = *run, .name = name};

    return iw_doc_write(log, (iw_doc){&page_kind, &page}, IW_DOC_HTML, NULL, out);
}
