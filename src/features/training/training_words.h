/* Sentences about training.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRAINING_WORDS_H
#define IWI_TRAINING_WORDS_H

#include <idlewave/training.h>

#include "kit/doc/doc.h"

const char *iwi_training_money(struct iwi_document *doc, double amount); /* "12,300" */
const char *iwi_training_time(struct iwi_document *doc, double ns);      /* with a sign */
const char *iwi_training_exact(struct iwi_document *doc, iw_time ps);    /* "6.461328 s" */

/* " (95 % interval 1.20 % to 3.10 %)"; "": there is none. */
const char *iwi_training_loss_interval(struct iwi_document *doc, const iw_training_result *result);
/* The change that saves most, if it surely saves anything. */
void iwi_training_say_best(struct iwi_document *doc, const iw_training_result *result);
/* That no GPU computes so fast. */
void iwi_training_say_rate(struct iwi_document *doc, const iw_training_result *result);
/* That chance places slow GPUs, and what stages were tried. */
void iwi_training_say_places(struct iwi_document *doc, const iw_training_result *result);
/* How much of the source that costs most reaches the step. */
void iwi_training_say_reach(struct iwi_document *doc, const iw_training_result *result);
/* Rows of a table. */
void iwi_training_say_model(struct iwi_document *doc, const iw_training_result *result);
void iwi_training_say_certainty(struct iwi_document *doc, const iw_training_result *result);

#endif
