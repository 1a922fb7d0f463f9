/* The options of `bench`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_BENCH_OPTS_H
#define IW_CLI_BENCH_OPTS_H

#include <idlewave/idlewave.h>
#include <idlewave/internal/bench.h>

#include "features/replay/verb/injected_noise.h"
#include "options/opt.h"
#include "options/simulate_opts.h"

struct bench_opts {
    struct opt_origins origins;
    int work;
    iw_time compute_ps, duration_ps, block_ps;
    uint64_t bytes, phases;
    /* noise */
    uint64_t ranks_per_node; /* 0: as recorded */
    /* prediction */
    uint64_t trials; /* 0: chosen */
    /* output */
    const char *path, *baseline;
    struct injection_opts injection;
    struct net_opts net;
    struct shown_opts shown;
};

enum { BENCH_GROUP_COUNT = 7 };
extern const struct opt_group bench_groups[BENCH_GROUP_COUNT];
extern const struct bench_opts bench_defaults;

/* How detours are made. */
iw_back_end bench_back_end(const struct bench_opts *opts);

/* Whether a network is named for the prediction. */
bool bench_has_net(const struct bench_opts *opts);

/* Which operation the arguments name, and whether the options go together. Returns UI_DONE or UI_USAGE. */
int bench_check(struct ui *ui, const struct bench_opts *opts, const struct opt_args *args, iw_bench_op *op_p);

#endif
