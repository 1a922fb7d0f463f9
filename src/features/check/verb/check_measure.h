/* What `check` works on: a recording of this node, or, while programs of users run, what these lose.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_CHECK_MEASURE_H
#define IW_CLI_CHECK_MEASURE_H

#include <idlewave/idlewave.h>

#include "features/check/verb/check_times.h"
#include "options/cpu_list.h"
#include "process/ui.h"

struct measured {
    iw_recording *recording; /* of no time where programs of users run that may not be watched */
    bool is_watched;         /* programs of users ran: no probe took CPU time from them */
};

/* First the kernel's accounts are looked at. If programs of users keep CPUs busy,
 * they are watched instead of recording, and the node is a busy one; with `wants_watch` it is judged by what
 * they lose. Returns UI_DONE or an exit code. */
int check_measure(struct ui *ui, const struct cpu_list *cpus, const struct check_times *times,
                  bool wants_watch, struct measured *measured);

#endif
