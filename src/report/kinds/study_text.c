/* A study for people at a terminal: the verdict, then a picture with its numbers for each panel.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/study.h>

#include "base/base.h"
#include "report/kinds/noise_report.h"
#include "report/kinds/study_report.h"

static void write_title(const struct iwi_page *page, const iw_study_results *results)
{
    const char *title = results->title != NULL && results->title[0] != '\0' ? results->title : results->name;
    char plain[IWI_PARAGRAPH_SIZE];

    iwi_write_wrapped_after(page->out, iwi_plain_text(title, plain), 0, 0);
    (void)fputc('\n', page->out);
}

/* The command that began the study goes on with it. */
static void write_missing(const struct iwi_page *page, const iw_study_results *results)
{
    const char *command = iwi_study_origin_line(results, "command");
    const size_t missing = results->expected > results->count ? results->expected - results->count : 0;
    char paragraph[IWI_PARAGRAPH_SIZE] = "";

    if (missing == 0) {
        return;
    }
    iwi_append(paragraph, "%zu of %zu cells %s missing", missing, results->expected,
               missing == 1 ? "is" : "are");
    if (command != NULL && command[0] != '\0') {
        iwi_append(paragraph, ": '%.500s' goes on.", command);
    } else {
        iwi_append(paragraph, ": 'idlewave study FILE -o DIR' goes on.");
    }
    iwi_write_wrapped(page->out, paragraph);
}

static void write_panels(const struct iwi_page *page, const struct iwi_panels *panels)
{
    char title[IWI_PHRASE_SIZE];

    (void)fputs("\nMakespans, on log axes:\n", page->out);
    iwi_write_panel_legend(page);
    for (size_t i = 0; i < panels->count; i++) {
        (void)fputc('\n', page->out);
        iwi_ink(page, "1;4");
        iwi_write_wrapped(page->out, iwi_panel_title(&panels->panels[i], title));
        iwi_ink(page, "");
        iwi_write_panel_text(page, &panels->panels[i]);
    }
}

iw_status iw_study_write_text(const iw_log *log, const iw_study_results *results, bool has_colour, FILE *out)
{
    const struct iwi_page page = {.out = out, .has_colour = has_colour, .threshold = results->threshold};
    struct iwi_panels panels;

    IW_TRY(iwi_panels_new(log, results, &panels));
    write_title(&page, results);
    if (results->count > 0) {
        iwi_write_study_verdict(&page, results, &panels);
        write_panels(&page, &panels);
        (void)fputs(results->count < results->expected ? "\n" : "", out);
    }
    write_missing(&page, results);
    iwi_panels_release(&panels);
    return iwi_check_written(log, out, "the report");
}
