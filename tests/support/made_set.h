/* A recording with sources of several kinds, and sets of noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_SET_H
#define IWT_MADE_SET_H

#include <idlewave/noise_set.h>

/* One CPU of 1 s: irq/local_timer 1 kHz of 10 us, irq/eno1 100 Hz of 50 us, thread/cron 10 Hz of 400 us,
 * thread/sshd 7 Hz of 200 us. */
iw_recording *iwt_node(void);

/* A set with these inputs; NULL ends specs, `recording` may be NULL. */
iw_noise_set *iwt_set(iw_recording *recording, const char *const *specs);

#endif
