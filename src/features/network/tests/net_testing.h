/* Tables of other tools that become networks: read, refused, and what messages then take.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_NET_TESTING_H
#define IWT_NET_TESTING_H

#include <math.h>

#include <idlewave/net.h>

#include "support/support.h"

#define iwt_assert_near(value, expected, share) \
    assert_true(fabs((double)(value) / (double)(expected)-1) <= (share))

/* Fails the test if the text is refused. */
iw_net iwt_read_net(struct iwt_log *log, const char *name, const char *text);

/* With that status, and one message, which names the file. */
void iwt_expect_net_refused(const char *name, const char *text, iw_status status, const char *message);

iw_time iwt_half_round_trip(const iw_net *net, uint64_t bytes);

#endif
