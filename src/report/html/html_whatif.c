/* The page of a what-if, for somebody who has to decide: what noise costs, what to do, how sure that is.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It has no scripts: it is handed on by mail and printed.
 */
#include "report/html/html_whatif.h"

#include "base/base.h"
#include "report/kinds/result_report.h"
#include "report/kinds/study_report.h"

static void write_title(FILE *out, const void *subject)
{
    (void)fprintf(out, "What noise costs %s", iwi_result_text(subject, "what"));
}

/* A paragraph if there is something to say. */
static void write_words(FILE *out, const json_t *whatif,
                        void (*tell)(const json_t *, char paragraph[IWI_PARAGRAPH_SIZE]))
{
    char paragraph[IWI_PARAGRAPH_SIZE] = "";

    tell(whatif, paragraph);
    if (paragraph[0] != '\0') {
        iwi_html_paragraph(out, NULL, "%s", paragraph);
    }
}

/* For who pays for nodes: of T = (1 + s) T0, s / (1 + s) is lost. */
static void write_idle_nodes(FILE *out, const json_t *whatif)
{
    const double now = iwi_whatif_estimate(whatif, "now").value;
    const uint64_t ranks = iwi_result_count(whatif, "ranks"),
                   per_node = iwi_result_count(whatif, "ranks_per_node");
    const uint64_t nodes = per_node > 1 ? (ranks + per_node - 1) / per_node : ranks;
    const double idle = now / (1.0 + now) * (double)nodes;
    char some[IWI_NUMBER_SIZE], all[IWI_NUMBER_SIZE];

    if (now > 0.0 && idle >= 1.0) {
        iwi_html_paragraph(out, NULL, "That is as if %s of the %s %s did nothing.",
                           iwi_ranks_text((uint64_t)(idle + 0.5), some), iwi_ranks_text(nodes, all),
                           per_node > 1 ? "nodes" : "ranks");
    }
}

static void write_verdict(FILE *out, const json_t *whatif)
{
    (void)fputs("<section class=\"verdict\" aria-labelledby=\"verdict\">\n<h2 id=\"verdict\">Verdict</h2>\n",
                out);
    write_words(out, whatif, iwi_whatif_verdict);
    write_idle_nodes(out, whatif);
    (void)fputs("</section>\n", out);
}

static size_t count_of(const json_t *whatif, const char *kind)
{
    size_t count = 0;

    while (iwi_whatif_change(whatif, kind, count) != NULL) {
        count++;
    }
    return count;
}

static void write_to_do(FILE *out, const json_t *whatif)
{
    size_t worth, tried;

    iwi_html_section(out, "to-do", "What to do, what saves most first");
    worth = iwi_html_whatif_ranking(out, whatif);
    tried = count_of(whatif, "source");
    if (worth == 0) {
        iwi_html_paragraph(out, NULL,
                           "No source alone saves more than chance would: none is to be blamed alone.");
    } else if (worth < tried) {
        iwi_html_paragraph(out, "note", "%zu further %s no more than chance would.", tried - worth,
                           tried - worth == 1 ? "source alone saves" : "sources save, each alone,");
    }
    write_words(out, whatif, iwi_whatif_order);
    write_words(out, whatif, iwi_whatif_target);
}

static void write_others(FILE *out, const json_t *whatif)
{
    iwi_html_section(out, "others", "What else can be done");
    iwi_html_whatif_others(out, whatif);
    write_words(out, whatif, iwi_whatif_reserve);
    write_words(out, whatif, iwi_whatif_together);
}

static void write_certainty(FILE *out, const json_t *whatif)
{
    iwi_html_section(out, "certainty", "How sure this is");
    write_words(out, whatif, iwi_whatif_interaction);
    write_words(out, whatif, iwi_whatif_certainty);
    iwi_html_paragraph(
        out, NULL,
        "These are predictions: the job is simulated with the noise of the recording on every node, at "
        "random "
        "moments, with and without each source. A removed source is gone and nothing else changes. Not in "
        "it: caches and memory that threads share, other jobs on the network, and what a change itself "
        "costs, but for a reserved core.");
    iwi_html_paragraph(out, NULL,
                       "Before all nodes are changed, change one, record it again, and compare: 'idlewave "
                       "noise compare' tells whether it got better, 'idlewave verify' whether the change is "
                       "in effect.");
}

/* Short, so that the page goes onto two sheets. */
static void write_origin(FILE *out, const json_t *whatif)
{
    char time[IWI_NUMBER_SIZE];

    iwi_html_section(out, "origin", "Origin");
    (void)fputs("<pre>", out);
    iwi_html_text(out, iwi_result_text(whatif, "command"));
    (void)fputs("</pre>\n", out);
    iwi_html_paragraph(
        out, NULL,
        "Noise of %s, network %s, seed %" PRIu64 ", %" PRIu64 " trials of each change, %" PRIu64
        " redraws of the recordings; without noise the job takes %s. By idlewave %s.",
        iwi_result_text(whatif, "noise"), iwi_result_text(whatif, "net"), iwi_result_count(whatif, "seed"),
        iwi_result_count(whatif, "trials"), iwi_result_count(whatif, "redraws"),
        iwi_ns_time_text(iwi_result_number(whatif, "noiseless_ns"), time),
        iwi_result_text(whatif, "version"));
}

static iw_status write_body(struct iwi_html *html, const void *subject)
{
    const json_t *whatif = subject;
    char ranks[IWI_NUMBER_SIZE];
    FILE *out = html->out;

    (void)fputs("<header>\n<h1>", out);
    iwi_html_text(out, "What noise costs this job, and what to do");
    (void)fputs("</h1>\n", out);
    iwi_html_paragraph(
        out, "subtitle", "%s on %s ranks, with the noise of %s", iwi_result_text(whatif, "what"),
        iwi_ranks_text(iwi_result_count(whatif, "ranks"), ranks), iwi_result_text(whatif, "noise"));
    (void)fputs("</header>\n<main>\n", out);
    write_verdict(out, whatif);
    write_to_do(out, whatif);
    write_others(out, whatif);
    write_certainty(out, whatif);
    iwi_html_section(out, "numbers", "All numbers");
    iwi_html_whatif_table(out, whatif);
    write_origin(out, whatif);
    (void)fputs("</main>\n", out);
    return IW_OK;
}

static const struct iwi_html_kind whatif_kind = {
    .name = "whatif", .write_title = write_title, .write_body = write_body, .style = &iwi_asset_whatif_css};

iw_status iwi_whatif_html(const iw_log *log, const json_t *whatif, FILE *out)
{
    return iwi_html_write(log, &whatif_kind, whatif, out);
}

iw_status iw_whatif_write_html(const iw_log *log, const char *path, FILE *out)
{
    json_t *whatif;
    iw_status status;

    IW_TRY(iwi_whatif_load(log, path, &whatif));
    status = iwi_whatif_html(log, whatif, out);
    json_decref(whatif);
    return status;
}
