/* The subverb of `net`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_NET_VERBS_H
#define IW_CLI_NET_VERBS_H

#include "options/verbs.h"

extern const struct verb verb_net_show;

#endif
