/* The bill of training: changes, variants, what is absorbed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRAINING_BILL_H
#define IWI_TRAINING_BILL_H

#include <idlewave/training.h>

#include "kit/doc/doc.h"

void iwi_training_say_bill(struct iwi_document *doc, const iw_training_result *result);
void iwi_training_say_absorbed(struct iwi_document *doc, const iw_training_result *result);

#endif
