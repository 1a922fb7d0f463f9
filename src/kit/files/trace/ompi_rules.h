/* Open MPI's files of rules for collectives (coll_tuned_dynamic_rules_filename), in their text form.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_OMPI_RULES_H
#define IWI_OMPI_RULES_H

#include "core/program/rules.h"

/* What the file says, and Open MPI 4.1's own decisions where it says nothing. Errors are logged as
 * 'file:line'. IW_ERR_IO, IW_ERR_FORMAT, IW_ERR_TRUNCATED, IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_ompi_rules_read(const iw_log *log, const char *path, struct iwi_rule_set *set_p);

/* The same of a text in memory; `name` is what messages call it. */
IW_NODISCARD iw_status iwi_ompi_rules_read_memory(const iw_log *log, const char *name, const char *data,
                                                  size_t size, struct iwi_rule_set *set_p);

void iwi_ompi_rules_release(struct iwi_rule_set *set);

#endif
