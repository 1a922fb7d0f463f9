/* The subverbs of `bench`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_BENCH_VERBS_H
#define IW_CLI_BENCH_VERBS_H

#include "options/verbs.h"

extern const struct verb verb_bench_memory;

#endif
