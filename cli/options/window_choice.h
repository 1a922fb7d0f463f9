/* Which ranks' steps a timeline keeps where nobody says which.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_WINDOW_CHOICE_H
#define IW_CLI_WINDOW_CHOICE_H

#include <idlewave/timeline.h>

/* So many ranks fit, fewer than there are: this one in their middle. Of an open chain no window goes around
 * the end. */
void window_centre_on(uint32_t rank, uint64_t fitting, iw_timeline_opts *timeline);

/* Nobody knows how many fit. Where steps are too many, whole ranks at the end of the window are left out:
 * this one is near its beginning. The window has all ranks, so if they fit they are all there. */
void window_begin_before(uint32_t rank, iw_timeline_opts *timeline);

#endif
