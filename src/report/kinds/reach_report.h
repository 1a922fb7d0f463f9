/* What a recording can show of a job: the JSON member "recording", and words about it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_REACH_REPORT_H
#define IWI_REACH_REPORT_H

#include <idlewave/study.h>
#include <idlewave/whatif.h>
#include <jansson.h>

#include "report/kinds/report.h"

/* null for noise that is not recorded. `set` may be NULL: no laws stand in then. */
json_t *iwi_reach_object(const iw_reach *reach, const iw_noise_set *set);

/* The same with the interval of a simulation: "slowdown". */
json_t *iwi_certainty_object(const iw_certainty *certainty, const iw_noise_set *set);

/* ---- of the member "recording", which may be missing or null ---- */

/* Whether a number from this recording is a lower bound; whether fitted laws stand in for it. */
bool iwi_is_bound(const json_t *recording);
bool iwi_is_extrapolated(const json_t *recording);

/* The slowdown with the interval that counts the recording; NaN where there is none. A bound has no .high
 * (NaN): nothing that files hold is infinite. */
iw_estimate iwi_recorded_slowdown(const json_t *recording);

/* "10 s", "40 min", "3 h", "2 days": lengths of recordings, two digits. */
const char *iwi_length_text(double seconds, char buf[IWI_NUMBER_SIZE]);

/* Of a bound: " takes at least 2.3 times as long as without noise: "; of too few trials to have one, what
 * they say: " takes 2.3 times as long as without noise with what was recorded: ". `without`: "noise". */
void iwi_append_bound(char paragraph[IWI_PARAGRAPH_SIZE], iw_estimate slowdown, const char *without);

/* Goes on with "this recording of 10 s on 2 CPUs cannot show what 10,000 ranks meet in 24 ms; record 40 min
 * for an estimate". */
void iwi_append_reach(char paragraph[IWI_PARAGRAPH_SIZE], const json_t *recording, uint64_t ranks,
                      double time_ns);

/* Of a study: " 3 of 12 cells are lower bounds: their recordings cannot show ...; record 40 min for estimates
 * of all." Nothing where there are none. */
void iwi_append_bounds(char paragraph[IWI_PARAGRAPH_SIZE], const iw_study_results *results);

/* Of a study: " 3 of 12 cells are from laws fitted to the recording (poisson:9.9Hz,exp:20us), not from it."
 * Nothing where there are none. */
void iwi_append_extrapolated(char paragraph[IWI_PARAGRAPH_SIZE], const iw_study_results *results);

/* Of an extrapolation: "from laws fitted to the recording (poisson:9.9Hz,exp:20us), not from it". */
void iwi_append_laws(char paragraph[IWI_PARAGRAPH_SIZE], const json_t *recording);

#endif
