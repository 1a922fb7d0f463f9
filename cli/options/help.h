/* Help texts, generated from the tables of verbs and options.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_HELP_H
#define IW_CLI_HELP_H

#include <stdio.h>

#include "options/verbs.h"

/* "  LEFT       text", the text wrapped from `column` on. */
void help_row(FILE *out, int column, const char *left, const char *text);

void help_overview(FILE *out);

/* What most people need; with `is_all` everything. */
void help_verb(FILE *out, const struct verb *verb, bool is_all);

#endif
