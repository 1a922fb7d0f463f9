/* Numbers and texts as CSV.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CSV_H
#define IWI_CSV_H

#include <stdbool.h>
#include <stdio.h>

/* Fifteen digits, with a point whatever the locale: its comma would be read as a separator. */
void iwi_write_real(FILE *out, double value);

/* RFC 4180: in quotes where there is a comma, a quote or a line break; quotes are doubled. */
void iwi_write_csv_field(FILE *out, const char *text);

/* Whether a field must stand in quotes: it has a comma, a quote, or a control character such as a line break.
 */
bool iwi_csv_needs_quotes(const char *text);

#endif
