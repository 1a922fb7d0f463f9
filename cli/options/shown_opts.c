/* How results are shown.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/shown_opts.h"

/* In the order of enum output_format. */
static const char *const without_csv[] = {"text", "json", NULL};
static const char *const with_csv[] = {"text", "json", "csv", NULL};

#define ROW(...) OPT_ROW(struct shown_opts, __VA_ARGS__)
const struct opt shown_rows[] = {
    ROW("format", OPT_CHOICE, format, "", "for people, or for programs (default text)",
        .choices = without_csv),
    ROW("format", OPT_CHOICE, format, "", "for people, or for programs (default text)", .choices = with_csv),
    ROW("plot", OPT_STRING, plot, "FILE", "draw it as .svg, .png or .pdf too (needs gnuplot)"),
};
#undef ROW

int shown_check_no_csv(const struct ui *ui, const struct shown_opts *opts, const char *option)
{
    return opts->format != OUTPUT_CSV ? UI_DONE
                                      : ui_usage(ui, "%s has no CSV form: use --format text or json", option);
}
