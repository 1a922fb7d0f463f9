/* `replay --self-check`: is the noise that is made here the noise that was asked for?
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_REPLAY_CHECK_H
#define IW_CLI_REPLAY_CHECK_H

#include "features/replay/verb/replay_plan.h"

struct replay_check_opts {
    int64_t duration_ns; /* for which noise is made and watched; the host's own for half of it */
    bool want_naive;     /* also the trace as it stands, without scale and compensation */
    const struct shown_opts *shown;
};

/* Watches a thread of this process, first as it is, then under the noise of `replay`, which is prepared.
 * Returns UI_NEGATIVE if it is not what was asked for. */
int replay_self_check(struct ui *ui, const struct replay *replay, const iw_log *log,
                      const struct replay_check_opts *opts);

#endif
