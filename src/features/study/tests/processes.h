/* Processes that run one study in one folder.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_PROCESSES_H
#define IWT_PROCESSES_H

#include <sys/types.h>

#include <idlewave/study.h>

#include "support/support.h"

/* One of so many that know of each other; every other one has two threads. */
iw_study_opts iwt_opts_of(uint32_t process, uint32_t processes);

/* Whether a run ended as it should. */
typedef bool (*iwt_expectation)(iw_status status, const iw_study_outcome *outcome, const struct iwt_log *l);

/* Without a word, with all cells done by whomever. */
bool iwt_is_done(iw_status status, const iw_study_outcome *outcome, const struct iwt_log *l);

/* A child that runs the study, says what was not as expected, and tells it by its exit code. */
pid_t iwt_start(const iw_study *study, const char *dir, const iw_study_opts *opts, iwt_expectation expected);
void iwt_assert_ends_well(pid_t child);

/* The sorted lines of a run by one process alone, to be freed, and how long it took. */
char *iwt_expected_lines(const iw_study *study, double *seconds_p);

/* Those in the folder: a line too many would be seen as well as one too few. */
void iwt_assert_lines(const char *dir, const char *expected);

#endif
