/* The frame of HTML pages: head, style, body, data, scripts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html.h"

#include <stdlib.h>
#include <string.h>

#include <idlewave/idlewave.h>

#include "base/base.h"
#include "report/html_assets.h"
#include "report/report.h"

/* Nothing may be fetched, whatever a page holds: browsers enforce it. */
static const char POLICY[] = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                             "img-src data:; base-uri 'none'; form-action 'none'";

static void write_asset(FILE *out, const struct iwi_asset *asset)
{
    (void)fwrite(asset->bytes, 1, asset->size, out);
}

/* Escaped title of the page. */
static iw_status write_title(const struct iwi_html *page, const struct iwi_html_kind *kind,
                             const void *subject)
{
    char *title = NULL;
    size_t size;
    FILE *memory = open_memstream(&title, &size);

    if (memory == NULL) {
        return iwi_fail(page->log, IW_ERR_NOMEM, "out of memory for the page");
    }
    kind->write_title(memory, subject);
    if (fclose(memory) != 0) {
        free(title);
        return iwi_fail(page->log, IW_ERR_NOMEM, "out of memory for the page");
    }
    iwi_html_text(page->out, title);
    free(title);
    return IW_OK;
}

static iw_status write_head(const struct iwi_html *page, const struct iwi_html_kind *kind,
                            const void *subject)
{
    FILE *out = page->out;

    (void)fprintf(out,
                  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"generator\" content=\"idlewave %s\">\n<title>",
                  POLICY, iw_version());
    IW_TRY(write_title(page, kind, subject));
    (void)fputs("</title>\n<style>\n", out);
    write_asset(out, &iwi_asset_report_css);
    if (kind->style != NULL) {
        write_asset(out, kind->style);
    }
    (void)fprintf(out, "</style>\n</head>\n<body class=\"%s\">\n", kind->name);
    return IW_OK;
}

/* '<' is the only character of JSON that could end the element that holds it; it occurs in strings only. */
static int write_json_bytes(const char *bytes, size_t size, void *arg)
{
    FILE *out = arg;

    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '<') {
            (void)fputs("\\u003c", out);
        } else {
            (void)fputc(bytes[i], out);
        }
    }
    return 0;
}

static iw_status write_scripts(struct iwi_html *page)
{
    enum { DIGITS = 6 };
    FILE *out = page->out;
    json_t *data = json_pack("{s:O}", "plots", page->plots);

    if (data == NULL) {
        return iwi_fail(page->log, IW_ERR_NOMEM, "out of memory for the page");
    }
    (void)fputs("<script type=\"application/json\" id=\"data\">", out);
    (void)json_dump_callback(data, write_json_bytes, out, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
    json_decref(data);
    (void)fputs("</script>\n<!-- The chart library below is a part of these packages:\n\n", out);
    write_asset(out, &iwi_asset_chart_licences);
    (void)fputs("-->\n<script>\n", out);
    write_asset(out, &iwi_asset_chart_js);
    (void)fputs("</script>\n<script>\n", out);
    write_asset(out, &iwi_asset_plots_js);
    (void)fputs("</script>\n<script>\n", out);
    write_asset(out, &iwi_asset_report_js);
    (void)fputs("</script>\n", out);
    return IW_OK;
}

static iw_status write_page(struct iwi_html *page, const struct iwi_html_kind *kind, const void *subject)
{
    IW_TRY(write_head(page, kind, subject));
    IW_TRY(kind->write_body(page, subject));
    (void)fprintf(page->out, "<footer><p class=\"note\">Written by idlewave %s. ", iw_version());
    if (page->is_static) {
        (void)fputs("</p></footer>\n", page->out);
    } else {
        (void)fputs(
            "Plots are drawn by Observable Plot, whose licence is in the source of this page.</p></footer>\n",
            page->out);
        IW_TRY(write_scripts(page));
    }
    for (size_t i = 0; i < sizeof kind->scripts / sizeof kind->scripts[0] && kind->scripts[i] != NULL; i++) {
        (void)fputs("<script>\n", page->out);
        write_asset(page->out, kind->scripts[i]);
        (void)fputs("</script>\n", page->out);
    }
    (void)fputs("</body>\n</html>\n", page->out);
    return iwi_check_written(page->log, page->out, "the page");
}

iw_status iwi_html_write(const iw_log *log, const struct iwi_html_kind *kind, const void *subject,
                         enum iwi_html_plots plots, FILE *out)
{
    struct iwi_html page = {
        .log = log,
        .out = out,
        .is_static = plots == IWI_HTML_STATIC || iwi_asset_chart_js.size == 0,
        .plots = json_array(),
    };
    iw_status status;

    if (page.plots == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the page");
    }
    status = write_page(&page, kind, subject);
    json_decref(page.plots);
    return status;
}
