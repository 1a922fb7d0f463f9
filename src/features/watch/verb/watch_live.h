/* A view of a watching on the terminal, drawn anew each second.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_WATCH_LIVE_H
#define IW_CLI_WATCH_LIVE_H

#include <idlewave/idlewave.h>

#include "process/ui.h"

struct watch_live {
    bool is_on;
    int64_t watched_ns; /* at the last drawing, as all below */
    iw_watch_totals totals;
    iw_watch_source *sources;
    size_t source_count, capacity;
};

/* UI_USAGE: standard output is no terminal. */
int watch_live_begin(const struct ui *ui, struct watch_live *live);
void watch_live_draw(struct watch_live *live, const iw_watch_result *so_far);
void watch_live_end(struct watch_live *live);

#endif
