/* What the files of `study` share: its subverb, and its output.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_STUDY_VERBS_H
#define IW_CLI_STUDY_VERBS_H

#include <stdio.h>

#include <idlewave/study.h>

#include "options/shard.h"
#include "verbs.h"

extern const struct verb verb_study_merge;

/* What a run took. `dir` is where it goes. */
void study_write_outcome_text(const iw_study_outcome *outcome, const struct shard *shard, const char *dir,
                              FILE *out);
void study_write_outcome_json(const iw_study_outcome *outcome, const struct shard *shard, const char *dir,
                              FILE *out);

enum { STUDY_NUMBER_SIZE = 32 };

/* "0.35 s", "12 s", "3.5 min", "2.1 h"; returns `buf`. */
const char *study_duration(double seconds, char buf[STUDY_NUMBER_SIZE]);

#endif
