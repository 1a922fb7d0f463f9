/* What the files of `study` share: its subverb, and its output.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_STUDY_VERBS_H
#define IW_CLI_STUDY_VERBS_H

#include <stdio.h>

#include <idlewave/study.h>

#include "features/study/verb/shard.h"
#include "options/verbs.h"

extern const struct verb verb_study_merge;

#endif
