/* The parts of a study's page.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_HTML_STUDY_H
#define IWI_HTML_STUDY_H

#include <idlewave/study.h>

#include "report/html/html.h"
#include "report/kinds/study_report.h"

/* What can differ between series. */
enum iwi_dim { IWI_DIM_SYSTEM, IWI_DIM_WORK, IWI_DIM_BYTES, IWI_DIM_SYNC, IWI_DIM_NET, IWI_DIMS };

struct iwi_study_page {
    struct iwi_html *html;
    const iw_study_results *results;
    iw_series *series; /* in the order of the study */
    size_t count;
    bool varies[IWI_DIMS];
};

/* ---- what series have in common ---- */

bool iwi_dim_is_same(enum iwi_dim dim, const iw_series *a, const iw_series *b);
bool iwi_differ_only_in(enum iwi_dim dim, const iw_series *a, const iw_series *b);

/* Heads a column or a section: "System", "Systems". */
const char *iwi_dim_name(enum iwi_dim dim, bool is_plural);

/* "chic", "1 MiB", "10 times faster". */
const char *iwi_dim_label(enum iwi_dim dim, const iw_series *series, char buf[IWI_PHRASE_SIZE]);

/* What tells the series from others, `but` left out: "allreduce, 1 MiB"; the work if nothing does. */
const char *iwi_series_label(const struct iwi_study_page *page, const iw_series *series, enum iwi_dim but,
                             char buf[IWI_PHRASE_SIZE]);

/* The same value has the same colour in all figures: its number among the values of the study. */
unsigned iwi_dim_style(const struct iwi_study_page *page, enum iwi_dim dim, const iw_series *series);

/* The cell with the most ranks. */
const iw_cell_result *iwi_last_cell(const iw_series *series);

/* "takes 2.431 times as long as without noise", "is 41.0 % slower than without noise", or "takes 12.3 us"
 * where a comparison with no time says nothing. */
const char *iwi_outcome_text(const iw_cell_result *cell, char buf[IWI_PHRASE_SIZE]);

/* ---- the parts in their order ---- */

void iwi_html_study_verdict(const struct iwi_study_page *page);
void iwi_html_study_overview(const struct iwi_study_page *page);
/* Curves of the series that differ in one dimension only, for each dimension that varies. */
IW_NODISCARD iw_status iwi_html_study_curves(const struct iwi_study_page *page);
IW_NODISCARD iw_status iwi_html_study_boxes(const struct iwi_study_page *page);
void iwi_html_study_origin(const struct iwi_study_page *page);

#endif
