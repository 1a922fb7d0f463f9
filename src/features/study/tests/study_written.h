/* What the writers make of a study, and how tests look at it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_STUDY_WRITTEN_H
#define IWT_STUDY_WRITTEN_H

#include <idlewave/study.h>

/* One system and work with `points` numbers of ranks from 2 on, 1,000 trials. */
iw_study_results *study_one_series(size_t points);

/* Times of a cell in ns; the interval of its median is the median itself. */
void study_set_times(iw_cell_result *cell, double noiseless, double min, double p5, double q1, double median,
                     double q3, double p95, double max);

/* To be freed; success is asserted. */
char *study_text(const iw_study_results *results, bool has_colour);
char *study_csv(const iw_study_results *results);

/* Line breaks become blanks, and runs of blanks one: what wrapping and tables add. */
void study_assert_says(const iw_study_results *results, const char *part);
void study_assert_silent(const iw_study_results *results, const char *part);

/* All of a file, to be freed; it must be there. */
char *study_read_file(const char *folder, const char *name);

#endif
