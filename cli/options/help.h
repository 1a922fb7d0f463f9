/* Help texts, generated from the tables of verbs and options.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_HELP_H
#define IW_CLI_HELP_H

#include <stdio.h>

#include "options/verbs.h"

extern const char *const help_tagline, *const help_purpose;

extern const char *const help_groups[]; /* titles, by enum verb_group */

/* What every page says about exit codes; .text is NULL after the last. */
struct help_exit {
    int code;
    const char *text;
};
extern const struct help_exit help_exits[];

/* What every page says about values; .text is NULL after the last. */
struct help_value {
    const char *what, *text;
};
extern const struct help_value help_values[];

/* "  LEFT       text", the text wrapped from `column` on. */
void help_row(FILE *out, int column, const char *left, const char *text);

void help_overview(FILE *out);

/* What most people need; with `is_all` everything. */
void help_verb(FILE *out, const struct verb *verb, bool is_all);

#endif
