/* A program and a network as JSON, for reference.py, which says what the keys mean.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_REFERENCE_JSON_H
#define IWT_REFERENCE_JSON_H

#include "core/program/program.h"

/* "true" or "false". */
const char *iwt_json_bool(bool is_true);

/* Members of an object, to stdout, each after a comma: the operations of all ranks; the network. */
void iwt_write_ops(const struct iwi_schedule *schedule);
void iwt_write_net(const iw_net *net);

#endif
