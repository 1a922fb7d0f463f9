/* Windows of timelines as people write them: "--ranks 40-60", "--time 10ms-2s".
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_WINDOW_H
#define IW_CLI_WINDOW_H

#include <idlewave/timeline.h>

#include "process/ui.h"

/* Both ranks belong to it; around the end of the ranks if the last one is the lower one. */
struct window {
    bool has_ranks;
    uint32_t first_rank, last_rank;
    iw_time from_ps, to_ps; /* to 0: until the end */
};

/* "A-B" or "A" of `option`. UI_DONE, or it has been reported. */
int window_parse_ranks(struct ui *ui, const char *option, const char *text, struct window *window);

/* "FROM-TO". UI_DONE, or it has been reported. */
int window_parse_time(struct ui *ui, const char *option, const char *text, struct window *window);

/* Of so many ranks; 0 if it has none of its own. */
uint32_t window_rank_count(const struct window *window, uint32_t ranks);

/* So many ranks fit, fewer than there are: this one in their middle. Of an open chain no window goes around
 * the end. */
void window_centre_on(uint32_t rank, uint64_t fitting, iw_timeline_opts *timeline);

/* Nobody knows how many fit. Where steps are too many, whole ranks at the end of the window are left out:
 * this one is near its beginning. The window has all ranks, so if they fit they are all there. */
void window_begin_before(uint32_t rank, iw_timeline_opts *timeline);

#endif
