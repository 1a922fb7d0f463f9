/* How results are shown.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/shown_opts.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the order of enum output_format. */
static const char *const text_or_json[] = {"text", "json", NULL};
static const char *const without_csv[] = {"text", "json", "html", NULL};
static const char *const all_formats[] = {"text", "json", "html", "csv", NULL};

#define ROW(...) OPT_ROW(struct shown_opts, __VA_ARGS__)
#define FORMAT_ROW(list) \
    ROW("format", OPT_CHOICE, format, "", "output format (default text)", .choices = (list))
#define PLOT_ROW                          \
    ROW("plot", OPT_STRING, plot, "FILE", \
        "also draw a picture: .svg; .png and .pdf with gnuplot; .gp writes the script")
const struct opt shown_rows[] = {
    FORMAT_ROW(text_or_json), FORMAT_ROW(without_csv), PLOT_ROW, FORMAT_ROW(all_formats), PLOT_ROW,
};
#undef PLOT_ROW
#undef FORMAT_ROW
#undef ROW

int shown_check_no_csv(const struct ui *ui, const struct shown_opts *opts, const char *option)
{
    return opts->format != OUTPUT_CSV ? UI_DONE
                                      : ui_usage(ui, "%s has no CSV form: use --format text or json", option);
}

/* ---- documents ---- */

/* Whether the locale of the terminal has UTF-8; that of the process is left as it is. */
static bool is_ascii(void)
{
    const locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    const bool is_utf8 = locale != (locale_t)0 && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;

    if (locale != (locale_t)0) {
        freelocale(locale);
    }
    return !is_utf8;
}

/* NO_COLOR: https://no-color.org */
static bool has_colour(void)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return isatty(STDOUT_FILENO) && (no_colour == NULL || no_colour[0] == '\0') && terminal != NULL &&
           strcmp(terminal, "dumb") != 0;
}

iw_doc_style shown_look(void)
{
    return (iw_doc_style){.has_colour = has_colour(), .is_ascii = is_ascii()};
}

int shown_write(struct ui *ui, const struct shown_opts *opts, iw_doc doc)
{
    static const iw_doc_format formats[] = {[OUTPUT_TEXT] = IW_DOC_TEXT,
                                            [OUTPUT_JSON] = IW_DOC_JSON,
                                            [OUTPUT_CSV] = IW_DOC_CSV,
                                            [OUTPUT_HTML] = IW_DOC_HTML};
    const iw_doc_style look = shown_look();
    const iw_status drawn = opts->plot != NULL ? iw_doc_plot(&ui->log, doc, opts->plot) : IW_OK;
    iw_status status = drawn;

    if (drawn != IW_ERR_USAGE) {
        status = iw_doc_write(&ui->log, doc, formats[opts->format], &look, stdout);
    }
    return drawn == IW_ERR_USAGE ? ui_exit_of_value(ui, drawn) : ui_exit_of(status != IW_OK ? status : drawn);
}
