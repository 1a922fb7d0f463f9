/* The frame of HTML pages: head, style, body, data, scripts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/html/html.h"

#include <stdlib.h>
#include <string.h>

#include <idlewave/status.h>

#include "core/base/base.h"
#include "kit/html/html_assets.h"
#include "kit/text/words.h"

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
    iwi_palette_write_css(out);
    write_asset(out, &iwi_asset_report_css);
    if (kind->style != NULL) {
        write_asset(out, kind->style);
    }
    (void)fprintf(out, "</style>\n</head>\n<body class=\"%s\">\n", kind->name);
    return IW_OK;
}

static iw_status write_page(struct iwi_html *page, const struct iwi_html_kind *kind, const void *subject)
{
    IW_TRY(write_head(page, kind, subject));
    IW_TRY(kind->write_body(page, subject));
    (void)fprintf(page->out, "<footer><p class=\"note\">Written by idlewave %s.</p></footer>\n",
                  iw_version());
    for (size_t i = 0; i < sizeof kind->scripts / sizeof kind->scripts[0] && kind->scripts[i] != NULL; i++) {
        (void)fputs("<script>\n", page->out);
        write_asset(page->out, kind->scripts[i]);
        (void)fputs("</script>\n", page->out);
    }
    (void)fputs("</body>\n</html>\n", page->out);
    return iwi_check_written(page->log, page->out, "the page");
}

iw_status iwi_html_write(const iw_log *log, const struct iwi_html_kind *kind, const void *subject, FILE *out)
{
    struct iwi_html page = {.log = log, .out = out};

    return write_page(&page, kind, subject);
}
