/* Numbers and texts as CSV.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CSV_H
#define IWI_CSV_H

#include <stdbool.h>
#include <stdio.h>

/* Fifteen digits, with a point whatever the locale: its comma would be read as a separator. */
void iwi_write_real(FILE *out, double value);

/* RFC 4180: in quotes where there is a comma or a quote; quotes are doubled. Names come from other users:
 * control characters are '?', and what a spreadsheet would compute (=, +, - or @ in front) has a ' before it.
 */
void iwi_write_csv_field(FILE *out, const char *text);

/* The same to somewhere else. */
typedef void (*iwi_csv_put_fn)(void *arg, const char *bytes, size_t count);
void iwi_csv_put(const char *text, iwi_csv_put_fn put, void *arg);

#endif
