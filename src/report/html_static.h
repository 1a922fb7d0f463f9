/* Static plots: drawn when the page is written, from the data that web/plots.js would draw.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_HTML_STATIC_H
#define IWI_HTML_STATIC_H

#include <stdio.h>

#include <jansson.h>

/* NaN for what is no number. */
double iwi_static_number(const json_t *value);
double iwi_static_item(const json_t *array, size_t index);

/* ---- one for each kind ---- */

void iwi_static_curves(FILE *out, const json_t *data);
void iwi_static_boxes(FILE *out, const json_t *data);
void iwi_static_scatter(FILE *out, const json_t *data);
void iwi_static_histogram(FILE *out, const json_t *data);
void iwi_static_ecdf(FILE *out, const json_t *data);
void iwi_static_spectrum(FILE *out, const json_t *data);
void iwi_static_split(FILE *out, const json_t *data);

#endif
