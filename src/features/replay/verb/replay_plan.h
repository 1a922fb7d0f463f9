/* What one process of a replayed program is to meet: its noise, what a detour costs here, its plans.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_REPLAY_PLAN_H
#define IW_CLI_REPLAY_PLAN_H

#include <idlewave/internal/mpi.h>
#include <idlewave/internal/replay.h>

#include "features/replay/verb/replay_opts.h"
#include "process/node_log.h"

struct replay {
    const struct replay_opts *opts;
    iw_launcher launcher;
    iw_recording *recording;
    iw_inject_opts inject;
    iw_inject_costs costs;
    iw_inject_plan *plans[IW_REPLAY_MOST_PLANS]; /* of the threads, in the order in which they begin */
    size_t plan_count;
    bool is_of_file;
};

/* Checks options against each other. Returns UI_DONE or UI_USAGE. */
int replay_check(struct ui *ui, const struct replay_opts *opts);

/* Reads the noise, measures the costs on this CPU, makes the plans. `replay` is to be released in any case.
 */
int replay_prepare(struct ui *ui, struct node_log *node_log, const struct replay_opts *opts,
                   struct replay *replay);
void replay_release(struct replay *replay);

/* One line for stderr: floor, deadline error, what can be reproduced. */
void replay_summary(const struct replay *replay, char *text, size_t size);

/* The same at length, on stdout. */
void replay_describe(const struct replay *replay);

#endif
