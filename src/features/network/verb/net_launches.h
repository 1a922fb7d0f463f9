/* Several launches of `idlewave net` under an MPI's launcher, and one result of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_NET_LAUNCHES_H
#define IW_CLI_NET_LAUNCHES_H

#include <idlewave/internal/net_measure.h>

#include "options/opt.h"
#include "process/ui.h"

enum { NET_MOST_LAUNCHES = 100 };

/* Runs `launcher` `count` times (at least 1), with "idlewave net", `options` (NULL-ended) and the sizes of
 * the first launch behind it. Returns UI_DONE or an exit code. */
int net_run_launches(struct ui *ui, const struct opt_args *launcher, const char *const *options, size_t count,
                     iw_net_measured **all_p);

#endif
