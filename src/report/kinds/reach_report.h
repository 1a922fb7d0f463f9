/* What a recording can show of a job: its table, and words about it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_REACH_REPORT_H
#define IWI_REACH_REPORT_H

#include <idlewave/study.h>
#include <idlewave/whatif.h>

#include "report/kinds/report.h"
#include "schema/schema.h"

/* iw_reach */
extern const struct iwi_schema iwi_reach_schema;

/* "10 s", "40 min", "3 h", "2 days": lengths of recordings, two digits. */
const char *iwi_length_text(double seconds, char buf[IWI_NUMBER_SIZE]);

/* Of a bound: " takes at least 2.3 times as long as without noise: "; of too few trials to have one, what
 * they say: " takes 2.3 times as long as without noise with what was recorded: ". `without`: "noise". */
void iwi_append_bound(char paragraph[IWI_PARAGRAPH_SIZE], iw_estimate slowdown, const char *without);

/* Goes on with "this recording of 10 s on 2 CPUs cannot show what 10,000 ranks meet in 24 ms; record 40 min
 * for an estimate". */
void iwi_append_reach(char paragraph[IWI_PARAGRAPH_SIZE], const iw_reach *reach, uint64_t ranks,
                      double time_ns);

/* Of a study: " 3 of 12 cells are lower bounds: their recordings cannot show ...; record 40 min for estimates
 * of all." Nothing where there are none. */
void iwi_append_bounds(char paragraph[IWI_PARAGRAPH_SIZE], const iw_study_results *results);

/* Of a study: " 3 of 12 cells are from laws fitted to the recording (poisson:9.9Hz,exp:20us), not from it."
 * Nothing where there are none. */
void iwi_append_extrapolated(char paragraph[IWI_PARAGRAPH_SIZE], const iw_study_results *results);

/* Of an extrapolation: "from laws fitted to the recording (poisson:9.9Hz,exp:20us), not from it". */
void iwi_append_laws(char paragraph[IWI_PARAGRAPH_SIZE], const iw_reach *reach);

#endif
