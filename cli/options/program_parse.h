/* Values of program options that have a grammar of their own.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_PROGRAM_PARSE_H
#define IW_CLI_PROGRAM_PARSE_H

#include <idlewave/program.h>

#include "options/opt.h"

/* "halo2d+allreduce": the items with the separator between them; to be freed. */
char *program_join(const struct opt_list *items, const char *separator);

/* "16x16x16" into dims[]; the rest stays 0. NULL sets nothing. Returns UI_DONE or UI_USAGE. */
int program_parse_dims(struct ui *ui, const char *text, uint32_t dims[IW_MAX_DIMS]);

/* "rank=5,step=1,time=13.5ms" each; *delays_p is to be freed. Returns UI_DONE or UI_USAGE. */
int program_parse_delays(struct ui *ui, const struct opt_list *texts, iw_delay **delays_p, size_t *count_p);

#endif
