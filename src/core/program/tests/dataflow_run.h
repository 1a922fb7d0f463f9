/* Proof by symbolic execution that a collective does what its name says.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The data of an operation is cut into items. For each algorithm a model, written independently of the
 * library, says which items a message carries; its bytes must be those of the message. Each rank has for each
 * item a multiset of contributions; a message adds to the receiver's (if the receiver reduces) or replaces
 * them. Messages of a round carry what their senders had when the round began. In the end the multisets must
 * be right.
 */
#ifndef IWT_DATAFLOW_RUN_H
#define IWT_DATAFLOW_RUN_H

#include "dataflow_models.h"

/* Fails the test if a rank does not end with what it should. */
void iwt_prove(const struct iwt_model *model, const iw_pattern *pattern);

#endif
